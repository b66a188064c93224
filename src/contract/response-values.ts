import * as z from "zod";
import type { Check, FieldTree, Shape } from "./response-shape.ts";

/**
 * Lenient reading of responses. The client checks only fields that the program relies on (`reliedOn`, applied
 * by `toShape`). All others pass: a field that is null, missing or newer than this program must not make a
 * list unreadable. openapi.json has the type of every field and the known values of every set, and tests
 * check the mock against it.
 *
 * | schema | set | any other value |
 * |---|---|---|
 * | `reliedOn(z.enum(…))` | closed; the program decides by its values | makes the response invalid (exit 7) |
 * | `closedSet` | closed (`sex`, `origin`, `mime_type`, `mode`, `format`, `type`, …) | is passed on |
 * | `openSet` | can grow (Versioning 2: roles, orientations, codes) | is passed on |
 *
 * The program relies on IDs, cursors, `has_more`, counts, the `status` of jobs, `deleted_at` of a product in
 * an export (the ledger forgets the product) and `signing_secret` of a webhook (shown only once). Commands
 * only show the rows of an import (`passedOnList`); an import checks its rows itself, where it reads its
 * results.
 */
export function reliedOn<Schema extends z.ZodType>(schema: Schema): Schema {
  relied.add(schema);
  return schema;
}

/** Marks a list whose entries are passed on unchecked, although their fields are marked. */
export function passedOnList<Schema extends z.ZodType>(schema: Schema): Schema {
  unchecked.add(schema);
  return schema;
}

const relied = new WeakSet<z.core.$ZodType>();
const unchecked = new WeakSet<z.core.$ZodType>();

/** Only fields marked `reliedOn` are checked, in any depth; an absent nullable one is read as null. */
export const toShape = (schema: z.core.$ZodType): Shape => ({
  ...partsOf<Shape>(
    schema,
    (field) => (isReliedOn(field) ? toShape(field) : fieldTree(field)),
    // The fields of entries that are passed on only have an order.
    (entry, list) =>
      unchecked.has(list) ? { ...fieldTree(entry), check: { kind: "object" } } : toShape(entry),
  ),
  check: toCheck(schema),
});

/** The fields of a value that is passed on unchecked. */
const fieldTree = (schema: z.core.$ZodType): FieldTree => partsOf<FieldTree>(schema, fieldTree, fieldTree);

function partsOf<Part>(
  schema: z.core.$ZodType,
  toField: (field: z.core.$ZodType) => Part,
  toEntry: (entry: z.core.$ZodType, list: z.core.$ZodType) => Part,
): { fields: Readonly<Record<string, Part>> | null; entries: Part | null } {
  if (isWrapper(schema)) return partsOf(schema.unwrap(), toField, toEntry);
  if (schema instanceof z.ZodArray) return { fields: null, entries: toEntry(schema.element, schema) };
  if (!(schema instanceof z.ZodObject)) return { fields: null, entries: null };
  const fields = Object.entries(schema.shape as Readonly<Record<string, z.core.$ZodType>>);
  return { fields: Object.fromEntries(fields.map(([name, field]) => [name, toField(field)])), entries: null };
}

/** The schemas that a `Check` can express, with their checks: another one would be lost in it. */
const checkedKinds = new Set([
  ...["object", "array", "boolean", "enum", "string", "number"],
  ...["string with string_format", "number with greater_than"],
]);

function toCheck(schema: z.core.$ZodType): Check {
  if (schema instanceof z.ZodNullable) return { ...toCheck(schema.unwrap()), isNullable: true };
  if (schema instanceof z.ZodOptional) return { ...toCheck(schema.unwrap()), isOptional: true };
  const { type: name, checks = [] } = schema._zod.def;
  const kind = [name, ...checks.map((check) => check._zod.def.check)].join(" with ");
  if (!checkedKinds.has(kind)) throw new Error(`a client cannot rely on a ${kind}`);
  if (schema instanceof z.ZodObject) return { kind: "object" };
  if (schema instanceof z.ZodArray) return { kind: "list" };
  if (schema instanceof z.ZodURL) return { kind: "URL" };
  const { type, pattern, enum: values, minimum } = z.toJSONSchema(schema);
  if (type === "boolean") return { kind: type };
  if (type === "integer" && minimum !== undefined)
    return { kind: type, ...(minimum > Number.MIN_SAFE_INTEGER && { min: minimum }) };
  if (type !== "string") throw new Error(`a client cannot rely on a ${kind}`);
  const meaning = z.safeParse(schema, "").error?.issues[0]?.message;
  return {
    kind: "text",
    ...(pattern !== undefined && { pattern, meaning: meaning! }),
    ...(values !== undefined && { values: values as string[] }),
  };
}

const isWrapper = (schema: z.core.$ZodType): schema is z.ZodNullable | z.ZodOptional =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional;

const isReliedOn = (schema: z.core.$ZodType): boolean =>
  relied.has(schema) || (isWrapper(schema) && isReliedOn(schema.unwrap()));

/** A value type for developers: editors suggest the known values, and the compiler accepts any other. */
export type KnownOr<Value extends string> = Value | (string & {});

/** A closed set that the program does not rely on: any text is passed on. */
export const closedSet = <Value extends string>(known: readonly Value[]) =>
  passedOn<Value>({ enum: [...known] });

/** A set that can grow (Versioning 2): any text is passed on, and openapi.json says so. */
export const openSet = <Value extends string>(known: readonly Value[]) =>
  passedOn<Value>({ enum: [...known], [growsMark]: true });

/** Marks the JSON Schema of an open set; removed from openapi.json. */
export const growsMark = "x-grows";

const passedOn = <Value extends string>(meta: Record<string, unknown>) =>
  z.string().meta(meta) as unknown as z.ZodType<KnownOr<Value>, KnownOr<Value>>;
