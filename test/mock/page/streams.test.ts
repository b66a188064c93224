import type { ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { createApp } from "../../../src/mock/app.ts";
import type { MockOptions } from "../../../src/mock/index.ts";
import type { Frame } from "../../../src/mock-page/data.ts";
import { until } from "../../support/until.ts";
import { monday, row, silentWorld, startWorld } from "../world.ts";

/** A mock whose frames are sent when a test moves `time`, by 100 ms each. */
async function streamingWorld(options: MockOptions = {}) {
  const time = new MovableClock({ frozenAt: monday });
  const world = await startWorld({ network: { time }, ...options });
  const { baseUrl } = world.mock;
  /** Opens a stream; `frames` are those received so far. */
  const listen = async (view: string, headers: Record<string, string> = {}, query = "") => {
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const response = await fetch(`${baseUrl}/_mock/events?view=${view}${query}`, {
      headers,
      signal: abort.signal,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const frames: (Frame & { id: string })[] = [];
    let text = "";
    void (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
          if (data !== undefined) frames.push({ id: id!, ...JSON.parse(data) });
          text = text.slice(end + 2);
        }
      }
    })().catch(() => {});
    await until(() => frames.length > 0);
    return { frames, close: () => abort.abort(), numbers: () => frames.map(numbersOf) };
  };
  /** Sends one more frame to every stream, if there is anything new. */
  const tick = () => time.advance(100);
  return { ...world, time, listen, tick };
}

const numbersOf = ({ requests }: Frame) => requests?.rows.map(({ number, status }) => [number, status]);

describe("a stream of requests", () => {
  test("has what is kept, then what is new, at most ten times per second", async () => {
    const { send, listen, tick } = await streamingWorld();
    await send("/v1/models");
    const { frames, numbers } = await listen("requests");
    await send("/v1/nothing");
    await send("/v1/products");
    expect(frames).toHaveLength(1);
    tick();
    await until(() => frames.length === 2);
    tick();
    tick();
    await send("/v1/webhooks");
    tick();
    await until(() => frames.length === 3);
    expect(numbers()).toEqual([
      [[1, 200]],
      [
        [2, 404],
        [3, 200],
      ],
      [[4, 200]],
    ]);
    expect(frames[1]).toMatchObject({ status: { requests: 3, now: "2026-01-05T09:00:00.000Z" } });
    expect(frames[1]!.requests).toMatchObject({
      total: 3,
      rows: [
        { method: "GET", path: "/v1/nothing", code: "route_not_found", key: "ak_mock", duration_ms: 0 },
        {},
      ],
    });
  });

  test("has a request again when it is over", async () => {
    const { send, listen, tick, clock } = await streamingWorld({ latencyMs: 1_000 });
    const { frames, numbers } = await listen("requests");
    const sent = send("/v1/models");
    await until(() => clock.nextDue() !== null);
    tick();
    await until(() => frames.length === 2);
    clock.advance(1_000);
    await sent;
    tick();
    await until(() => frames.length === 3);
    expect(numbers()).toEqual([[], [[1, null]], [[1, 200]]]);
  });

  test.each(["Last-Event-ID", "last_event_id"])("resumes after the frame of %s", async (name) => {
    const { send, listen, tick } = await streamingWorld();
    await send("/v1/models");
    const first = await listen("requests");
    first.close();
    await send("/v1/nothing");
    const { id } = first.frames[0]!;
    const resumed =
      name === "Last-Event-ID"
        ? listen("requests", { [name]: id })
        : listen("requests", {}, `&${name}=${id}`);
    expect((await resumed).numbers()).toEqual([[[2, 404]]]);
    tick();
  });

  test("resumes with the requests that were not over, and with none of an earlier state", async () => {
    const { send, listen, clock, mock } = await streamingWorld({ latencyMs: 1_000 });
    const sent = send("/v1/models");
    await until(() => clock.nextDue() !== null);
    const first = await listen("requests");
    expect(first.numbers()).toEqual([[[1, null]]]);
    first.close();
    clock.advance(1_000);
    await sent;
    const id = { "Last-Event-ID": first.frames[0]!.id };
    const resumed = await listen("requests", id);
    expect(resumed.numbers()).toEqual([[[1, 200]]]);
    mock.reset();
    const renewed = await listen("requests", { "Last-Event-ID": resumed.frames[0]!.id });
    expect(renewed.numbers()).toEqual([[]]);
    expect(renewed.frames[0]!.requests!.life).not.toBe(resumed.frames[0]!.requests!.life);
  });

  test("skips requests that are more than a page shows", async () => {
    const { send, listen, tick } = await streamingWorld();
    const { frames } = await listen("requests");
    await Promise.all(Array.from({ length: 300 }, (_, at) => send(`/v1/nothing/${at}`)));
    tick();
    await until(() => frames.length === 2);
    const numbers = frames[1]!.requests!.rows.map(({ number }) => number);
    expect([numbers.length, numbers[0], numbers.at(-1), frames[1]!.requests!.total]).toEqual([
      200, 101, 300, 300,
    ]);
  });
});

