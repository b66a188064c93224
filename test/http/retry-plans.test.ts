import { describe, expect, test } from "vitest";
import { BadResponseError, NetworkError, TimeoutError } from "../../src/http/errors.ts";
import {
  backoffMs,
  defaultRetryPolicy,
  isReplayed,
  mayPass,
  type RetryPolicy,
  retry,
  retryAfterMs,
  serverNow,
  type Wait,
} from "../../src/http/retry.ts";
import type { Answer, HttpRequest } from "../../src/http/send.ts";

const start = Date.parse("2026-01-05T09:00:00Z");

type Outcome = { status: number; headers?: Record<string, string>; code?: string; gateway?: true } | Error;

interface Scenario {
  policy?: Partial<RetryPolicy>;
  method?: string;
  hasKey?: boolean;
  body?: Uint8Array | null;
  remainingMs?: number;
  hasShared?: boolean;
  random?: number;
}

/** Sends one request, whose attempts end in these outcomes, the last one again and again. */
function send(outcomes: readonly Outcome[], scenario: Scenario = {}) {
  const { policy = {}, method = "GET", hasKey = true, remainingMs = Number.POSITIVE_INFINITY } = scenario;
  let now = start;
  const waits: Wait[] = [];
  const doubts: boolean[] = [];
  const call = {
    ...{ attempt: 0, inDoubt: true, hasShared: scenario.hasShared ?? false },
    remainingMs: () => remainingMs - (now - start),
    doubt: (isOpen: boolean) => void doubts.push(isOpen),
  };
  const request = {
    ...{
      method,
      path: "/v1/things",
      body: scenario.body ?? null,
      signal: new AbortController().signal,
      call,
    },
    headers: hasKey ? { "idempotency-key": "k" } : {},
  } as unknown as HttpRequest;
  const next = async (): Promise<Answer> => {
    const outcome = outcomes[Math.min(call.attempt, outcomes.length) - 1]!;
    if (outcome instanceof Error) throw outcome;
    const { status, headers = {}, code } = outcome;
    return { status, headers, json: { error: { code } }, isGateway: outcome.gateway } as unknown as Answer;
  };
  const sleep = async (ms: number) => {
    now += ms;
  };
  const interceptor = retry({
    clock: { now: () => now, sleep } as never,
    random: () => scenario.random ?? 0.5,
    policy: { ...defaultRetryPolicy, ...policy },
    isOfService: (answer) => (answer as { isGateway?: true }).isGateway !== true,
    onWait: (wait) => void waits.push(wait),
  });
  const sent = interceptor(next)(request).then(
    (answer) => answer as Answer & { earlierUnanswered?: true },
    (error: Error) => error,
  );
  return { sent, call, waits, doubts, ms: () => waits.map((wait) => wait.ms) };
}

const lost = new NetworkError("lost", { code: "connection_lost", transient: true });
const timeout = () => new TimeoutError("slow", {} as never);
const limited = (headers: Record<string, string> = {}) => ({ status: 429, headers });

