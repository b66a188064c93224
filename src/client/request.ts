import type * as z from "zod";
import type { ClientOperation } from "../contract/client-operations.ts";
import { limits } from "../contract/limits.ts";
import { CatalogueError } from "../errors.ts";
import { type FilePart, type Message, multipartForm } from "../http/send.ts";
import type { OwnHeaders } from "./api/calls.ts";
import type { BaseUrl } from "./base-url.ts";

/** Any operation of the contract, for the compiler: its parameters, bodies and response. */
export interface AnyOperation {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: Readonly<Record<string, z.ZodType | undefined>> | undefined;
  readonly reply: z.ZodType | null;
}

/**
 * The flat input of a request: path parameters and query by name; a JSON body as `body`, or its bytes as
 * `json` (sent unchanged), the bytes of an NDJSON body as `ndjson`, an upload as `file`.
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

/** The input fields that become the body; the others are path parameters and query. */
interface BodyFields {
  body?: unknown;
  json?: Uint8Array | string;
  ndjson?: Uint8Array | string;
  file?: FilePart;
}

export interface RequestSettings {
  base: BaseUrl;
  userAgent: string;
  idempotencyKey?: string | undefined;
  /** Headers of the caller, in any case. */
  headers?: OwnHeaders | undefined;
}

/** Builds the HTTP message of a request. Lengths and enums are left to the service to check. */
export function toMessage(
  operation: ClientOperation,
  input: Readonly<Record<string, unknown>>,
  settings: RequestSettings,
): Message {
  const { base } = settings;
  const { body, contentType } = toBody(operation, input);
  return {
    method: operation.method,
    origin: base.origin,
    path: base.prefix + toPath(operation, input) + toQuery(operation, input),
    headers: toHeaders(operation.method, contentType, settings),
    body,
  };
}

/** The headers of every request; the HTTP core adds the API key. */
export function toHeaders(
  method: Message["method"],
  contentType: string | null,
  { userAgent, idempotencyKey, headers = {} }: Omit<RequestSettings, "base">,
): Record<string, string> {
  const ofCaller = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    ...Object.fromEntries(
      [...ofCaller].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    accept: "application/json",
    // A compressed response could exceed the size limit unnoticed, and responses are small.
    "accept-encoding": "identity",
    "user-agent": userAgent,
    // A job that is polled never ends if a cache on the way repeats its first response.
    ...(method === "GET" && { "cache-control": "no-cache" }),
    ...(contentType !== null && { "content-type": contentType }),
    ...(idempotencyKey !== undefined && { "idempotency-key": checkedIdempotencyKey(idempotencyKey) }),
  };
}

function toPath(operation: ClientOperation, input: Readonly<Record<string, unknown>>): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => pathSegment(name, input[name]));
}

/** One path segment. An empty value or a dot segment would change the path, so it cannot be an ID. */
function pathSegment(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : "";
  if (text !== "" && text !== "." && text !== "..") {
    try {
      return encodeURIComponent(text);
    } catch {
      // A lone surrogate cannot be encoded.
    }
  }
  const why = value == null ? "is missing" : `${JSON.stringify(value)} is not a valid ID`;
  throw new CatalogueError(`${name} ${why}`, {
    type: "invalid_request",
    code: "invalid_request",
    param: name,
  });
}

function toQuery(operation: ClientOperation, input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const name of operation.query) {
    const value = input[name];
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

function toBody(
  operation: ClientOperation,
  input: BodyFields,
): { body: Uint8Array | null; contentType: string | null } {
  if (operation.body.length === 0) return { body: null, contentType: null };
  if (input.file !== undefined) return multipartForm("file", input.file);
  if (input.ndjson !== undefined) {
    return { body: toBytes(input.ndjson), contentType: "application/x-ndjson" };
  }
  const contentType = jsonType(operation);
  const body = toBytes(input.json ?? JSON.stringify(input.body ?? {}));
  return { body, contentType: contentType ?? null };
}

/** The content type of an operation's JSON body, e.g. of a merge patch; undefined if it takes none. */
export const jsonType = ({ body }: ClientOperation): string | undefined =>
  body.find((type) => type.endsWith("json") && !type.includes("ndjson"));

const toBytes = (given: Uint8Array | string): Uint8Array =>
  typeof given === "string" ? Buffer.from(given) : given;

/** A given key must fit in the header and in the service's limit (Cross-cutting rule 1). */
function checkedIdempotencyKey(key: string): string {
  if (/^[\u0021-\u007e]+$/.test(key) && key.length <= limits.idempotencyKeyLength) return key;
  throw new CatalogueError("an idempotency key must have 1 to 255 visible ASCII characters", {
    type: "usage",
    code: "invalid_idempotency_key",
  });
}
