import { createHmac, timingSafeEqual } from "node:crypto";
import { limits } from "./limits.ts";

/** The signature header of a delivery; the real service uses its brand instead of "Service". */
export const signatureHeader = "Service-Signature";

/** Why a signature was not accepted. */
export type SignatureFault = "missing" | "malformed" | "mismatch" | "out_of_tolerance";
export type SignatureVerdict =
  | { ok: true; timestamp: number }
  | { ok: false; reason: Exclude<SignatureFault, "out_of_tolerance"> }
  /** The signature is genuine, but made `ageSeconds` ago; negative if its time is in the future. */
  | { ok: false; reason: "out_of_tolerance"; ageSeconds: number };

/**
 * The signature header's value for a delivery: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{raw body}">`,
 * keyed by the complete secret, `whsec_` included (Events, Signature 1 and 2).
 */
export function signDelivery(secret: string, rawBody: Uint8Array | string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${mac(secret, rawBody, String(unixSeconds)).toString("hex")}`;
}

export interface VerifyInput {
  /** The signature header as it arrived. */
  header: string | null | undefined;
  /** The bytes of the body as received; parsing and serializing JSON changes them. */
  rawBody: Uint8Array | string;
  /** The complete `signing_secret` of the webhook, `whsec_` included. */
  secret: string;
  /** Now, in milliseconds since the epoch. */
  now: number;
  /** Maximum distance of the timestamp from now in seconds, in both directions, inclusive (default: 300). */
  toleranceSeconds?: number;
}

/** Whether a value is text or bytes. Bytes of another realm count too; some test runners have them. */
export const isRawBody = (value: unknown): value is Uint8Array | string =>
  typeof value === "string" ||
  (ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]");

/** Checks a delivery's signature over the raw bytes, in constant time (Events, Signature 3). */
export function verifySignature(input: VerifyInput): SignatureVerdict {
  if (input.header === null || input.header === undefined || input.header === "") {
    return { ok: false, reason: "missing" };
  }
  const parsed = parseHeader(input.header);
  if (parsed === null) return { ok: false, reason: "malformed" };
  const expected = mac(input.secret, input.rawBody, parsed.t);
  let matches = false;
  // Compares every candidate, so that the time does not reveal which one matched.
  for (const candidate of parsed.v1) matches = timingSafeEqual(candidate, expected) || matches;
  if (!matches) return { ok: false, reason: "mismatch" };
  const timestamp = Number(parsed.t);
  const tolerance = input.toleranceSeconds ?? limits.signatureToleranceSeconds;
  // In full seconds, like the timestamp: a signature does not age within its second.
  const ageSeconds = Math.floor(input.now / 1000) - timestamp;
  // NaN is never within the tolerance.
  return Math.abs(ageSeconds) <= tolerance
    ? { ok: true, timestamp }
    : { ok: false, reason: "out_of_tolerance", ageSeconds };
}

function mac(secret: string, rawBody: Uint8Array | string, t: string): Buffer {
  return createHmac("sha256", secret).update(`${t}.`).update(rawBody).digest();
}

/** The time and readable signatures of a header; null if malformed or without a `v1`. */
function parseHeader(header: string): { t: string; v1: Buffer[] } | null {
  let t: string | null = null;
  const v1: Buffer[] = [];
  for (const part of header.split(",")) {
    // trim() instead of a pattern: many spaces in a hostile header must not take longer.
    const text = part.trim();
    const equals = text.indexOf("=");
    const key = text.slice(0, Math.max(0, equals));
    const value = text.slice(equals + 1);
    if (!/^[a-z0-9]+$/.test(key)) return null;
    if (key === "t") {
      if (t !== null || !/^\d{1,12}$/.test(value)) return null;
      t = value;
    } else if (key === "v1" && /^[0-9a-f]{64}$/.test(value)) {
      v1.push(Buffer.from(value, "hex"));
    }
  }
  return t === null || v1.length === 0 ? null : { t, v1 };
}
