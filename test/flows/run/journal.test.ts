import { describe, expect, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { Journal, renewKey, sendAgain } from "../../../src/flows/run/journal.ts";
import type { Run } from "../../../src/flows/run/run.ts";
import { tryonRun } from "../tryon-run.ts";

const hour = 3_600_000;

const cut = (reference = "A") => ({
  body: Buffer.from(`{"${reference}":1}`),
  rows: Uint32Array.of(4, 5),
  lines: Uint32Array.of(7, 8),
  references: [reference],
  memo: Buffer.from("memo"),
});

const known = { index: 0, rows: Uint32Array.of(4, 5), lines: Uint32Array.of(7, 8), bytes: 7 };

const keyReused = new ApiError({
  ...{ request: "POST", status: 422 },
  body: { type: "invalid_request", code: "idempotency_key_reused", message: "reused" },
});

/** A second run of the same kind. */
function otherRun(run: Run): Run {
  run.state.runs.begin({
    ...{ id: "other", account: run.account, kind: run.kind, identity: "j", file: "b.csv" },
    ...{ options: {}, startedAt: 2 },
  });
  return { ...run, id: "other" };
}

async function allOf(batches: AsyncGenerator<object>): Promise<object[]> {
  const all: object[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

describe("a journal", () => {
  test("records a batch with its key before it is sent, and goes on counting after a restart", async () => {
    const { run, clock } = await tryonRun();
    const now = { here: clock.now(), service: null };
    const first = new Journal(run, {}).begin(cut());
    expect(first).toEqual({
      ...known,
      body: cut().body,
      idempotencyKey: "key-1",
      keyFrom: now,
      again: false,
    });
    expect(new Journal(run, {}).begin(cut("B"))).toMatchObject({ index: 1, idempotencyKey: "key-2" });
    expect(run.state.batches.of(run.id).map(({ state, idempotencyKey }) => [state, idempotencyKey])).toEqual([
      ["sent", "key-1"],
      ["sent", "key-2"],
    ]);
  });

  test("lists accepted jobs on this machine where it is told so", async () => {
    const { run, clock } = await tryonRun();
    const listed = new Journal(run, { listedAs: { file: "a.csv", variant: "upsert", status: "queued" } });
    listed.begin(cut());
    listed.settleSending({ ...known, kind: "accepted", jobs: ["J"] });
    const plain = new Journal(run, {});
    plain.begin(cut("B"));
    plain.settleSending({ ...known, index: 1, kind: "accepted", jobs: ["K"] });
    expect(run.state.batches.of(run.id).map(({ state, jobs }) => [state, jobs])).toEqual([
      ["accepted", ["J"]],
      ["accepted", ["K"]],
    ]);
    const { kind, service, id } = run;
    expect([...run.sentJobs.list(kind, null)]).toEqual([
      {
        ...{ id: "J", kind, baseUrl: service.baseUrl, runId: id, file: "a.csv", variant: "upsert" },
        ...{ rows: 2, at: clock.now(), status: "queued" },
      },
    ]);
    expect(run.sentJobs.lines("J")).toEqual(known.lines);
  });

  test("keeps a batch without a response, notes a key that is taken, and drops one that was not sent", async () => {
    const { run } = await tryonRun();
    const journal = new Journal(run, {});
    for (const reference of ["A", "B", "C"]) journal.begin(cut(reference));
    const unknown = { ...known, kind: "unknown", error: undefined } as const;
    journal.settleSending({ ...unknown, index: 0 } as never);
    journal.settleSending({ ...unknown, index: 1, error: keyReused } as never);
    journal.settleSending({ ...known, index: 2, kind: "unsent" } as never);
    expect(run.state.batches.of(run.id).map(({ index, isKeyTaken }) => [index, isKeyTaken])).toEqual([
      [0, false],
      [1, true],
    ]);
  });

  test("rejects a row that another run has in flight, if it is guarded", async () => {
    const { run } = await tryonRun();
    new Journal(run, { guarded: true }).begin(cut());
    const other = otherRun(run);
    expect(() => new Journal(other, { guarded: true }).begin(cut())).toThrow(
      expect.objectContaining({
        ...{ type: "conflict", code: "tryon_under_way" },
        message: 'another tryon on this machine has already sent "A" and has not finished',
        hint: "Wait for the other tryon, or run its command again if it was stopped. Then run this one again.",
      }),
    );
    expect(other.state.batches.of("other")).toEqual([]);
    expect(new Journal(other, { guarded: true }).begin(cut("B")).index).toBe(0);
    expect(new Journal(other, {}).begin(cut()).index).toBe(1);
  });

  test("gives a batch another key, which is recorded", async () => {
    const { run, clock } = await tryonRun();
    const journal = new Journal(run, {});
    const batch = journal.begin(cut());
    clock.advance(hour);
    const again = journal.renew({ ...batch, again: true });
    expect(again).toMatchObject({ index: 0, idempotencyKey: "key-2", again: false });
    renewKey(run, run.state.batches.of(run.id)[0]!);
    expect(run.state.batches.of(run.id)).toMatchObject([{ idempotencyKey: "key-3", sentAt: clock.now() }]);
  });
});

describe("a batch without a response", () => {
  async function again(ageMs: number, isRepeatable: boolean, isTaken = false) {
    const { run, clock } = await tryonRun();
    const journal = new Journal(run, {});
    journal.begin(cut("B"));
    journal.settleSending({ ...known, kind: "accepted", jobs: ["J"] });
    journal.begin(cut());
    if (isTaken) run.state.batches.keyTaken(run.id, 1);
    clock.advance(ageMs);
    return { clock, sent: allOf(sendAgain(run, run.state.batches.of(run.id), { isRepeatable })) };
  }

  test("is sent again with its key and bytes while the service keeps the key", async () => {
    const { sent } = await again(23 * hour - 1, false);
    expect(await sent).toMatchObject([{ index: 1, body: cut().body, idempotencyKey: "key-2", again: true }]);
  });

  test("is not sent again after 23 hours, as it could be carried out twice", async () => {
    const { sent } = await again(23 * hour, false);
    await expect(sent).rejects.toMatchObject({
      type: "timeout",
      code: "key_expired",
      message: "a request without a response was not sent again: its idempotency key has expired meanwhile",
      hint: "Run the same command again. Check the clocks if it happens again.",
    });
  });

  test("is sent again at any time if it may be carried out twice, with another key if its own is taken", async () => {
    const old = await again(48 * hour, true);
    expect(await old.sent).toMatchObject([{ idempotencyKey: "key-2", keyFrom: { here: old.clock.now() } }]);
    const taken = await again(hour, true, true);
    expect(await taken.sent).toMatchObject([{ idempotencyKey: "key-3", again: true }]);
  });
});
