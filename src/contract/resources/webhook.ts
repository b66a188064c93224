import * as z from "zod";
import { closedSet } from "../response-values.ts";
import { eventTypes, webhookStatuses } from "../value-sets.ts";
import { Description, Timestamp, Ulid, Url } from "./fields.ts";

/** A subscription to events. Its URL is verified once at creation and immutable afterwards. */
export const Webhook = z.looseObject({
  id: Ulid,
  url: Url,
  events: z.array(closedSet(eventTypes)),
  status: closedSet(webhookStatuses),
  description: z.string().nullable(),
  last_delivery_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;

const signing_secret = z.string().regex(/^whsec_/);

/** The one answer that shows the secret: creation, or an update that rotates it. */
export const WebhookWithSecret = Webhook.extend({ signing_secret });
export const WebhookMaybeWithSecret = Webhook.extend({ signing_secret: signing_secret.optional() });

const Events = z.array(z.enum(eventTypes)).min(1);

export const WebhookToCreate = z.strictObject({
  url: z.string(),
  events: Events,
  description: Description.optional(),
});

export const WebhookPatch = z.strictObject({
  events: Events.optional(),
  status: z.enum(["active", "paused"]).optional(),
  description: Description.nullable().optional(),
  rotate_secret: z.boolean().optional(),
});

/** What a delivery carries: the resource's id and status and nothing more (Events, Delivery). */
export const WebhookEvent = z.looseObject({
  id: z.string().regex(/^evt_/),
  type: closedSet(eventTypes),
  created_at: Timestamp,
  data: z.record(z.string(), z.looseObject({ id: Ulid, status: z.string() })),
});
export type WebhookEvent = z.infer<typeof WebhookEvent>;
