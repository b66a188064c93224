import { expect, test } from "vitest";
import { fingerprintOf, IdempotencyKeys } from "../../src/mock/rules/idempotency.ts";

// The mock has no crash to show this by: the keys themselves are asked.
test("a key whose request never came to an end frees itself after five minutes", () => {
  const keys = new IdempotencyKeys();
  const fingerprint = fingerprintOf("POST", "/v1/products", Buffer.from("{}"));
  const lost = keys.claim("k", fingerprint, 1_000);
  expect(() => keys.claim("k", fingerprint, 1_000 + 299_999)).toThrow("still runs");
  const again = keys.claim("k", fingerprint, 1_000 + 300_000);
  expect(again.answer).toBeNull();

  // What the lost request might still answer is nobody's any more.
  keys.settle("k", lost, { status: 201, body: "lost" });
  expect(() => keys.claim("k", fingerprint, 400_000)).toThrow("still runs");
  keys.settle("k", again, { status: 201, body: "again" });
  expect(keys.claim("k", fingerprint, 400_000).answer).toEqual({ status: 201, body: "again" });
});
