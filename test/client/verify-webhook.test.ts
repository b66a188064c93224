import { createHmac } from "node:crypto";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  type DeliveredEvent,
  SignatureError,
  verifyWebhook as verifyInNode,
  type WebhookDelivery,
} from "../../src/index.ts";
import { verifyWebhook as verifyAnywhere } from "../../src/webhooks.ts";

const secret = "whsec_0123456789abcdef";
const now = 1_767_603_600_000;
const event = {
  id: "evt_1",
  type: "import.completed",
  created_at: "2026-01-05T09:00:00Z",
  data: { import: { id: "01JGZZ0000000000000000000B", status: "completed" } },
};
const rawBody = JSON.stringify(event);
/** Signed here by hand, so that the package does not check itself. */
const sign = (body: string, t = now / 1000, key = secret) =>
  `t=${t},v1=${createHmac("sha256", key).update(`${t}.${body}`).digest("hex")}`;

const deepBody = `{"id":"evt_1","data":${"[".repeat(300)}${"]".repeat(300)}}`;

type Verify = (delivery: WebhookDelivery) => Promise<DeliveredEvent>;
const both: [name: string, verifyWebhook: Verify][] = [
  ["verifyWebhook of Node", async (delivery) => verifyInNode(delivery)],
  ["verifyWebhook of /webhooks", verifyAnywhere],
];

