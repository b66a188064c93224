import type { WebhookEvent } from "../../contract/resources/webhook.ts";
import type { EventType } from "../../contract/value-sets.ts";
import type { NoAnswer } from "../outgoing/call-out.ts";
import type { OrganizationName } from "../rules/authenticate.ts";

/** One attempt to deliver an event: answered with a status, or not at all. */
export interface Attempt {
  /** When it began, RFC 3339. */
  readonly at: string;
  readonly status: number | null;
  /** Why there was no answer, or none that ended. */
  readonly error: NoAnswer | null;
  /** The signature header as it was sent, or would have been. */
  readonly signature: string;
}

/** An event of the mock, which has the documented types alone. */
export type MadeEvent = WebhookEvent & { type: EventType };

/** One event on its way to one webhook. */
export interface DeliveryRecord {
  readonly id: string;
  readonly organization: OrganizationName;
  readonly webhook_id: string;
  readonly url: string;
  readonly event: MadeEvent;
  state: "pending" | "delivered" | "abandoned";
  /** How many moments of the schedule are over: an attempt was made, or left out as the webhook was paused. */
  tries: number;
  /** When the next attempt of the schedule is due, or the one under way was, in milliseconds since the epoch; null when none is. */
  due: number | null;
  /** The last ones, those that were ordered by hand among them. */
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
  /** RFC 3339; null when there is none. */
  next_attempt_at: string | null;
  /** What is sent. */
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
