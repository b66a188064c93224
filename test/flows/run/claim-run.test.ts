import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CatError } from "../../../src/errors.ts";
import { claimRun } from "../../../src/flows/run/run.ts";
import type { StoredRun } from "../../../src/state/runs.ts";
import { openState } from "../../../src/state/state.ts";
import { newAccount } from "../../support/new-account.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TestClock } from "../../support/test-clock.ts";

/** Two processes with one state; the first one has begun and holds a run. */
async function twoProcesses() {
  const path = join(temporaryFolder(), "state.db");
  const clock = new TestClock();
  const open = async () => {
    const state = await openState(path, { clock });
    onTestFinished(() => state.close());
    return state;
  };
  const [first, second] = [await open(), await open()];
  const account = newAccount(first, "https://api.example.com");
  const run = (id: string): StoredRun => ({
    ...{ id, account, kind: "tryon", identity: "same", file: "looks.csv", options: {}, startedAt: 1 },
  });
  const { hold } = claimRun(run("first"), { pid: 1, once: true }, first);
  const claim = (once: boolean) => claimRun(run("second"), { pid: 2, once }, second);
  return { first, second, hold, claim };
}

describe("a command that starts in the moment in which the same one ends", () => {
  /** The first process ends its run before the second one asks for the hold. */
  async function endingFirst() {
    const { first, second, hold, claim } = await twoProcesses();
    const take = second.runs.hold;
    second.runs.hold = (...asked) => {
      first.runs.end("first", 2);
      hold.release();
      return take(...asked);
    };
    return { second, claim };
  }

  test("finds the run finished, and begins none", async () => {
    const { second, claim } = await endingFirst();
    expect(claim(true)).toMatchObject({ begun: null, finished: { id: "first" }, open: { id: "first" } });
    expect(second.runs.get("second")).toBe(null);
  });

  test("begins another run of a kind that is repeated", async () => {
    const { second, claim } = await endingFirst();
    expect(claim(false)).toMatchObject({ begun: null, finished: null, open: { id: "second" } });
    expect(second.runs.get("second")).not.toBe(null);
  });
});

test("a finished run is read while another process reads it", async () => {
  const { first, claim } = await twoProcesses();
  first.runs.end("first", 2);
  const { finished, hold } = claim(true);
  expect(finished).toMatchObject({ id: "first" });
  hold.release();
});

test("a run that another process works on is rejected", async () => {
  const { claim } = await twoProcesses();
  for (const once of [true, false]) {
    const rejected = { code: "run_alive", type: "conflict" };
    expect(() => claim(once)).toThrow(expect.objectContaining(rejected) as unknown as CatError);
  }
});
