import { expect, onTestFinished, test } from "vitest";
import { BucketMirror } from "../../../../../src/flows/export/sync/bucket-mirror.ts";
import { mirrorFiles } from "../../../../../src/flows/export/sync/mirror-state.ts";
import { openBucket, type Place } from "../../../../support/open-bucket.ts";
import { TestClock } from "../../../../support/test-clock.ts";

export const holder = { pid: 4711, since: "2026-01-05T09:00:00.000Z" };

const mebibyte = 1024 * 1024;
/** In a file and in two parts, by the limits below. */
const large = Array.from({ length: 9 }, (_, at) => Buffer.alloc(mebibyte, at));

/** Mirrors in one place of a store: each is another machine. */
export const machinesAt =
  (place: Place) =>
  (isUnlocked = false, clock = new TestClock()) => {
    const mirror = new BucketMirror(openBucket(place, { clock }), {
      files: mirrorFiles(null),
      clock,
      isUnlocked,
      limits: { memory: mebibyte, request: 8 * mebibyte },
    });
    onTestFinished(() => mirror.close());
    return mirror;
  };

export async function lockOf(mirror: BucketMirror) {
  const lock = await mirror.lock(holder);
  if ("heldBy" in lock) throw new Error("the mirror is held");
  return lock;
}

/** What every store that checks conditions must do. `newPlace`: another mirror each time. */
export function conditionsContract(newPlace: () => Promise<ReturnType<typeof machinesAt>>) {
  test("gives a name to one of many machines, and tells the others", async () => {
    const open = await newPlace();
    const machines = Array.from({ length: 6 }, () => open());
    await (await lockOf(machines[0]!)).release();
    for (const machine of machines.slice(1)) await (await lockOf(machine)).release();
    const put = (machine: BucketMirror, at: number) =>
      machine.put("a.jpg", [Buffer.from(`image ${at}`)], { exclusive: true });
    const isPlaced = await Promise.all(machines.map(put));
    expect(isPlaced.filter((one) => one !== null)).toHaveLength(1);
    expect(String(await machines[0]!.read("a.jpg"))).toBe(
      `image ${isPlaced.findIndex((one) => one !== null)}`,
    );
  });

  test("is held by one of many machines that ask at once", async () => {
    const open = await newPlace();
    const locks = await Promise.all(
      Array.from({ length: 8 }, (_, pid) => open().lock({ ...holder, pid: pid + 1 })),
    );
    const held = locks.filter((lock) => "release" in lock);
    expect(held).toHaveLength(1);
    for (const lock of held) await lock.release();
  });

  test("does not replace an index that another machine has written since", async () => {
    const open = await newPlace();
    const [one, other] = [open(), open()];
    await (await lockOf(other)).release();
    await lockOf(one);
    await one.put("catalogue.ndjson", [Buffer.from("one\n")]);
    await expect(other.stat("catalogue.ndjson")).resolves.toEqual({ bytes: 4 });
    await one.put("catalogue.ndjson", [Buffer.from("two\n")]);
    // In one request, and in parts.
    for (const content of [[Buffer.from("other\n")], large])
      await expect(other.put("catalogue.ndjson", content)).rejects.toMatchObject({ code: "mirror_in_use" });
    expect(String(await one.read("catalogue.ndjson"))).toBe("two\n");
  });

  test("gives a name to a renamed file or to a new one, not to both", async () => {
    const open = await newPlace();
    const [one, other] = [open(), open()];
    await (await lockOf(other)).release();
    await lockOf(one);
    for (let round = 0; round < 5; round++) {
      await one.put(`old-${round}`, [Buffer.from("renamed")]);
      const [isRenamed, isPlaced] = await Promise.all([
        one.rename(`old-${round}`, `new-${round}`),
        other.put(`new-${round}`, [Buffer.from("placed")], { exclusive: true }),
      ]);
      expect([isRenamed, isPlaced].filter((one) => one !== null)).toHaveLength(1);
      expect(String(await one.read(`new-${round}`))).toBe(isPlaced !== null ? "placed" : "renamed");
    }
    await expect(one.rename("missing", "name")).rejects.toMatchObject({ status: 404 });
    expect(await one.stat("name")).toBeNull();
  });

  test("takes a large file in one request or in parts, and a name of any letters", async () => {
    const open = await newPlace();
    const mirror = open();
    await lockOf(mirror);
    const path = "ü ß/100% + 'a' (1)~!*&=é日本.ndjson";
    expect(await mirror.put(path, large.slice(0, 2))).not.toBeNull();
    expect(await mirror.rename(path, "copy ü+%.ndjson")).not.toBeNull();
    const all = Buffer.concat(large);
    expect(all.subarray(0, 2 * mebibyte).equals((await open().read("copy ü+%.ndjson"))!)).toBe(true);
    expect(await mirror.stat(path)).toBeNull();
    for (const index of [large.slice(0, 1), large]) await mirror.put("catalogue.ndjson", index);
    expect(all.equals((await open().read("catalogue.ndjson"))!)).toBe(true);
  });
}
