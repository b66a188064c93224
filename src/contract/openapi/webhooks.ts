import { limits } from "../limits.ts";
import { WebhookEvent } from "../resources/webhook.ts";
import { signatureHeader } from "../signature.ts";
import { type EventType, eventTypes } from "../value-sets.ts";
import { refTo } from "./components.ts";
import type { JsonObject } from "./schemas.ts";

const emittedWhen: Readonly<Record<EventType, string>> = {
  "task.succeeded": "A beautifier or try-on task succeeded",
  "task.failed": "A beautifier or try-on task failed",
  "import.completed": "An import job finished, possibly with failed rows",
  "import.failed": "An import job failed",
  "export.completed": "An export job completed",
  "export.failed": "An export job failed",
};

/** The `webhooks` of the document: deliveries to subscribers, by event type (Events). */
export const eventDeliveries = (): JsonObject =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: delivery(type) }]));

function delivery(type: EventType): JsonObject {
  const resource = type.split(".")[0]!;
  return {
    operationId: type,
    summary: emittedWhen[type],
    description:
      "Delivered at least once: use `id` to deduplicate. " +
      `Respond within ${limits.webhookTimeoutMs / 1000} seconds. Failed deliveries are retried after about ` +
      "1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours.",
    // Authenticated by the signature, not by the API key (Authentication 6).
    security: [],
    parameters: [signature],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            allOf: [refTo(WebhookEvent)],
            type: "object",
            properties: {
              type: { type: "string", const: type },
              data: { type: "object", required: [resource], maxProperties: 1 },
            },
          },
        },
      },
    },
    responses: {
      "2XX": { description: "Accepted. Any other response, including a redirect, counts as a failure." },
    },
  };
}

const signature: JsonObject = {
  name: signatureHeader,
  in: "header",
  required: true,
  description:
    "`t` is the Unix time of the signature. `v1` is the hex HMAC-SHA256 of `{t}.{raw body}`; the key is the complete " +
    "signing_secret of the webhook. Compare in constant time and reject a `t` more than " +
    `${limits.signatureToleranceSeconds} seconds from now.`,
  schema: { type: "string", pattern: "^t=[0-9]+,v1=[0-9a-f]{64}$" },
};
