import type { BadAnswerError } from "../http/errors.ts";
import type { Message } from "../http/send.ts";
import type { ApiError } from "./api-error.ts";
import { type About, jsonOf, responseError } from "./read-response.ts";
import { headersOf, type RequestSettings } from "./request.ts";

/** Any request, also one that the contract does not have. */
export interface RawRequest {
  readonly method: Message["method"];
  /** Path and query after the base URL, encoded, e.g. `/v1/products?limit=3`. */
  readonly path: string;
  readonly body: { readonly contentType: string; readonly bytes: Uint8Array } | null;
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

/** The HTTP message of a raw request. */
export function rawMessage({ method, path, body }: RawRequest, settings: RequestSettings): Message {
  const { origin, prefix } = settings.base;
  return {
    ...{ method, origin, path: prefix + path },
    headers: headersOf(body?.contentType ?? null, settings),
    body: body?.bytes ?? null,
  };
}

/** The response to a raw request. */
export function rawResponse({ listsProblems = false }: RawRequest, about: About): RawResponse {
  const { status, headers, body } = about.answer;
  return {
    ...{ status, headers, bytes: body },
    json: () => jsonOf(about),
    error: status >= 400 ? responseError(listsProblems, about) : null,
  };
}
