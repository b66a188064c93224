import { onTestFinished } from "vitest";
import { createClient } from "../../src/client/client.ts";
import type { Run } from "../../src/flows/run/run.ts";
import type { Service } from "../../src/flows/service.ts";
import { startMock } from "../../src/mock/index.ts";
import { openState } from "../../src/state/state.ts";
import { newAccount } from "../support/new-account.ts";
import { TestClock } from "../support/test-clock.ts";

/** A mock with two products, and a run of kind `tryon` on a state in memory. */
export async function tryonRun() {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, demo: 2, rateLimit: false });
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock, random: () => 0.5 });
  const state = await openState(null, { clock });
  onTestFinished(async () => {
    state.close();
    await client.close();
    await mock.stop();
  });
  const account = newAccount(state, mock.baseUrl);
  const [id, kind] = ["run", "tryon"];
  state.runs.begin({ id, account, kind, identity: "i", file: "looks.csv", options: {}, startedAt: 1 });
  const identity = { baseUrl: mock.baseUrl, keyFingerprint: "print" };
  let keys = 0;
  const { signal } = new AbortController();
  const service: Service = { client, clock, signal, newKey: () => `key-${++keys}`, concurrency: 2 };
  const run: Run = {
    ...service,
    state,
    sentJobs: state.sentJobs,
    service: identity,
    account,
    id,
    kind,
    options: {},
    begunAt: null,
    isFinished: false,
    isRepeated: false,
  };
  return { mock, client, clock, state, run };
}
