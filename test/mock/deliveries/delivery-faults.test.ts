import { expect, test } from "vitest";
import { verifyWebhook } from "../../../src/client/verify-webhook.ts";
import { until } from "../../support/until.ts";
import { startReceiver } from "../receiver.ts";
import { firstAt, hour, iso, minute, worldWithHook } from "../world-with-hook.ts";

/** A webhook, and a fault on the deliveries of any event. */
async function faultyHook(fault: object, url: string) {
  const world = await worldWithHook(url);
  const match = { event: "any" };
  const { status } = await world.send("/_mock/faults", { json: { match, ...fault }, key: null });
  expect(status).toBe(200);
  const attempts = () =>
    world.mock.deliveries().map((one) => one.attempts.map(({ status, error }) => status ?? error));
  return { ...world, attempts };
}

test("duplicate copies arrive at once with one event ID; one accepted copy is enough", async () => {
  const { url, received } = await startReceiver(500, 200, 500);
  const { runImport, attempts, mock } = await faultyHook({ times: 1, duplicate: 2 }, url);
  await runImport();
  expect([new Set(received.map(({ body }) => body.id)).size, received.length]).toEqual([1, 3]);
  expect(attempts().map((codes) => codes.toSorted())).toEqual([[200, 500, 500]]);
  expect(mock.deliveries()).toMatchObject([{ state: "delivered", next_attempt_at: null }]);
  await runImport();
  expect(received).toHaveLength(4);
});

test("rejected duplicates are retried as one delivery", async () => {
  const { url, received } = await startReceiver(500, 500, 200);
  const { runImport, advance, mock } = await faultyHook({ times: 1, duplicate: 1 }, url);
  await runImport();
  expect(mock.deliveries()).toMatchObject([{ state: "pending", next_attempt_at: iso(firstAt + minute) }]);
  await advance(minute);
  expect([received.length, mock.deliveries()[0]!.state]).toEqual([3, "delivered"]);
});

test("a late delivery is sent after the delay, signed with that time", async () => {
  const { url, received } = await startReceiver();
  const { runImport, advance, mock, webhook } = await faultyHook({ times: 1, delay_ms: 2 * hour }, url);
  await runImport();
  expect(mock.deliveries()).toMatchObject([
    { state: "pending", attempts: [], next_attempt_at: iso(firstAt + 2 * hour) },
  ]);
  await advance(2 * hour - 1);
  expect(received).toEqual([]);
  await advance(1);
  expect(mock.deliveries()).toMatchObject([
    { state: "delivered", attempts: [{ at: iso(firstAt + 2 * hour), status: 200 }] },
  ]);
  const [{ headers, raw }] = received as [(typeof received)[0]];
  const header = headers["service-signature"] as string;
  const input = { header, rawBody: raw, secret: webhook.signing_secret, now: firstAt + 2 * hour };
  expect(verifyWebhook(input).type).toBe("import.completed");
});

test("a reordered delivery comes after the next one of its webhook", async () => {
  const { url, received } = await startReceiver();
  const { runImport, mock } = await faultyHook({ times: 1, reorder: 1 }, url);
  const first = await runImport();
  expect(received).toEqual([]);
  const second = await runImport();
  await mock.settled();
  expect(received.map(({ body }) => body.data.import.id)).toEqual([second, first]);
  expect(mock.deliveries().map(({ state }) => state)).toEqual(["delivered", "delivered"]);
});

test("a reordered delivery counts only attempts of its webhook, and comes once", async () => {
  const [one, other] = [await startReceiver(500, 200), await startReceiver()];
  const { runImport, register, webhook, mock, send, advance } = await worldWithHook(one.url);
  await register({ url: other.url });
  const match = { event: "import.completed", webhook_id: webhook.id };
  await send("/_mock/faults", { json: { match, times: 1, reorder: 2 }, key: null });
  const [a, b] = [await runImport(), await runImport()];
  const ids = (received: typeof one.received) => received.map(({ body }) => body.data.import.id);
  expect([ids(one.received), ids(other.received)]).toEqual([[b], [a, b]]);
  const c = await runImport();
  await mock.settled();
  expect(ids(one.received)).toEqual([b, c, a]);
  // The retry of the second.
  await advance(hour);
  expect(ids(one.received)).toEqual([b, c, a, b]);
});

test("a reordered delivery without a later one comes after a minute, and is retried on schedule", async () => {
  const { url, received } = await startReceiver(500, 200);
  const { runImport, advance, mock } = await faultyHook({ times: 1, reorder: 1 }, url);
  await runImport();
  await advance(minute - 1);
  expect(received).toEqual([]);
  await advance(1);
  expect([received.length, mock.deliveries()[0]!.next_attempt_at]).toEqual([1, iso(firstAt + 2 * minute)]);
  await advance(hour);
  expect([received.length, mock.deliveries()[0]!.state]).toEqual([2, "delivered"]);
});

