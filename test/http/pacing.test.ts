import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { isOfService } from "../../src/client/read-response.ts";
import { NetworkError } from "../../src/http/errors.ts";
import { pacing } from "../../src/http/pacing.ts";
import { RateWindow, type Ticket } from "../../src/http/rate-window.ts";
import { defaultRetryPolicy, retry, type Wait } from "../../src/http/retry.ts";
import { type Answer, compose, type Send } from "../../src/http/send.ts";
import { deadline } from "../../src/http/time-limits.ts";
import { repetitions } from "../support/repetitions.ts";
import { TestClock } from "../support/test-clock.ts";
import { closeAll, coreFor, stillClock } from "./core.ts";
import { bytes, json, type Step, scriptedServer } from "./scripted-server.ts";

afterEach(closeAll);

const dateOf = (ms: number) => new Date(ms).toUTCString();

/**
 * A service with a limit per minute for each kind of request, counting on `clock`, whose own clock is
 * `skewMs` ahead. The first request to each of the `failing` paths gets a 500, and counts.
 */
async function limitedServer(
  limit: { reads: number; writes: number },
  skewMs = 0,
  failing: readonly string[] = [],
) {
  const failed = new Set<string>();
  const windows = new Map<string, { minute: number; used: number }>();
  const answered: { kind: string; at: number; status: number }[] = [];
  let clock!: TestClock;
  const step: Step = (response, seen) => {
    const kind = seen.method === "GET" ? "reads" : "writes";
    const now = clock.now() + skewMs;
    const minute = Math.floor(now / 60_000);
    const known = windows.get(kind);
    const window = known?.minute === minute ? known : { minute, used: 0 };
    windows.set(kind, window);
    const allowed = window.used < limit[kind];
    if (allowed) window.used++;
    const fails = failing.includes(seen.path) && !failed.has(seen.path);
    if (fails) failed.add(seen.path);
    const status = fails ? 500 : allowed ? 200 : 429;
    answered.push({ kind, at: clock.now(), status });
    json(
      status,
      {},
      {
        date: dateOf(now),
        "x-ratelimit-limit": limit[kind],
        "x-ratelimit-remaining": limit[kind] - window.used,
        "x-ratelimit-reset": (minute + 1) * 60,
        ...(allowed ? {} : { "retry-after": Math.ceil(((minute + 1) * 60_000 - now) / 1000) }),
      },
    )(response, seen);
  };
  const server = await scriptedServer(step);
  clock = new TestClock({ frozenAt: Date.parse("2026-01-05T09:00:12.300Z") });
  return { server, clock, answered };
}

test.each([0, 3_600_000, -3_600_000])(
  "150 concurrent writes see no 429 and fill each window, with a clock that is %i ms off",
  async (skewMs) => {
    const { server, clock, answered } = await limitedServer({ reads: 600, writes: 60 }, skewMs);
    const waits: Wait[] = [];
    const { post } = coreFor(server, { clock, onWait: (wait) => waits.push(wait) });
    const answers = await Promise.all(Array.from({ length: 150 }, () => post()));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect(answered.filter((answer) => answer.status !== 200)).toEqual([]);
    const perMinute: Record<string, number> = {};
    for (const { at } of answered) {
      const minute = new Date(at).toISOString().slice(11, 16);
      perMinute[minute] = (perMinute[minute] ?? 0) + 1;
    }
    expect(perMinute).toEqual({ "09:00": 60, "09:01": 60, "09:02": 30 });
    // 47.7 s were left of the first minute; the server's Date has whole seconds, so the wait is 48 s.
    expect(waits.map(({ reason, ms }) => [reason, ms])).toEqual([
      ["rate_window", 48_000],
      ["rate_window", 60_000],
    ]);
  },
);

test("reads are not held back by a used-up write window", async () => {
  const { server, clock } = await limitedServer({ reads: 600, writes: 1 });
  const { post, get } = coreFor(server, { clock });
  await post();
  const begun = clock.now();
  clock.isIdle = () => false;
  const held = post();
  await Promise.all([get(), get(), get()]);
  expect(clock.now()).toBe(begun);
  clock.isIdle = () => true;
  expect((await held).status).toBe(200);
});

test("queued requests are sent in order", async () => {
  const { server, clock } = await limitedServer({ reads: 2, writes: 60 });
  const { get } = coreFor(server, { clock });
  await Promise.all(["/1", "/2", "/3", "/4", "/5"].map((path) => get(path)));
  expect(server.requests.map((seen) => seen.path)).toEqual(["/1", "/2", "/3", "/4", "/5"]);
});

test("a retried request goes before later ones", async () => {
  const { server, clock } = await limitedServer({ reads: 2, writes: 60 }, 0, ["/1"]);
  const { get } = coreFor(server, { clock });
  const answers = await Promise.all(["/1", "/2", "/3"].map((path) => get(path)));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  expect(server.requests.map((seen) => seen.path)).toEqual(["/1", "/2", "/1", "/3"]);
});

