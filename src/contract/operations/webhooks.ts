import * as z from "zod";
import { operation } from "../operation.ts";
import { listOf, pageQuery } from "../resources/fields.ts";
import {
  Webhook,
  WebhookMaybeWithSecret,
  WebhookPatch,
  WebhookToCreate,
  WebhookWithSecret,
} from "../resources/webhook.ts";

const params = z.object({ webhook_id: z.string() });
const path = "/v1/webhooks/{webhook_id}";

export const webhooks = {
  create: operation({
    method: "POST",
    path: "/v1/webhooks",
    summary: "Create a webhook; its secret is shown only once",
    scope: "webhooks:write",
    body: { "application/json": WebhookToCreate },
    status: 201,
    reply: WebhookWithSecret,
    refuses: {},
  }),
  list: operation({
    method: "GET",
    path: "/v1/webhooks",
    summary: "List webhooks",
    scope: "webhooks:read",
    query: z.object(pageQuery),
    status: 200,
    reply: listOf(Webhook),
    refuses: { 400: ["invalid_cursor"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Get a webhook",
    scope: "webhooks:read",
    params,
    status: 200,
    reply: Webhook,
    refuses: { 404: ["webhook_not_found"] },
  }),
  update: operation({
    method: "PATCH",
    path,
    summary: "Change a webhook or rotate its secret",
    scope: "webhooks:write",
    params,
    body: { "application/json": WebhookPatch },
    status: 200,
    reply: WebhookMaybeWithSecret,
    refuses: { 404: ["webhook_not_found"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Delete a webhook",
    scope: "webhooks:write",
    params,
    status: 204,
    reply: null,
    refuses: { 404: ["webhook_not_found"] },
  }),
};
