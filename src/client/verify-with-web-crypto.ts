import {
  readSignatureHeader,
  type SignatureVerdict,
  signatureVerdict,
  signedPrefix,
  type VerifyInput,
} from "../contract/signature-header.ts";
import {
  checkedDelivery,
  type DeliveredEvent,
  signedEvent,
  type WebhookDelivery,
} from "./webhook-delivery.ts";

/**
 * Checks the signature of a delivery with WebCrypto and resolves to its event. Rejects with a SignatureError
 * if the signature is invalid, a CatalogueError if the body is not a JSON object, and a TypeError for invalid
 * arguments, because a misconfigured check must not pass. Deliveries repeat: deduplicate by the event's `id`.
 */
export async function verifyWithWebCrypto(delivery: WebhookDelivery): Promise<DeliveredEvent> {
  const input = checkedDelivery(delivery, Date.now);
  return signedEvent(await verified(input), input.rawBody);
}

async function verified(input: VerifyInput): Promise<SignatureVerdict> {
  const header = readSignatureHeader(input.header);
  if ("ok" in header) return header;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", utf8(input.secret), algorithm, false, ["verify"]);
  const signed = concat(
    utf8(signedPrefix(header.t)),
    typeof input.rawBody === "string" ? utf8(input.rawBody) : input.rawBody,
  );
  let matches = false;
  // Checks every candidate, so that the time does not reveal which one matched.
  for (const candidate of header.v1)
    matches = (await crypto.subtle.verify("HMAC", key, fromHex(candidate), signed)) || matches;
  return signatureVerdict(header, matches, input);
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const fromHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

function concat(start: Uint8Array, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(start.length + rest.length);
  all.set(start);
  all.set(rest, start.length);
  return all;
}
