import type { WebhookEvent } from "../../contract/resources/webhook.ts";
import type { EventType } from "../../contract/value-sets.ts";
import type { NoResponse } from "../outgoing/outgoing-request.ts";
import type { OrganizationName } from "../rules/authenticate.ts";

/** One attempt to deliver an event, with the status of the response, if any. */
export interface Attempt {
  /** Start of the attempt, RFC 3339. */
  readonly at: string;
  readonly status: number | null;
  /** Why there was no complete response. */
  readonly error: NoResponse | null;
  /** The signature header, whether or not it was sent. */
  readonly signature: string;
}

/** An event of the mock, of a documented type. */
export type MadeEvent = WebhookEvent & { type: EventType };

/** The delivery of one event to one webhook. */
export interface DeliveryRecord {
  readonly id: string;
  readonly organization: OrganizationName;
  readonly webhook_id: string;
  readonly url: string;
  readonly event: MadeEvent;
  state: "pending" | "delivered" | "abandoned";
  /** Number of scheduled attempts made, or skipped because the webhook was paused. */
  tries: number;
  /**
   * When the next attempt, or the one in flight, is or was due, in milliseconds since the epoch; null for
   * none.
   */
  due: number | null;
  /** The latest attempts, including those made by a resend. */
  attempts: Attempt[];
}

/** A delivery as GET /_mock/deliveries shows it. */
export interface RecordedDelivery {
  id: string;
  event_id: string;
  type: string;
  webhook_id: string;
  url: string;
  state: DeliveryRecord["state"];
  attempts: Attempt[];
  /** RFC 3339; null when no attempt is scheduled. */
  next_attempt_at: string | null;
  /** The event that is sent. */
  event: WebhookEvent;
}

export const shownDelivery = (delivery: DeliveryRecord): RecordedDelivery => ({
  id: delivery.id,
  event_id: delivery.event.id,
  type: delivery.event.type,
  webhook_id: delivery.webhook_id,
  url: delivery.url,
  state: delivery.state,
  attempts: [...delivery.attempts],
  next_attempt_at: delivery.due === null ? null : new Date(delivery.due).toISOString(),
  event: delivery.event,
});
