import * as z from "zod";
import { closedSet, reliedOn } from "../response-values.ts";
import { eventTypes, webhookStatuses } from "../value-sets.ts";
import { Description, Timestamp, Ulid, Url } from "./fields.ts";

/** A subscription to events. The URL is checked once, at creation, and cannot change. */
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

const signing_secret = reliedOn(z.string().regex(/^whsec_/, "must start with whsec_"));

/** The only responses with the secret: creation, and an update that rotates it. */
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

/** The payload of a delivery: the ID and status of the resource (Events, Delivery). */
export const WebhookEvent = z.looseObject({
  id: z.string().regex(/^evt_/),
  type: closedSet(eventTypes),
  created_at: Timestamp,
  data: z.record(z.string(), z.looseObject({ id: Ulid, status: z.string() })),
});
export type WebhookEvent = z.infer<typeof WebhookEvent>;
