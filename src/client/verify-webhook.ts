import * as z from "zod";
import { systemClock } from "../clock.ts";
import { WebhookEvent } from "../contract/resources/webhook.ts";
import { type SignatureFault, verifySignature } from "../contract/signature.ts";
import { CatError } from "../errors.ts";

/** A delivery that did not come from the service, or not now: answer it with 400 and do nothing. */
export class SignatureError extends CatError {
  override readonly name: string = "SignatureError";
  readonly reason: SignatureFault;

  constructor(reason: SignatureFault) {
    super(`The delivery is refused: its signature ${sentences[reason]}.`, {
      type: "invalid_signature",
      code: `signature_${reason}`,
    });
    this.reason = reason;
  }
}

const sentences: Record<SignatureFault, string> = {
  missing: "is missing",
  malformed: "cannot be read",
  mismatch: "does not fit its body and the secret",
  out_of_tolerance: "is too old or from the future",
};

/** An event as delivered; a type that is newer than this package is passed on. */
export type DeliveredEvent = z.infer<typeof DeliveredEvent>;
const DeliveredEvent = WebhookEvent.extend({ type: z.string() });

export interface WebhookDelivery {
  /** The value of the signature header (`Service-Signature`). */
  header: string | null | undefined;
  /** The body's bytes exactly as they arrived. */
  rawBody: Uint8Array | string;
  /** The webhook's whole `signing_secret`, `whsec_` included. */
  secret: string;
  /** How old the signature may be, in seconds; 300 unless given. */
  toleranceSeconds?: number | undefined;
  /** Now, in milliseconds since the epoch; the machine's clock unless given. */
  now?: number | undefined;
}

/**
 * Checks a delivery's signature and gives the event. Throws a SignatureError when the signature does not hold, and a
 * CatError when it does but the body is no event. Deliveries repeat: deduplicate on the event's `id`.
 */
export function verifyWebhook(delivery: WebhookDelivery): DeliveredEvent {
  const { header, rawBody, secret, toleranceSeconds, now = systemClock().now() } = delivery;
  const tolerance = toleranceSeconds === undefined ? {} : { toleranceSeconds };
  const verdict = verifySignature({ header, rawBody, secret, now, ...tolerance });
  if (!verdict.ok) throw new SignatureError(verdict.reason);
  const event = DeliveredEvent.safeParse(jsonOrNull(rawBody));
  if (event.success) return event.data;
  throw new CatError("The delivery is signed, but its body is not an event.", {
    type: "invalid_request",
    code: "invalid_event",
  });
}

function jsonOrNull(rawBody: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody));
  } catch {
    return null;
  }
}
