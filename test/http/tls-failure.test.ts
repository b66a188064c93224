import { expect, test } from "vitest";
import { certificateProblem } from "../../src/http/network-failure.ts";

test.for([
  ["a number, as some errors have", 20, null],
  ["a code of another failure", "ECONNREFUSED", null],
  ["a certificate that has expired", "CERT_HAS_EXPIRED", "its certificate has expired, CERT_HAS_EXPIRED"],
  ["a protocol that is not TLS", "EPROTO", "EPROTO"],
] as const)("%s is told apart", ([, code, why]) => {
  expect(certificateProblem(code, "https://api.example.com")?.why ?? null).toBe(why);
});
