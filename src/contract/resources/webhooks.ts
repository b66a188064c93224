import * as z from "zod";
import { operation } from "../operation.ts";
import { closedSet, reliedOn } from "../response-values.ts";
import { eventTypes, webhookStatuses } from "../value-sets.ts";
import { Description, listSchema, pageQuery, Timestamp, Ulid, Url } from "./fields.ts";

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

const params = z.object({ webhook_id: z.string() });
const path = "/v1/webhooks/{webhook_id}";

export const webhooks = {
  create: operation({
    method: "POST",
    path: "/v1/webhooks",
    summary: "Create a webhook; its secret is shown only once",
    body: { "application/json": WebhookToCreate },
    status: 201,
    reply: WebhookWithSecret,
  }),
  list: operation({
    method: "GET",
    path: "/v1/webhooks",
    summary: "List webhooks",
    query: z.object(pageQuery),
    reply: listSchema(Webhook),
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Get a webhook",
    params,
    reply: Webhook,
    rejects: { 404: ["webhook_not_found"] },
  }),
  update: operation({
    method: "PATCH",
    path,
    summary: "Change a webhook or rotate its secret",
    params,
    body: { "application/json": WebhookPatch },
    reply: WebhookMaybeWithSecret,
    rejects: { 404: ["webhook_not_found"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Delete a webhook",
    params,
    status: 204,
    reply: null,
    rejects: { 404: ["webhook_not_found"] },
  }),
};
