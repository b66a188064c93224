import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyWebhook } from "../../src/client/verify-webhook.ts";
import { signDelivery, verifySignature } from "../../src/contract/signature.ts";
import { repetitions } from "../support/repetitions.ts";
import { seededRandom } from "../support/seeded-random.ts";

const secret = "whsec_of_mutations";
const signed = 1_767_603_600;
const now = signed * 1000;

interface Delivery {
  readonly header: string;
  readonly body: Buffer;
}

type Check = (delivery: Delivery) => boolean;

const genuine: readonly Delivery[] = [
  '{"id":"evt_1","type":"task.succeeded","data":{"task":{"id":"tsk_1","status":"succeeded"}}}',
  '{"version":1.5,"id":"evt_2","type":"import.completed","data":{"import":{"id":"imp_1"}}}',
  '{"id":"evt_3","type":"export.failed","data":{"name":"M\u00fcller \u{1f9e5}"}}\n',
  "{}",
].map((text, at) => ({ header: signDelivery(secret, text, signed - at), body: Buffer.from(text) }));

const macOf = (key: string, time: number | string, body: Buffer) =>
  createHmac("sha256", key).update(`${time}.`).update(body).digest("hex");

/** Changes of the bytes of a header or a body, at random places. */
const edits: readonly ((text: Buffer, at: number, byte: number) => Buffer)[] = [
  (text, at, byte) => Buffer.concat([text.subarray(0, at), Buffer.of(byte), text.subarray(at + 1)]),
  (text, at, byte) => Buffer.concat([text.subarray(0, at), Buffer.of(byte), text.subarray(at)]),
  (text, at) => Buffer.concat([text.subarray(0, at), text.subarray(at + 1)]),
  (text, at) => text.subarray(0, at),
  (text, at) => text.subarray(at),
  (text, at, byte) => {
    const copy = Buffer.from(text);
    if (at < copy.length) copy[at]! ^= 1 << (byte & 7);
    return copy;
  },
  (text, at, byte) => Buffer.concat([text, text.subarray(at, at + (byte % 5) + 1)]),
];

/** Attacks on the parts of a delivery, with what an attacker has: genuine deliveries, but not the secret. */
const attacks: readonly ((delivery: Delivery, random: (below: number) => number) => Delivery)[] = [
  // A signature of one delivery over the body of another.
  ({ header }, random) => ({ header, body: genuine[random(genuine.length)]!.body }),
  // A later time.
  ({ header, body }, random) => ({ header: header.replace(/^t=\d+/, `t=${signed + 1 + random(300)}`), body }),
  // Another secret, or a part of it.
  ({ body }, random) => {
    const key = [secret.slice(6), `${secret} `, secret.toUpperCase(), "", "whsec_", secret.slice(0, -1)];
    return { header: `t=${signed},v1=${macOf(key[random(key.length)]!, signed, body)}`, body };
  },
  // The right bytes, cut between time and body at another point.
  ({ header, body }, random) => {
    const text = body.toString("latin1");
    const points = [...text.matchAll(/\./g)].map(({ index }) => index);
    const point = points[random(points.length)];
    if (point === undefined) return { header: header.replace("t=", "t=."), body };
    const [time, v1] = header.split(",");
    return {
      header: `${time}.${text.slice(0, point)},${v1}`,
      body: Buffer.from(text.slice(point + 1), "latin1"),
    };
  },
  // Signatures of another length, another alphabet or another scheme.
  ({ header, body }, random) => {
    const [time, v1] = header.split(",v1=") as [string, string];
    const forms = [
      `v1=${v1.slice(0, random(64))}`,
      `v1=${v1}${v1.slice(0, 1 + random(64))}`,
      `v1=${v1.toUpperCase().replace(/^\d+$/, "A")}`,
      `v1=${Buffer.from(v1, "hex").toString("base64")}`,
      `v0=${v1}`,
      `v2=${v1}`,
      `v1=${"0".repeat(64)}`,
      "v1=",
    ];
    return { header: `${time},${forms[random(forms.length)]}`, body };
  },
  // Several signatures, none of them right.
  ({ header, body }, random) => {
    const wrong = Array.from({ length: 1 + random(6) }, () =>
      macOf(secret, signed + 1 + random(1_000_000), body),
    );
    return { header: `${header.split(",")[0]},${wrong.map((v1) => `v1=${v1}`).join(",")}`, body };
  },
];

/** A mutated delivery. What still carries the time and the signature of its body is no mutation: null. */
function mutated(random: (below: number) => number): Delivery | null {
  const original = genuine[random(genuine.length)]!;
  let { header, body } = original;
  if (random(3) === 0) {
    ({ header, body } = attacks[random(attacks.length)]!(original, random));
  } else {
    for (let left = 1 + random(3); left > 0; left--) {
      const edit = edits[random(edits.length)]!;
      if (random(2) === 0) {
        body = edit(body, random(body.length + 1), random(256));
      } else {
        const text = Buffer.from(header, "latin1");
        header = edit(text, random(text.length + 1), 32 + random(95)).toString("latin1");
      }
    }
  }
  const parts = new Set(header.split(",").map((part) => part.trim()));
  const isSigned = genuine.some(
    (one) => one.body.equals(body) && one.header.split(",").every((part) => parts.has(part)),
  );
  return isSigned ? null : { header, body };
}