test.each([
  ["wrong", "mismatch"],
  ["missing", "missing"],
  ["old", "out_of_tolerance"],
])("the %s signature is sent, and recorded as sent; the retry is signed well", async (signature, reason) => {
  const { url, received } = await startReceiver(400, 200);
  const { runImport, advance, mock, webhook } = await faultyHook({ times: 1, signature }, url);
  await runImport();
  await advance(minute);
  const reasons = received.map(({ headers, raw }, at) => {
    const header = headers["service-signature"] as string | undefined;
    expect(mock.deliveries()[0]!.attempts[at]!.signature).toBe(header ?? "");
    const now = firstAt + at * minute;
    try {
      verifyWebhook({ header: header ?? "", rawBody: raw, secret: webhook.signing_secret, now });
      return "valid";
    } catch (error) {
      return (error as { reason: string }).reason;
    }
  });
  expect(reasons).toEqual([reason, "valid"]);
  expect(mock.deliveries()[0]!.state).toBe("delivered");
});

test.each([0, 1, 40])("a delivery that is cut after %d bytes is retried completely", async (truncate) => {
  const { createServer } = await import("node:http");
  const got: { text: string; complete: boolean; length: number }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("close", () =>
      got.push({
        text: Buffer.concat(chunks).toString(),
        complete: request.complete,
        length: Number(request.headers["content-length"]),
      }),
    );
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const { runImport, advance, mock, attempts } = await faultyHook(
    { times: 1, truncate },
    `http://127.0.0.1:${port}/`,
  );
  await runImport();
  expect(attempts()).toEqual([["connection_lost"]]);
  await advance(minute);
  await until(() => got.length === 2);
  server.close();
  const whole = JSON.stringify(mock.deliveries()[0]!.event);
  expect(got).toEqual([
    { text: whole.slice(0, truncate), complete: false, length: whole.length },
    { text: whole, complete: true, length: whole.length },
  ]);
  expect(attempts()).toEqual([["connection_lost", 200]]);
});

test.each([
  ["before", 0],
  ["after", 1],
])("a delivery that is dropped %s it arrives is retried", async (drop, arrived) => {
  const { url, received } = await startReceiver();
  const { runImport, advance, attempts } = await faultyHook({ times: 1, drop }, url);
  await runImport();
  expect([received.length, attempts()]).toEqual([arrived, [["connection_lost"]]]);
  await advance(minute);
  expect([received.length, attempts()]).toEqual([arrived + 1, [["connection_lost", 200]]]);
});

test("a sequence is one of attempts, and a delay adds to another fault", async () => {
  const { url, received } = await startReceiver(400, 400, 200);
  const sequence = [{ signature: "missing" }, {}, { delay_ms: minute }];
  const { runImport, advance, attempts, send, mock } = await faultyHook({ sequence }, url);
  await send("/_mock/faults", {
    json: { match: { event: "import.completed" }, skip: 1, times: 1, signature: "missing" },
    key: null,
  });
  await runImport();
  await advance(minute);
  await advance(5 * minute);
  expect(received.map(({ headers }) => headers["service-signature"] === undefined)).toEqual([true, false]);
  await advance(minute);
  expect(received.map(({ headers }) => headers["service-signature"] === undefined)).toEqual([
    ...[true, false, true],
  ]);
  expect([attempts(), mock.verify()]).toEqual([[[400, 400, 200]], undefined]);
});

test("faults of requests, other events and other webhooks do not act; a resend is never affected", async () => {
  const { url, received } = await startReceiver();
  const { runImport, send, mock } = await worldWithHook(url);
  mock.faults.add({ match: { event: "task.failed" }, drop: "before" });
  mock.faults.add({ match: { event: "any", webhook_id: "x" }, drop: "before" });
  await runImport();
  expect(received).toHaveLength(1);
  mock.faults.add({ match: { event: "any" }, drop: "before" });
  await mock.deliveries.resend(mock.deliveries()[0]!.id);
  expect([received.length, mock.faults.list().map(({ acted }) => acted)]).toEqual([2, [0, 0, 0]]);
  mock.faults.add({ match: { method: "GET", path: "/v1/models" }, status: 503 });
  expect((await send("/v1/models")).status).toBe(503);
});

test("a state that is saved while a fault puts a delivery off loses nothing and sends it once", async () => {
  for (const fault of [{ reorder: 1 }, { delay_ms: minute }]) {
    const { url, received } = await startReceiver();
    const first = await faultyHook(fault, url);
    await first.runImport();
    const state = JSON.stringify(first.mock.state());
    const load = await first.send("/_mock/state", { method: "PUT", body: state, key: null });
    expect([load.status, received.length]).toEqual([200, 0]);
    first.mock.faults.clear();
    await first.advance(hour);
    await first.runImport();
    expect(received).toHaveLength(2);
    // A reset forgets both.
    await first.mock.reset();
    await first.advance(hour);
    expect(received).toHaveLength(2);
  }
});

test("a held delivery of a webhook that is deleted or paused is not sent", async () => {
  for (const change of ["deleted", "paused"]) {
    const { url, received } = await startReceiver();
    const { runImport, send, path, patch, advance } = await faultyHook({ times: 1, reorder: 1 }, url);
    await runImport();
    if (change === "paused") await patch({ status: "paused" });
    else await send(path, { method: "DELETE" });
    await advance(hour);
    expect(received).toEqual([]);
  }
});
