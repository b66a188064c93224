import type * as z from "zod";
import { requestIdPattern } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Operation } from "../operation.ts";
import { refOf } from "./components.ts";
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
