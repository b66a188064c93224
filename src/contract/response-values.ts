import * as z from "zod";

/**
 * How the values of sets are read in responses. The client checks only what the program relies on and passes everything else
 * on: one value that is newer than this program must not make a whole list unreadable. The documents name the known values of
 * every set, and the mock is held to them.
 *
 * | schema | set | any other value |
 * |---|---|---|
 * | `reliedOn` | closed; the program decides by its values | makes the response invalid (exit 7) |
 * | `closedSet` | closed (`sex`, `origin`, `mime_type`, `mode`, `format`, `type`, …) | is passed on |
 * | `openSet` | may grow (Versioning 2: roles, orientations, codes) | is passed on |
 *
 * The program relies on IDs, cursors, `has_more`, counts and places in lists, and on the values of five fields:
 *
 * - `status` of an import, an export job and a task: whether to wait on, and whether it succeeded;
 * - `status` of a row: it is counted by it, and written to the failed file or not;
 * - `action` of a row and `status` of its images: the ledger records by them which photos a product has. With a value that
 *   says neither, the next import would add photos twice.
 */
export const reliedOn = <const Values extends readonly string[]>(values: Values) => z.enum(values);

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
