import { execFileSync } from "node:child_process";
import { setTimeout as realWait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../src/clock.ts";
import { verifySignature } from "../../src/contract/signature.ts";
import { startReceiver } from "./receiver.ts";
import { monday, refusal, row, startWorld } from "./world.ts";
import { firstAt, hour, iso, minute, worldWithHook } from "./world-with-hook.ts";

test("an event arrives, signed over its bytes, with its resource's id and status and nothing more", async () => {
  const { received, url } = await startReceiver();
  const { runImport, webhook, deliveries, send, path } = await worldWithHook(url);
  const id = await runImport();
  expect(received).toHaveLength(1);
  const [{ method, path: target, headers, raw, body }] = received as [(typeof received)[0]];
  expect([method, target]).toEqual(["POST", "/hooks?shop=1"]);
  expect(body).toEqual({
    id: expect.stringMatching(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/),
    type: "import.completed",
    created_at: iso(firstAt),
    data: { import: { id, status: "completed" } },
  });
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "content-length": String(raw.length),
    "user-agent": expect.stringMatching(/./),
    host: new URL(url).host,
  });
  const header = headers["service-signature"] as string;
  expect(header.startsWith(`t=${Math.floor(firstAt / 1000)},v1=`)).toBe(true);
  const check = { header, secret: webhook.signing_secret, now: firstAt };
  expect(verifySignature({ ...check, rawBody: raw }).ok).toBe(true);
  expect(verifySignature({ ...check, rawBody: Buffer.concat([raw, Buffer.from(" ")]) }).ok).toBe(false);
  expect(await deliveries()).toEqual([
    {
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      event_id: body.id,
      type: "import.completed",
      webhook_id: webhook.id,
      url,
      state: "delivered",
      attempts: [{ at: iso(firstAt), status: 200, error: null, signature: header }],
      next_attempt_at: null,
      event: body,
    },
  ]);
  expect((await send(path)).body.last_delivery_at).toBe(iso(firstAt));
});

describe("other software finds the signature right", () => {
  const tools: [string, (secret: string, t: string, raw: Buffer) => string][] = [
    [
      "Python's hmac",
      (secret, t, raw) => {
        const code =
          "import sys,hmac,hashlib;print(hmac.new(sys.argv[1].encode(),sys.argv[2].encode()+b'.'+sys.stdin.buffer.read(),hashlib.sha256).hexdigest())";
        return execFileSync("python3", ["-c", code, secret, t], { input: raw }).toString().trim();
      },
    ],
    [
      "openssl",
      (secret, t, raw) => {
        const input = Buffer.concat([Buffer.from(`${t}.`), raw]);
        const args = ["dgst", "-sha256", "-hmac", secret, "-r"];
        return execFileSync("openssl", args, { input }).toString().split(" ")[0]!;
      },
    ],
  ];
  test.each(tools)("%s", async (tool, hmac) => {
    const command = tool === "openssl" ? ["openssl", "version"] : ["python3", "--version"];
    try {
      execFileSync(command[0]!, command.slice(1), { stdio: "ignore" });
    } catch {
      return; // Not on this machine.
    }
    const { received, url } = await startReceiver();
    const { runImport, webhook } = await worldWithHook(url);
    await runImport();
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      received[0]!.headers["service-signature"] as string,
    )!;
    expect(hmac(webhook.signing_secret, t!, received[0]!.raw)).toBe(v1);
  });
});

