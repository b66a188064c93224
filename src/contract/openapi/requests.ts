import type * as z from "zod";
import { limits, requestIdPattern } from "../limits.ts";
import { type BodyType, mayHaveNoBody, type Operation } from "../operation.ts";
import { imageTypes } from "../value-sets.ts";
import { refOf, refTo } from "./components.ts";
import { parameterNotes } from "./notes.ts";
import { type JsonObject, schemaOf } from "./schemas.ts";

/** Optional request headers, in addition to the API key. */
export const sharedParameters: Readonly<Record<string, JsonObject>> = {
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

/** The parameters of an operation: path, query, and headers. */
export function parametersOf({ method, params, query }: Operation): JsonObject[] {
  const shared = method === "GET" ? ["RequestId"] : ["RequestId", "IdempotencyKey"];
  return [
    ...Object.entries(params.shape).map(([name, schema]) => parameter("path", name, schema as z.ZodType)),
    ...Object.entries(query.shape).map(([name, schema]) => parameter("query", name, schema as z.ZodType)),
    ...shared.map((name) => ({ $ref: refOf("parameters", name) })),
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
    schema: schemaOf(schema),
  };
}

/** The request body of an operation in every content type it accepts; undefined if it has no body. */
export function requestBodyOf(operation: Operation): JsonObject | undefined {
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
