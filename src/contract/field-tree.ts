import * as z from "zod";

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
