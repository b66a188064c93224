import { unknownName } from "../contract/did-you-mean.ts";
import {
  isRawBody,
  type SignatureFault,
  type SignatureVerdict,
  type VerifyInput,
} from "../contract/signature-header.ts";
import type { EventType } from "../contract/value-sets.ts";
import { CatalogueError } from "../errors.ts";
import { isObject, parseJson } from "../json.ts";

/** A delivery that is not from the service, or not recent: respond with 400 and do nothing. */
export class SignatureError extends CatalogueError {
  /** The name of the class, for `instanceof`. */
  static override readonly className: string = "SignatureError";
  /** The name of the class. */
  override readonly name: string = "SignatureError";
  /** The fault of the signature. */
  readonly reason: SignatureFault;

  constructor(verdict: Rejection) {
    super(`webhook delivery rejected: its signature ${toSentence(verdict)}`, {
      type: "invalid_signature",
      code: `signature_${verdict.reason}`,
    });
    this.reason = verdict.reason;
  }
}

type Rejection = Extract<SignatureVerdict, { ok: false }>;

function toSentence(verdict: Rejection): string {
  switch (verdict.reason) {
    case "missing":
      return "is missing";
    case "malformed":
      return "cannot be read";
    case "mismatch":
      return "does not match the body and the secret";
    case "out_of_tolerance": {
      const { ageSeconds } = verdict;
      return ageSeconds > 0 ? `is ${ageSeconds} s old` : `is ${-ageSeconds} s in the future`;
    }
  }
}

/** The resource of each kind of event, as in its `data` (Events, Delivery). */
type EventData<Type extends string> = Type extends `${infer Resource}.${infer Outcome}`
  ? Record<
      Resource,
      { id: string; status: Type extends "import.completed" ? Outcome | "completed_with_errors" : Outcome }
    >
  : never;

/**
 * An event as delivered, typed by its `type`. The signature proves that it is from the service, so its fields
 * are as documented, plus any added since; only its being an object is checked. New types may come: ignore
 * those that you do not handle.
 */
export type DeliveredEvent = {
  [Type in EventType]: {
    /** Stable across all attempts: the deduplication key. */
    id: string;
    /** The type of the event. */
    type: Type;
    /** When the event happened. RFC 3339, in UTC. */
    created_at: string;
    /** The ID and status of the resource, under `task`, `import` or `export`; the rest must be fetched. */
    data: EventData<Type>;
  };
}[EventType];

/** A delivery as it arrived, and the secret to check it with. */
export interface WebhookDelivery {
  /** The value of the signature header (`Service-Signature`). */
  header: string | null | undefined;
  /** The body's bytes exactly as they arrived. */
  rawBody: Uint8Array | string;
  /** The webhook's complete `signing_secret`, including `whsec_`. */
  secret: string;
  /** The maximum age of the signature, in seconds (default: 300). */
  toleranceSeconds?: number | undefined;
  /** The current time, in milliseconds since the epoch (default: the machine's clock). */
  now?: number | undefined;
}

/** The valid values of each field of a delivery. TypeScript callers get the same checks at compile time. */
const parts: Readonly<
  Record<keyof WebhookDelivery, readonly [isValid: (value: unknown) => boolean, mustBe: string]>
> = {
  header: [(value) => value === null || typeof value === "string", "the signature header as one string"],
  rawBody: [isRawBody, "the raw body as bytes (a Uint8Array) or a string, not a parsed object"],
  secret: [(value) => typeof value === "string" && value !== "", "the webhook's complete signing_secret"],
  toleranceSeconds: [(value) => typeof value === "number" && value >= 0, "a number of seconds, 0 or more"],
  now: [Number.isFinite, "milliseconds since the epoch, as Date.now() gives them"],
};
const optionalFields: readonly string[] = ["header", "toleranceSeconds", "now"];

/** A delivery with a time. Throws a TypeError for invalid arguments: a misconfigured check must not pass. */
export function checkedDelivery(delivery: WebhookDelivery, systemNow: () => number): VerifyInput {
  if (typeof delivery !== "object" || delivery === null) {
    throw new TypeError("verifyWebhook takes { header, rawBody, secret }");
  }
  for (const name of Object.keys(delivery)) {
    // A tolerance under another name would be the default one.
    if (!Object.hasOwn(parts, name))
      throw unknownName("verifyWebhook: unknown option", name, Object.keys(parts));
  }
  for (const [name, [isValid, mustBe]] of Object.entries(parts)) {
    const value: unknown = delivery[name as keyof WebhookDelivery];
    if (value === undefined && optionalFields.includes(name)) continue;
    // The value is not shown: it may be the secret.
    if (!isValid(value)) throw new TypeError(`verifyWebhook: ${name} must be ${mustBe}`);
  }
  const { header, rawBody, secret, toleranceSeconds, now = systemNow() } = delivery;
  return { header, rawBody, secret, now, ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }) };
}

/** The event of a delivery with that verdict. Throws a CatalogueError, for a signature a SignatureError. */
export function signedEvent(verdict: SignatureVerdict, rawBody: Uint8Array | string): DeliveredEvent {
  if (!verdict.ok) throw new SignatureError(verdict);
  const event = jsonOrNull(rawBody);
  if (isObject(event)) return event as unknown as DeliveredEvent;
  throw new CatalogueError("the webhook delivery is signed, but its body is not an event", {
    type: "invalid_request",
    code: "invalid_event",
  });
}

function jsonOrNull(rawBody: Uint8Array | string): unknown {
  try {
    // A byte order mark is ignored, in a string as in bytes.
    const text =
      typeof rawBody === "string" ? rawBody.replace(/^\uFEFF/, "") : new TextDecoder().decode(rawBody);
    return parseJson(text);
  } catch {
    return null;
  }
}
