import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { loadConnect } from "../../src/state/sqlite.ts";
import type { State } from "../../src/state/state.ts";
import { openState } from "../../src/state/state.ts";
import { longTest } from "../support/long-test.ts";
import { newAccount } from "../support/new-account.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { buildWorker } from "./spawn-worker.ts";

// Processes are slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const spawnWorker = buildWorker();

const openAt = (path: string): Promise<State> => openState(path, { clock: systemClock() });

/** An empty state with one account, and its folder. */
async function stateFile(): Promise<{ folder: string; path: string }> {
  const folder = temporaryFolder();
  const path = join(folder, "default.db");
  const state = await openAt(path);
  newAccount(state, "http://service.example");
  state.close();
  return { folder, path };
}

/** SQLite's own check of the entire file. */
async function integrity(path: string): Promise<unknown> {
  const db = (await loadConnect())(path);
  try {
    return db.pragma("integrity_check");
  } finally {
    db.close();
  }
}

longTest("three processes that write at once lose nothing", async () => {
  const { path } = await stateFile();
  const names = ["one", "two", "three"];
  const times = 40;
  const workers = names.map((name) => spawnWorker(path, "work", name, times));
  await Promise.all(workers.map((worker) => worker.ended));
  expect(workers.map(({ lines }) => lines.at(-1))).toEqual(["closed", "closed", "closed"]);
  const state = await openAt(path);
  onTestFinished(() => state.close());
  for (const name of names) {
    expect(state.batches.of(name).map((call) => call.state)).toEqual(Array(times).fill("settled"));
    for (let index = 0; index < times; index++) {
      expect(state.ledger.get(1, `${name}-${index}-b`)?.productId).toBe(`product-of-${name}-${index}-b`);
    }
  }
});

longTest("processes that create the same state at once all open it", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "default.db");
  const workers = Array.from({ length: 4 }, (_, index) => spawnWorker(path, "alternate", `run-${index}`, 1));
  await Promise.all(workers.map((worker) => worker.ended));
  expect(workers.map(({ lines }) => lines)).toEqual(Array(4).fill(["closed"]));
  expect(readdirSync(folder)).toEqual(["default.db"]);
});

longTest("everything reported as written exists after kill -9", async () => {
  const { path } = await stateFile();
  for (let kill = 0; kill < 48; kill++) {
    const name = `run-${kill}`;
    const worker = spawnWorker(path, "work", name, 1_000);
    await worker.said(1 + ((kill * 7) % 24));
    worker.process.kill("SIGKILL");
    await worker.ended;

    const state = await openAt(path);
    const found = state.batches.of(name).map((call) => `${call.state} ${call.index}`);
    const said = worker.lines.length;
    // Each batch is reported three times. One more step may have been written than reported.
    const after = (steps: number) =>
      Array.from({ length: Math.ceil(steps / 3) }, (_, index) => {
        const step = Math.min(steps - 3 * index, 3);
        return `${["sent", "accepted", "settled"][step - 1]} ${index}`;
      });
    expect([after(said), after(said + 1)]).toContainEqual(found);

    const last = found.length - 1;
    const isSettled = found[last] === `settled ${last}`;
    expect(state.batches.references(name, last)).toEqual(
      isSettled ? [] : [`${name}-${last}-a`, `${name}-${last}-b`],
    );
    expect(state.ledger.get(1, `${name}-${last}-b`) !== null).toBe(isSettled);
    if (found[last] === `sent ${last}`) {
      expect(Buffer.from(state.batches.body(name, last))).toEqual(Buffer.alloc(20_000, `${name} ${last} `));
    }
    state.close();
  }
  expect(await integrity(path)).toBe("ok");
});

longTest(
  "a run held by another process names its owner, and is free after that process was killed",
  async () => {
    const { folder, path } = await stateFile();
    const owner = spawnWorker(path, "keep", "identity");
    await owner.said(1);
    expect(owner.lines).toEqual(["holds"]);
    const state = await openAt(path);
    const mine = { pid: process.pid, since: 9 };
    expect(state.runs.hold(1, "identity", mine)).toEqual({
      heldBy: { pid: owner.process.pid, since: 7, file: "" },
    });
    // Another run, and the same one of another account, are free.
    for (const [account, identity] of [
      [1, "other"],
      [2, "identity"],
    ] as const) {
      expect(state.runs.hold(account, identity, mine)).not.toHaveProperty("heldBy");
    }

    owner.process.kill("SIGKILL");
    await owner.ended;
    expect(state.runs.hold(1, "identity", mine)).not.toHaveProperty("heldBy");
    state.close();
    expect(readdirSync(folder)).toEqual(["default.db"]);
  },
);

longTest("a run is never held by two processes at once, however fast they take turns", async () => {
  const { folder, path } = await stateFile();
  const workers = [1, 2, 3].map(() => spawnWorker(path, "alternate", "identity", 40));
  await Promise.all(workers.map((worker) => worker.ended));
  expect(workers.map(({ lines }) => lines)).toEqual(Array(3).fill(["closed"]));
  expect(readdirSync(folder)).toEqual(["default.db"]);
});
