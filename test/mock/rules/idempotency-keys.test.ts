import { expect, test } from "vitest";
import { IdempotencyKeys, toFingerprint } from "../../../src/mock/rules/idempotency.ts";

// The mock never crashes in the middle of a request, so this tests the keys directly.
test("a key whose request never finished is released after five minutes", () => {
  const keys = new IdempotencyKeys();
  const fingerprint = toFingerprint("POST", "/v1/products", Buffer.from("{}"));
  const lost = keys.claim("k", fingerprint, 1_000);
  expect(() => keys.claim("k", fingerprint, 1_000 + 299_999)).toThrow("still in progress");
  const again = keys.claim("k", fingerprint, 1_000 + 300_000);
  expect(again.answer).toBeNull();

  // A late response of the lost request is dropped.
  keys.complete(lost, { status: 201, body: "lost" });
  expect(() => keys.claim("k", fingerprint, 400_000)).toThrow("still in progress");
  keys.complete(again, { status: 201, body: "again" });
  expect(keys.claim("k", fingerprint, 400_000).answer).toEqual({ status: 201, body: "again" });
});
