import type * as z from "zod";
import type { Operation } from "../contract/operation.ts";
import type { BadAnswerError } from "../http/errors.ts";
import type { Message } from "../http/send.ts";
import type { ApiError } from "./api-error.ts";

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

/** Any request, also one that the contract does not have. */
export interface RawRequest {
  readonly method: Message["method"];
  /** Path and query after the base URL, encoded, e.g. `/v1/products?limit=3`. */
  readonly path: string;
  readonly body: { readonly contentType: string; readonly bytes: Uint8Array } | null;
  /** More headers by their lower-case names, which replace those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a 400 may list every problem of the input (Errors). */
  readonly listsProblems?: boolean;
}

/** A response of any status and content. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Uint8Array;
  /** The body as JSON. Throws a BadAnswerError for anything else. */
  json(): unknown;
  /** The error for a status from 400; null for any other status. */
  readonly error: ApiError | BadAnswerError | null;
}
