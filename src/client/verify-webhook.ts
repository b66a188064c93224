import { systemClock } from "../clock.ts";
import { didYouMean, questionFor } from "../contract/did-you-mean.ts";
import type { WebhookEvent } from "../contract/resources/webhook.ts";
import { isRawBody, type SignatureFault, verifySignature } from "../contract/signature.ts";
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
export type DeliveredEvent = WebhookEvent;

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
 * Checks a delivery's signature and gives its event as it came. Throws a SignatureError when the signature does not hold, a
 * CatError when it does but the body is no JSON object, and a TypeError when it is called with something else than it takes,
 * as a check that was set up wrongly must not pass. Deliveries repeat: deduplicate on the event's `id`.
 */
export function verifyWebhook(delivery: WebhookDelivery): DeliveredEvent {
  refuseMisuse(delivery);
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

/** What each part of a delivery must be. The compiler asks for the same, where there is one. */
const parts: Readonly<
  Record<keyof WebhookDelivery, readonly [holds: (value: unknown) => boolean, mustBe: string]>
> = {
  header: [(value) => value === null || typeof value === "string", "the signature header as one text"],
  rawBody: [
    isRawBody,
    "the body as it arrived, as bytes (a Uint8Array) or text, not what was parsed from it",
  ],
  secret: [(value) => typeof value === "string" && value !== "", "the webhook's whole signing_secret"],
  toleranceSeconds: [(value) => typeof value === "number" && value >= 0, "a number of seconds from 0"],
  now: [Number.isFinite, "milliseconds since the epoch, as Date.now() gives them"],
};
const mayBeLeftOut: readonly string[] = [
  "header",
  "toleranceSeconds",
  "now",
] satisfies (keyof WebhookDelivery)[];

function refuseMisuse(delivery: WebhookDelivery): void {
  if (typeof delivery !== "object" || delivery === null) {
    throw new TypeError("verifyWebhook takes { header, rawBody, secret }");
  }
  for (const name of Object.keys(delivery)) {
    if (Object.hasOwn(parts, name) || delivery[name as keyof WebhookDelivery] === undefined) continue;
    const hint = questionFor(didYouMean(name, Object.keys(parts)), "; ");
    throw new TypeError(`verifyWebhook: there is no option ${name.slice(0, 50)}${hint}`);
  }
  for (const [name, [holds, mustBe]] of Object.entries(parts)) {
    const value: unknown = delivery[name as keyof WebhookDelivery];
    if (value === undefined && mayBeLeftOut.includes(name)) continue;
    // The value is not told: it may be the secret.
    if (!holds(value)) throw new TypeError(`verifyWebhook: ${name} must be ${mustBe}`);
  }
}

function jsonOrNull(rawBody: Uint8Array | string): unknown {
  try {
    // A byte order mark is passed over, in a text as in bytes.
    const text =
      typeof rawBody === "string" ? rawBody.replace(/^\uFEFF/, "") : new TextDecoder().decode(rawBody);
    return JSON.parse(text);
  } catch {
    return null;
  }
}
