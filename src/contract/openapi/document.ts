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

/** The version of the described API: its first number is that of the path, `/v1` (Versioning 1). */
export const apiVersion = "1.0.0";

const securityScheme = "machineKey";

/**
 * The whole service as an OpenAPI 3.1 document, made from the contract alone: the same input gives the same document.
 * `serverUrl` is the address without `/v1`.
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
      summary: "Manage a fashion catalogue and generate images for it.",
      description:
        "Clients must ignore fields they do not know; within a major version only additive changes are made. " +
        `Reads are limited to ${limits.readsPerMinute} and writes to ${limits.writesPerMinute} a minute and organization.`,
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
            "A machine key of an organization; it begins with `ak_`. Its scopes stand with each operation.",
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
    description: `Needs a key with the scope \`${operation.scope}\`.`,
    tags: [name.split(".")[0]],
    // Since 3.1 a bearer scheme may name what its token must be allowed to do.
    security: [{ [securityScheme]: [operation.scope] }],
    parameters: parametersOf(operation),
    ...(requestBody !== undefined && { requestBody }),
    responses: responses.of(operation),
  };
}
