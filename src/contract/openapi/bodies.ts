import type * as z from "zod";
import { limits } from "../limits.ts";
import { type BodyType, mayHaveNoBody, type Operation } from "../operation.ts";
import { imageTypes } from "../value-sets.ts";
import { refTo } from "./components.ts";
import type { JsonObject } from "./schemas.ts";

/** The body of an operation's requests, in every content type it takes; undefined where it takes none. */
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
      // OpenAPI 3.1 has no word for a schema of each line.
      schema: {
        type: "string",
        description: `${min} to ${max.toLocaleString("en")} rows, one JSON object a line.`,
        // A pointer as text: linters reject a $ref where OpenAPI defines none.
        "x-line-schema": refTo(schema).$ref,
      },
    };
  }
  if (type !== "multipart/form-data") return { schema: refTo(schema) };
  return { schema: refTo(schema), encoding: { file: { contentType: imageTypes.join(", ") } } };
}