describe("the waits of a request", () => {
  test.each<[string, Outcome[], Scenario, number[]]>([
    ["after failures of the network double from half a second", [lost], {}, [250, 500, 1000, 2000, 4000]],
    ["after failures of the service are the same", [{ status: 500 }], {}, [250, 500, 1000, 2000, 4000]],
    [
      "stay below the cap",
      [lost],
      { policy: { attempts: 9 } },
      [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000],
    ],
    ["are none with one attempt", [lost], { policy: { attempts: 1 } }, []],
    ["after timeouts count each as three failures", [timeout()], {}, [1000]],
    [
      "after timeouts while others used the line count none, once",
      [timeout(), timeout(), timeout()],
      { hasShared: true },
      [250, 1000],
    ],
    [
      "are the Retry-After of a 503, with jitter",
      [{ status: 503, headers: { "retry-after": "7" } }, { status: 200 }],
      {},
      [7125],
    ],
    [
      "are the longer one of Retry-After and backoff",
      [
        { status: 500 },
        { status: 500 },
        { status: 500 },
        { status: 500 },
        { status: 503, headers: { "retry-after": "1" } },
        { status: 200 },
      ],
      {},
      [250, 500, 1000, 2000, 4000],
    ],
    ["after a 429 are a window without a Retry-After", [limited(), { status: 200 }], {}, [60_125]],
    [
      "after a 429 are its Retry-After with jitter",
      [limited({ "retry-after": "2" }), { status: 200 }],
      {},
      [2125],
    ],
    [
      "after a 429 are a tenth of a second at least",
      [limited({ "retry-after": "0" }), { status: 200 }],
      {},
      [225],
    ],
    [
      "after a 429 with a reset are a second less, as pacing waits for the rest",
      [limited({ "retry-after": "9", "x-ratelimit-reset": "1" }), { status: 200 }],
      {},
      [8000],
    ],
    [
      "after a 429 with a reset are a tenth of a second at least",
      [limited({ "retry-after": "1", "x-ratelimit-reset": "1" }), { status: 200 }],
      {},
      [100],
    ],
    [
      "after a 409 in progress grow from two seconds to twenty, without an end",
      [...Array.from({ length: 6 }, () => ({ status: 409, code: "request_in_progress" })), { status: 201 }],
      {},
      [1000, 2000, 4000, 8000, 10_000, 10_000],
    ],
    [
      "after a 409 in progress are its Retry-After if that is longer",
      [{ status: 409, code: "request_in_progress", headers: { "retry-after": "3" } }, { status: 201 }],
      {},
      [3000],
    ],
    [
      "after a 409 in progress are a tenth of a second at least",
      [{ status: 409, code: "request_in_progress" }, { status: 201 }],
      { random: 0 },
      [100],
    ],
  ])("%s", async (_, outcomes, scenario, expected) => {
    const { sent, ms } = send(outcomes, { method: "POST", ...scenario });
    await sent;
    expect(ms()).toEqual(expected);
  });

  test("have a reason, and the request", async () => {
    const outcomes = [
      lost,
      { status: 500 },
      limited({ "retry-after": "1" }),
      { status: 409, code: "request_in_progress" },
      { status: 201 },
    ];
    const { sent, waits } = send(outcomes, { method: "POST" });
    await sent;
    expect(waits.map(({ reason }) => reason)).toEqual([
      "network",
      "server_error",
      "rate_limited",
      "in_progress",
    ]);
    expect(waits[0]).toEqual({ reason: "network", ms: 250, method: "POST", path: "/v1/things" });
  });

  test("of 429s end after ten in a row that span five minutes", async () => {
    const { sent, waits, call } = send([limited({ "retry-after": "40" })]);
    expect(await sent).toMatchObject({ status: 429 });
    expect([call.attempt, waits.length]).toEqual([10, 9]);
    const short = send([limited({ "retry-after": "20" })]);
    await short.sent;
    // 20.125 s each: fifteen of them take five minutes.
    expect(short.call.attempt).toBe(16);
  });

  test("of 429s begin again after another response", async () => {
    const nine = Array.from({ length: 9 }, () => limited({ "retry-after": "40" }));
    const { sent, call } = send([...nine, { status: 500 }, ...nine, { status: 200 }]);
    expect(await sent).toMatchObject({ status: 200 });
    expect(call.attempt).toBe(20);
  });

  test.each([
    [250, 1],
    [251, 2],
  ])("that would end at a deadline of %i ms are not begun: %i attempts", async (remainingMs, attempts) => {
    const { sent, call } = send([lost, { status: 200 }], { remainingMs });
    await sent;
    expect(call.attempt).toBe(attempts);
    const answered = send([{ status: 500 }, { status: 200 }], { remainingMs });
    await answered.sent;
    expect(answered.call.attempt).toBe(attempts);
  });
});

describe("a request is sent again", () => {
  const page = (status: number) => ({ status, gateway: true as const });
  const transient = (code: string) => new NetworkError(code, { code, transient: true });
  test.each<[string, Outcome[], Scenario, number]>([
    ["not after a 400", [{ status: 400 }], {}, 1],
    ["not after a 501", [{ status: 501 }], {}, 1],
    ["after a 408", [{ status: 408 }, { status: 200 }], {}, 2],
    [
      "not after a stored 408, which comes again for a day",
      [{ status: 408, headers: { "idempotent-replayed": "true" } }],
      {},
      1,
    ],
    [
      "after a stored 500",
      [{ status: 500, headers: { "idempotent-replayed": "true" } }, { status: 200 }],
      {},
      2,
    ],
    ["not after a 409 of another code", [{ status: 409, code: "reference_already_exists" }], {}, 1],
    ["not as a write without a key", [lost], { method: "POST", hasKey: false }, 1],
    ["as a read without a key", [lost, { status: 200 }], { hasKey: false }, 2],
    ["not as a read after a gateway's 403, while the service has not responded", [page(403)], {}, 1],
    [
      "as a read after a gateway's 403, once the service has responded",
      [{ status: 500 }, page(403), { status: 200 }],
      {},
      3,
    ],
    ["as a write after a gateway's 403", [page(403), { status: 200 }], { method: "POST" }, 2],
    [
      "not as a write with a body that a gateway finds too large",
      [page(413)],
      { method: "POST", body: new Uint8Array(1) },
      1,
    ],
    ["as a write without a body after a gateway's 413", [page(413), { status: 200 }], { method: "POST" }, 2],
    [
      "as a read after a 204 of the service, once it has responded",
      [{ status: 500 }, { status: 204 }, { status: 200 }],
      {},
      3,
    ],
    ["not as a write after a 204", [{ status: 204 }], { method: "DELETE" }, 1],
    ["not to a host that was not found and has not responded", [transient("host_not_found")], {}, 1],
    [
      "to a host that was not found but has responded",
      [{ status: 500 }, transient("host_not_found"), { status: 200 }],
      {},
      3,
    ],
    ["to a host that cannot be reached", [transient("unreachable"), { status: 200 }], {}, 2],
    [
      "not to one that cannot be reached where the policy says so",
      [transient("unreachable")],
      { policy: { unreached: false } },
      1,
    ],
    ["not after a failure that stays", [new NetworkError("tls", { code: "tls", transient: false })], {}, 1],
    [
      "not after a redirect of a service that has not responded",
      [new BadResponseError("r", { code: "redirect", status: 302 })],
      {},
      1,
    ],
    [
      "after a redirect once the service has responded",
      [{ status: 500 }, new BadResponseError("r", { code: "redirect", status: 302 }), { status: 200 }],
      {},
      3,
    ],
    [
      "not after another bad response",
      [{ status: 500 }, new BadResponseError("r", { code: "not_json", status: 200 }), { status: 200 }],
      {},
      2,
    ],
  ])("%s", async (_, outcomes, scenario, attempts) => {
    const { sent, call } = send(outcomes, scenario);
    await sent;
    expect(call.attempt).toBe(attempts);
  });
});