test("a stream has only the parts of its view, and each only when it changes", async () => {
  const { listen, tick, importRows, createProduct, send } = await streamingWorld();
  const views = ["products", "jobs", "webhooks", "control"];
  const streams = await Promise.all(views.map((view) => listen(view)));
  expect(streams.map(({ frames }) => Object.keys(frames[0]!))).toEqual(
    views.map((view) => ["id", "status", view]),
  );
  await createProduct();
  await importRows([row("A")]);
  await send("/_mock/faults", { json: { match: {}, status: 500 }, key: null });
  tick();
  for (const { frames } of streams) await until(() => frames.length === 2);
  const [products, jobs, webhooks, control] = streams.map(({ frames }) => frames[1]!);
  expect([Object.keys(products!), products!.products]).toEqual([["id", "status", "products"], 2]);
  expect(jobs!.jobs).toMatchObject({ imports: [{ status: "validating", total: 1 }], exports: [], tasks: [] });
  expect(Object.keys(webhooks!)).toEqual(["id", "status"]);
  expect(control!.control!.faults).toEqual([{ id: 1, match: {}, status: 500, acted: 0 }]);
  tick();
  await createProduct({ reference: "B" });
  tick();
  await until(() => streams[0]!.frames.length === 3);
  expect(streams[2]!.frames.map((frame) => Object.keys(frame))).toEqual([
    ["id", "status", "webhooks"],
    ["id", "status"],
    ["id", "status"],
  ]);
});

test("a stream has only the beginning of the body and the headers of a fault", async () => {
  const { listen, mock, send } = await streamingWorld();
  const headers = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`X-${at}`, "h".repeat(1_000)]));
  mock.faults.add({ match: {}, status: 200, headers, body: { text: "b".repeat(100_000) } });
  mock.faults.add({ match: { path: "/none" }, status: 200, body: "c".repeat(100_000) });
  await send("/v1/models");
  const { frames } = await listen("control");
  const shown = frames[0]!.control!.faults;
  expect(shown).toMatchObject([
    { headers: `{"X-0":"${"h".repeat(192)}`, body: `{"text":"${"b".repeat(191)}`, acted: 1 },
    { body: "c".repeat(200) },
  ]);
  const { body } = await send("/_mock/page/requests/1", { key: null });
  expect(body.faults).toEqual([shown[0]]);
});

test("a stream that nobody reads is closed after five seconds, and not buffered", async () => {
  const time = new MovableClock({ frozenAt: monday });
  const world = silentWorld(new MovableClock({ frozenAt: monday }), time);
  const server = createApp(world);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const responses: ServerResponse[] = [];
  server.on("request", (_request, response) => responses.push(response));
  const socket = connect(port, "127.0.0.1").pause();
  onTestFinished(() => void socket.destroy());
  socket.write("GET /_mock/events?view=requests HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await until(() => responses[0]?.headersSent === true);
  const logged = { at: monday, method: "GET", requestId: "r", headers: [], status: 200, replayed: false };
  const more = () => {
    for (let at = 0; at < 200; at++)
      world.log.add({ ...logged, path: `/${"x".repeat(499)}`, faults: [], kept: null });
    time.advance(100);
  };
  const { socket: sending } = responses[0]!;
  // Fills the buffers of the operating system, which hold some megabytes.
  for (let frames = 0; responses[0]!.writableLength === 0 && frames < 500; frames++) {
    more();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const waiting = responses[0]!.writableLength;
  expect(waiting).toBeGreaterThan(0);
  for (let frames = 0; frames < 50; frames++) {
    expect([frames, sending!.destroyed]).toEqual([frames, false]);
    expect(responses[0]!.writableLength).toBeLessThanOrEqual(waiting);
    more();
  }
  more();
  expect(sending!.destroyed).toBe(true);
});

test("a stream needs a view of the page", async () => {
  const { send } = await startWorld();
  for (const path of ["/_mock/events", "/_mock/events?view=other"]) {
    const { status, body } = await send(path, { key: null });
    expect([status, body.error.param, body.error.message]).toEqual([
      400,
      "view",
      "view must be one of requests, products, jobs, webhooks, control",
    ]);
  }
});