test("an aborted request leaves the queue, and the others move up", async () => {
  const { server, clock } = await limitedServer({ reads: 1, writes: 60 });
  const { get } = coreFor(server, { clock });
  await get("/1");
  clock.isIdle = () => false;
  const abort = new AbortController();
  const second = get("/2", abort.signal);
  const third = get("/3");
  abort.abort(new Error("not any more"));
  await expect(second).rejects.toThrow("not any more");
  clock.isIdle = () => true;
  expect((await third).status).toBe(200);
  expect(server.requests.map((seen) => seen.path)).toEqual(["/1", "/3"]);
});

test("time in the queue does not count against a request's deadline", async () => {
  const { server, clock } = await limitedServer({ reads: 1, writes: 60 });
  const { get } = coreFor(server, { clock });
  const answers = await Promise.all(Array.from({ length: 12 }, () => get()));
  expect(answers.map((answer) => answer.status)).toEqual(Array(12).fill(200));
});

describe("an unknown window", () => {
  /** Paces requests to a service whose responses the test provides. */
  function line() {
    const clock = stillClock();
    const sent: { path: string; attempt: number; answer: (answer: Answer) => void; fail: () => void }[] = [];
    const service: Send = ({ path, call }) =>
      new Promise((resolve, reject) => {
        const lost = new NetworkError("the connection broke", { code: "connection_cut", transient: true });
        sent.push({ path, attempt: call.attempt, answer: resolve, fail: () => reject(lost) });
      });
    const send = deadline({ clock, totalMs: 300_000 })(
      compose(
        service,
        retry({ clock, random: () => 0.5, policy: defaultRetryPolicy, isOfService }),
        pacing({ clock, windowMs: 60_000 }),
      ),
    );
    const get = (path: string) =>
      send({ method: "GET", path, origin: "http://localhost", headers: {}, body: null }).catch(
        (error: Error) => error.message,
      );
    /** Runs everything that is due within `ms`. */
    const pass = async (ms: number) => {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(ms);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    return { get, sent, pass, seen: () => sent.map(({ path, attempt }) => `${path} ${attempt}`) };
  }
  const ok = { status: 200, headers: { "x-ratelimit-remaining": "5" }, body: new Uint8Array() };

  test("lets only the first request be retried until it gets a response", async () => {
    const { get, sent, pass, seen } = line();
    const calls = ["/a", "/b", "/c"].map(get);
    await pass(0);
    sent[0]!.fail();
    await pass(20_000);
    sent[1]!.fail();
    await pass(20_000);
    expect(seen()).toEqual(["/a 1", "/a 2", "/a 3"]);
    sent[2]!.answer(ok);
    await pass(0);
    expect(seen()).toEqual(["/a 1", "/a 2", "/a 3", "/b 1", "/c 1"]);
    for (const { answer } of sent) answer(ok);
    await Promise.all(calls);
  });

  test("lets the next request go after the first has failed for good", async () => {
    const { get, sent, pass, seen } = line();
    const calls = ["/a", "/b", "/c"].map(get);
    for (let attempt = 0; attempt < 6; attempt++) {
      await pass(20_000);
      sent[attempt]!.fail();
    }
    expect(await calls[0]).toBe("the connection broke");
    await pass(20_000);
    expect(seen().slice(5)).toEqual(["/a 6", "/b 1"]);
    sent[6]!.answer(ok);
    await pass(0);
    expect(seen().slice(6)).toEqual(["/b 1", "/c 1"]);
    sent[7]!.answer(ok);
    await Promise.all(calls);
  });
});

describe("a service without limits", () => {
  test("is not paced", async () => {
    const server = await scriptedServer(json(200, {}));
    const { get, clock } = coreFor(server);
    await Promise.all(Array.from({ length: 100 }, () => get()));
    expect(server.requests).toHaveLength(100);
    expect(clock.slept).toEqual([]);
  });

  test("is not inferred from the error page of a gateway", async () => {
    let most = 0;
    const page: Step = (response, seen) => {
      most = Math.max(most, server.inFlight());
      bytes(502, "<h1>", { "content-type": "text/html" })(response, seen);
    };
    const server = await scriptedServer(page);
    const { get } = coreFor(server);
    await Promise.all([get(), get(), get()]);
    expect(most).toBe(1);
  });
});

describe("the window as a state machine", () => {
  /** One event of a generated run: requests are queued, a response arrives, one is lost, or time passes. */
  const events = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("want" as const), count: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ kind: fc.constant("arrive" as const), pick: fc.nat() }),
      fc.record({ kind: fc.constant("answer" as const), pick: fc.nat() }),
      fc.record({ kind: fc.constant("both" as const), pick: fc.nat() }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 25_000 }) }),
    ),
    { minLength: 1, maxLength: 150, size: "max" },
  );

  interface Sent {
    ticket: Ticket;
    answer: { status: number; headers: Record<string, string> } | null;
  }

  /** A service that counts requests as they arrive, possibly long after they were sent and in any order. */
  function service(limit: number, skewMs: number) {
    let minute = -1;
    let used = 0;
    return (now: number) => {
      const there = now + skewMs;
      if (Math.floor(there / 60_000) !== minute) used = 0;
      minute = Math.floor(there / 60_000);
      const status = used < limit ? 200 : 429;
      if (status === 200) used++;
      const headers = {
        date: dateOf(there),
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": String(limit - used),
        "x-ratelimit-reset": String((minute + 1) * 60),
        "retry-after": String(Math.ceil(((minute + 1) * 60_000 - there) / 1000)),
      };
      return { status, headers };
    };
  }

  test("never lets a single client see a 429, whatever the order of responses, the latency and the clock", () => {
    fc.assert(
      fc.property(
        events,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: -7_200_000, max: 7_200_000 }),
        (run, limit, skewMs) => {
          const window = new RateWindow(60_000);
          const serve = service(limit, skewMs);
          let now = 1_767_603_600_000;
          const sent: Sent[] = [];
          const refusedAt: number[] = [];
          for (const event of run) {
            if (event.kind === "pass") now += event.ms;
            if (event.kind === "want") {
              for (let left = event.count; left > 0 && window.blockedUntil(now) === 0; left--) {
                sent.push({ ticket: window.enter()!, answer: null });
              }
            }
            if (event.kind === "arrive" || event.kind === "both") {
              const waiting = sent.filter((request) => request.answer === null);
              const request = waiting[event.pick % Math.max(1, waiting.length)];
              if (request !== undefined) request.answer = serve(now);
              if (request?.answer?.status === 429) refusedAt.push(now);
            }
            if (event.kind === "answer" || event.kind === "both") {
              const ready = sent.filter((request) => request.answer !== null);
              const request = ready[event.pick % Math.max(1, ready.length)];
              if (request !== undefined) {
                sent.splice(sent.indexOf(request), 1);
                window.answered(request.ticket, request.answer!, now);
              }
            }
          }
          expect(refusedAt).toEqual([]);
        },
      ),
      { numRuns: repetitions(100, 10_000) },
    );
  });

  test("uses every window to the last request, one after another", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 0, max: 59_999 }), (limit, offset) => {
        const window = new RateWindow(60_000);
        const serve = service(limit, 0);
        let now = 1_767_603_600_000 + offset;
        for (let minute = 0; minute < 3; minute++) {
          const fill = () => {
            let went = 0;
            for (; window.blockedUntil(now) === 0; went++) {
              window.answered(window.enter()!, serve(now), now);
            }
            return went;
          };
          const atOnce = fill();
          expect(atOnce).toBe(limit);
          const opens = window.blockedUntil(now)!;
          expect(opens - now).toBeGreaterThan(0);
          expect(opens - now).toBeLessThanOrEqual(61_000);
          now = opens;
        }
      }),
    );
  });

  test("counts a lost request as used, and never blocks the queue for good", () => {
    const window = new RateWindow(60_000);
    const serve = service(3, 0);
    const now = 1_767_603_600_000;
    window.answered(window.enter()!, serve(now), now);
    window.enter()!;
    window.leave();
    window.enter()!;
    window.leave();
    const opens = window.blockedUntil(now);
    expect(opens).toBe(now + 60_000);
    expect(window.blockedUntil(opens!)).toBe(0);
  });

  test("reads an implausible reset as a full window", () => {
    const window = new RateWindow(60_000);
    const now = 1_767_603_600_000;
    const headers = { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "99" };
    window.answered(window.enter()!, { status: 200, headers }, now);
    expect(window.blockedUntil(now)).toBe(now + 60_000);
  });
});

test("lets a queued request be withdrawn after another response was read", async () => {
  const clock = new TestClock();
  const sent: string[] = [];
  const answer: Send = async ({ path }) => {
    sent.push(path);
    return { status: 402, headers: {}, body: new Uint8Array() };
  };
  const send = deadline({ clock, totalMs: 60_000 })(compose(answer, pacing({ clock, windowMs: 60_000 })));
  const get = (path: string, signal?: AbortSignal) =>
    send({ method: "GET", path, origin: "http://localhost", headers: {}, body: null }, { signal });
  const leaving = new AbortController();
  const first = get("/a");
  const second = get("/b", leaving.signal);
  await first;
  // Reading a response takes several turns.
  for (let turn = 0; turn < 100; turn++) await null;
  leaving.abort(new Error("not any more"));
  await expect(second).rejects.toThrow("not any more");
  expect(sent).toEqual(["/a"]);
});
