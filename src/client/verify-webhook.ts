import { systemClock } from "../clock.ts";
import { verifySignature } from "../contract/signature.ts";
import {
<<<<<<< HEAD
  isRawBody,
  type SignatureFault,
  type SignatureVerdict,
  verifySignature,
} from "../contract/signature.ts";

import type { EventType } from "../contract/value-sets.ts";
import { CatalogueError } from "../errors.ts";
import { isObject, parseJson } from "../json.ts";

/** A delivery that is not from the service, or not recent: respond with 400 and do nothing. */
export class SignatureError extends CatalogueError {
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

/** The resource of each kind of event, as in its `data`: fetch the resource for the rest (Events, Delivery). */
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
    /** The ID and status of the resource, under `task`, `import` or `export`: fetch the resource for the rest. */
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
=======
  checkedDelivery,
  type DeliveredEvent,
  signedEvent,
  type WebhookDelivery,
} from "./webhook-delivery.ts";
>>>>>>> main

/**
 * Checks the signature of a delivery and returns its event. Throws a SignatureError if the signature is
 * invalid, a CatalogueError if the body is not a JSON object, and a TypeError for invalid arguments, because
 * a misconfigured check must not pass. Deliveries repeat: deduplicate by the event's `id`.
 */
export function verifyWebhook(delivery: WebhookDelivery): DeliveredEvent {
  const input = checkedDelivery(delivery, () => systemClock().now());
  return signedEvent(verifySignature(input), input.rawBody);
}
