import { type ClientOperation, operations } from "../../../contract/client-operations.ts";
import { didYouMean } from "../../../contract/did-you-mean.ts";
import { maskedUserinfo } from "../../../http/mask.ts";
import { withoutEnd } from "../../../text.ts";
import { UsageError } from "../../context/errors.ts";

/** The part of a request's address after the base URL. */
export interface Target {
  /** Without the query, e.g. `/v1/products`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const scheme = /^[a-z][a-z0-9+.-]*:\/\//i;
/** Paths that are used as they are: with a version, and those of the mock server. */
const complete = /^\/(?:v\d+|_mock|openapi\.json)(?=\/|$)/;

/**
 * The target of PATH: `products`, `/products` and `/v1/products` are the same; `/_mock` is that of the mock
 * server. A full URL must start with the base URL, because the API key goes to no other place; it is used as
 * it is. Throws UsageError.
 */
export function parseTarget(text: string, baseUrl: string, query: readonly string[]): Target {
  const target = scheme.test(text) ? ofUrl(text, baseUrl) : ofPath(text);
  for (const field of query) {
    const at = field.indexOf("=");
    if (at < 1) throw malformed("--query", field);
    target.query.append(field.slice(0, at), field.slice(at + 1));
  }
  return target;
}

function ofPath(text: string): Target {
  const url = parsed(`http://localhost/${text.replace(/^\/+/, "")}`, text);
  const path = complete.test(url.pathname) ? url.pathname : `/v1${url.pathname}`;
  return { path, query: url.searchParams };
}

function ofUrl(text: string, baseUrl: string): Target {
  const url = parsed(text, text);
  const base = new URL(baseUrl);
  const prefix = withoutEnd(base.pathname, /\//);
  const isCredentialed = url.username !== "" || url.password !== "";
  if (url.origin !== base.origin || !`${url.pathname}/`.startsWith(`${prefix}/`) || isCredentialed) {
    throw new UsageError(`${url.origin} is not the base URL, ${baseUrl}`, {
      code: "foreign_url",
      param: "PATH",
      hint: "The API key is sent to the base URL only. Use a path, for example /products.",
    });
  }
  return { path: url.pathname.slice(prefix.length) || "/", query: url.searchParams };
}

function parsed(url: string, text: string): URL {
  // URL removes line breaks and tabs, so another path would be requested.
  const isPlain = text.trim() !== "" && !/[#\u0000-\u001f\u007f]/.test(text);
  if (isPlain && URL.canParse(url)) return new URL(url);
  throw new UsageError(maskedUserinfo(`invalid path ${JSON.stringify(text)}`), {
    code: "invalid_path",
    param: "PATH",
    hint: "Use the path of a request, for example /products or /products/ID.",
  });
}

/** The error for a `name=value` without a name; the text is not shown, because it may be a secret. */
export const malformed = (flag: string, text: string): UsageError =>
  new UsageError(`${flag} needs name=value${text.startsWith("=") ? ": the name is empty" : ""}`, {
    code: "invalid_argument",
    param: flag,
    hint: `For example: ${flag} name=value`,
  });

const everyOperation: readonly ClientOperation[] = Object.values(operations).flatMap((verbs) =>
  Object.values(verbs),
);

/** The operations of a path without query, e.g. `/v1/products/ID`. */
const operationsAt = (path: string): ClientOperation[] =>
  everyOperation.filter((operation) => matches(operation, path));

/** The operation of the contract for a method and a path; null if unknown. */
export function knownOperation(method: string, path: string): ClientOperation | null {
  const matching = operationsAt(path).filter((operation) => operation.method === method);
  // A path without parameters is more specific: `/v1/tasks/tryon` before `/v1/tasks/{task_id}`.
  return matching.find((operation) => operation.path === path) ?? matching[0] ?? null;
}

/** The next step after a 404 or 405 for a request that the contract does not have; undefined without one. */
export function requestHint(method: string, path: string): string | undefined {
  const methods = [...new Set<string>(operationsAt(path).map((operation) => operation.method))];
  if (methods.includes(method)) return undefined;
  if (methods.length > 0) return `The service has ${methods.map((name) => `${name} ${path}`).join(" and ")}.`;
  const [near] = didYouMean(path, [...new Set(everyOperation.map((operation) => operation.path))]);
  return near === undefined ? undefined : `Did you mean ${near}?`;
}

export const isList = ({ query }: ClientOperation): boolean => query.includes("cursor");

function matches({ path: pattern }: ClientOperation, path: string): boolean {
  const expected = pattern.split("/");
  const given = path.split("/");
  return (
    expected.length === given.length &&
    expected.every((part, index) => (part.startsWith("{") ? given[index] !== "" : part === given[index]))
  );
}
