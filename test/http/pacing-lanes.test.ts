import { expect, test } from "vitest";
import { Withdrawn } from "../../src/http/errors.ts";
import { pacing } from "../../src/http/pacing.ts";
import type { Wait } from "../../src/http/retry.ts";
import type { Answer, Call, HttpRequest } from "../../src/http/send.ts";
import { TestClock } from "../support/test-clock.ts";

/** Pacing in front of a service whose responses are given one by one. */
function paced() {
  const clock = new TestClock({ isIdle: () => false });
  const waits: Wait[] = [];
  const sent: string[] = [];
  const open = new Map<string, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  const next = (request: HttpRequest) => {
    sent.push(request.path);
    return new Promise<Answer>((resolve, reject) => open.set(request.path, { resolve, reject }));
  };
  const intercept = pacing({
    clock,
    windowMs: 60_000,

    onWait: (wait) => void waits.push(wait),
  })(next);
  const ends: (() => void)[] = [];
  let order = 0;
  const callOf = (at = order++): Call =>
    ({ order: at, hold: () => () => {}, onEnd: (run: () => void) => void ends.push(run) }) as unknown as Call;
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return {
    clock,
    waits,
    sent,
    turn,
    callOf,
    /** Ends the requests so far. */
    end: () => ends.splice(0).forEach((run) => void run()),
    send(path: string, { method = "GET", call = callOf(), signal = new AbortController().signal } = {}) {
      const request = { method, path, signal, call, headers: {} } as unknown as HttpRequest;
      return intercept(request).then(
        () => "done",
        (error: Error) => error.message,
      );
    },
    async answer(path: string, remaining: number) {
      await turn();
      const { resolve } = open.get(path)!;
      const headers = {
        "x-ratelimit-limit": "60",
        "x-ratelimit-remaining": String(remaining),
        "x-ratelimit-reset": String(clock.now() / 1000 + 60),
      };
      resolve({ status: 200, headers, body: new Uint8Array() });
      await turn();
    },
    async fail(path: string, error: Error) {
      await turn();
      open.get(path)!.reject(error);
      await turn();
    },
  };
}

test("one request goes first, the others when its response shows the window", async () => {
  const { send, answer, sent, turn } = paced();
  for (const path of ["/a", "/b", "/c"]) void send(path);
  await turn();
  expect(sent).toEqual(["/a"]);
  await answer("/a", 59);
  expect(sent).toEqual(["/a", "/b", "/c"]);
});

test("reads and writes have a window each", async () => {
  const { send, sent, turn } = paced();
  void send("/read");
  void send("/write", { method: "POST" });
  await turn();
  expect(sent).toEqual(["/read", "/write"]);
});

test("after a failure the same request goes first again, until it is over", async () => {
  const { send, fail, answer, sent, turn, callOf, end } = paced();
  const first = callOf(0);
  void send("/a", { call: first });
  void send("/b", { call: callOf(1) });
  await fail("/a", new Error("lost"));
  expect(sent).toEqual(["/a"]);
  void send("/a2", { call: first });
  await turn();
  expect(sent).toEqual(["/a", "/a2"]);
  await fail("/a2", new Error("lost"));
  end();
  await turn();
  expect(sent).toEqual(["/a", "/a2", "/b"]);
  await answer("/b", 59);
});

test.each([
  ["that was withdrawn before its first byte counts as never sent", new Withdrawn("w"), ["/a", "/b", "/c"]],
  ["without a response counts as used", new Error("lost"), ["/a", "/b"]],
])("a request %s", async (_, error, expected) => {
  const { send, answer, fail, sent, clock } = paced();
  void send("/a");
  await answer("/a", 1);
  // A new window keeps some back for others.
  clock.advance(3_000);
  void send("/b");
  void send("/c");
  await fail("/b", error);
  expect(sent).toEqual(expected);
});

test("requests wait for the next window in their order, are reported once, and a cancelled one leaves the line", async () => {
  const { send, answer, sent, turn, clock, waits, callOf } = paced();
  void send("/a");
  clock.advance(3_000);
  await answer("/a", 0);
  const cancel = new AbortController();
  const cancelled = send("/late", { call: callOf(5), signal: cancel.signal });
  void send("/early", { call: callOf(2) });
  void send("/middle", { call: callOf(3) });
  await turn();
  expect([sent, waits]).toEqual([
    ["/a"],
    [{ reason: "rate_window", ms: 60_000, method: "GET", path: "/late" }],
  ]);
  cancel.abort(new Error("cancelled"));
  expect(await cancelled).toBe("cancelled");
  clock.advance(59_999);
  await turn();
  expect(sent).toEqual(["/a"]);
  clock.advance(1);
  await turn();
  expect(sent).toEqual(["/a", "/early", "/middle"]);
  expect(waits).toHaveLength(1);
});

test("a request that was cancelled before does not enter the line", async () => {
  const { send, sent } = paced();
  expect(await send("/a", { signal: AbortSignal.abort(new Error("cancelled")) })).toBe("cancelled");
  expect(sent).toEqual([]);
});
