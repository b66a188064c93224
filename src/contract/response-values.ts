import * as z from "zod";

/**
 * How responses are read. The client checks only what the program relies on (`reliedOn`, applied by `asRead`) and passes
 * everything else on: one field that is null, missing or newer than this program must not make a list unreadable. The
 * documents name the type of every field and the known values of every set, and the mock is held to them.
 *
 * | schema | set | any other value |
 * |---|---|---|
 * | `reliedOn(z.enum(…))` | closed; the program decides by its values | makes the response invalid (exit 7) |
 * | `closedSet` | closed (`sex`, `origin`, `mime_type`, `mode`, `format`, `type`, …) | is passed on |
 * | `openSet` | may grow (Versioning 2: roles, orientations, codes) | is passed on |
 *
 * The program relies on IDs, cursors, `has_more`, counts, places in lists, URLs that it downloads, and these fields:
 *
 * - `status` of an import, an export job and a task: whether to wait on, and whether it succeeded;
 * - `status` of a row: it is counted by it, and written to the failed file or not;
 * - `action` of a row and `status` of its images: the ledger records by them which photos a product has. With a value that
 *   says neither, the next import would add photos twice;
 * - `reference` of a row: the ledger finds the product of a row by it;
 * - `deleted_at` of a product in an export: the ledger forgets the product by it.
 */
export function reliedOn<Schema extends z.ZodType>(schema: Schema): Schema {
  relied.add(schema);
  return schema;
}

const relied = new WeakSet<z.core.$ZodType>();
const asReadOf = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/**
 * The schema by which the client reads a response: of objects only the fields that are relied on, also where they are
 * nullable or optional, and of these objects and lists again only such fields. Other fields pass as they are, or are absent.
 */
export function asRead<Schema extends z.ZodType>(schema: Schema): Schema {
  const read = asReadOf.get(schema) ?? readingOf(schema);
  asReadOf.set(schema, read);
  return read as Schema;
}

function readingOf(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = (one: z.core.$ZodType) => asRead(one as z.ZodType);
  if (schema instanceof z.ZodNullable) return inner(schema.unwrap()).nullable();
  if (schema instanceof z.ZodOptional) return inner(schema.unwrap()).optional();
  if (schema instanceof z.ZodArray) return z.array(inner(schema.element));
  if (!(schema instanceof z.ZodObject)) return schema;
  const fields = Object.entries(schema.shape);
  // Each field keeps its place, so that output has the order of the contract.
  const read = fields.map(([name, field]) => [
    name,
    isReliedOn(field) ? inner(field) : z.unknown().optional(),
  ]);
  return z.looseObject(Object.fromEntries(read));
}

function isReliedOn(schema: z.core.$ZodType): boolean {
  if (relied.has(schema)) return true;
  const isWrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional;
  return isWrapped && isReliedOn(schema.unwrap());
}

/** A value as a developer reads it: editors suggest the known ones, and the compiler accepts any other. */
export type KnownOr<Value extends string> = Value | (string & {});

/** A closed set that the program does not rely on: any text is passed on. */
export const closedSet = <Value extends string>(known: readonly Value[]) =>
  passedOn<Value>({ enum: [...known] });

/** A set that may grow (Versioning 2): any text is passed on, and the documents say so. */
export const openSet = <Value extends string>(known: readonly Value[]) =>
  passedOn<Value>({ enum: [...known], [growsMark]: true });

/** Marks the JSON Schema of an open set for the documents, which take the mark out again. */
export const growsMark = "x-grows";

const passedOn = <Value extends string>(meta: Record<string, unknown>) =>
  z.string().meta(meta) as unknown as z.ZodType<KnownOr<Value>, KnownOr<Value>>;