describe("a failed delivery", () => {
  test("is tried again after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned", async () => {
    const { received, url } = await startReceiver(500);
    const { runImport, advance, deliveries, webhook } = await worldWithHook(url);
    await runImport();
    const waits = [minute, 5 * minute, 15 * minute, hour, 6 * hour];
    let due = firstAt;
    for (const [index, wait] of waits.entries()) {
      expect(received).toHaveLength(index + 1);
      due += wait;
      const [delivery] = await deliveries();
      expect([delivery.state, delivery.next_attempt_at]).toEqual(["pending", iso(due)]);
      await advance(wait - 1);
      expect(received).toHaveLength(index + 1);
      await advance(1);
    }
    expect(received).toHaveLength(6);
    await advance(24 * hour);
    expect(received).toHaveLength(6);
    const [delivery] = await deliveries();
    expect([delivery.state, delivery.next_attempt_at]).toEqual(["abandoned", null]);
    expect(delivery.attempts.map(({ status }: { status: number }) => status)).toEqual(Array(6).fill(500));
    // The same event, byte for byte, and each attempt's signature its own.
    for (const { raw } of received) expect(raw.equals(received[0]!.raw)).toBe(true);
    const signatures = received.map(({ headers }) => headers["service-signature"] as string);
    expect(new Set(signatures).size).toBe(6);
    let at = firstAt;
    for (const [index, header] of signatures.entries()) {
      const check = { header, secret: webhook.signing_secret, rawBody: received[index]!.raw, now: at };
      expect(verifySignature(check)).toEqual({ ok: true, timestamp: Math.floor(at / 1000) });
      at += waits[index] ?? 0;
    }
  });

  test("within one move of the clock, each retry has its own time", async () => {
    const { received, url } = await startReceiver(500, 302, 404, 204);
    const { importRows, advance, deliveries, send, path, clock } = await worldWithHook(url);
    await importRows([row("A")]);
    await advance(24 * hour);
    expect(clock.now()).toBe(monday + 24 * hour);
    expect(received).toHaveLength(4);
    const times = [0, minute, 6 * minute, 21 * minute].map((after) => iso(firstAt + after));
    const [{ state, attempts }] = await deliveries();
    expect(state).toBe("delivered");
    expect(attempts.map(({ at, status }: { at: string; status: number }) => [at, status])).toEqual([
      [times[0], 500],
      [times[1], 302],
      [times[2], 404],
      [times[3], 204],
    ]);
    expect((await send(path)).body.last_delivery_at).toBe(times[3]);
  });

  test("moved from code, `settled` tells when all is done", async () => {
    const { received, url } = await startReceiver(500, 200);
    const { mock, importRows } = await worldWithHook(url);
    await importRows([row("A")]);
    mock.clock.advance(24 * hour);
    await mock.settled();
    expect(received).toHaveLength(2);
    expect(mock.deliveries()).toMatchObject([{ state: "delivered", next_attempt_at: null }]);
  });

  test("retries go on a clock that ticks, too", async () => {
    const { received, url } = await startReceiver(500);
    const { importRows, advance, deliveries } = await worldWithHook(url, { clock: new MovableClock() });
    await importRows([row("A")]);
    await advance(7 * minute + 2_000);
    expect(received).toHaveLength(3);
    const [{ attempts }] = await deliveries();
    const times = attempts.map(({ at }: { at: string }) => Date.parse(at));
    expect(Math.round((times[1] - times[0]) / 100)).toBe(600);
    expect(Math.round((times[2] - times[1]) / 100)).toBe(3_000);
  });
});

test("a move of the clock waits for handlers that hang, one after the other, but for no more than 90 seconds", async () => {
  const time = new MovableClock({ frozenAt: 0 });
  const { received, url } = await startReceiver(() => {});
  const { importRows, clock, advance, mock } = await worldWithHook(url, { network: { time } });
  for (let event = 0; event < 12; event++) {
    await importRows([row("A")]);
    clock.advance(1);
  }
  let isMoved = false;
  const moved = advance(2_000).then(() => {
    isMoved = true;
  });
  for (let event = 1; event <= 9; event++) {
    while (received.length < event) await realWait(1);
    expect([isMoved, received.length]).toEqual([false, event]);
    time.advance(10_000);
  }
  await moved;
  expect(clock.now()).toBe(monday + 12 + 2_000);
  while (received.length < 12) await realWait(1);
  time.advance(10_000);
  await mock.settled();
  expect(mock.deliveries().map(({ attempts }) => attempts[0]!.error)).toEqual(Array(12).fill("timeout"));
});

