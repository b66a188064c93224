import { describe, expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { BatchOperation, CutBatch } from "../../../src/flows/run/batch.ts";
import { sendAgain } from "../../../src/flows/run/journal.ts";
import { sendBatches } from "../../../src/flows/run/send.ts";
import { tryonRun } from "../tryon-run.ts";

/** POST /v1/tasks/tryon: a task per row, problems by `input_index`. */
const tryons = (client: Client): BatchOperation => ({
  isRepeatable: false,
  async send(json, options) {
    const { tasks } = await client.tasks.tryon({ json }, options);
    return { jobs: tasks.map(({ id }) => id), createdAt: Date.parse(tasks[0]!.created_at) };
  },
  toRow: ({ input_index }) => input_index ?? null,
});

/** A mock, a run of kind `tryon` on a state in memory, and rows on lines 2, 3 and so on. */
async function tryonWorld() {
  const { mock, client, clock, state, run } = await tryonRun();
  const product_id = (await client.products.list({ limit: 1 })).data[0]!.id;
  const model_id = (await client.models.list({ limit: 1 })).data[0]!.id;
  const cut = (first: number, backgrounds: readonly string[]): CutBatch => ({
    body: Buffer.from(
      JSON.stringify({
        inputs: backgrounds.map((background) => ({
          product_id,
          model_id,
          background,
          angle_shot: "full-front",
        })),
      }),
    ),
    rows: Uint32Array.from(backgrounds, (_, at) => first + at),
    lines: Uint32Array.from(backgrounds, (_, at) => first + at + 2),
    references: backgrounds.map((_, at) => `row ${first + at}`),
    memo: new Uint8Array(),
  });
  return {
    mock,
    state,
    cut,
    /**
     * `sleepMs` is how long the machine sleeps between the check of a key and its sending; `cutBytes` are lost at the end of each
     * body on its way.
     */
    async send(batches: readonly CutBatch[], sleepMs = 0, cutBytes = 0) {
      async function* all() {
        yield* sendAgain(run, state.batches.of(run.id), { isRepeatable: false });
        yield* batches;
      }
      return sendBatches(run, all(), {
        operation: {
          ...tryons(client),
          send(body, options) {
            clock.advance(sleepMs);
            return tryons(client).send(body.subarray(0, body.length - cutBytes), options);
          },
        },
        guarded: true,
        onAccepted: () => {},
      });
    },
    tasks: async () => (await client.tasks.list({ limit: 100 })).data.map(({ id }) => id).sort(),
    fault: (order: object) =>
      fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) }),
  };
}

test("a try-on run keeps a task for each row, in order, and records neither jobs to list nor a change of products", async () => {
  const world = await tryonWorld();
  const { sent, stopped } = await world.send([world.cut(0, ["white", "beige"]), world.cut(2, ["black"])]);
  expect(stopped).toBe(undefined);
  expect(sent.map(({ kind, lines }) => [kind, [...lines]])).toEqual([
    ["accepted", [2, 3]],
    ["accepted", [4]],
  ]);
  const stored = world.state.batches.of("run");
  expect(stored.map(({ state, jobs }) => [state, jobs.length])).toEqual([
    ["accepted", 2],
    ["accepted", 1],
  ]);
  expect(stored.flatMap(({ jobs }) => jobs).sort()).toEqual(await world.tasks());
  expect([...world.state.sentJobs.list("tryon", null)]).toEqual([]);
  expect(world.state.runs.lastWriter(1)).toBe(null);
});

test("a try-on run reports the service's problems by the line of each input, and queues nothing of that batch", async () => {
  const world = await tryonWorld();
  const { sent } = await world.send([world.cut(0, ["white", "floor", "nowhere"])]);
  expect(sent).toMatchObject([{ kind: "rejected", problems: [{ line: 3 }, { line: 4 }] }]);
  expect(await world.tasks()).toEqual([]);
  expect(world.state.batches.of("run")).toEqual([]);
});

test("repeats a batch whose response was lost with its bytes and key: nothing is queued twice", async () => {
  const world = await tryonWorld();
  await world.fault({ match: { method: "POST", path: "/v1/tasks/tryon" }, drop: "after" });
  const lost = await world.send([world.cut(0, ["white", "beige"])]);
  expect(lost.sent).toMatchObject([{ kind: "unknown" }]);
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
  const { sent } = await world.send([]);
  expect(sent).toMatchObject([{ kind: "accepted" }]);
  expect(await world.tasks()).toHaveLength(2);
});

test("a try-on run keeps the key of a batch that the service has had with another body: the connection damaged it", async () => {
  const world = await tryonWorld();
  await world.fault({ match: { method: "POST", path: "/v1/tasks/tryon" }, drop: "after" });
  await world.send([world.cut(0, ["white", "beige"])]);
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
  const damaged = await world.send([], 0, 3);
  expect(damaged.sent).toMatchObject([{ kind: "unknown", error: { code: "idempotency_key_reused" } }]);
  expect((await world.send([])).sent).toMatchObject([{ kind: "accepted" }]);
  expect(await world.tasks()).toHaveLength(2);
});

describe("a machine that sleeps for a day while a batch waits", () => {
  const day = 24 * 3_600_000;

  test("sends nothing with a key that the service has forgotten", async () => {
    const world = await tryonWorld();
    await world.fault({ match: { method: "POST", path: "/v1/tasks/tryon" }, drop: "after" });
    await world.send([world.cut(0, ["white", "beige"])]);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    const { sent, stopped } = await world.send([], day);
    expect(sent).toMatchObject([{ kind: "unknown" }]);
    expect(stopped).toMatchObject({ code: "key_expired", hint: "Run the same command again." });
    expect(await world.tasks()).toHaveLength(2);
    expect(world.state.batches.of("run")).toMatchObject([{ state: "sent" }]);
  });

  test("leaves a batch that was never sent to the same command", async () => {
    const world = await tryonWorld();
    const { sent } = await world.send([world.cut(0, ["white"])], day);
    expect(sent).toMatchObject([{ kind: "unsent", error: { code: "key_expired" } }]);
    expect(await world.tasks()).toEqual([]);
    expect(world.state.batches.of("run")).toEqual([]);
    expect((await world.send([world.cut(0, ["white"])])).sent).toMatchObject([{ kind: "accepted" }]);
  });
});
