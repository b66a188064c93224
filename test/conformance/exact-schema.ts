import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import * as z from "zod";

type Schema = { [key: string]: unknown };

/**
 * A strict check of a body against the contract. The contract reads leniently, as clients must, but the mock
 * may not have unknown fields or unknown values of open sets.
 */
export function exactly(schema: z.ZodType): (body: unknown) => string[] {
  const made = checks.get(schema) ?? exactCheck(schema);
  checks.set(schema, made);
  return made;
}

/** Cached, because compiling a schema takes longer than the requests of a test. */
const checks = new WeakMap<z.ZodType, (body: unknown) => string[]>();

function exactCheck(schema: z.ZodType): (body: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  const validate = ajv.compile(closed(z.toJSONSchema(schema) as Schema) as Schema);
  return (body) =>
    validate(body)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
}

/** Closes every object with named fields. An object without named fields is a map and stays open. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return inner.type === "object" && inner.properties !== undefined
    ? { ...inner, additionalProperties: false }
    : inner;
}
