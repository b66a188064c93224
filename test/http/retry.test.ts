import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { isOfService } from "../../src/client/read-response.ts";
import { openConnections } from "../../src/http/connections.ts";
import { NetworkError, TimeoutError } from "../../src/http/errors.ts";
import { exchange } from "../../src/http/http-core.ts";
import { networkFailure } from "../../src/http/network-failure.ts";
import { idempotency } from "../../src/http/request-headers.ts";
import { completeJson } from "../../src/http/response-stream.ts";
import { backoffMs, defaultRetryPolicy, retry, systemRandom, type Wait } from "../../src/http/retry.ts";
import { compose, type Interceptor, type Send } from "../../src/http/send.ts";
import { deadline } from "../../src/http/time-limits.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";
import { closeAll, coreAgainst, stillClock } from "./core.ts";
import {
  bytes,
  cutInHalf,
  json,
  refusal,
  reset,
  type Step,
  scriptedServer,
  silence,
} from "./scripted-server.ts";

afterEach(closeAll);

const text = (answer: { body: Uint8Array }) => Buffer.from(answer.body).toString();

describe("a retry", () => {
  test.each<[string, Step]>([
    ["a reset", reset],
    ["a body cut in half", cutInHalf('{"data":[1,2,3]}')],
    ["500", refusal(500, "internal_error")],
    [
      "502 with a gateway's page",
      (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>"),
    ],
    ["503", refusal(503, "internal_error")],
    ...[400, 403, 404, 408, 409, 421, 425, 429, 200].map((status): [string, Step] => [
      `${status} with a gateway's page`,
      bytes(status, "<h1>", { "content-type": "text/html", "retry-after": 2 }),
    ]),
    ["499 with nothing", bytes(499, "", {})],
    ["403 with a gateway's JSON", json(403, { message: "Forbidden" })],
    ["half a document that HTTP calls complete", bytes(201, '{"id"', { "content-type": "application/json" })],
    ["429", refusal(429, "rate_limit_exceeded", { "retry-after": 2 })],
    ["409 request_in_progress", refusal(409, "request_in_progress")],
    ["408 of the service", refusal(408, "request_timeout")],
    ["421 of the service", refusal(421, "misdirected_request")],
    ["425 of the service", refusal(425, "too_early")],
  ])("repeats a write after %s with one key", async (_, fault) => {
    const { post, server } = await coreAgainst([fault, json(201, { id: 1 })]);
    expect(text(await post())).toBe('{"id":1}');
    const keys = server.requests.map((seen) => seen.headers["idempotency-key"]);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(server.requests.map((seen) => seen.body.toString())).toEqual(["{}", "{}"]);
    const ids = server.requests.map((seen) => seen.headers["x-request-id"]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test.each<[string, Step, number]>([
    ["409 reference_already_exists", refusal(409, "reference_already_exists"), 409],
    ["400", refusal(400, "invalid_request"), 400],
    ["402", refusal(402, "insufficient_credits"), 402],
    ["422", refusal(422, "idempotency_key_reused"), 422],
    ["501", refusal(501, "not_implemented"), 501],
    ["413", refusal(413, "body_too_large"), 413],
    ["413 with a gateway's page", bytes(413, "<h1>", { "content-type": "text/html" }), 413],
    ["a stored 408", refusal(408, "request_timeout", { "idempotent-replayed": "true" }), 408],
  ])("does not follow %s", async (_, fault, status) => {
    const { post, server, clock } = await coreAgainst([fault]);
    expect((await post()).status).toBe(status);
    expect(server.requests).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });

  const page = (status: number) => bytes(status, "<h1>", { "content-type": "text/html" });

  test.each([403, 404, 413, 200])(
    "does not repeat a read after %i with a gateway's page before the service has responded",
    async (status) => {
      const { get, server } = await coreAgainst([page(status)]);
      expect((await get()).status).toBe(status);
      expect(server.requests).toHaveLength(1);
    },
  );

  test.each<[string, Step]>([
    ...[200, 400, 401, 403, 404, 408, 409, 413, 421, 425, 451].map((status): [string, Step] => [
      `${status} with a gateway's page`,
      page(status),
    ]),
    ["403 with a gateway's JSON", json(403, { message: "Forbidden" })],
    ["nothing", bytes(204, "", {})],
    ["a redirect to a login page", bytes(302, "", { location: "https://login.example.com/" })],
  ])("repeats a read six times after %s once the service has responded", async (_, fault) => {
    const { get, server } = await coreAgainst([json(200, {}), fault]);
    await get();
    await get().catch(() => {});
    expect(server.requests).toHaveLength(7);
  });

  test.each([408, 421, 425])("repeats a read after %i, also the first one", async (status) => {
    const { get, server } = await coreAgainst([refusal(status, "later"), page(status), json(200, { id: 1 })]);
    expect(text(await get())).toBe('{"id":1}');
    expect(server.requests).toHaveLength(3);
  });

  test("repeats a write after a redirect with one key, once the service has responded", async () => {
    const login = bytes(302, "", { location: "https://login.example.com/" });
    const { get, post, server } = await coreAgainst([json(200, {}), login, login, json(201, { id: 1 })]);
    await get();
    expect(text(await post())).toBe('{"id":1}');
    expect(new Set(server.requests.slice(1).map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  test.each<[string, Step]>([
    ["with a length", bytes(200, '{"data":[1,2', { "content-type": "application/json" })],
    [
      "with chunks",
      (response) => {
        response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
        response.write('{"data":');
        response.end("[1,2");
      },
    ],
    ["without a byte", bytes(200, "", { "content-type": "application/json" })],
    [
      "in the middle of a character",
      bytes(200, Uint8Array.of(0x22, 0xc3, 0x22), { "content-type": "application/json" }),
    ],
    ["of an error", bytes(404, '{"error":{"ty', { "content-type": "application/json" })],
  ])("repeats a read whose JSON is cut off, though HTTP says it is complete: %s", async (_, cut) => {
    const { get, server } = await coreAgainst([cut, cut, json(200, { data: [1, 2, 3] })]);
    expect(text(await get())).toBe('{"data":[1,2,3]}');
    expect(server.requests).toHaveLength(3);
  });

  test("gives up on a read whose JSON stays cut off, and names the reason", async () => {
    const { get, server } = await coreAgainst([bytes(200, "{", { "content-type": "application/json" })]);
    await expect(get()).rejects.toMatchObject({
      ...{ type: "network", code: "incomplete_response", status: 200 },
      message: `${server.origin} sent an incomplete response (GET /v1/things, status 200)`,
      hint: "Run the command again. If it fails again, check the gateway or proxy in front of the service.",
    });
    expect(server.requests).toHaveLength(6);
  });

  test("keeps a caller's idempotency key on every attempt, and reads have none", async () => {
    const { post, get, server } = await coreAgainst([reset, reset, json(200, {})]);
    await post("/v1/things", "{}", { "idempotency-key": "mine" });
    await get();
    expect(server.requests.map((seen) => seen.headers["idempotency-key"])).toEqual([
      "mine",
      "mine",
      "mine",
      undefined,
    ]);
  });

  test("never repeats a write without a key", async () => {
    const server = await scriptedServer(reset);
    const clock = new TestClock();
    const connections = openConnections({ isDirect: () => true });
    const send = deadline({ clock, totalMs: 1e6 })(
      compose(
        exchange(connections, 1e6),
        retry({ clock, random: () => 0.5, policy: defaultRetryPolicy, isOfService }),
      ),
    );
    const message = { method: "POST", origin: server.origin, path: "/", headers: {}, body: null } as const;
    await expect(send(message)).rejects.toBeInstanceOf(NetworkError);
    expect(server.requests).toHaveLength(1);
    await connections.close();
  });

  test("with a fresh key per attempt would be noticed by the server (negative control)", async () => {
    // A server that does the work and then loses the response: it does not count work repeated with one key.
    const work = async (...order: Interceptor[]) => {
      const done = new Set<unknown>();
      const lost: Step = (response, seen) => {
        done.add(seen.headers["idempotency-key"]);
        reset(response, seen);
      };
      const server = await scriptedServer(lost, lost, (response, seen) => {
        done.add(seen.headers["idempotency-key"]);
        json(201, {})(response, seen);
      });
      const clock = new TestClock();
      const connections = openConnections({ isDirect: () => true });
      const again = retry({ clock, random: () => 0.5, policy: defaultRetryPolicy, isOfService });
      const layers = order.length > 0 ? [order[0]!, again] : [idempotency(() => "outer"), again, freshKeys];
      const send = deadline({ clock, totalMs: 1e6 })(
        compose(exchange(connections, 1e6), ...layers, completeJson),
      );
      await send({ method: "POST", origin: server.origin, path: "/", headers: {}, body: null });
      await connections.close();
      return done.size;
    };
    let count = 0;
    const freshKeys: Interceptor = (next) => (request) =>
      next({ ...request, headers: { ...request.headers, "idempotency-key": `fresh-${count++}` } });

    expect(await work(idempotency())).toBe(1);
    expect(await work()).toBe(3);
  });
});

describe("the wait before a retry", () => {
  const waitsFor = async (steps: Step[]) => {
    const waits: Wait[] = [];
    const world = await coreAgainst(steps, { onWait: (wait) => waits.push(wait) });
    await world.get();
    return waits.filter((wait) => wait.reason !== "rate_window").map(({ reason, ms }) => ({ reason, ms }));
  };

  // The random number is always 0.5: half of each backoff step, and 125 ms on a wait set by the server.
  test("grows exponentially with jitter after failures", async () => {
    expect(
      await waitsFor([reset, refusal(500, "x"), reset, refusal(503, "x"), reset, json(200, {})]),
    ).toEqual([
      { reason: "network", ms: 250 },
      { reason: "server_error", ms: 500 },
      { reason: "network", ms: 1000 },
      { reason: "server_error", ms: 2000 },
      { reason: "network", ms: 4000 },
    ]);
  });

  test.each<[string, Record<string, string>, number]>([
    ["seconds", { "retry-after": "45" }, 45_125],
    [
      "a date, by the server's own clock",
      { "retry-after": "Fri, 01 Jan 2010 00:00:20 GMT", date: "Fri, 01 Jan 2010 00:00:00 GMT" },
      20_125,
    ],
    [
      "a date that has passed",
      { "retry-after": "Fri, 01 Jan 2010 00:00:00 GMT", date: "Fri, 01 Jan 2010 00:00:20 GMT" },
      225,
    ],
    ["zero, which would cause a retry storm", { "retry-after": "0" }, 225],
    ["nothing", {}, 60_125],
    ["nonsense", { "retry-after": "soon" }, 60_125],
    ["a negative number", { "retry-after": "-5" }, 60_125],
  ])("follows a 429 with %s", async (_, headers, ms) => {
    expect(await waitsFor([refusal(429, "rate_limit_exceeded", headers), json(200, {})])).toEqual([
      { reason: "rate_limited", ms },
    ]);
  });

  test("follows a 503", async () => {
    expect(await waitsFor([refusal(503, "x", { "retry-after": "7" }), json(200, {})])).toEqual([
      { reason: "server_error", ms: 7125 },
    ]);
  });

  test("is between zero and its step, and the step never exceeds the cap", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 1, max: 60_000 }),
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (baseMs, capMs, failures, random) => {
          const wait = backoffMs({ baseMs, capMs }, failures, () => random);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThan(Math.max(1, Math.min(capMs, baseMs * 2 ** (failures - 1))));
          expect(wait).toBe(Math.floor(random * Math.min(capMs, baseMs * 2 ** (failures - 1))));
        },
      ),
    );
  });
});

test("the default source of randomness returns different numbers from 0 to below 1", () => {
  const numbers = Array.from({ length: 20 }, systemRandom);
  expect(numbers.filter((number) => number < 0 || number >= 1)).toEqual([]);
  expect(new Set(numbers).size).toBeGreaterThan(18);
});

describe("retrying stops", () => {
  test("after six failed attempts", async () => {
    const { get, server } = await coreAgainst([refusal(500, "internal_error")]);
    expect((await get()).status).toBe(500);
    expect(server.requests).toHaveLength(6);
  });

  test("only at the deadline after 429s, which are not failures, and reports the 429", async () => {
    const { get, server, clock } = await coreAgainst([
      refusal(429, "rate_limit_exceeded", { "retry-after": 20 }),
    ]);
    const begun = clock.now();
    expect((await get()).status).toBe(429);
    expect(server.requests).toHaveLength(15);
    expect(clock.now() - begun).toBeLessThan(300_000);
  });

  test.each([
    ["one second each", 1, 300_000, 310_000],
    ["a window each", 60, 240_000, 310_000],
  ])(
    "after 429s in a row that have waited in the queue of the window, %s",
    async (_, seconds, least, most) => {
      const clock = new TestClock();
      const limited: Step = (response, seen) => {
        const reset = {
          "x-ratelimit-reset": Math.ceil(clock.now() / 1000) + seconds,
          "x-ratelimit-remaining": 0,
        };
        const date = new Date(clock.now()).toUTCString();
        const headers = { ...reset, date, "x-ratelimit-limit": 60, "retry-after": seconds };
        refusal(429, "rate_limit_exceeded", headers)(response, seen);
      };
      const { get } = await coreAgainst([limited], { clock });
      const begun = clock.now();
      expect((await get()).status).toBe(429);
      expect(clock.now() - begun).toBeGreaterThanOrEqual(least);
      expect(clock.now() - begun).toBeLessThan(most);
    },
  );

  test("before a wait beyond the deadline", async () => {
    const { get, server, clock } = await coreAgainst([refusal(503, "x", { "retry-after": 3600 })]);
    expect((await get()).status).toBe(503);
    expect(server.requests).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });

  test("only after minutes for a 409 request_in_progress", async () => {
    const busy = Array.from({ length: 20 }, () => refusal(409, "request_in_progress"));
    const { post, server } = await coreAgainst([...busy, json(201, {})]);
    expect((await post()).status).toBe(201);
    expect(server.requests).toHaveLength(21);
  });

  test("immediately for an unknown host that has never responded", async () => {
    const { send, clock } = await coreAgainst([json(200, {})]);
    const message = {
      method: "GET",
      path: "/",
      origin: "http://nowhere.invalid",
      headers: {},
      body: null,
    } as const;
    await expect(send(message)).rejects.toMatchObject({ name: "NetworkError", code: "host_not_found" });
    expect(clock.slept).toEqual([]);
  });

  test.each([
    ["EAI_AGAIN", 6],
    ["ENOTFOUND", 1],
  ])("at the first request after %s of the name server: %i attempts", async (code, attempts) => {
    let tried = 0;
    const lookup: Send = async (request) => {
      tried++;
      throw networkFailure(Object.assign(new Error("lookup"), { code }), request)!;
    };
    const clock = new TestClock();
    const again = retry({ clock, random: () => 0.5, policy: defaultRetryPolicy, isOfService });
    const send = deadline({ clock, totalMs: 1e6 })(compose(lookup, again));
    const message = {
      method: "GET",
      origin: "http://a.example",
      path: "/",
      headers: {},
      body: null,
    } as const;
    await expect(send(message)).rejects.toMatchObject({ code: "host_not_found" });
    expect(tried).toBe(attempts);
  });

  test("immediately when the caller aborts, while waiting or sending", async () => {
    const waiting = await coreAgainst([refusal(503, "x")], { clock: stillClock() });
    const abort = new AbortController();
    const answer = waiting.get("/", abort.signal);
    await until(() => waiting.clock.nextDue() !== null && waiting.server.requests.length === 1);
    abort.abort(new Error("stop"));
    await expect(answer).rejects.toThrow("stop");

    const sending = await coreAgainst([silence]);
    const second = new AbortController();
    const other = sending.get("/", second.signal);
    await until(() => sending.server.requests.length === 1);
    second.abort(new Error("stop too"));
    await expect(other).rejects.toThrow("stop too");
    expect(sending.server.requests).toHaveLength(1);
    await until(() => sending.server.inFlight() === 0);
  });

  test("without leaving a timer on the clock", async () => {
    const { get, clock } = await coreAgainst([reset, json(200, {})]);
    await get();
    expect(clock.nextDue()).toBeNull();
  });
});

describe("time limits, on the given clock", () => {
  test("end a silent attempt after 30 s, twice", async () => {
    const { get, clock, server } = await coreAgainst([silence], { clock: stillClock() });
    const outcome = get().catch((error: unknown) => error);
    await until(() => server.requests.length === 1);
    clock.advance(30_000);
    await until(() => clock.nextDue() !== null && server.inFlight() === 0);
    clock.advance(10_000);
    await until(() => server.requests.length === 2);
    clock.advance(30_000);
    const error = await outcome;
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as Error).message).toContain("no response from");
  });

  test.each([
    [20_000, "20 s"],
    [300, "0.3 s"],
    [40, "40 ms"],
  ])("end a request at its deadline of %i ms, whatever its state", async (totalMs, time) => {
    const { get, clock, server } = await coreAgainst([silence], {
      clock: stillClock(),
      timeLimits: { totalMs },
    });
    const outcome = get().catch((error: unknown) => error);
    await until(() => server.requests.length === 1);
    clock.advance(totalMs - 1);
    expect(server.inFlight()).toBe(1);
    clock.advance(1);
    expect(await outcome).toMatchObject({
      ...{ name: "TimeoutError", code: "deadline" },
      message: `no response to GET /v1/things within ${time} (1 attempt)`,
    });
    await until(() => server.inFlight() === 0);
    expect(clock.nextDue()).toBeNull();
  });

  test("cut off a dripping body, though it is never silent", async () => {
    let drops = 0;
    const drip: Step = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[");
      drop = () => response.write("1,", () => drops++);
    };
    let drop = () => {};
    const { get, clock, server } = await coreAgainst([drip], {
      clock: stillClock(),
      retry: { attempts: 1 },
    });
    const outcome = get().catch((error: unknown) => error);
    await until(() => server.requests.length === 1);
    let ended: unknown = null;
    void outcome.then((error) => {
      ended = error;
    });
    for (let seconds = 0; seconds < 70 && ended === null; seconds++) {
      const before = drops;
      drop();
      await until(() => drops > before || ended !== null || server.inFlight() === 0);
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1000);
    }
    expect(await outcome).toMatchObject({ name: "TimeoutError", code: "attempt_timeout" });
  });
});
