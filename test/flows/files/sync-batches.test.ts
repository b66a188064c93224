import fc from "fast-check";
import { expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { SyncBatches, type WaitingFile } from "../../../src/flows/files/sync-batches.ts";
import { repetitions } from "../../support/repetitions.ts";

type Step = "sync" | "target" | "record" | "name";

interface NumberedFile extends WaitingFile {
  readonly number: number;
}

/**
 * Batches of files that are called by a number; `log` has what happened in order. A file fails at the step that `fails` has for
 * it, and its whole batch if that is `record`.
 */
function batchWorld(fails: ReadonlyMap<number, Step> = new Map()) {
  const log: string[] = [];
  let held: Promise<void> | null = null;
  const pass = (step: Step, number: number) => {
    if (fails.get(number) === step) throw new Error(`no ${step}`);
  };
  const clock = new MovableClock({ frozenAt: 0 });
  const steps = {
    sync: async ({ number }: NumberedFile) => {
      pass("sync", number);
      log.push(`synced ${number}`);
    },
    target: async ({ number }: NumberedFile) => {
      pass("target", number);
      return number;
    },
    record: (numbers: readonly number[]) => {
      for (const number of numbers) pass("record", number);
      log.push(`recorded ${numbers.join(" ")}`);
    },
    name: async (_: NumberedFile, number: number) => {
      await held;
      pass("name", number);
      log.push(`named ${number}`);
    },
  };
  const batches = new SyncBatches(steps, clock);
  const add = (number: number, bytes = 100) => {
    const file = { remove: async () => void log.push(`removed ${number}`) };
    return batches.add({ file, number, bytes }).then(
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
  const recorded = () => log.filter((line) => line.startsWith("recorded"));
  return { log, recorded, hold, batches, clock, add, addAll, settled };
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
  const { recorded, add, addAll } = batchWorld();
  const added = addAll(130);
  await added[0];
  added.push(add(130));
  expect(await Promise.all(added)).toEqual(Array.from({ length: 131 }, (_, at) => `${at} has its name`));
  expect(recorded()).toEqual([
    `recorded ${numbers(0, 64)}`,
    `recorded ${numbers(64, 128)}`,
    `recorded ${numbers(128, 131)}`,
  ]);
});

test("a file waits for no other one", async () => {
  const { log, add } = batchWorld();
  expect(await add(0)).toBe("0 has its name");
  expect(log).toEqual(["synced 0", "recorded 0", "named 0"]);
});

test("files wait for one that is on its way, which may fail", async () => {
  const { recorded, batches, addAll, settled } = batchWorld();
  const { promise, resolve } = withResolvers();
  const download = batches.during(async () => {
    await promise;
    throw new Error("cut");
  });
  addAll(3);
  await settled();
  expect(recorded()).toEqual([]);
  resolve();
  await expect(download).rejects.toThrow("cut");
  await settled();
  expect(recorded()).toEqual(["recorded 0 1 2"]);
});

test("files wait for others up to 200 ms, or until they are a full batch", async () => {
  const { recorded, batches, add, addAll, clock, settled } = batchWorld();
  const { promise, resolve } = withResolvers();
  const download = batches.during(() => promise);
  addAll(3);
  await settled();
  clock.advance(199);
  await settled();
  expect(recorded()).toEqual([]);
  clock.advance(1);
  await settled();
  expect(recorded()).toEqual(["recorded 0 1 2"]);
  for (let number = 0; number < 64; number++) add(number);
  await settled();
  expect(recorded()).toEqual(["recorded 0 1 2", `recorded ${numbers(0, 64)}`]);
  add(64, 8 * 1024 * 1024);
  await settled();
  expect(recorded().slice(2)).toEqual(["recorded 64"]);
  resolve();
  await download;
});

test.each(["sync", "target", "name"] as const)(
  "a file that fails is removed, and the others get their names: %s",
  async (step) => {
    const { log, addAll } = batchWorld(new Map([[1, step]]));
    expect(await Promise.all(addAll(3))).toEqual(["0 has its name", `1: no ${step}`, "2 has its name"]);
    expect(log.filter((line) => /^(named|removed)/.test(line)).toSorted()).toEqual([
      "named 0",
      "named 2",
      "removed 1",
    ]);
  },
);

test("files that could not be recorded are removed, each with the error, and the next batch is written", async () => {
  const { log, recorded, addAll } = batchWorld(new Map([[63, "record"]]));
  const outcomes = await Promise.all(addAll(65));
  expect(outcomes).toEqual([...Array.from({ length: 64 }, (_, at) => `${at}: no record`), "64 has its name"]);
  expect(recorded()).toEqual(["recorded 64"]);
  expect(log.filter((line) => line.startsWith("removed"))).toHaveLength(64);
});

test("there is no room while one batch is written and the next one is full, by files or by bytes", async () => {
  for (const [count, bytes] of [
    [128, 100],
    [66, 4 * 1024 * 1024],
  ] as const) {
    const { addAll, batches, hold, settled } = batchWorld();
    const release = hold();
    addAll(count, bytes);
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
  }
});

/** Downloads that run at once, and what happens to each file. */
const scenario = fc.record({
  writers: fc.integer({ min: 1, max: 16 }),
  files: fc.array(
    fc.record({
      fails: fc.option(fc.constantFrom<Step>("sync", "target", "record", "name"), { freq: 12 }),
      turns: fc.nat(3),
      bytes: fc.constantFrom(100, 100_000, 4 * 1024 * 1024),
    }),
    { maxLength: 300 },
  ),
});

test("a file has its name only after its sync and its record, or is removed once and says why", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ writers, files }) => {
      const fates = files.flatMap(({ fails }, at) => (fails === null ? [] : [[at, fails] as const]));
      const { log, batches, add } = batchWorld(new Map(fates));
      const outcomes: Promise<string>[] = [];
      let [next, open, most] = [0, 0, 0];
      const write = async () => {
        while (next < files.length) {
          const number = next++;
          const { turns, bytes } = files[number]!;
          await batches.during(async () => {
            for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
            most = Math.max(most, ++open);
            outcomes[number] = add(number, bytes).finally(() => open--);
            await batches.room();
          });
        }
      };
      await Promise.all(Array.from({ length: writers }, write));
      const ended = await Promise.all(outcomes);
      // What a kill leaves at most: two batches, and what each writer adds before it looks for room.
      expect(most).toBeLessThanOrEqual(128 + writers);
      const batchOf = (number: number) =>
        log.findIndex((line) => line.startsWith("recorded") && line.split(" ").includes(String(number)));
      for (const [number, outcome] of ended.entries()) {
        const [synced, named, removed] = ["synced", "named", "removed"].map((word) =>
          log.indexOf(`${word} ${number}`),
        ) as [number, number, number];
        const { fails } = files[number]!;
        if (outcome === `${number} has its name`) {
          expect([removed, fails]).toEqual([-1, null]);
          expect(synced).toBeGreaterThanOrEqual(0);
          expect(batchOf(number)).toBeGreaterThan(synced);
          expect(named).toBeGreaterThan(batchOf(number));
        } else {
          // With the error of its own step, or of a record with others.
          expect([`${number}: no ${fails}`, `${number}: no record`]).toContain(outcome);
          expect([named, log.filter((line) => line === `removed ${number}`)]).toEqual([
            -1,
            [`removed ${number}`],
          ]);
        }
      }
      for (const line of log.filter((line) => line.startsWith("recorded")))
        expect(line.split(" ").length - 1).toBeLessThanOrEqual(64);
    }),
    { numRuns: repetitions(60, 1_000) },
  );
});
