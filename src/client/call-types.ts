import type * as z from "zod";
import type { Operation } from "../contract/operation.ts";

/** Any operation of the contract, with its types left open. */
export interface AnyOperation extends Pick<Operation, "method" | "path" | "status" | "refusalList"> {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: Readonly<Record<string, z.ZodType | undefined>> | undefined;
  readonly reply: z.ZodType | null;
}

/**
 * The flat input of a request: path parameters and query by name, a JSON body under `body`, or its bytes
 * under `json` (sent unchanged), the bytes of an NDJSON body under `ndjson`, an upload under `file`.
 */
export type Input<O extends AnyOperation> = Simplify<
  Fields<z.input<O["params"]>> & Fields<z.input<O["query"]>> & BodyInput<O["body"]>
>;

/** An object schema without fields infers to one that forbids every field; here it adds none. */
type Fields<T> = string extends keyof T ? unknown : T;

type BodyInput<Body> =
  Body extends Readonly<Record<string, unknown>>
    ? { [Type in keyof Body]: BodyOf<Type, Body[Type]> }[keyof Body]
    : unknown;

type BodyOf<Type, Schema> = Type extends "application/x-ndjson"
  ? { ndjson: Uint8Array | string }
  : Type extends "multipart/form-data"
    ? { file: { bytes: Uint8Array; filename: string } }
    : Schema extends z.ZodType
      ? { body: z.input<Schema>; json?: never } | { json: Uint8Array | string; body?: never }
      : never;

/** The result of a request: the parsed body, or null if the response has none. */
export type Reply<O extends AnyOperation> = O["reply"] extends z.ZodType ? z.output<O["reply"]> : null;

/** The entries of a list operation. */
export type Item<O extends AnyOperation> = Reply<O> extends { data: (infer Entry)[] } ? Entry : never;

/** The input is optional if none of its fields is required. */
export type Arguments<O extends AnyOperation, Options> =
  Record<never, never> extends Input<O>
    ? [input?: Input<O>, options?: Options]
    : [input: Input<O>, options?: Options];

/** Distributes over unions, so that the forms of a body stay alternatives. */
type Simplify<T> = T extends unknown ? { [Key in keyof T]: T[Key] } : never;
