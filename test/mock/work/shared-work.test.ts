import { expect, test } from "vitest";
import { EndedError, Life, SharedWork } from "../../../src/mock/work/life.ts";

/** Work that ends on demand, or with its life. */
function begun() {
  let finish!: (result: string) => void;
  let fail!: (error: Error) => void;
  let life!: Life;
  const work = new SharedWork((its) => {
    life = its;
    return new Promise<string>((resolve, reject) => {
      finish = resolve;
      fail = reject;
      its.onEnd(() => reject(new EndedError()));
    });
  });
  return { work, finish, fail, life };
}

test("work continues while one reader is waiting, and ends with the last", async () => {
  const { work, life } = begun();
  const [one, other] = [new Life(), new Life()];
  const results = [work.resultFor(one), work.resultFor(other)];
  one.end();
  await expect(results[0]).rejects.toThrow(EndedError);
  expect([life.ended, work.isLost]).toEqual([false, false]);
  other.end();
  expect([life.ended, work.isLost]).toEqual([true, true]);
  await expect(results[1]).rejects.toThrow(EndedError);
});

test("a result stays available after readers leave", async () => {
  const { work, finish } = begun();
  const [one, other] = [new Life(), new Life()];
  const results = [work.resultFor(one), work.resultFor(other)];
  one.end();
  await expect(results[0]).rejects.toThrow(EndedError);
  finish("the result");
  expect(await results[1]).toBe("the result");
  await new Promise((resolve) => setImmediate(resolve));
  other.end();
  expect(work.isLost).toBe(false);
  expect(await work.resultFor(new Life())).toBe("the result");
});

test("a canceled reader does not keep the work running", async () => {
  const { work } = begun();
  const gone = new Life();
  gone.end();
  await expect(work.resultFor(gone)).rejects.toThrow(EndedError);
  expect(work.isLost).toBe(true);
});

test("a failure rejects for all readers, and the work is lost", async () => {
  const { work, fail } = begun();
  const results = [work.resultFor(new Life()), work.resultFor(new Life())];
  fail(new Error("no ink"));
  for (const result of results) await expect(result).rejects.toThrow("no ink");
  expect(work.isLost).toBe(true);
});