describe("a response says that an earlier attempt may have been carried out", () => {
  test.each<[string, Outcome[], true | undefined]>([
    ["after a lost response", [lost, { status: 409 }], true],
    ["after a 500", [{ status: 500 }, { status: 409 }], true],
    ["after a gateway's page", [{ status: 403, gateway: true }, { status: 409 }], true],
    ["not after a 429", [limited(), { status: 409 }], undefined],
    ["not after a 408", [{ status: 408 }, { status: 409 }], undefined],
    ["not at the first attempt", [{ status: 409 }], undefined],
  ])("%s", async (_, outcomes, expected) => {
    const { sent } = send(outcomes, { method: "POST" });
    expect(((await sent) as { earlierUnanswered?: true }).earlierUnanswered).toBe(expected);
  });

  test("a 429 leaves the doubt about earlier attempts alone", async () => {
    const { sent, doubts } = send([limited(), lost, limited(), { status: 201 }], { method: "POST" });
    await sent;
    expect(doubts).toEqual([false, true]);
  });
});

test.each<[Record<string, string>, number | null]>([
  [{ "retry-after": " 3 " }, 3000],
  [{ "retry-after": "1.5" }, 1500],
  [{ "retry-after": "1234567890" }, null],
  [{ "retry-after": "-1" }, null],
  [{ "retry-after": "soon" }, null],
  [{}, null],
  [{ "retry-after": "Mon, 05 Jan 2026 09:00:07 GMT" }, 7000],
  [{ "retry-after": "Mon, 05 Jan 2026 08:00:07 GMT" }, 0],
  [{ "retry-after": "Mon, 05 Jan 2026 09:00:07 GMT", date: "Mon, 05 Jan 2026 09:00:05 GMT" }, 2000],
  [{ "retry-after": "2026-01-05T09:00:07Z" }, null],
  [{ "retry-after": "Mon, 99 Jan 2026 09:00:07 GMT" }, null],
])("the wait of %j is %j", (headers, expected) => {
  expect(retryAfterMs({ headers }, start)).toBe(expected);
});

test("the time of the service is its Date, to the second", () => {
  expect(serverNow({ headers: { date: "Mon, 05 Jan 2026 09:00:00 GMT" } })).toBe(start);
  expect([serverNow({ headers: {} }), serverNow({ headers: { date: "2026" } })]).toEqual([null, null]);
});

test("statuses that may pass, and responses that are stored ones", () => {
  const statuses = [200, 400, 404, 408, 409, 421, 425, 429, 499, 500, 501, 502, 599];
  expect(statuses.filter(mayPass)).toEqual([408, 421, 425, 429, 500, 502, 599]);
  expect(isReplayed({ headers: { "idempotent-replayed": "true" } })).toBe(true);
  expect(isReplayed({ headers: { "idempotent-replayed": "yes" } })).toBe(false);
});

test("a backoff is a part of its step, which doubles up to the cap", () => {
  const of = (failures: number, random: number) =>
    backoffMs({ baseMs: 100, capMs: 500 }, failures, () => random);
  expect([of(1, 0.999), of(2, 0.5), of(3, 0), of(4, 0.5)]).toEqual([99, 100, 0, 250]);
});
