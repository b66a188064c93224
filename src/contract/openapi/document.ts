import type * as z from "zod";
import { limits, requestIdPattern } from "../limits.ts";
import { type BodyType, mayHaveNoBody, type Operation } from "../operation.ts";
import { everyOperation } from "../operations.ts";
import { WebhookEvent } from "../resources/webhooks.ts";
import { signatureHeader } from "../signature-header.ts";
import { type EventType, eventTypes, imageTypes } from "../value-sets.ts";
import { parameterNotes, tagNotes } from "./notes.ts";
import { headers, Responses } from "./responses.ts";
import { componentSchemas, type JsonObject, refTo, toRef, toSchema } from "./schemas.ts";

/** The version of the described API; the major number is the one in the path, `/v1` (Versioning 1). */
const apiVersion = "1.0.0";

const securityScheme = "machineKey";

/** The OpenAPI 3.1 document, generated from the contract alone. `serverUrl` is without `/v1`. */
export function openApiDocument({ serverUrl }: { serverUrl: string }): JsonObject {
  const responses = new Responses();
  const paths: Record<string, JsonObject> = {};
  for (const { name, operation } of everyOperation) {
    paths[operation.path] ??= {};
    paths[operation.path]![operation.method.toLowerCase()] = operationObject(name, operation, responses);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Catalogue Imaging Service API",
      version: apiVersion,
      summary: "Manage a fashion catalog and generate images for it.",
      description:
        "Changes within a major version are additive only, so clients must ignore unknown fields. " +
        `Each organization can send ${limits.readsPerMinute} reads and ${limits.writesPerMinute} writes per minute.`,
    },
    servers: [{ url: serverUrl }],
    security: [{ [securityScheme]: [] }],
    tags: Object.entries(tagNotes).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: eventDeliveries(),
    components: {
      schemas: componentSchemas(),
      responses: responses.components,
      parameters: sharedParameters,
      headers,
      securitySchemes: {
        [securityScheme]: {
          type: "http",
          scheme: "bearer",
          description:
            "An API key of an organization; it starts with `ak_`. Each operation lists the scope that it needs.",
        },
      },
    },
  };
}

function operationObject(name: string, operation: Operation, responses: Responses): JsonObject {
  const requestBody = toRequestBody(operation);
  return {
    operationId: name,
    summary: operation.summary,
    description: `Requires an API key with the scope \`${operation.scope}\`.`,
    tags: [name.split(".")[0]],
    // Since OpenAPI 3.1 a bearer scheme can list scopes.
    security: [{ [securityScheme]: [operation.scope] }],
    parameters: toParameters(operation),
    ...(requestBody !== undefined && { requestBody }),
    responses: responses.of(operation),
  };
}

const emittedWhen: Readonly<Record<EventType, string>> = {
  "task.succeeded": "A beautifier or try-on task succeeded",
  "task.failed": "A beautifier or try-on task failed",
  "import.completed": "An import job finished, possibly with failed rows",
  "import.failed": "An import job failed",
  "export.completed": "An export job completed",
  "export.failed": "An export job failed",
};

/** The `webhooks` of the document: deliveries to subscribers, by event type (Events). */
const eventDeliveries = (): JsonObject =>
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

/** Optional request headers, in addition to the API key. */
const sharedParameters: Readonly<Record<string, JsonObject>> = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description: "Your ID for this request; echoed in the response if valid.",
    schema: { type: "string", maxLength: limits.requestIdLength, pattern: requestIdPattern.source },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "The service runs a request once per key: a repeat within 24 hours returns the stored response. Use a new key for each operation.",
    schema: { type: "string", minLength: 1, maxLength: limits.idempotencyKeyLength },
  },
};

function toParameters({ method, params, query }: Operation): JsonObject[] {
  const shared = method === "GET" ? ["RequestId"] : ["RequestId", "IdempotencyKey"];
  return [
    ...Object.entries(params.shape).map(([name, schema]) => parameter("path", name, schema as z.ZodType)),
    ...Object.entries(query.shape).map(([name, schema]) => parameter("query", name, schema as z.ZodType)),
    ...shared.map((name) => ({ $ref: toRef("parameters", name) })),
  ];
}

function parameter(place: "path" | "query", name: string, schema: z.ZodType): JsonObject {
  const description = parameterNotes[name];
  return {
    name,
    in: place,
    // Every path parameter is required; every query parameter is optional.
    ...(place === "path" && { required: true }),
    ...(description !== undefined && { description }),
    schema: toSchema(schema),
  };
}

/** The request body of an operation in every content type it accepts; undefined if it has no body. */
function toRequestBody(operation: Operation): JsonObject | undefined {
  const { body } = operation;
  if (body === undefined) return undefined;
  const content = Object.entries(body).map(([type, schema]) => [type, mediaType(type as BodyType, schema)]);
  return { required: !mayHaveNoBody(operation), content: Object.fromEntries(content) };
}

function mediaType(type: BodyType, schema: z.ZodType): JsonObject {
  if (type === "application/x-ndjson") {
    const { min, max } = limits.importRows;
    return {
      // OpenAPI 3.1 cannot describe a schema per line.
      schema: {
        type: "string",
        description: `${min} to ${max.toLocaleString("en")} rows, one JSON object per line.`,
        // A string, because linters reject a $ref where OpenAPI defines none.
        "x-line-schema": refTo(schema).$ref,
      },
    };
  }
  if (type !== "multipart/form-data") return { schema: refTo(schema) };
  return { schema: refTo(schema), encoding: { file: { contentType: imageTypes.join(", ") } } };
}
