import { limits } from "../contract/limits.ts";
import { CatError } from "../errors.ts";
import { type FilePart, multipartForm } from "../http/multipart.ts";
import type { Message } from "../http/send.ts";
import type { BaseUrl } from "./base-url.ts";
import type { AnyOperation } from "./call-types.ts";

/** The fields of an input that become the body; the others are path parameters and query. */
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
}

/** Makes the request of a call. What the service would judge (lengths, enums) is left to the service. */
export function messageOf(
  operation: AnyOperation,
  input: Readonly<Record<string, unknown>>,
  settings: RequestSettings,
): Message {
  const { base, userAgent, idempotencyKey } = settings;
  const { body, contentType } = bodyOf(operation, input);
  const headers: Record<string, string> = {
    accept: "application/json",
    // A compressed answer could hide any size behind the cap, and the answers are small.
    "accept-encoding": "identity",
    "user-agent": userAgent,
  };
  if (contentType !== null) headers["content-type"] = contentType;
  if (idempotencyKey !== undefined) headers["idempotency-key"] = checkedIdempotencyKey(idempotencyKey);
  return {
    method: operation.method,
    origin: base.origin,
    path: base.prefix + pathOf(operation, input) + queryOf(operation, input),
    headers,
    body,
  };
}

function pathOf(operation: AnyOperation, input: Readonly<Record<string, unknown>>): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => pathSegment(name, input[name]));
}

/** One path segment. A value that would change the path, by being empty or a dot segment, cannot be an id. */
function pathSegment(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : "";
  if (text !== "" && text !== "." && text !== "..") {
    try {
      return encodeURIComponent(text);
    } catch {
      // Half of a surrogate pair has no encoding.
    }
  }
  throw new CatError(`${name} ${JSON.stringify(value ?? null)} cannot be an id`, {
    type: "invalid_request",
    code: "invalid_request",
    param: name,
  });
}

function queryOf(operation: AnyOperation, input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const name of Object.keys(operation.query.shape)) {
    const value = input[name];
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

function bodyOf(
  operation: AnyOperation,
  input: BodyFields,
): { body: Uint8Array | null; contentType: string | null } {
  if (operation.body === undefined) return { body: null, contentType: null };
  if (input.file !== undefined) return multipartForm("file", input.file);
  if (input.ndjson !== undefined) {
    return { body: bytesOf(input.ndjson), contentType: "application/x-ndjson" };
  }
  const contentType = Object.keys(operation.body).find(
    (type) => type.endsWith("json") && !type.includes("ndjson"),
  );
  const body = bytesOf(input.json ?? JSON.stringify(input.body ?? {}));
  return { body, contentType: contentType ?? null };
}

const bytesOf = (given: Uint8Array | string): Uint8Array =>
  typeof given === "string" ? Buffer.from(given) : given;

/** A caller's key must fit in the header and in the service's limit (Cross-cutting rule 1). */
function checkedIdempotencyKey(key: string): string {
  if (/^[\u0021-\u007e]+$/.test(key) && key.length <= limits.idempotencyKeyLength) return key;
  throw new CatError("An idempotency key has 1 to 255 visible ASCII characters.", {
    type: "usage",
    code: "invalid_idempotency_key",
  });
}
