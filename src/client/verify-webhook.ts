import { systemClock } from "../clock.ts";
import type { WebhookEvent } from "../contract/resources/webhook.ts";
import { type SignatureFault, verifySignature } from "../contract/signature.ts";
import type { EventType } from "../contract/value-sets.ts";
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

/**
 * An event as delivered. The signature says that it is the service's, so its fields are as the service documents them, with
 * whatever it has added since; nothing but that it is an object is checked.
 */
export type DeliveredEvent = Omit<WebhookEvent, "type"> & {
  /** One of the documented types, or one that is newer than this package. */
  type: EventType | (string & {});
};

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
 * Checks a delivery's signature and gives its event as it came. Throws a SignatureError when the signature does not hold, and
 * a CatError when it does but the body is no JSON object. Deliveries repeat: deduplicate on the event's `id`.
 */
export function verifyWebhook(delivery: WebhookDelivery): DeliveredEvent {
  const { header, rawBody, secret, toleranceSeconds, now = systemClock().now() } = delivery;
  const tolerance = toleranceSeconds === undefined ? {} : { toleranceSeconds };
  const verdict = verifySignature({ header, rawBody, secret, now, ...tolerance });
  if (!verdict.ok) throw new SignatureError(verdict.reason);
  const event = jsonOrNull(rawBody);
  if (typeof event === "object" && event !== null && !Array.isArray(event)) return event as DeliveredEvent;
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
