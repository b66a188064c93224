import { createHmac, timingSafeEqual } from "node:crypto";
import {
  readSignatureHeader,
  type SignatureVerdict,
  signatureVerdict,
  signedPrefix,
  type VerifyInput,
} from "./signature-header.ts";

/**
 * The signature header's value for a delivery: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{raw body}">`,
 * keyed by the complete secret, `whsec_` included (Events, Signature 1 and 2).
 */
export function signDelivery(secret: string, rawBody: Uint8Array | string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${mac(secret, rawBody, String(unixSeconds)).toString("hex")}`;
}

/** Checks a delivery's signature over the raw bytes, in constant time (Events, Signature 3). */
export function verifySignature(input: VerifyInput): SignatureVerdict {
  const header = readSignatureHeader(input.header);
  if ("ok" in header) return header;
  const expected = mac(input.secret, input.rawBody, header.t);
  let matches = false;
  // Compares every candidate, so that the time does not reveal which one matched.
  for (const candidate of header.v1)
    matches = timingSafeEqual(Buffer.from(candidate, "hex"), expected) || matches;
  return signatureVerdict(header, matches, input);
}

function mac(secret: string, rawBody: Uint8Array | string, t: string): Buffer {
  return createHmac("sha256", secret).update(signedPrefix(t)).update(rawBody).digest();
}
