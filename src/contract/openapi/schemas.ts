import * as z from "zod";
import { limits } from "../limits.ts";
import { Name, Reference } from "../resources/fields.ts";
import { ImageUrl } from "../resources/import.ts";
import { growsMark } from "../response-values.ts";
import { answered, refOf, taken } from "./components.ts";
import { schemaNotes } from "./notes.ts";

/** Any object of the document. */
export interface JsonObject {
  [key: string]: unknown;
}

/** Every schema of the document by its name, with references among them. */
export function componentSchemas(): Record<string, JsonObject> {
  const outputs = convert("output");
  const inputs = convert("input");
  const schemas: Record<string, JsonObject> = {};
  for (const name of Object.keys(answered)) schemas[name] = outputs[name]!;
  for (const name of Object.keys(taken)) schemas[name] = inputs[name]!;
  addNotes(schemas);
  for (const name of Object.keys(taken)) describeDefaults(schemas[name]!);
  return schemas;
}

/** One schema on its own, as it comes out of a check: for parameters, which are read from text. */
export const schemaOf = (schema: z.ZodType): JsonObject =>
  withoutMarks(z.toJSONSchema(schema, { io: "output", unrepresentable: "any", override }) as JsonObject);

function convert(io: "input" | "output"): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ ...answered, ...taken })) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: "any",
    override,
    uri: (id) => refOf("schemas", id),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutMarks(schema as JsonObject)]),
  );
}

/** A component is known by its place in the document; it needs no id and no dialect of its own. */
function withoutMarks({ $schema: _dialect, $id: _id, id: _name, ...schema }: JsonObject): JsonObject {
  return schema;
}

/** Says in JSON Schema what the schema library says otherwise, and leaves out what it says for itself only. */
function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonObject }): void {
  const schema: unknown = zodSchema;
  if (schema === Reference) Object.assign(jsonSchema, { pattern: trimmedReference });
  if (schema === Name) Object.assign(jsonSchema, { pattern: "\\S" });
  if (schema === ImageUrl) Object.assign(jsonSchema, { pattern: "^[Hh][Tt][Tt][Pp][Ss]://" });
  // The format says it; the pattern beside it is a page of digits.
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minLength === 0) delete jsonSchema.minLength;
  // What is not closed is open: "clients must ignore fields they do not know" (Versioning 3).
  if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
  delete jsonSchema.propertyNames;
  if (jsonSchema[growsMark] === true) openUp(jsonSchema);
}

/** A set that may grow names the values it has and takes any other (Versioning 2). */
function openUp(jsonSchema: JsonObject): void {
  const known = jsonSchema.enum as string[];
  delete jsonSchema[growsMark];
  delete jsonSchema.enum;
  jsonSchema.anyOf = [
    { type: "string", enum: known },
    { type: "string", description: "A value that is newer than this." },
  ];
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** White space around a reference does not count (Products). */
const trimmedReference = `^\\s*\\S(?:[\\s\\S]{0,${limits.referenceLength.max - 2}}\\S)?\\s*$`;

/** Adds the remarks of `schemaNotes` to the components and fields they are about; throws for one about nothing. */
function addNotes(schemas: Record<string, JsonObject>): void {
  for (const [path, description] of Object.entries(schemaNotes)) {
    const [name = "", ...fields] = path.split(".");
    let at: JsonObject | undefined = schemas[name];
    for (const field of fields) at = fieldOf(at, field);
    if (at === undefined)
      throw new Error(`openapi/notes.ts has a remark about ${path}, which does not exist`);
    // A reference may have a description beside it since 3.1.
    at.description = description;
  }
}

/**
 * Moves each default of a request's field into its description: code generators take a field with a `default` for one that
 * is always set, and so require it of the caller.
 */
function describeDefaults(schema: JsonObject): void {
  for (const field of Object.values((schema.properties ?? {}) as Record<string, JsonObject>)) {
    if ("default" in field) {
      const { description } = field;
      field.description = `${description === undefined ? "" : `${description} `}Default: ${field.default}.`;
      delete field.default;
    }
    describeDefaults(field);
  }
}

function fieldOf(schema: JsonObject | undefined, field: string): JsonObject | undefined {
  const inner = objectIn(schema);
  return (inner?.properties as Record<string, JsonObject> | undefined)?.[field];
}

/** The object with fields within a schema: the schema itself, what its list holds, or what it is when it is not null. */
function objectIn(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined || schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return objectIn(schema.items as JsonObject);
  return (schema.anyOf as JsonObject[] | undefined)
    ?.map(objectIn)
    .find((one) => one?.properties !== undefined);
}
