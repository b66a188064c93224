import { describe, expect, test } from "vitest";
import { sendBatches } from "../../../src/flows/run/send.ts";
import { refusal } from "../../http/scripted-server.ts";
import { until } from "../../support/until.ts";
import { nowBatchesOf } from "../import/batch-rows.ts";
import { afterBatch, type By, importWorld, isBatch, onBatch } from "../import/run-import.ts";
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
    const slow = afterBatch(1, () => {
      world.interrupt();
      setImmediate(() => world.clock.advance(ms));
      return new Promise<void>((resolve) => void world.clock.at(world.clock.now() + ms, resolve));
    });
    return { ...(await world.import("a.csv", {}, slow)), world };
  }

  test("gives a batch in flight time to finish", async () => {
    const { summary, stopped } = await interruptedCall(2_900);
    expect(summary).toMatchObject({ submitted: 3 });
    expect(stopped).toMatchObject({ type: "interrupted" });
  });

  test("waits no more than three seconds, and then its outcome is unknown", async () => {
    const { summary, stopped, world } = await interruptedCall(3_100);
    expect(summary).toMatchObject({ submitted: 0, unknown: [{ first_line: 2, last_line: 4, rows: 3 }] });
    expect(stopped).toMatchObject({ type: "interrupted" });
    expect(await world.files()).toEqual(["a.csv"]);
  });

  test("is the reported reason, whatever failed because of it", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(3));
    const { stopped } = await world.import(
      "a.csv",
      { concurrency: 1 },
      onBatch(1, () => {
        world.interrupt();
        return (response) => response.destroy();
      }),
    );
    expect(stopped).toMatchObject({ type: "interrupted" });
  });

  test("leaves batches that wait for the rate limit window unsent, and puts piped rows in the failed file", async () => {
    nowBatchesOf(20);
    const world = await importWorld({ rateLimit: { reads: 600, writes: 2 } });
    await world.write("a.csv", head + rows(101));
    // The window allows two; the others wait for the next minute when the interrupt comes.
    let isStopped = false;
    world.clock.isIdle = () => isStopped;
    const recorded = async () => {
      const { runs, batches } = await world.stateOf();
      const [run] = runs.ofKind("import");
      await until(() => batches.of(run!.id).length >= 4);
      isStopped = true;
      world.interrupt();
    };
    const ran = await world.import(
      "a.csv",
      { wait: false, concurrency: 4 },
      { piped: true, ...afterBatch(2, recorded) },
    );
    expect(ran.summary).toMatchObject({ submitted: 40, failed_file: "stdin.failed.csv" });
    expect(ran.summary?.unknown).toBeUndefined();
    expect(codes(await world.failed())).toEqual(Array.from({ length: 61 }, () => "not_sent"));
  });
});

test("no row reaches an unreachable service, so the outcome is certain", async () => {
  const world = await importWorld({ isDirect: true });
  await world.write("a.csv", head + rows(2));
  await world.mock.stop();
  const { summary, stopped } = await world.import("a.csv");
  expect(stopped).toMatchObject({ type: "network", code: "unreachable" });
  expect(summary?.unknown).toBeUndefined();
  // The same command sends them; piped rows are stored nowhere else.
  expect(await world.files()).toEqual(["a.csv"]);
  await world.import("a.csv", {}, { piped: true });
  expect(codes(await world.failed())).toEqual(["not_sent", "not_sent"]);
});

test("a batch that was cut while another one was rejected is not sent", async () => {
  nowBatchesOf(2);
  const world = await importWorld();
  await world.write("a.csv", head + rows(9));
  const judge: By["judge"] = (request) => (isBatch(request) ? refusal(402, "insufficient_credits") : null);
  await world.import("a.csv", { concurrency: 2 }, { judge });
  expect(world.requestsTo("/v1/imports")).toHaveLength(1);
});

/** Batches of one row each, which are sent to nobody. */
const cutBatch = (index: number) => {
  const [body, rows, lines] = [Buffer.from("{}\n"), Uint32Array.of(index), Uint32Array.of(index + 2)];
  const key = { idempotencyKey: `key-${index}`, keyFrom: { here: 0, service: null } };
  return { ...{ index, body, rows, lines, bytes: 3, ...key }, again: false };
};

test("an internal error leaves the outcome of the batch unknown, and its rows are reported", async () => {
  const { run } = await tryonRun();
  const fault = new TypeError("a fault");
  const batches = (async function* () {
    yield cutBatch(0);
  })();
  const operation = { send: () => Promise.reject(fault) } as never;
  const { sent, stopped } = await sendBatches(run, batches, { operation, onAccepted: () => {} });
  expect(stopped).toBe(fault);
  expect(sent).toMatchObject([{ kind: "unknown", lines: Uint32Array.of(2) }]);
});

test("an interrupt while a batch is cut keeps it from being sent", async () => {
  const interrupt = new AbortController();
  const reason = new Error("interrupted");
  const calls = (async function* () {
    interrupt.abort(reason);
    yield cutBatch(0);
  })();
  const { mock, run } = await tryonRun();
  const sending = { operation: undefined as never, onAccepted: () => {} };
  const { sent, stopped } = await sendBatches({ ...run, signal: interrupt.signal }, calls, sending);
  expect([sent, stopped]).toEqual([[], reason]);
  expect(mock.requests()).toEqual([]);
});