describe.each(both)("%s", (_name, verifyWebhook) => {
  test("returns the event of a genuine delivery, as text or bytes", async () => {
    expect(await verifyWebhook({ header: sign(rawBody), rawBody, secret, now })).toEqual(event);
    const bytes = Buffer.from(rawBody);
    expect(await verifyWebhook({ header: sign(rawBody), rawBody: bytes, secret, now })).toEqual(event);
  });

  test("accepts bytes of another realm, as in some test runners", async () => {
    const bytes = runInNewContext(`new Uint8Array(${JSON.stringify([...Buffer.from(rawBody)])})`);
    expect(bytes).not.toBeInstanceOf(Uint8Array);
    expect(await verifyWebhook({ header: sign(rawBody), rawBody: bytes, secret, now })).toEqual(event);
  });

  test("passes on an event type that is newer than the package", async () => {
    const body = JSON.stringify({ ...event, type: "task.cancelled" });
    expect(await verifyWebhook({ header: sign(body), rawBody: body, secret, now })).toHaveProperty(
      "type",
      "task.cancelled",
    );
  });

  test.each([
    ["missing", undefined, rawBody],
    ["malformed", "v1=abc", rawBody],
    ["mismatch", sign(rawBody, now / 1000, "whsec_other"), rawBody],
    ["mismatch", sign(rawBody), `${rawBody} `],
    ["out_of_tolerance", sign(rawBody, now / 1000 - 301), rawBody],
  ])("throws a SignatureError: %s", async (reason, header, body) => {
    const error = await verifyWebhook({ header, rawBody: body, secret, now }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(SignatureError);
    expect(error).toMatchObject({ reason, code: `signature_${reason}` });
  });

  test("accepts a wider tolerance", async () => {
    const header = sign(rawBody, now / 1000 - 3000);
    expect(await verifyWebhook({ header, rawBody, secret, now, toleranceSeconds: 3600 })).toEqual(event);
  });

  test.each([
    ["an ID in another format", { ...event, id: "msg-1" }],
    ["a timestamp in another format", { ...event, created_at: 1_767_603_600 }],
    ["data in another format", { ...event, data: { import: "01JGZZ", more: [1], none: null } }],
    ["unknown fields", { ...event, attempt: 2, nested: { a: { b: null } } }],
    ["an event with other fields", { id: "evt_1" }],
    ["nothing", {}],
  ])("returns the signed event unchanged, whatever its fields: %s", async (_what, body) => {
    const text = JSON.stringify(body);
    expect(await verifyWebhook({ header: sign(text), rawBody: text, secret, now })).toEqual(body);
  });

  test("accepts a signature 300 seconds old and rejects one of 301", async () => {
    const verify = (age: number, ms: number) =>
      verifyWebhook({ header: sign(rawBody, now / 1000 - age), rawBody, secret, now: now + ms });
    expect(await verify(300, 999)).toEqual(event);
    expect(await verify(-300, 0)).toEqual(event);
    await expect(verify(301, 0)).rejects.toMatchObject({ reason: "out_of_tolerance" });
    await expect(verify(-301, 999)).rejects.toMatchObject({ reason: "out_of_tolerance" });
  });

  test.each(["", "null", "[]", "[{}]", "{", '"evt_1"', "7", "\ufeff[", deepBody])(
    "rejects the signed body %j as not an event",
    async (body) => {
      const verified = verifyWebhook({ header: sign(body), rawBody: body, secret, now });
      await expect(verified).rejects.toMatchObject({ code: "invalid_event" });
    },
  );
});

describe.each(both)("%s throws a TypeError, and never returns a result, for", (_name, verifyWebhook) => {
  const right = { header: sign(rawBody), rawBody, secret, now };
  const age = "toleranceSeconds must be a number of seconds, 0 or more";
  const moment = "now must be milliseconds since the epoch, as Date.now() gives them";
  const whole = "secret must be the webhook's complete signing_secret";
  const asArrived = "rawBody must be the raw body as bytes (a Uint8Array) or a string, not a parsed object";
  const all = "it takes header, rawBody, secret, toleranceSeconds, now";
  const oneText = "header must be the signature header as one string";
  test.each([
    ...[Number.NaN, "abc", "5m", "300", {}, null, -1].map((toleranceSeconds) => [{ toleranceSeconds }, age]),
    ...[Number.NaN, "2026-01-05", new Date("x"), null, {}, Number.POSITIVE_INFINITY].map((value) => [
      { now: value },
      moment,
    ]),
    [{ secret: "", header: sign(rawBody, now / 1000, "") }, whole],
    ...[undefined, null, 1].map((value) => [{ secret: value }, whole]),
    ...[undefined, null, 7, event, new ArrayBuffer(3)].map((body) => [{ rawBody: body }, asArrived]),
    ...[[sign(rawBody)], 5, {}].map((header) => [{ header }, oneText]),
    [{ tolerance: 10 }, "unknown option tolerance; did you mean toleranceSeconds?"],
    [{ toleranceInSeconds: 10 }, "unknown option toleranceInSeconds; did you mean toleranceSeconds?"],
    [{ tolerence: 1 }, `unknown option tolerence; ${all}`],
    [{ nw: 5 }, "unknown option nw; did you mean now?"],
    [{ tolerance: undefined }, "unknown option tolerance; did you mean toleranceSeconds?"],
    [{ constructor: 1 }, `unknown option constructor; ${all}`],
  ] as [object, string][])("%o", async (wrong, sentence) => {
    const verified = verifyWebhook({ ...right, ...wrong } as WebhookDelivery);
    await expect(verified).rejects.toThrow(new TypeError(`verifyWebhook: ${sentence}`));
  });

  test("no argument", async () => {
    const verified = (verifyWebhook as (delivery?: WebhookDelivery) => Promise<unknown>)();
    await expect(verified).rejects.toThrow(new TypeError("verifyWebhook takes { header, rawBody, secret }"));
  });

  test("any age except an infinite tolerance, which is accepted", async () => {
    const header = sign(rawBody, 0);
    const toleranceSeconds = Number.POSITIVE_INFINITY;
    expect(await verifyWebhook({ header, rawBody, secret, now, toleranceSeconds })).toEqual(event);
  });
});

test.each(both)(
  "%s ignores a byte order mark before the event, in a string as in bytes",
  async (_name, verifyWebhook) => {
    const body = `\ufeff${rawBody}`;
    for (const raw of [body, Buffer.from(body)]) {
      expect(await verifyWebhook({ header: sign(body), rawBody: raw, secret, now })).toEqual(event);
    }
  },
);

test("the current time and the tolerance of both checks have defaults", async () => {
  const header = sign(rawBody, Math.floor(Date.now() / 1000));
  for (const [, verifyWebhook] of both)
    expect(await verifyWebhook({ header, rawBody, secret })).toEqual(event);
});
