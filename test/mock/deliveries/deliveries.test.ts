import { execFileSync } from "node:child_process";
import { setTimeout as realWait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { verifySignature } from "../../../src/contract/signature.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { startReceiver } from "../receiver.ts";
import { monday, refusal, row, startWorld } from "../world.ts";
import { firstAt, hour, iso, minute, worldWithHook } from "../world-with-hook.ts";

test("an event is delivered with a signature of its bytes, and only the ID and status of its resource", async () => {
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

describe("other software verifies the signature", () => {
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
  longTest.each(tools)("%s", async (tool, hmac) => {
    const command = tool === "openssl" ? ["openssl", "version"] : ["python3", "--version"];
    try {
      execFileSync(command[0]!, command.slice(1), { stdio: "ignore" });
    } catch {
      // The tool is not installed on this machine.
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
  test("is retried after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned", async () => {
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
    // The event is the same, byte for byte; each attempt has its own signature.
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

  test("is retried at the scheduled times within one move of the clock", async () => {
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

  test("is complete when `settled` resolves, after a move from code", async () => {
    const { received, url } = await startReceiver(500, 200);
    const { mock, importRows } = await worldWithHook(url);
    await importRows([row("A")]);
    mock.clock.advance(24 * hour);
    await mock.settled();
    expect(received).toHaveLength(2);
    expect(mock.deliveries()).toMatchObject([{ state: "delivered", next_attempt_at: null }]);
  });

  test("is retried on a ticking clock too", async () => {
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

test("a move of the clock waits for hanging handlers in turn, for 90 seconds in total", async () => {
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
    await until(() => received.length >= event);
    expect([isMoved, received.length]).toEqual([false, event]);
    time.advance(10_000);
  }
  await moved;
  expect(clock.now()).toBe(monday + 12 + 2_000);
  await until(() => received.length === 12);
  time.advance(10_000);
  await mock.settled();
  expect(mock.deliveries().map(({ attempts }) => attempts[0]!.error)).toEqual(Array(12).fill("timeout"));
});

describe("a response", () => {
  test.each(sampled([200, 201, 204, 299]))("with %d is a success", async (status) => {
    const { url } = await startReceiver(status);
    const { runImport, deliveries } = await worldWithHook(url);
    await runImport();
    expect(await deliveries()).toMatchObject([{ state: "delivered" }]);
  });

  test.each(sampled([300, 301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503], 3))(
    "with %d is a failure",
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

  test("without an end is cut off, and its status counts", async () => {
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
  ])("that %s times out after 10 seconds", async (_name, answer) => {
    const time = new MovableClock({ frozenAt: 0 });
    const { received, url } = await startReceiver((response) => void answer(response));
    const { mock, importRows, deliveries } = await worldWithHook(url, { network: { time } });
    await importRows([row("A")]);
    mock.clock.advance(1_010);
    await until(() => received.length > 0);
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

  test.each(
    sampled([
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
        "is not HTTP",
        (response: import("node:http").ServerResponse) =>
          response.socket!.end("hello, this is not HTTP\r\n\r\n"),
      ],
      [
        "switches to another protocol",
        (response: import("node:http").ServerResponse) =>
          response.socket!.end("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
      ],
      [
        "has endless headers",
        (response: import("node:http").ServerResponse) =>
          response.socket!.write(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`),
      ],
    ]),
  )("that %s is a failure", async (_name, answer) => {
    const { url } = await startReceiver((response) => void answer(response));
    const { runImport, deliveries } = await worldWithHook(url);
    await runImport();
    expect(await deliveries()).toMatchObject([
      { state: "pending", attempts: [{ status: null, error: "connection_lost" }] },
    ]);
  });

  test("that never comes, because no server listens, is a failure", async () => {
    const { runImport, deliveries } = await worldWithHook("http://localhost:1/in");
    await runImport();
    expect(await deliveries()).toMatchObject([
      { state: "pending", attempts: [{ status: null, error: "unreachable" }] },
    ]);
  });
});

describe("an event", () => {
  test("goes to each active webhook of its organization that subscribes to its type", async () => {
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

  test("reports a failed job as failed", async () => {
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

  test("reports an import with failed rows as completed", async () => {
    const { received, url } = await startReceiver();
    const { importRows, advance } = await worldWithHook(url);
    const images = [{ url: "https://cdn.example.com/fail-timeout.jpg" }];
    const { body } = await importRows([row("A", { images }), row("B")]);
    await advance(minute);
    expect(received[0]!.body.data).toEqual({ import: { id: body.id, status: "completed_with_errors" } });
  });
});

describe("a paused webhook", () => {
  test("never gets the events of the pause", async () => {
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

  test("gets only the retries that are due before and after the pause", async () => {
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

  longTest(
    "loses an event whose last retry is due during the pause, which does not count towards disabling",
    async () => {
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
    },
  );
});

describe("disabling", () => {
  test("happens with the fifth abandoned event in a row, and abandons the pending ones", async () => {
    const { received, url } = await startReceiver(500);
    const { runImport, advance, status, deliveries, patch } = await worldWithHook(url);
    for (let event = 0; event < 4; event++) await runImport();
    await advance(8 * hour);
    expect([received.length, await status()]).toEqual([24, "active"]);
    await runImport();
    await advance(hour);
    // An event that is still pending when the fifth is abandoned.
    await runImport();
    await advance(6 * hour + 21 * minute - 1_010);
    expect(await status()).toBe("disabled");
    const sent = received.length;
    // It is abandoned at once: re-enabling the webhook before its due time does not bring it back.
    expect((await deliveries())[5]).toMatchObject({ state: "abandoned", next_attempt_at: null });
    await advance(24 * hour);
    await runImport();
    expect(received).toHaveLength(sent);
    expect((await deliveries()).map(({ state }: { state: string }) => state)).toEqual(
      Array(6).fill("abandoned"),
    );
    // Re-enabling resets the count: four more abandoned events do not disable the webhook.
    expect((await patch({ status: "active" })).body.status).toBe("active");
    for (let event = 0; event < 4; event++) await runImport();
    await advance(8 * hour);
    expect(await status()).toBe("active");
    await runImport();
    await advance(8 * hour);
    expect(await status()).toBe("disabled");
  });

  longTest("does not happen if an event in between was accepted", async () => {
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

test("every attempt after a rotation is signed with the new secret", async () => {
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

describe("a resend", () => {
  const resend = (send: Awaited<ReturnType<typeof startWorld>>["send"], id: string) =>
    send(`/_mock/deliveries/${id}/resend`, { method: "POST", key: null });

  test("sends the same event with a new signature, and returns the result", async () => {
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

  test("ends the retries if it succeeds, and does not change them if it fails", async () => {
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

  test("of an abandoned event delivers it, even to a paused webhook", async () => {
    const { url } = await startReceiver(...Array<number>(6).fill(500), 200);
    const { runImport, advance, send, deliveries, patch } = await worldWithHook(url);
    await runImport();
    await advance(8 * hour);
    await patch({ status: "paused" });
    const [{ id, state }] = await deliveries();
    expect(state).toBe("abandoned");
    expect((await resend(send, id)).body.state).toBe("delivered");
  });

  test("of an unknown delivery, or for a deleted webhook, gets 404", async () => {
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

describe("the end of a mock", () => {
  test.each(["reset", "stop"] as const)("by %s does not wait for a handler", async (how) => {
    const { received, url } = await startReceiver(() => {});
    const { mock, importRows } = await worldWithHook(url);
    await importRows([row("A")]);
    mock.clock.advance(1_010);
    await until(() => received.length > 0);
    await mock[how]();
    await mock.settled();
    expect(how === "reset" ? mock.deliveries() : []).toEqual([]);
    mock.clock.advance(24 * hour);
    await mock.settled();
    expect(received).toHaveLength(1);
  });
});

longTest("the mock keeps the last 1,000 ended deliveries and all pending ones", async () => {
  const { url } = await startReceiver();
  // In real time, a busy machine would not send 1,000 before the deadline of a delivery.
  const time = new MovableClock({ frozenAt: monday });
  const { importRows, register, advance, mock } = await worldWithHook(url, { network: { time } });
  for (let more = 0; more < 100; more++) await register();
  // The URL of this webhook has no server.
  const failing = await register({ url: "http://127.0.0.1:1/" });
  for (let event = 0; event < 10; event++) await importRows([row(`A${event}`)]);
  await advance(1_010);
  const known = mock.deliveries();
  expect(known.filter(({ state }) => state === "delivered")).toHaveLength(1_000);
  expect(known.filter(({ webhook_id }) => webhook_id === failing.id)).toHaveLength(10);
});

test("a state contains secrets and pending retries, and another mock resumes them", async () => {
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

test("a state with an invalid secret is rejected", async () => {
  const { url } = await startReceiver(500);
  const { mock, send } = await worldWithHook(url);
  const state = mock.state();
  state.organizations.main.webhooks[0]!.signing_secret = "hunter2";
  expect((await send("/_mock/state", { method: "PUT", json: state, key: null })).status).toBe(400);
});

test("a strict mock does not deliver to loopback, even if a loaded state says so", async () => {
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
