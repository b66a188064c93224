import { expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import type { Unnamed } from "../../../src/flows/files/output-file.ts";
import { SyncBatches, type WaitingFile } from "../../../src/flows/files/sync-batches.ts";

/** Batches of files that are called by a number; `log` has what happened in order. */
function batchWorld() {
  const log: string[] = [];
  const clock = new MovableClock({ frozenAt: 0 });
  const broken = new Set<number>();
  let numberOf = new Map<Unnamed, number>();
  let fails = false;
  const batches = new SyncBatches<number>(clock, {
    sync: async (file) => {
      if (broken.has(numberOf.get(file)!)) throw new Error("no space");
    },
    name: async (files: readonly WaitingFile<number>[]) => {
      log.push(`named ${files.map(({ item }) => item).join(" ")}`);
      if (fails) throw new Error("no table");
      for (const { onNamed } of files) onNamed();
    },
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
  return { log, clock, broken, batches, add, addAll, settled, failNames: () => (fails = true) };
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => from + at).join(" ");

test("64 files are one batch, and what comes meanwhile is the next one", async () => {
  const { log, addAll, batches } = batchWorld();
  const added = addAll(130);
  batches.flush();
  expect(await Promise.all(added)).toEqual(Array.from({ length: 130 }, (_, at) => `${at} has its name`));
  expect(log).toEqual([`named ${numbers(0, 64)}`, `named ${numbers(64, 128)}`, "named 128 129"]);
});

test("8 MB are a batch, however few files have them", async () => {
  const { log, addAll, settled } = batchWorld();
  addAll(4, 3 * 1024 * 1024);
  await settled();
  expect(log).toEqual(["named 0 1 2"]);
});

test("the first file waits for 200 ms at most", async () => {
  const { log, add, clock, settled } = batchWorld();
  add(0);
  clock.advance(150);
  add(1);
  clock.advance(49);
  await settled();
  expect(log).toEqual([]);
  clock.advance(1);
  await settled();
  expect(log).toEqual(["named 0 1"]);
});

test("a file that cannot be synced is removed, and the others get their names", async () => {
  const { log, addAll, broken, batches } = batchWorld();
  broken.add(1);
  const added = addAll(3);
  batches.flush();
  expect(await Promise.all(added)).toEqual(["0 has its name", "1: no space", "2 has its name"]);
  expect(log).toEqual(["removed 1", "named 0 2"]);
});

test("files that could not be recorded are removed, each with the error", async () => {
  const { log, addAll, failNames, batches } = batchWorld();
  failNames();
  const added = addAll(2);
  batches.flush();
  expect(await Promise.all(added)).toEqual(["0: no table", "1: no table"]);
  expect(log).toEqual(["named 0 1", "removed 0", "removed 1"]);
});

test("there is no room while one batch is written and the next one is full", async () => {
  const { addAll, batches, log } = batchWorld();
  addAll(128);
  expect(log).toEqual([]);
  await batches.room();
  expect(log).toEqual([`named ${numbers(0, 64)}`]);
});