const byVerifySignature: Check = ({ header, body }) =>
  verifySignature({ header, rawBody: body, secret, now }).ok;

const byVerifyWebhook: Check = ({ header, body }) => {
  try {
    verifyWebhook({ header, rawBody: body, secret, now });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith("signature_")) return false;
    throw error;
  }
};

/** The mutated deliveries that a check accepts, out of so many. */
function acceptedBy(checks: readonly Check[], count: number): { accepted: Delivery[]; tried: number } {
  const numbers = seededRandom(fc.readConfigureGlobal().seed ?? 1);
  const random = (below: number) => Math.floor(numbers() * below);
  const accepted: Delivery[] = [];
  let tried = 0;
  while (tried < count) {
    const delivery = mutated(random);
    if (delivery === null) continue;
    tried++;
    if (checks.some((check) => check(delivery))) accepted.push(delivery);
  }
  return { accepted, tried };
}

describe("mutated headers and bodies", () => {
  const count = repetitions(3_000, 1_000_000);

  test("are all rejected, and the originals accepted", () => {
    const checks = [byVerifySignature, byVerifyWebhook];
    for (const delivery of genuine) expect(checks.map((check) => check(delivery))).toEqual([true, true]);
    expect(acceptedBy(checks, count)).toEqual({ accepted: [], tried: count });
  });

  /** The parts of a header, read without checks. */
  const partsOf = (header: string, key: string) =>
    header.split(",").flatMap((part) => (part.startsWith(`${key}=`) ? [part.slice(key.length + 1)] : []));

  test.each<[string, Check]>([
    [
      "the start of the signature",
      ({ header, body }) => {
        const [t = ""] = partsOf(header, "t");
        const right = macOf(secret, t, body);
        return partsOf(header, "v1").some((v1) => v1 !== "" && right.startsWith(v1.slice(0, 64)));
      },
    ],
    [
      "time and body only as one text",
      ({ header, body }) => {
        const [t = ""] = partsOf(header, "t");
        return partsOf(header, "v1").includes(macOf(secret, t, body));
      },
    ],
    [
      "the body without its last byte",
      ({ header, body }) => {
        const ends = genuine.map((one) => ({ ...one, body: one.body.subarray(0, -1) }));
        return ends.some((one) => one.header === header && one.body.equals(body.subarray(0, -1)));
      },
    ],
    [
      "the number in the time",
      ({ header, body }) => byVerifySignature({ header: header.replace(/t=(\d+)[^,]*/, "t=$1"), body }),
    ],
  ])("a check of %s is detected", (_what, check) => {
    expect(acceptedBy([check], 20_000).accepted).not.toEqual([]);
  });
});

describe("a header with several v1 parts", () => {
  const places = fc.record({
    body: fc.json({ maxDepth: 1 }).map((value) => Buffer.from(`{"id":"evt_1","value":${value}}`)),
    wrong: fc.array(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex")),
      { minLength: 1, maxLength: 6 },
    ),
    place: fc.nat(),
    isTimeLast: fc.boolean(),
  });
  const headerOf = (wrong: readonly string[], right: string | null, place: number, isTimeLast: boolean) => {
    const all = [...wrong];
    if (right !== null) all.splice(place % (all.length + 1), 0, right);
    const v1 = all.map((one) => `v1=${one}`);
    return (isTimeLast ? [...v1, `t=${signed}`] : [`t=${signed}`, ...v1]).join(",");
  };
  const check = (accepts: Check) =>
    fc.check(
      fc.property(places, ({ body, wrong, place, isTimeLast }) => {
        const right = macOf(secret, signed, body);
        // First, last, and somewhere between, if there is such a place.
        for (const at of [0, wrong.length, place]) {
          expect(accepts({ header: headerOf(wrong, right, at, isTimeLast), body })).toBe(true);
        }
        expect(accepts({ header: headerOf(wrong, null, 0, isTimeLast), body })).toBe(false);
      }),
      { numRuns: repetitions(50, 20_000) },
    );

  test("is accepted wherever the right one is, and rejected without it", () => {
    for (const accepts of [byVerifySignature, byVerifyWebhook]) {
      const { failed, counterexample } = check(accepts);
      expect({ failed, counterexample }).toEqual({ failed: false, counterexample: null });
    }
  });

  const only =
    (pick: (v1: string[]) => string[]): Check =>
    ({ header, body }) => {
      const parts = header.split(",");
      const v1 = parts.filter((part) => part.startsWith("v1="));
      return byVerifySignature({ header: [`t=${signed}`, ...pick(v1)].join(","), body });
    };

  test.each([
    ["the first", only((v1) => v1.slice(0, 1))],
    ["the last", only((v1) => v1.slice(-1))],
    ["the first and the last", only((v1) => [v1[0]!, v1.at(-1)!])],
    ["all but the first", only((v1) => (v1.length === 1 ? v1 : v1.slice(1)))],
  ])("a check of %s is detected", (_what, accepts) => {
    expect(check(accepts).failed).toBe(true);
  });
});
