import { limits } from "../limits.ts";
import { WebhookEvent } from "../resources/webhook.ts";
import { signatureHeader } from "../signature.ts";
import { type EventType, eventTypes } from "../value-sets.ts";
import { refTo } from "./components.ts";
import type { JsonObject } from "./schemas.ts";

const emittedWhen: Readonly<Record<EventType, string>> = {
  "task.succeeded": "A beautifier or try-on task succeeded",
  "task.failed": "A beautifier or try-on task failed",
  "import.completed": "An import job finished, maybe with failed rows",
  "import.failed": "An import job failed as a whole",
  "export.completed": "An export job completed",
  "export.failed": "An export job failed",
};

/** The `webhooks` of the document: what the service sends to a subscriber, by event type (Events). */
export const eventDeliveries = (): JsonObject =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: delivery(type) }]));

function delivery(type: EventType): JsonObject {
  const resource = type.split(".")[0]!;
  return {
    operationId: type,
    summary: emittedWhen[type],
    description:
      `Delivered at least once: deduplicate on \`id\`. A handler has ${limits.webhookTimeoutMs / 1000} seconds; ` +
      "after a failure the same event comes again, about 1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours later.",
    // Authenticated by the signature, not by the machine key (Authentication 6).
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
    responses: { "2XX": { description: "Accepted. Any other answer, a redirect too, is a failure." } },
  };
}

const signature: JsonObject = {
  name: signatureHeader,
  in: "header",
  required: true,
  description:
    "`t` is the Unix time of the signature, `v1` the hex HMAC-SHA256 of `{t}.{raw body}` keyed by the webhook's whole " +
    `signing_secret. Compare in constant time, and refuse a \`t\` more than ${limits.signatureToleranceSeconds} seconds from now.`,
  schema: { type: "string", pattern: "^t=[0-9]+,v1=[0-9a-f]{64}$" },
};
