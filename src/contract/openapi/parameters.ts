import type * as z from "zod";
import { requestIdPattern } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Operation } from "../operation.ts";
import { refOf } from "./components.ts";
import { parameterNotes } from "./notes.ts";
import { type JsonObject, schemaOf } from "./schemas.ts";

/** The headers that a request may carry beside its key. */
export const sharedParameters: Readonly<Record<string, JsonObject>> = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description: "An id of the caller's for this request; echoed when it is valid.",
    schema: { type: "string", maxLength: limits.requestIdLength, pattern: requestIdPattern.source },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "The request is done once for each key: sent again within 24 hours, it gets the stored answer. One key for each thing to do.",
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
    // Every path parameter is required, and no parameter of a query.
    ...(place === "path" && { required: true }),
    ...(description !== undefined && { description }),
    schema: schemaOf(schema),
  };
}
