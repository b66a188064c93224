import * as z from "zod";

/**
 * Lenient reading of responses. The client checks only fields that the program relies on (`reliedOn`, applied
 * by `asRead`). All others pass: a field that is null, missing or newer than this program must not make a list
 * unreadable. openapi.json has the type of every field and the known values of every set, and tests check the
 * mock against it.
 *
 * | schema | set | any other value |
 * |---|---|---|
 * | `reliedOn(z.enum(…))` | closed; the program decides by its values | makes the response invalid (exit 7) |
 * | `closedSet` | closed (`sex`, `origin`, `mime_type`, `mode`, `format`, `type`, …) | is passed on |
 * | `openSet` | can grow (Versioning 2: roles, orientations, codes) | is passed on |
 *
 * The program relies on IDs, cursors, `has_more`, counts, the `status` of jobs, `deleted_at` of a product in an
 * export (the ledger forgets the product) and `signing_secret` of a webhook (shown only once). Commands only show
 * the rows of an import (`passedOnList`); an import checks its rows itself, where it reads its results.
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
const asReadOf = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/**
 * The schema that the client reads a response with: only fields marked with `reliedOn` are checked, recursively.
 * Such a field that is nullable and absent is read as null. Others can have any value or be absent.
 */
export function asRead<Schema extends z.ZodType>(schema: Schema): Schema {
  const read = asReadOf.get(schema) ?? readingOf(schema);
  asReadOf.set(schema, read);
  return read as Schema;
}

function readingOf(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = (one: z.core.$ZodType) => asRead(one as z.ZodType);
  if (schema instanceof z.ZodNullable) return inner(schema.unwrap()).nullable().default(null);
  if (schema instanceof z.ZodOptional) return inner(schema.unwrap()).optional();
  if (schema instanceof z.ZodArray) {
    return z.array(unchecked.has(schema) ? anyFields(schema.element) : inner(schema.element));
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const fields = Object.entries(schema.shape);
  // Keeps the order of the fields, so that output has the order of the contract.
  const read = fields.map(([name, field]) => [
    name,
    isReliedOn(field) ? inner(field) : z.unknown().optional(),
  ]);
  return z.looseObject(Object.fromEntries(read));
}

/** Any object. Keeps the order of the fields, like `readingOf`. */
function anyFields(schema: z.core.$ZodType): z.core.$ZodType {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return z.looseObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
}

function isReliedOn(schema: z.core.$ZodType): boolean {
  if (relied.has(schema)) return true;
  const isWrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional;
  return isWrapped && isReliedOn(schema.unwrap());
}

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

/** The fields of a resource by name, with those of the objects and lists in them. */
export interface FieldTree {
  /** Null for a value or a list. */
  readonly fields: Readonly<Record<string, FieldTree>> | null;
  /** The entries of a list; null for anything else. */
  readonly entries: FieldTree | null;
}

const value: FieldTree = { fields: null, entries: null };

/** The fields that a response can have by its schema. */
export function fieldTree(schema: z.core.$ZodType | null): FieldTree {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return fieldTree(schema.unwrap());
  if (schema instanceof z.ZodArray) return { fields: null, entries: fieldTree(schema.element) };
  if (!(schema instanceof z.ZodObject)) return value;
  const fields = Object.entries(schema.shape as Readonly<Record<string, z.core.$ZodType>>);
  return { fields: Object.fromEntries(fields.map(([name, one]) => [name, fieldTree(one)])), entries: null };
}
