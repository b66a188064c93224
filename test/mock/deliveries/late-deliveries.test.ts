import type { ServerResponse } from "node:http";
import { setTimeout as realWait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { signDelivery } from "../../../src/contract/signature.ts";
import { until } from "../../support/until.ts";
import { publicAddress, startOutside } from "../outside.ts";
import { startReceiver } from "../receiver.ts";
import { monday, row, startWorld } from "../world.ts";
import { day, firstAt, hour, iso, minute, worldWithHook } from "../world-with-hook.ts";

const timesOf = ({ attempts }: { attempts: readonly { at: string }[] }) => attempts.map(({ at }) => at);

describe("long overdue deliveries", () => {
  test("are tried once after a state is loaded a day later, and continue from there", async () => {
    const { received, url } = await startReceiver(500);
    const first = await worldWithHook(url);
    for (let event = 0; event < 5; event++) await first.runImport();
    const state = first.mock.state();
    await first.mock.stop();
    expect(received).toHaveLength(5);
    const later = monday + day;
    const { mock, send } = await startWorld({ clock: new MovableClock({ frozenAt: later }) });
    await send("/_mock/state", { method: "PUT", json: state, key: null });
    await mock.settled();
    expect(received).toHaveLength(10);
    const before = mock.deliveries();
    expect(before.map(({ state }) => state)).toEqual(Array(5).fill("pending"));
    expect(before.map(({ next_attempt_at }) => next_attempt_at)).toEqual(
      Array(5).fill(iso(later + 5 * minute)),
    );
    await send("/_mock/clock", { json: { advance_ms: hour }, key: null });
    expect(timesOf(mock.deliveries()[0]!)).toEqual([
      iso(firstAt),
      ...[0, 5 * minute, 20 * minute].map((after) => iso(later + after)),
    ]);
    expect((await send("/v1/webhooks")).body.data).toMatchObject([{ status: "active" }]);
  });

  test("are tried once after code moves the clock, and continue from there", async () => {
    const { received, url } = await startReceiver(500);
    const { mock, clock, runImport, advance, status } = await worldWithHook(url);
    for (let event = 0; event < 5; event++) await runImport();
    clock.advance(8 * hour);
    await mock.settled();
    const now = clock.now();
    // The retry after one minute was on time; the next one was not.
    expect(received).toHaveLength(15);
    const last = mock.deliveries()[4]!;
    expect(timesOf(last).slice(1)).toEqual([iso(now - 8 * hour + minute), iso(now)]);
    expect(last.next_attempt_at).toBe(iso(now + 15 * minute));
    await advance(15 * minute);
    expect([received.length, await status()]).toEqual([20, "active"]);
  });

  test("are skipped for a paused webhook, each at its time", async () => {
    const { received, url } = await startReceiver(500);
    const { mock, clock, runImport, patch, advance } = await worldWithHook(url);
    await runImport();
    await patch({ status: "paused" });
    clock.advance(hour);
    await mock.settled();
    expect(mock.deliveries()).toMatchObject([{ next_attempt_at: iso(firstAt + 81 * minute) }]);
    await patch({ status: "active" });
    await advance(hour);
    expect(received).toHaveLength(2);
  });
});

test("an attempt in flight when the state is saved is made again: at least once", async () => {
  const { received, url } = await startReceiver(() => {}, 200);
  const first = await worldWithHook(url);
  await first.importRows([row("A")]);
  first.mock.clock.advance(1_010);
  await until(() => received.length === 1);
  const state = first.mock.state();
  await first.mock.stop();
  const { mock } = await startWorld({ state });
  await mock.settled();
  expect(mock.deliveries()).toMatchObject([{ state: "delivered", attempts: [{ status: 200 }] }]);
  expect(received).toHaveLength(2);
  expect(received[1]!.raw.equals(received[0]!.raw)).toBe(true);
});

/** A mock with this many events in flight to a handler that responds on demand. */
async function crowd(events: number) {
  const open: ServerResponse[] = [];
  const { received, url } = await startReceiver((response) => void open.push(response));
  const world = await worldWithHook(url);
  for (let event = 0; event < events; event++) await world.importRows([row(`A${event}`)]);
  world.clock.advance(1_010);
  await until(() => received.length >= 16);
  await realWait(20);
  const answer = (status: number) => {
    for (const response of open.splice(0)) response.writeHead(status).end();
  };
  return { ...world, received, answer };
}

describe("many simultaneous events", () => {
  test("go to one webhook 16 at a time", async () => {
    const { received, answer, mock } = await crowd(20);
    expect(received).toHaveLength(16);
    answer(200);
    await until(() => received.length === 20);
    answer(200);
    await mock.settled();
    expect(mock.deliveries().map(({ state }) => state)).toEqual(Array(20).fill("delivered"));
  });

  test("are not sent from the queue after the webhook is deleted", async () => {
    const { received, answer, mock, send, path } = await crowd(20);
    await send(path, { method: "DELETE" });
    answer(500);
    await mock.settled();
    expect(received).toHaveLength(16);
    expect(mock.deliveries().map(({ state }) => state)).toEqual(Array(20).fill("abandoned"));
  });

  test("are not sent from the queue after the webhook is paused, but their next retry is", async () => {
    const { received, answer, mock, patch, clock } = await crowd(18);
    await patch({ status: "paused" });
    answer(200);
    await mock.settled();
    expect(received).toHaveLength(16);
    const rest = mock.deliveries().slice(16);
    expect(rest).toMatchObject(
      Array(2).fill({ state: "pending", attempts: [], next_attempt_at: iso(firstAt + minute) }),
    );
    await patch({ status: "active" });
    clock.advance(minute);
    await until(() => received.length === 18);
    answer(200);
    await mock.settled();
    expect(mock.deliveries().map(({ state }) => state)).toEqual(Array(18).fill("delivered"));
  });

  test("queue a resend too, which is rejected if the webhook is deleted meanwhile", async () => {
    const { answer, mock, send, path } = await crowd(16);
    const { id } = mock.deliveries()[0]!;
    const resent = send(`/_mock/deliveries/${id}/resend`, { method: "POST", key: null });
    await realWait(20);
    await send(path, { method: "DELETE" });
    answer(500);
    expect(await resent).toMatchObject({ status: 404, body: { error: { code: "webhook_not_found" } } });
  });
});

test.each([
  ["deleted", { method: "DELETE" }],
  ["paused", { method: "PATCH", json: { status: "paused" } }],
])("an event is not sent to a webhook that is %s during the name lookup", async (_name, change) => {
  let answer: (addresses: string[]) => void = () => {};
  let connections = 0;
  const resolve = () =>
    new Promise<string[]>((done) => {
      answer = done;
    });
  const connect = () => {
    connections++;
    throw new Error("nobody was to be called");
  };
  const network = { resolve, connect };
  const { mock, importRows, send, path } = await worldWithHook("https://hooks.example.com/in", { network });
  await importRows([row("A")]);
  mock.clock.advance(1_010);
  await send(path, change);
  answer(["93.184.216.34"]);
  await mock.settled();
  expect([connections, mock.deliveries()[0]!.attempts]).toEqual([0, []]);
});

test("an event is signed with the new secret if it is rotated during the name lookup", async () => {
  let answer: (addresses: string[]) => void = () => {};
  const outside = await startOutside(
    (request, response) => request.on("end", () => response.end()).resume(),
    () =>
      new Promise((done) => {
        answer = done;
      }),
  );
  const { network, requests } = outside;
  const { mock, importRows, patch } = await worldWithHook("https://hooks.example.com/in", { network });
  await importRows([row("A")]);
  mock.clock.advance(1_010);
  const { signing_secret } = (await patch({ rotate_secret: true })).body;
  answer([publicAddress]);
  await mock.settled();
  const [delivery] = mock.deliveries();
  const sent = requests[0]!.headers["service-signature"];
  expect(sent).toBe(
    signDelivery(signing_secret, JSON.stringify(delivery!.event), Math.floor(firstAt / 1000)),
  );
  expect(delivery).toMatchObject({ state: "delivered", attempts: [{ at: iso(firstAt), signature: sent }] });
});

test("a late failure does not undo a successful resend", async () => {
  const open: ServerResponse[] = [];
  const { received, url } = await startReceiver((response) => void open.push(response), 200);
  const { mock, importRows, send, advance } = await worldWithHook(url);
  await importRows([row("A")]);
  mock.clock.advance(1_010);
  await until(() => open.length === 1);
  const { id } = mock.deliveries()[0]!;
  await send(`/_mock/deliveries/${id}/resend`, { method: "POST", key: null });
  open[0]!.writeHead(500).end();
  await mock.settled();
  expect(mock.deliveries()).toMatchObject([{ state: "delivered", next_attempt_at: null }]);
  await advance(day);
  expect(received).toHaveLength(2);
});

test.each([
  [64 * 1024, "pending"],
  [64 * 1024 + 1, "delivered"],
])("an unfinished response of %d bytes is %s: the mock stops reading long ones", async (bytes, state) => {
  const time = new MovableClock({ frozenAt: 0 });
  const { received, url } = await startReceiver((response) =>
    response.writeHead(200).write(Buffer.alloc(bytes)),
  );
  const { mock, importRows } = await worldWithHook(url, { network: { time } });
  await importRows([row("A")]);
  mock.clock.advance(1_010);
  await until(() => received.length === 1);
  // One that stays pending would never settle.
  await (state === "pending" ? realWait(50) : mock.settled());
  expect(mock.deliveries()).toMatchObject([{ state, attempts: { length: state === "pending" ? 0 : 1 } }]);
});

describe("a handler that moves the clock", () => {
  test("does not wait for itself, and gets its response after the due events were sent", async () => {
    const answered: number[] = [];
    // The first handler moves the clock past the due time of the second event.
    const { received, url } = await startReceiver(async (response) => {
      const number = received.length;
      if (number === 1) await world.advance(2 * minute);
      answered.push(number);
      response.writeHead(200).end();
    });
    const world = await worldWithHook(url, { network: { time: new MovableClock({ frozenAt: 0 }) } });
    await world.importRows([row("A")]);
    world.mock.clock.advance(1_000);
    await world.importRows([row("B")]);
    await world.advance(10);
    expect(answered).toEqual([2, 1]);
    expect(world.clock.now()).toBe(firstAt + 2 * minute);
    expect(world.mock.deliveries().map(timesOf)).toEqual([[iso(firstAt)], [iso(firstAt + 1_000)]]);
  });
});