describe("an answer", () => {
  test.each([200, 201, 204, 299])("of %d is success", async (status) => {
    const { url } = await startReceiver(status);
    const { runImport, deliveries } = await worldWithHook(url);
    await runImport();
    expect(await deliveries()).toMatchObject([{ state: "delivered" }]);
  });

  test.each([300, 301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503])(
    "of %d is a failure",
    async (status) => {
      const { received, url } = await startReceiver((response) =>
        response.writeHead(status, { location: "/elsewhere", "retry-after": "1" }).end(),
      );
      const { runImport, deliveries } = await worldWithHook(url);
      await runImport();
      // A redirect is not followed.
      expect(received.map(({ path }) => path)).toEqual(["/hooks?shop=1"]);
      expect(await deliveries()).toMatchObject([{ state: "pending", attempts: [{ status, error: null }] }]);
    },
  );

  test("without an end is cut, and its status counts", async () => {
    let isCut: Promise<void> | undefined;
    const { url } = await startReceiver((response) => {
      isCut = new Promise((resolve) => response.once("close", () => resolve()));
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.writeHead(200).on("drain", more);
      more();
    });
    const { runImport, deliveries } = await worldWithHook(url);
    await runImport();
    await isCut;
    expect(await deliveries()).toMatchObject([{ state: "delivered" }]);
  });

  test.each([
    ["never begins", () => {}],
    [
      "begins and never ends",
      (response: import("node:http").ServerResponse) => response.writeHead(200).write("one moment"),
    ],
  ])("that %s is given up after 10 seconds", async (_name, answer) => {
    const time = new MovableClock({ frozenAt: 0 });
    const { received, url } = await startReceiver((response) => void answer(response));
    const { mock, importRows, deliveries } = await worldWithHook(url, { network: { time } });
    await importRows([row("A")]);
    mock.clock.advance(1_010);
    while (received.length === 0) await realWait(1);
    time.advance(9_999);
    await realWait(20);
    expect(await deliveries()).toMatchObject([{ attempts: [] }]);
    time.advance(1);
    await mock.settled();
    expect(await deliveries()).toMatchObject([
      {
        state: "pending",
        attempts: [{ at: iso(firstAt), status: null, error: "timeout" }],
        next_attempt_at: iso(firstAt + minute),
      },
    ]);
  });

  test.each([
    ["is cut off", (response: import("node:http").ServerResponse) => response.destroy()],
    [
      "is cut off in its body",
      (response: import("node:http").ServerResponse) =>
        response.socket!.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
    ],
    [
      "is cut off in a chunk",
      (response: import("node:http").ServerResponse) =>
        response.socket!.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
    ],
    [
      "is no HTTP",
      (response: import("node:http").ServerResponse) =>
        response.socket!.end("hello, this is not HTTP\r\n\r\n"),
    ],
    [
      "wants another protocol",
      (response: import("node:http").ServerResponse) =>
        response.socket!.end("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
    ],
    [
      "has endless headers",
      (response: import("node:http").ServerResponse) =>
        response.socket!.write(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`),
    ],
  ])("that %s is none", async (_name, answer) => {
    const { url } = await startReceiver((response) => void answer(response));
    const { runImport, deliveries } = await worldWithHook(url);
    await runImport();
    expect(await deliveries()).toMatchObject([
      { state: "pending", attempts: [{ status: null, error: "connection_lost" }] },
    ]);
  });

  test("of nobody is a failure", async () => {
    const { runImport, deliveries } = await worldWithHook("http://localhost:1/in");
    await runImport();
    expect(await deliveries()).toMatchObject([
      { state: "pending", attempts: [{ status: null, error: "unreachable" }] },
    ]);
  });
});

describe("who gets an event", () => {
  test("only active webhooks of its organization that listen to its type, all the same event", async () => {
    const { received, url } = await startReceiver();
    const { register, runImport, patch } = await worldWithHook(`${url}&n=0`);
    await patch({ status: "paused" });
    await register({ url: `${url}&n=1` });
    await register({ url: `${url}&n=2`, events: ["import.failed", "task.succeeded"] });
    await register({ url: `${url}&n=3` }, "ak_mock_other");
    await register({ url: `${url}&n=4`, events: ["import.failed", "import.completed"] });
    await runImport();
    const paths = () => received.map(({ path }) => path.slice(-1)).sort();
    expect(paths()).toEqual(["1", "4"]);
    expect(new Set(received.map(({ body }) => body.id)).size).toBe(1);
    await runImport("ak_mock_other");
    expect(paths()).toEqual(["1", "3", "4"]);
    const ids = received.map(({ body }) => body.id);
    expect(new Set(ids).size).toBe(2);
  });

  test("a job that fails is told as failed", async () => {
    const { received, url } = await startReceiver();
    const { register, send, runImport } = await worldWithHook(url);
    await register({ events: ["import.failed"] });
    const fault = { match: { job: "import" }, fail: { code: "broken", message: "it broke" } };
    await send("/_mock/faults", { json: fault, key: null });
    const id = await runImport();
    expect(received.map(({ body }) => [body.type, body.data])).toEqual([
      ["import.failed", { import: { id, status: "failed" } }],
    ]);
  });

  test("an import with failed rows is told as completed", async () => {
    const { received, url } = await startReceiver();
    const { importRows, advance } = await worldWithHook(url);
    const images = [{ url: "https://cdn.example.com/fail-timeout.jpg" }];
    const { body } = await importRows([row("A", { images }), row("B")]);
    await advance(minute);
    expect(received[0]!.body.data).toEqual({ import: { id: body.id, status: "completed_with_errors" } });
  });
});

describe("a paused webhook", () => {
  test("gets nothing of what happens meanwhile, later either", async () => {
    const { received, url } = await startReceiver();
    const { patch, runImport, advance, deliveries } = await worldWithHook(url);
    await patch({ status: "paused" });
    await runImport();
    await patch({ status: "active" });
    await advance(24 * hour);
    expect([received.length, await deliveries()]).toEqual([0, []]);
    await runImport();
    expect(received).toHaveLength(1);
  });

  test("gets no retry that comes due while it is paused, and those that come due before and after", async () => {
    const { received, url } = await startReceiver(500);
    const { patch, runImport, advance, deliveries } = await worldWithHook(url);
    await runImport();
    await patch({ status: "paused" });
    await advance(minute - 1);
    await patch({ status: "active" });
    await advance(1);
    expect(received).toHaveLength(2);
    await patch({ status: "paused" });
    await advance(5 * minute);
    const [{ state, next_attempt_at }] = await deliveries();
    expect([state, next_attempt_at]).toEqual(["pending", iso(firstAt + 21 * minute)]);
    await patch({ status: "active" });
    await advance(24 * hour);
    const [{ attempts }] = await deliveries();
    const after = [0, minute, 21 * minute, 81 * minute, 441 * minute];
    expect(attempts.map(({ at }: { at: string }) => at)).toEqual(after.map((time) => iso(firstAt + time)));
    expect(received).toHaveLength(5);
    expect(await deliveries()).toMatchObject([{ state: "abandoned", next_attempt_at: null }]);
  });

  test("loses an event whose last retry comes due while it is paused, which does not count against it", async () => {
    const { received, url } = await startReceiver(500);
    const { patch, runImport, advance, deliveries, status } = await worldWithHook(url);
    for (let event = 0; event < 6; event++) await runImport();
    await advance(2 * hour);
    expect(received).toHaveLength(30);
    await patch({ status: "paused" });
    await advance(24 * hour);
    expect(received).toHaveLength(30);
    const states = (await deliveries()).map(({ state }: { state: string }) => state);
    expect([states, await status()]).toEqual([Array(6).fill("abandoned"), "paused"]);
  });
});

describe("disabling", () => {
  test("comes with the fifth event in a row that was abandoned, and takes the rest with it", async () => {
    const { received, url } = await startReceiver(500);
    const { runImport, advance, status, deliveries, patch } = await worldWithHook(url);
    for (let event = 0; event < 4; event++) await runImport();
    await advance(8 * hour);
    expect([received.length, await status()]).toEqual([24, "active"]);
    await runImport();
    await advance(hour);
    // One that is still on its way when the fifth is abandoned.
    await runImport();
    await advance(6 * hour + 21 * minute - 1_010);
    expect(await status()).toBe("disabled");
    const sent = received.length;
    // It is given up at once, and so does not come when the webhook is set going again before it would have been due.
    expect((await deliveries())[5]).toMatchObject({ state: "abandoned", next_attempt_at: null });
    await advance(24 * hour);
    await runImport();
    expect(received).toHaveLength(sent);
    expect((await deliveries()).map(({ state }: { state: string }) => state)).toEqual(
      Array(6).fill("abandoned"),
    );
    // Set going again, it begins anew: four more do not disable it.
    expect((await patch({ status: "active" })).body.status).toBe("active");
    for (let event = 0; event < 4; event++) await runImport();
    await advance(8 * hour);
    expect(await status()).toBe("active");
    await runImport();
    await advance(8 * hour);
    expect(await status()).toBe("disabled");
  });

  test("does not come when one in between was accepted", async () => {
    const sixTimes = (answer: number) => Array<number>(6).fill(answer);
    const { url } = await startReceiver(...Array(4).fill(sixTimes(500)).flat(), 200, 500);
    const { runImport, advance, status } = await worldWithHook(url);
    for (let event = 0; event < 9; event++) {
      await runImport();
      await advance(8 * hour);
      expect(await status()).toBe("active");
    }
    await runImport();
    await advance(8 * hour);
    expect(await status()).toBe("disabled");
  });
});

test("a deleted webhook gets no retry", async () => {
  const { received, url } = await startReceiver(500);
  const { runImport, advance, send, path, deliveries } = await worldWithHook(url);
  await runImport();
  await send(path, { method: "DELETE" });
  await advance(24 * hour);
  expect(received).toHaveLength(1);
  expect(await deliveries()).toMatchObject([{ state: "abandoned", next_attempt_at: null }]);
});

test("after a rotation every attempt is signed with the new secret", async () => {
  const { received, url } = await startReceiver(500, 200);
  const { runImport, advance, patch, webhook } = await worldWithHook(url);
  await runImport();
  const { signing_secret } = (await patch({ rotate_secret: true })).body;
  await advance(minute);
  const verdicts = [webhook.signing_secret, signing_secret].map((secret) => {
    const { headers, raw } = received[1]!;
    const header = headers["service-signature"] as string;
    return verifySignature({ header, rawBody: raw, secret, now: firstAt + minute }).ok;
  });
  expect(verdicts).toEqual([false, true]);
});

describe("sending again", () => {
  const resend = (send: Awaited<ReturnType<typeof startWorld>>["send"], id: string) =>
    send(`/_mock/deliveries/${id}/resend`, { method: "POST", key: null });

  test("brings the same event with a new signature, and tells what came of it", async () => {
    const { received, url } = await startReceiver();
    const { runImport, advance, send, deliveries } = await worldWithHook(url);
    await runImport();
    await advance(minute);
    const [before] = await deliveries();
    const got = await resend(send, before.id);
    expect(got.status).toBe(200);
    expect([got.body]).toEqual(await deliveries());
    expect(got.body.attempts.map(({ at }: { at: string }) => at)).toEqual([
      iso(firstAt),
      iso(firstAt + minute),
    ]);
    expect(received[1]!.raw.equals(received[0]!.raw)).toBe(true);
    expect(received[1]!.headers["service-signature"]).not.toBe(received[0]!.headers["service-signature"]);
  });

  test("successfully ends the retries; in vain leaves them as they were", async () => {
    const { received, url } = await startReceiver(500, 500, 500, 200);
    const { runImport, advance, send, deliveries } = await worldWithHook(url);
    await runImport();
    const [{ id, next_attempt_at }] = await deliveries();
    expect((await resend(send, id)).body).toMatchObject({ state: "pending", next_attempt_at });
    await advance(minute);
    expect(received).toHaveLength(3);
    expect((await resend(send, id)).body).toMatchObject({ state: "delivered", next_attempt_at: null });
    await advance(24 * hour);
    expect(received).toHaveLength(4);
  });

  test("of an abandoned one delivers it, a paused webhook or not", async () => {
    const { url } = await startReceiver(...Array<number>(6).fill(500), 200);
    const { runImport, advance, send, deliveries, patch } = await worldWithHook(url);
    await runImport();
    await advance(8 * hour);
    await patch({ status: "paused" });
    const [{ id, state }] = await deliveries();
    expect(state).toBe("abandoned");
    expect((await resend(send, id)).body.state).toBe("delivered");
  });

  test("of what is not there is 404", async () => {
    const { url } = await startReceiver();
    const { runImport, send, path, deliveries } = await worldWithHook(url);
    const unknown = await resend(send, "01HN1H1W2BE2ZP0BXGX60T7K32");
    expect([unknown.status, unknown.body]).toEqual([404, refusal("not_found", "delivery_not_found")]);
    await runImport();
    await send(path, { method: "DELETE" });
    const [{ id }] = await deliveries();
    const orphan = await resend(send, id);
    expect([orphan.status, orphan.body]).toEqual([404, refusal("not_found", "webhook_not_found")]);
  });
});

describe("an end", () => {
  test.each(["reset", "stop"] as const)("by %s comes at once, whatever a handler does", async (how) => {
    const { received, url } = await startReceiver(() => {});
    const { mock, importRows } = await worldWithHook(url);
    await importRows([row("A")]);
    mock.clock.advance(1_010);
    while (received.length === 0) await realWait(1);
    await mock[how]();
    await mock.settled();
    expect(how === "reset" ? mock.deliveries() : []).toEqual([]);
    mock.clock.advance(24 * hour);
    await mock.settled();
    expect(received).toHaveLength(1);
  });
});

test("a thousand that have ended are remembered, and all that have not", async () => {
  const { url } = await startReceiver();
  const { importRows, register, advance, mock } = await worldWithHook(url);
  for (let more = 0; more < 100; more++) await register();
  // The first one has no handler behind it.
  const failing = await register({ url: "http://127.0.0.1:1/" });
  for (let event = 0; event < 10; event++) await importRows([row(`A${event}`)]);
  await advance(1_010);
  const known = mock.deliveries();
  expect(known.filter(({ state }) => state === "delivered")).toHaveLength(1_000);
  expect(known.filter(({ webhook_id }) => webhook_id === failing.id)).toHaveLength(10);
});

test("a state has the secrets and the retries that are still to come, and another mock goes on with them", async () => {
  const { received, url } = await startReceiver(500, 500, 200);
  const first = await worldWithHook(url);
  await first.runImport();
  await first.advance(minute);
  const state = (await first.send("/_mock/state", { key: null })).body;
  await first.mock.stop();
  const { mock, send } = await startWorld({ seed: 7 });
  expect((await send("/_mock/state", { method: "PUT", json: state, key: null })).status).toBe(200);
  expect(mock.deliveries()).toMatchObject([{ state: "pending", next_attempt_at: iso(firstAt + 6 * minute) }]);
  await send("/_mock/clock", { json: { advance_ms: 5 * minute }, key: null });
  expect(mock.deliveries()).toMatchObject([{ state: "delivered", attempts: [{}, {}, { status: 200 }] }]);
  const { headers, raw } = received[2]!;
  const header = headers["service-signature"] as string;
  const secret = first.webhook.signing_secret;
  const check = { header, secret, rawBody: raw, now: firstAt + 6 * minute };
  expect([received.length, verifySignature(check).ok]).toEqual([3, true]);
  expect((await send("/v1/webhooks")).body.data).toMatchObject([{ id: first.webhook.id }]);
});

test.each([
  ["a secret that is none", { secret: "hunter2" }],
  ["a retry of what was delivered", { state: "delivered" }],
  ["no retry of what is pending", { due: null }],
])("a state with %s is refused", async (_name, { secret, ...delivery }: Record<string, unknown>) => {
  const { url } = await startReceiver(500);
  const { runImport, mock, send } = await worldWithHook(url);
  await runImport();
  const state = mock.state() as unknown as {
    organizations: { main: { webhooks: object[] } };
    deliveries: object[];
  };
  if (secret !== undefined) Object.assign(state.organizations.main.webhooks[0]!, { signing_secret: secret });
  Object.assign(state.deliveries[0]!, delivery);
  expect((await send("/_mock/state", { method: "PUT", json: state, key: null })).status).toBe(400);
});

test("a strict mock calls no loopback, whatever its state says", async () => {
  const { received, url } = await startReceiver();
  const loose = await worldWithHook(url);
  await loose.importRows([row("A")]);
  const strict = await startWorld({ strict: true });
  await strict.send("/_mock/state", { method: "PUT", json: loose.mock.state(), key: null });
  await strict.send("/_mock/clock", { json: { advance_ms: 2_000 }, key: null });
  expect(received).toEqual([]);
  expect(strict.mock.deliveries()).toMatchObject([{ attempts: [{ status: null, error: "blocked_host" }] }]);
});

test("a seed repeats events and deliveries", async () => {
  const { url } = await startReceiver();
  const run = async () => {
    const { runImport, mock } = await worldWithHook(url);
    await runImport();
    return mock.deliveries();
  };
  expect(await run()).toEqual(await run());
});
