import type { Download, DownloadInto } from "../http/download-options.ts";
import type { BadResponseError } from "../http/errors.ts";
import type { CallOptions } from "./api/calls.ts";
import type { ApiError } from "./api-error.ts";

/** The headers of a response, with names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A response with the data of its headers. */
export interface Exchanged<Body> {
  /** The HTTP status, below 400. */
  readonly status: number;
  /** The body, as the method of the operation returns it. */
  readonly body: Body;
  /** The headers of the response. */
  readonly headers: ResponseHeaders;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string | undefined;
  /** The `Retry-After` of the response, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** Whether it is the stored response to an earlier request with the same key (Cross-cutting rule 2). */
  readonly replayed: boolean;
}

/** Any request, also one that the contract does not have. */
export interface RawRequest {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query after the base URL, encoded, e.g. `/v1/products?limit=3`. */
  readonly path: string;
  /** The body with its content type; null or absent for none. */
  readonly body?:
    | {
        /** The `Content-Type`. */
        readonly contentType: string;
        /** The bytes, sent unchanged. */
        readonly bytes: Uint8Array;
      }
    | null
    | undefined;
  /** More headers by lower-case names. They replace the client's, but not `authorization` and others. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a 400 may list every problem of the input (Errors). */
  readonly listsProblems?: boolean;
}

/** A response of any status and content. */
export interface RawResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: ResponseHeaders;
  /** The body. */
  readonly bytes: Uint8Array;
  /** The body as JSON. Throws a BadResponseError for anything else. */
  json(): unknown;
  /** The error for a status from 400; null for any other status. */
  readonly error: ApiError | BadResponseError | null;
}

/** The methods of a client besides the operations of the service. */
export interface ClientBasics {
  /**
   * Sends any request to the base URL's origin, with retries, pacing and an idempotency key. Resolves for
   * every status; `error` is the error that an operation would throw.
   */
  raw(request: RawRequest, options?: CallOptions): Promise<RawResponse>;
  /** Streams the bytes behind a signed URL, in chunks. Sends no credentials and follows no redirect. */
  readonly download: Download;
  /** Downloads into a target that keeps bytes, so that it can resume; resolves to the file's length. */
  readonly downloadInto: DownloadInto;
  /** The service's current time in Unix milliseconds, from the last `Date` of a response; null if none. */
  serviceNow(): number | null;
  /**
   * A moment of the local clock (default: now) in Unix milliseconds, by the slower one of the local clock and
   * the service's, whose smallest `Date` so far counts. To read later changes, start there: one clock may be
   * wrong.
   */
  earliest(moment?: number): number;
  /** A text of a download with the API key masked, as in responses; before the first request nothing is. */
  withoutKey(text: string): string;
  /** Closes all connections; requests in flight fail. */
  close(): Promise<void>;
}
