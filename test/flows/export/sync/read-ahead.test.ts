import { expect, test } from "vitest";
import { ReadAhead } from "../../../../src/flows/export/sync/listing/read-ahead.ts";
import type { WantedAsset } from "../../../../src/flows/export/sync/listing/wanted-asset.ts";

const image = (number: number) => ({ number }) as unknown as WantedAsset;

/** Downloads that start when the test says so. */
function downloads() {
  const started: unknown[] = [];
  const waiting: { resolve: () => void; reject: (reason: unknown) => void }[] = [];
  const ahead = new ReadAhead((wanted) => {
    started.push(wanted);
    return new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
  }, 3);
  return { ahead, started, next: () => waiting.shift()! };
}

/** Whether work has ended once everything else has run. */
const hasEnded = async (work: Promise<unknown>): Promise<boolean> => {
  let ended = false;
  void work.then(() => (ended = true)).catch(() => (ended = true));
  await new Promise<void>((resolve) => setImmediate(resolve));
  return ended;
};

test("images are read ahead of their downloads, in order, until there are enough", async () => {
  const { ahead, started, next } = downloads();
  for (const number of [1, 2, 3]) await ahead.add(image(number));
  const fourth = ahead.add(image(4));
  expect(await hasEnded(fourth)).toBe(false);
  expect(started).toEqual([image(1)]);
  next().resolve();
  expect(await hasEnded(fourth)).toBe(true);
  const all = ahead.started();
  for (const number of [2, 3, 4]) {
    expect(await hasEnded(all)).toBe(false);
    expect(started).toHaveLength(number);
    next().resolve();
  }
  await all;
});

test("what ended the run ends the reading too", async () => {
  const { ahead, started, next } = downloads();
  for (const number of [1, 2, 3]) await ahead.add(image(number));
  const fourth = ahead.add(image(4));
  next().reject(new Error("the disk is full"));
  await expect(fourth).rejects.toThrow("the disk is full");
  await expect(ahead.add(image(5))).rejects.toThrow("the disk is full");
  await expect(ahead.started()).rejects.toThrow("the disk is full");
  expect(started).toEqual([image(1)]);
});
