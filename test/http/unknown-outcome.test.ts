import { afterEach, describe, expect, test } from "vitest";
import { isOfService } from "../../src/client/read-response.ts";
import { NetworkError } from "../../src/http/errors.ts";
import { defaultRetryPolicy, retry } from "../../src/http/retry.ts";
import { compose, type Send } from "../../src/http/send.ts";
import { deadline } from "../../src/http/time-limits.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";
import { closeAll, coreAgainst } from "./core.ts";
import { bytes, json, refusal, reset, type Step, silence } from "./scripted-server.ts";

afterEach(closeAll);

const limited = refusal(429, "rate_limit_exceeded", { "retry-after": 30 });
const failing = refusal(500, "internal_error");

const writeTo = (origin: string) =>
  ({ method: "POST", path: "/v1/things", origin, headers: {}, body: null }) as const;

/** Sends a write and records every report on whether it may have been done; `end` is its outcome. */
async function told(steps: Step[], stop?: (requests: number) => boolean) {
  const { send, server } = await coreAgainst(steps, { retry: { attempts: 3 } });
  const words: boolean[] = [];
  const abort = new AbortController();
  const ending = send(writeTo(server.origin), {
    signal: abort.signal,
    onDoubt: (inDoubt) => words.push(inDoubt),
  }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  if (stop !== undefined) {
    await until(() => stop(server.requests.length) && words.at(-1) !== undefined);
    abort.abort(new Error("stopped"));
  }
  return { end: await ending, words, server };
}

describe("whether a write may have been done", () => {
  test("is unknown from the moment it is sent", async () => {
    expect(await told([silence], (requests) => requests === 1)).toMatchObject({
      end: "stopped",
      words: [false, true],
    });
  });

  test("is certain after a 429, which did nothing", async () => {
    expect(await told([limited, json(201, {})])).toMatchObject({
      end: 201,
      words: [false, true, false, true],
    });
  });

  test.each([
    ["a cut connection", reset],
    ["a 500", failing],
    ["a gateway's page with 403", bytes(403, "<h1>", { "content-type": "text/html" })],
    ["a gateway's page with 429", bytes(429, "<h1>", { "content-type": "text/html", "retry-after": 2 })],
  ])("stays unknown after %s, even if a 429 follows", async (_, fault) => {
    const { words } = await told([fault, limited, json(201, {})]);
    expect(words).toEqual([false, true, true, true, true]);
  });

  test("needs no listener, and does not make a later response doubtful", async () => {
    const { server, send } = await coreAgainst([json(200, {})]);
    await server.stop();
    const words: boolean[] = [];
    await expect(
      send(writeTo(server.origin), { onDoubt: (inDoubt) => words.push(inDoubt) }),
    ).rejects.toMatchObject({
      code: "unreachable",
    });
    expect(words).toEqual([false]);
  });
});

test.each([
  ["found no connection", false],
  ["broke off after it was sent", true],
])(
  "the client marks the earlier attempt as possibly carried out after an attempt that %s: %s",
  async (_, wentOut) => {
    const clock = new TestClock();
    let attempts = 0;
    const attempt: Send = async ({ call }) => {
      if (++attempts > 1) return { status: 401, headers: {}, body: new Uint8Array() };
      if (wentOut) call.doubt(true);
      throw new NetworkError("no line", { code: "unreachable", transient: true });
    };
    const again = retry({ clock, random: () => 0.5, policy: defaultRetryPolicy, isOfService });
    const send = deadline({ clock, totalMs: 60_000 })(compose(attempt, again));
    const answer = await send({
      method: "GET",
      path: "/",
      origin: "http://localhost",
      headers: {},
      body: null,
    });
    expect(answer.earlierUnanswered ?? false).toBe(wentOut);
  },
);
