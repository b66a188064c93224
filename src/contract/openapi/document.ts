import { limits } from "../limits.ts";
import type { Operation } from "../operation.ts";
import { everyOperation } from "../operations.ts";
import { requestBodyOf } from "./bodies.ts";
import { headers } from "./headers.ts";
import { tagNotes } from "./notes.ts";
import { parametersOf, sharedParameters } from "./parameters.ts";
import { Responses } from "./responses.ts";
import { componentSchemas, type JsonObject } from "./schemas.ts";
import { eventDeliveries } from "./webhooks.ts";

/** The version of the described API; the major number is the one in the path, `/v1` (Versioning 1). */
export const apiVersion = "1.0.0";

const securityScheme = "machineKey";

/**
 * The OpenAPI 3.1 document of the complete service, generated from the contract alone. The same input gives
 * the same document. `serverUrl` is the base URL, without `/v1`.
 */
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
  const requestBody = requestBodyOf(operation);
  return {
    operationId: name,
    summary: operation.summary,
    description: `Requires an API key with the scope \`${operation.scope}\`.`,
    tags: [name.split(".")[0]],
    // Since OpenAPI 3.1 a bearer scheme can list scopes.
    security: [{ [securityScheme]: [operation.scope] }],
    parameters: parametersOf(operation),
    ...(requestBody !== undefined && { requestBody }),
    responses: responses.of(operation),
  };
}
