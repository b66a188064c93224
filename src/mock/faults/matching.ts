import type { IncomingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../json.ts";
import { toParts, toQuery } from "../rules/paths.ts";
import type { FaultOrder } from "./fault-order.ts";

type Match = FaultOrder["match"];

/** A request as faults compare it: only what a fault names is decoded, and once for all faults. */
export class SeenRequest {
  #parts: string[] | null | undefined;
  #query: ReturnType<typeof toQuery> | undefined;
  #body: { readonly value: unknown } | null | undefined;

  constructor(
    readonly method: string,
    /** The path with its query, as sent. */
    readonly url: string,
    readonly headers: IncomingHttpHeaders,
    readonly bytes: Buffer,
  ) {}

  fits({ method, path, pattern, query = {}, headers = {}, body }: Match): boolean {
    if (method !== undefined && method !== this.method) return false;
    if (path !== undefined && !this.url.startsWith(path)) return false;
    if (pattern !== undefined && !this.#hasPath(pattern)) return false;
    for (const [name, value] of Object.entries(query)) if (!this.#hasParameter(name, value)) return false;
    for (const [name, value] of Object.entries(headers)) {
      const key = name.toLowerCase();
      if ((Object.hasOwn(this.headers, key) ? String(this.headers[key]) : null) !== value) return false;
    }
    return body === undefined || this.#hasInBody(body);
  }

  #hasPath(pattern: string): boolean {
    this.#parts ??= toParts(this.url);
    const wanted = toParts(pattern)!;
    return (
      this.#parts?.length === wanted.length &&
      this.#parts.every((part, at) => (wanted[at]!.startsWith("{") ? part !== "" : part === wanted[at]))
    );
  }

  #hasParameter(name: string, value: string | number | null): boolean {
    this.#query ??= toQuery(this.url);
    const sent = this.#query[name];
    if (value === null || sent === undefined) return value === null && sent === undefined;
    return [sent].flat().includes(String(value));
  }

  #hasInBody(part: unknown): boolean {
    this.#body ??= toValue(this.bytes);
    return this.#body !== null && includes(this.#body.value, part);
  }
}

/** The value of a JSON body; null for any other body. */
function toValue(bytes: Buffer): { value: unknown } | null {
  try {
    return { value: parseJson(bytes.toString()) };
  } catch {
    return null;
  }
}

/** Whether a JSON value has all of `part`: its fields in objects, its entries in lists of the same length. */
export function includes(value: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return (
      Array.isArray(value) &&
      value.length === part.length &&
      part.every((entry, at) => includes(value[at], entry))
    );
  if (!isObject(part)) return value === part;
  return (
    isObject(value) &&
    Object.entries(part).every(([name, field]) => Object.hasOwn(value, name) && includes(value[name], field))
  );
}
