import type * as z from "zod";
import { limits } from "../limits.ts";
import { type BodyType, mayHaveNoBody, type Operation } from "../operation.ts";
import { imageTypes } from "../value-sets.ts";
import { refTo } from "./components.ts";
import type { JsonObject } from "./schemas.ts";

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
