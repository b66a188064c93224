import { describe, expect, test } from "vitest";
import { signDelivery, verifySignature } from "../../src/contract/signature.ts";

/**
 * Computed with Python's hmac, the first one also with openssl, because the client and the mock share the
 * code under test.
 */
const vectors = [
  {
    secret: "whsec_test",
    t: 1_767_603_600,
    body: '{"id":"evt_1"}',
    v1: "008041af430d4924a25a9ca17a73cf75072c1b60b4e1e9bb62589d34534d258b",
  },
  {
    secret: "whsec_test",
    t: 1_767_603_600,
    body: "",
    v1: "d85dfc79f96ae4a25b7a6b78f6d332e086176ddb47cd5f8d5424321c2003fae4",
  },
  {
    secret: "whsec_ä",
    t: 0,
    body: '{"name":"Müller 🧥"}',
    v1: "b1b05e5126ae3893ffdf9b58601612ea888f196f11f85d4d26fc0ef3b529cce9",
  },
  {
    secret: "whsec_k".repeat(20),
    t: 999_999_999_999,
    body: Uint8Array.from({ length: 256 }, (_, byte) => byte),
    v1: "7985be4ed897f58df3cec2fbc2eb5d693ed250b3f20b54025b112920b1739a56",
  },
] as const;

test.each(vectors)(
  "signDelivery creates the same signature as other software: $v1",
  ({ secret, t, body, v1 }) => {
    expect(signDelivery(secret, body, t)).toBe(`t=${t},v1=${v1}`);
    expect(verifySignature({ header: `t=${t},v1=${v1}`, rawBody: body, secret, now: t * 1_000 })).toEqual({
      ok: true,
      timestamp: t,
    });
  },
);

describe("verification", () => {
  const { secret, t, body, v1 } = vectors[0];
  const verify = (more: Partial<Parameters<typeof verifySignature>[0]>) =>
    verifySignature({ header: `t=${t},v1=${v1}`, rawBody: body, secret, now: t * 1_000, ...more });
  const reason = (more: Parameters<typeof verify>[0]) => {
    const verdict = verify(more);
    return verdict.ok ? "ok" : verdict.reason;
  };

  test.each([
    [null, "missing"],
    [undefined, "missing"],
    ["", "missing"],
    ["nonsense", "malformed"],
    [`v1=${v1}`, "malformed"],
    [`t=${t}`, "malformed"],
    [`t=${t},v1=`, "malformed"],
    [`t=${t},v1=${v1.slice(1)}`, "malformed"],
    [`t=${t},v1=${v1.toUpperCase()}`, "malformed"],
    [`t=${t},t=${t},v1=${v1}`, "malformed"],
    [`t=1e9,v1=${v1}`, "malformed"],
    [`t=-${t},v1=${v1}`, "malformed"],
    [`t=${t + 1},v1=${v1}`, "mismatch"],
    [`t=${t},v1=abc,v1=${v1},v1=`, "ok"],
    [`t=${t},v1=abc,v1=`, "malformed"],
    [`t=${t},v1=abc,v1=${"0".repeat(64)}`, "mismatch"],
    [`t=${t},v1=${v1},`, "malformed"],
    [`t=${t},,v1=${v1}`, "malformed"],
    [`t=${t},=${v1},v1=${v1}`, "malformed"],
    [`t=${t},v 1=a,v1=${v1}`, "malformed"],
    [` t=${t} ,\tv1=${v1} `, "ok"],
    [`t=0${t},v1=${v1}`, "mismatch"],
    [`t=${t},v1=${"0".repeat(64)}`, "mismatch"],
  ])("%s: %s", (header, expected) => {
    expect(reason({ header })).toBe(expected);
  });

  test("rejects everything if the tolerance or the time is not a number", () => {
    expect(reason({ toleranceSeconds: Number.NaN })).toBe("out_of_tolerance");
    expect(reason({ now: Number.NaN })).toBe("out_of_tolerance");
  });

  test.each([
    ["spaces within a part", `t=1,v1=a${" ".repeat(1_000_000)}x`],
    ["spaces before a part", `t=1,${" ".repeat(1_000_000)}x`],
    ["parts", "a=1,".repeat(1_000_000)],
    ["letters in a name", `t=1,${"a".repeat(1_000_000)}`],
  ])("parses a header with a million %s quickly", (_what, header) => {
    // The time of this process, which others on the machine do not prolong.
    const before = process.cpuUsage();
    expect(reason({ header })).toBe("malformed");
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1_500);
  });

  test("rejects another secret, the secret without its prefix, and another body", () => {
    expect(reason({ secret: "whsec_other" })).toBe("mismatch");
    expect(reason({ secret: "test" })).toBe("mismatch");
    expect(reason({ rawBody: '{"id": "evt_1"}' })).toBe("mismatch");
  });

  test.each([
    [300_000, "ok"],
    [300_001, "ok"],
    [300_999, "ok"],
    [301_000, "out_of_tolerance"],
    [-299_001, "ok"],
    [-300_000, "ok"],
    [-300_001, "out_of_tolerance"],
    [-301_000, "out_of_tolerance"],
  ])("accepts 300 full seconds on either side, but not 301: %d ms after", (after, expected) => {
    expect(reason({ now: t * 1_000 + after })).toBe(expected);
  });

  test("counts a custom tolerance in full seconds", () => {
    expect(reason({ now: t * 1_000 + 5_999, toleranceSeconds: 5 })).toBe("ok");
    expect(reason({ now: t * 1_000 + 6_000, toleranceSeconds: 5 })).toBe("out_of_tolerance");
    expect(reason({ now: t * 1_000 + 999, toleranceSeconds: 0 })).toBe("ok");
    expect(reason({ now: t * 1_000 - 1, toleranceSeconds: 0 })).toBe("out_of_tolerance");
  });

  test("accepts one valid signature among several, and ignores other parts", () => {
    expect(reason({ header: `t=${t}, v1=${"0".repeat(64)}, v1=${v1}, v2=abc` })).toBe("ok");
  });
});
