import { expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import type { Unnamed } from "../../../src/flows/files/output-file.ts";
import { SyncBatches, type WaitingFile } from "../../../src/flows/files/sync-batches.ts";

/** Batches of files that are called by a number; `log` has what happened in order. */
function batchWorld() {
  const log: string[] = [];
  const broken = new Set<number>();
  let numberOf = new Map<Unnamed, number>();
  let fails = false;
  let held: Promise<void> | null = null;
  const clock = new MovableClock({ frozenAt: 0 });
  const batches = new SyncBatches<number>({
    sync: async (file) => {
      if (broken.has(numberOf.get(file)!)) throw new Error("no space");
    },
    name: async (files: readonly WaitingFile<number>[]) => {
      log.push(`named ${files.map(({ item }) => item).join(" ")}`);
      await held;
      if (fails) throw new Error("no table");
      for (const { onNamed } of files) onNamed();
    },
    clock,
  });
  const add = (number: number, bytes = 100) => {
    const file: Unnamed = { remove: async () => void log.push(`removed ${number}`) };
    numberOf = new Map([...numberOf, [file, number]]);
    return batches.add(number, file, bytes).then(
      () => `${number} has its name`,
      (error: Error) => `${number}: ${error.message}`,
    );
  };
  const addAll = (count: number, bytes?: number) =>
    Array.from({ length: count }, (_, number) => add(number, bytes));
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };
  /** Lets no file get its name until the function that is returned is called. */
  const hold = () => {
    const { promise, resolve } = withResolvers();
    held = promise;
    return resolve;
  };
  return { log, broken, hold, batches, clock, add, addAll, settled, failNames: () => (fails = true) };
}

function withResolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => from + at).join(" ");

test("64 files are one batch, and what comes meanwhile is the next one", async () => {
  const { log, add, addAll } = batchWorld();
  const added = addAll(130);
  await added[0];
  added.push(add(130));
  expect(await Promise.all(added)).toEqual(Array.from({ length: 131 }, (_, at) => `${at} has its name`));
  expect(log).toEqual([
    `named ${numbers(0, 64)}`,
    `named ${numbers(64, 128)}`,
    expect.stringMatching(/^named 128 129( 130)?$/),
    ...(log.length > 3 ? ["named 130"] : []),
  ]);
});

test("a file waits for no other one", async () => {
  const { log, add } = batchWorld();
  expect(await add(0)).toBe("0 has its name");
  expect(log).toEqual(["named 0"]);
});

test("files wait for one that is on its way, which may fail", async () => {
  const { log, batches, addAll, settled } = batchWorld();
  const { promise, resolve } = withResolvers();
  const download = batches.during(async () => {
    await promise;
    throw new Error("cut");
  });
  addAll(3);
  await settled();
  expect(log).toEqual([]);
  resolve();
  await expect(download).rejects.toThrow("cut");
  await settled();
  expect(log).toEqual(["named 0 1 2"]);
});

test("files wait for others up to 200 ms, or until they are a full batch", async () => {
  const { log, batches, add, addAll, clock, settled } = batchWorld();
  const { promise, resolve } = withResolvers();
  const download = batches.during(() => promise);
  addAll(3);
  await settled();
  clock.advance(199);
  await settled();
  expect(log).toEqual([]);
  clock.advance(1);
  await settled();
  expect(log).toEqual(["named 0 1 2"]);
  for (let number = 0; number < 64; number++) add(number);
  await settled();
  expect(log).toEqual(["named 0 1 2", `named ${numbers(0, 64)}`]);
  add(64, 8 * 1024 * 1024);
  await settled();
  expect(log.slice(2)).toEqual(["named 64"]);
  resolve();
  await download;
});

test("a file that cannot be synced is removed, and the others get their names", async () => {
  const { log, addAll, broken } = batchWorld();
  broken.add(1);
  const added = addAll(3);
  expect(await Promise.all(added)).toEqual(["0 has its name", "1: no space", "2 has its name"]);
  expect(log).toEqual(["removed 1", "named 0 2"]);
});

test("files that could not be recorded are removed, each with the error", async () => {
  const { log, addAll, failNames } = batchWorld();
  failNames();
  const added = addAll(2);
  expect(await Promise.all(added)).toEqual(["0: no table", "1: no table"]);
  expect(log).toEqual(["named 0 1", "removed 0", "removed 1"]);
});

test("there is no room while one batch is written and the next one is full", async () => {
  const { addAll, batches, hold, settled } = batchWorld();
  const release = hold();
  addAll(128);
  await settled();
  let hasRoom = false;
  void batches.room().then(() => {
    hasRoom = true;
  });
  await settled();
  expect(hasRoom).toBe(false);
  release();
  await settled();
  expect(hasRoom).toBe(true);
});
