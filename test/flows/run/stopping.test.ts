import { describe, expect, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { sendBatches } from "../../../src/flows/run/send.ts";
import { NetworkError } from "../../../src/http/errors.ts";
import { nowBatchesOf } from "../import/batch-rows.ts";
import { importWorld, withCreate } from "../import/run-import.ts";
import { tryonRun } from "../tryon-run.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => `R-${index},Dress,${cdn}/${index}.jpg\n`).join("");
const codes = (failed: string) =>
  failed
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",")[3]);

describe("an interrupt", () => {
  /** Interrupts while the first batch is in flight, whose response then takes `ms`. */
  async function interruptedCall(ms: number) {
    const world = await importWorld();
    await world.write("a.csv", head + rows(3));
    const interrupt = new AbortController();
    const reason = new Error("interrupted");
    const ran = await world.import(
      "a.csv",
      {},
      (client) =>
        withCreate(client, async (input, options) => {
          const answer = await client.imports.create(input, options);
          interrupt.abort(reason);
          await world.clock.sleep(ms, options?.signal);
          return answer;
        }),
      interrupt.signal,
    );
    return { ...ran, world, reason };
  }

  test("gives a batch in flight time to finish", async () => {
    const { sent, summary, stopped, reason } = await interruptedCall(2_900);
    expect(sent.map(({ kind }) => kind)).toEqual(["accepted"]);
    expect(summary).toMatchObject({ submitted: 3 });
    expect(stopped).toBe(reason);
  });

  test("waits no more than three seconds, and then its outcome is unknown", async () => {
    const { sent, summary, stopped, reason, world } = await interruptedCall(3_100);
    expect(sent.map(({ kind }) => kind)).toEqual(["unknown"]);
    expect(summary).toMatchObject({ submitted: 0, unknown: [{ first_line: 2, last_line: 4, rows: 3 }] });
    expect(stopped).toBe(reason);
    expect(await world.files()).toEqual(["a.csv"]);
  });

  test("is the reported reason, whatever failed because of it", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(3));
    const interrupt = new AbortController();
    const reason = new Error("interrupted");
    const { stopped } = await world.import(
      "a.csv",
      { concurrency: 1 },
      (client) =>
        withCreate(client, async () => {
          interrupt.abort(reason);
          throw new NetworkError("the line is dead", { code: "ECONNRESET", transient: true });
        }),
      interrupt.signal,
    );
    expect(stopped).toBe(reason);
  });

  test("leaves batches that wait for the rate limit window unsent, and puts piped rows in the failed file", async () => {
    nowBatchesOf(20);
    const world = await importWorld({ rateLimit: { reads: 600, writes: 2 } });
    await world.write("a.csv", head + rows(101));
    const interrupt = new AbortController();
    // The window allows two; the others wait for the next minute when the interrupt comes.
    const calls = { begun: 0, ended: 0 };
    const interruptOnce = () => {
      if (calls.begun >= 4 && calls.ended === 2) interrupt.abort(new Error("interrupted"));
    };
    world.clock.isIdle = () => interrupt.signal.aborted;
    const ran = await world.import(
      "a.csv",
      { wait: false, concurrency: 4, piped: true },
      (client) =>
        withCreate(client, async (...args) => {
          calls.begun++;
          const answer = client.imports.create(...args);
          interruptOnce();
          await answer;
          calls.ended++;
          interruptOnce();
          return answer;
        }),
      interrupt.signal,
    );
    const [first, second, ...others] = ran.sent.map(({ kind }) => kind);
    expect([first, second, new Set(others)]).toEqual(["accepted", "accepted", new Set(["unsent"])]);
    expect(ran.summary).toMatchObject({ submitted: 40, failed_file: "failed" });
    expect(ran.summary?.unknown).toBeUndefined();
    expect(codes(await world.read("failed"))).toEqual(Array.from({ length: 61 }, () => "not_sent"));
  });
});

test("no row reaches an unreachable service, so the outcome is certain", async () => {
  const world = await importWorld();
  await world.write("a.csv", head + rows(2));
  await world.mock.stop();
  const { sent, summary, stopped } = await world.import("a.csv");
  expect(stopped).toMatchObject({ type: "network", code: "unreachable" });
  expect(sent).toEqual([]);
  expect(summary?.unknown).toBeUndefined();
  // The same command sends them; piped rows are stored nowhere else.
  expect(await world.files()).toEqual(["a.csv"]);
  await world.import("a.csv", { piped: true });
  expect(codes(await world.read("failed"))).toEqual(["not_sent", "not_sent"]);
});

test("an internal error leaves the outcome of the batch unknown, and its rows are reported", async () => {
  const world = await importWorld();
  await world.write("a.csv", head + rows(2));
  const fault = new TypeError("a fault");
  const { summary, stopped } = await world.import("a.csv", {}, (client) =>
    withCreate(client, async () => {
      throw fault;
    }),
  );
  expect(stopped).toBe(fault);
  expect(summary).toMatchObject({ unknown: [{ first_line: 2, last_line: 3, rows: 2 }] });
});

test("a batch that was cut while another one was rejected is not sent", async () => {
  const world = await importWorld();
  await world.write("a.csv", head + rows(8001));
  let calls = 0;
  await world.import("a.csv", { concurrency: 2 }, (client) =>
    withCreate(client, async () => {
      calls++;
      const body = { type: "payment_required", code: "insufficient_credits", message: "no" };
      throw new ApiError({ request: "POST /v1/imports", status: 402, body });
    }),
  );
  expect(calls).toBe(1);
});

test("an interrupt while a batch is cut keeps it from being sent", async () => {
  const interrupt = new AbortController();
  const reason = new Error("interrupted");
  const calls = (async function* () {
    interrupt.abort(reason);
    const [body, rows, lines] = [Buffer.from("{}\n"), Uint32Array.of(0), Uint32Array.of(2)];
    const key = { idempotencyKey: "key", keyFrom: { here: 0, service: null } };
    yield { ...{ index: 0, body, rows, lines, bytes: 3, ...key }, again: false };
  })();
  const { mock, run } = await tryonRun();
  const sending = { operation: undefined as never, onAccepted: () => {} };
  const { sent, stopped } = await sendBatches({ ...run, signal: interrupt.signal }, calls, sending);
  expect([sent, stopped]).toEqual([[], reason]);
  expect(mock.requests()).toEqual([]);
});
