import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyWebhook } from "../../src/client/verify-webhook.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions } from "../support/repetitions.ts";
import {
  catalogueAccepts,
  type Laxity,
  laxities,
  laxitiesOf,
  type SignedCase,
  stripeAccepts,
} from "./stripe-laxities.ts";

const signed = 1_767_603_600;
const secret = "whsec_oracle";
const macOf = (time: number | string, body: Buffer | string, key = secret) =>
  createHmac("sha256", key).update(`${time}.`).update(body).digest("hex");
const eventText = '{"id":"evt_1","type":"import.completed","total":1.5}';

const genuine = (more: Partial<SignedCase> = {}): SignedCase => ({
  header: `t=${signed},v1=${macOf(signed, eventText)}`,
  body: Buffer.from(eventText),
  secret,
  now: signed * 1000,
  toleranceSeconds: 300,
  ...more,
});

/** One delivery of each laxity, which only one of the programs accepts. */
const examples: Record<Laxity, SignedCase> = {
  "Stripe accepts a time in the future": genuine({ now: (signed - 301) * 1000 }),
  "Stripe accepts any age with a tolerance of 0": genuine({ now: (signed + 1) * 1000, toleranceSeconds: 0 }),
  "Stripe reads the number at the start of a time, and signs that": genuine({
    header: `t=${signed}.9,v1=${macOf(signed, eventText)}`,
  }),
  "Stripe takes the last of several times": genuine({
    header: `t=1,t=${signed},v1=${macOf(signed, eventText)}`,
  }),
  "Stripe ignores parts that it does not know": genuine({
    header: `nonsense,t=${signed},v1=${macOf(signed, eventText)}`,
  }),
  "Stripe ignores text after a second =": genuine({
    header: `t=${signed},v1=${macOf(signed, eventText)}=text`,
  }),
  "Stripe decodes the body as UTF-8 first: without its byte order mark, and with U+FFFD for other bytes":
    genuine({
      header: `t=${signed},v1=${macOf(signed, '{"a":"\uFFFD"}')}`,
      body: Buffer.from('{"a":"\xff"}', "latin1"),
    }),
  "this package ignores spaces around parts": genuine({
    header: `t=${signed}, v1=${macOf(signed, eventText)}`,
  }),
};

test.each(Object.entries(examples))("a known difference from the stripe package: %s", (name, delivery) => {
  const { stripe } = laxities[name as Laxity];
  expect([stripeAccepts(delivery), catalogueAccepts(delivery)]).toEqual([stripe, !stripe]);
  expect(laxitiesOf(delivery)).toContain(name);
});

const ages = fc.constantFrom(0, 1, 2, 299, 300, 301, 86_400, -1, -300, -301);
const tolerances = fc.constantFrom(300, 300, 300, 1, 86_400, 0);
const bodies = fc.oneof(
  { weight: 5, arbitrary: fc.json().map((text) => Buffer.from(text)) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
);
const secrets = fc.constantFrom(secret, "whsec_other", "whsec_\u00e4\u{1f9e5}", "x");

/** What a header may consist of, with the right time and signatures more often than not. */
const partOf = (time: number, right: string, wrong: string) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(`t=${time}`) },
    { weight: 6, arbitrary: fc.constant(`v1=${right}`) },
    { weight: 3, arbitrary: fc.constant(`v1=${wrong}`) },
    { weight: 2, arbitrary: fc.constantFrom(`v0=${right}`, `v2=${right}`, "a=", "t1=5") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        `v1=${right.toUpperCase()}`,
        `v1=${right.slice(1)}`,
        `v1=${right}=`,
        `V1=${right}`,
        ` v1=${right}`,
        `t=0${time}`,
        `t=${time + 1}`,
        "t=",
        "t=1e9",
        "",
        "nonsense",
      ),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
  );

const cases: fc.Arbitrary<SignedCase> = fc
  .record({ body: bodies, other: bodies, key: secrets, age: ages, tolerance: tolerances, isSame: fc.nat(3) })
  .chain(({ body, other, key, age, tolerance, isSame }) => {
    const now = signed + age;
    const right = macOf(signed, body, key);
    const parts = partOf(signed, right, macOf(signed, other, key));
    const headers = fc.oneof(
      { weight: 3, arbitrary: fc.array(parts, { maxLength: 5 }).map((some) => some.join(",")) },
      {
        weight: 3,
        arbitrary: fc
          .array(parts, { maxLength: 3 })
          .map((some) => [`t=${signed}`, `v1=${right}`, ...some].join(",")),
      },
    );
    return headers.map((header) => ({
      header,
      body: isSame > 0 ? body : other,
      secret: key,
      now: now * 1000,
      toleranceSeconds: tolerance,
    }));
  });

describe("verification compared with the stripe package", () => {
  const found = { accepted: 0, rejected: 0, excluded: 0 };
  const compare = (accepts: (of: SignedCase) => boolean) =>
    fc.check(
      fc.property(cases, (delivery) => {
        const [ours, theirs] = [accepts(delivery), stripeAccepts(delivery)];
        const excluded = laxitiesOf(delivery);
        found[excluded.length > 0 ? "excluded" : ours ? "accepted" : "rejected"]++;
        if (excluded.length === 0) expect(ours).toBe(theirs);
        // A laxity of one program explains only what that program accepts.
        if (ours && !theirs)
          expect(excluded.some((name) => !laxities[name].stripe || isDecoded(name))).toBe(true);
        if (!ours && theirs) expect(excluded.some((name) => laxities[name].stripe)).toBe(true);
      }),
      { numRuns: repetitions(1_500, 200_000) },
    );
  /** A body that Stripe changes before its check has another signature, so either program may be the one to accept. */
  const isDecoded = (name: Laxity) => name.startsWith("Stripe decodes");

  test("agrees on every delivery without a listed laxity", () => {
    const { failed, counterexample, errorInstance } = compare(catalogueAccepts);
    expect({ failed, counterexample, errorInstance }).toEqual({
      failed: false,
      counterexample: null,
      errorInstance: null,
    });
    // Otherwise the comparison would prove little.
    const total = found.accepted + found.rejected + found.excluded;
    expect(found.accepted / total).toBeGreaterThan(0.1);
    expect(found.rejected / total).toBeGreaterThan(0.1);
  });

  longTest("verifyWebhook agrees as well", () => {
    const byWebhook = ({ body, ...given }: SignedCase) => {
      try {
        verifyWebhook({ ...given, rawBody: body });
        return true;
      } catch (error) {
        const { code } = error as { code?: string };
        // Signed, but not an event: Stripe's check of the header accepts it.
        if (code === "invalid_event") return true;
        if (code?.startsWith("signature_")) return false;
        throw error;
      }
    };
    expect(compare(byWebhook).failed).toBe(false);
  });

  test.each([
    [
      "without the age",
      (of: SignedCase) => catalogueAccepts({ ...of, toleranceSeconds: Number.MAX_SAFE_INTEGER }),
    ],
    [
      "of a header with one signature only",
      (of: SignedCase) => of.header.split("v1=").length === 2 && catalogueAccepts(of),
    ],
    [
      "with the tolerance off by one",
      (of: SignedCase) => catalogueAccepts({ ...of, toleranceSeconds: of.toleranceSeconds + 1 }),
    ],
  ])("a check %s is detected", (_what, accepts) => {
    expect(compare(accepts).failed).toBe(true);
  });
});
