import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SignatureError, verifyWebhook } from "../../src/index.ts";

const secret = "whsec_0123456789abcdef";
const now = 1_767_603_600_000;
const event = {
  id: "evt_1",
  type: "import.completed",
  created_at: "2026-01-05T09:00:00Z",
  data: { import: { id: "01JGZZ0000000000000000000B", status: "completed" } },
};
const rawBody = JSON.stringify(event);
/** Signed here by hand, so that the package is not held to itself. */
const sign = (body: string, t = now / 1000, key = secret) =>
  `t=${t},v1=${createHmac("sha256", key).update(`${t}.${body}`).digest("hex")}`;

describe("verifyWebhook", () => {
  test("gives the event of a genuine delivery, as text or bytes", () => {
    expect(verifyWebhook({ header: sign(rawBody), rawBody, secret, now })).toEqual(event);
    expect(verifyWebhook({ header: sign(rawBody), rawBody: Buffer.from(rawBody), secret, now })).toEqual(
      event,
    );
  });

  test("passes on an event type that is newer than the package", () => {
    const body = JSON.stringify({ ...event, type: "task.cancelled" });
    expect(verifyWebhook({ header: sign(body), rawBody: body, secret, now }).type).toBe("task.cancelled");
  });

  test.each([
    ["missing", undefined, rawBody],
    ["malformed", "v1=abc", rawBody],
    ["mismatch", sign(rawBody, now / 1000, "whsec_other"), rawBody],
    ["mismatch", sign(rawBody), `${rawBody} `],
    ["out_of_tolerance", sign(rawBody, now / 1000 - 301), rawBody],
  ])("throws a SignatureError: %s", (reason, header, body) => {
    const attempt = () => verifyWebhook({ header, rawBody: body, secret, now });
    expect(attempt).toThrow(SignatureError);
    expect(attempt).toThrow(expect.objectContaining({ reason, code: `signature_${reason}` }));
  });

  test("a wider tolerance is honoured", () => {
    const header = sign(rawBody, now / 1000 - 3000);
    expect(verifyWebhook({ header, rawBody, secret, now, toleranceSeconds: 3600 }).id).toBe("evt_1");
  });

  test.each(["", "null", "[]", "{", '{"id":"evt_1"}'])("a signed body %j is no event", (body) => {
    expect(() => verifyWebhook({ header: sign(body), rawBody: body, secret, now })).toThrow(
      expect.objectContaining({ code: "invalid_event" }),
    );
  });
});
