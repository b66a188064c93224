// The header and what is signed, without Node: the check runs on edge runtimes too.
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

/** The time of a header, and its signatures as 64 hex digits. */
export interface SignedHeader {
  readonly t: string;
  readonly v1: readonly string[];
}

/** The signed text before the body (Events, Signature 2). */
export const signedPrefix = (t: string): string => `${t}.`;

/** The time and the readable signatures of a header, or why there are none. */
export function readSignatureHeader(
  header: VerifyInput["header"],
): SignedHeader | (SignatureVerdict & { ok: false }) {
  if (header === null || header === undefined || header === "") return { ok: false, reason: "missing" };
  let t: string | null = null;
  const v1: string[] = [];
  for (const part of header.split(",")) {
    // trim() instead of a pattern: many spaces in a hostile header must not take longer.
    const text = part.trim();
    const equals = text.indexOf("=");
    const key = text.slice(0, Math.max(0, equals));
    const value = text.slice(equals + 1);
    if (!/^[a-z0-9]+$/.test(key)) return { ok: false, reason: "malformed" };
    if (key === "t") {
      if (t !== null || !/^\d{1,12}$/.test(value)) return { ok: false, reason: "malformed" };
      t = value;
    } else if (key === "v1" && /^[0-9a-f]{64}$/.test(value)) {
      v1.push(value);
    }
  }
  return t === null || v1.length === 0 ? { ok: false, reason: "malformed" } : { t, v1 };
}

/** The verdict on a header that was read, by whether one of its signatures matches (Events, Signature 3). */
export function signatureVerdict(
  { t }: SignedHeader,
  matches: boolean,
  { now, toleranceSeconds = limits.signatureToleranceSeconds }: Pick<VerifyInput, "now" | "toleranceSeconds">,
): SignatureVerdict {
  if (!matches) return { ok: false, reason: "mismatch" };
  const timestamp = Number(t);
  // In full seconds, like the timestamp: a signature does not age within its second.
  const ageSeconds = Math.floor(now / 1000) - timestamp;
  // NaN is never within the tolerance.
  return Math.abs(ageSeconds) <= toleranceSeconds
    ? { ok: true, timestamp }
    : { ok: false, reason: "out_of_tolerance", ageSeconds };
}
