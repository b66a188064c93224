import { CatalogueError, type ErrorDetail } from "../errors.ts";

/** Why there was no response. */
export type NetworkErrorCode =
  | "unreachable"
  | "host_not_found"
  | "connection_cut"
  | "incomplete_response"
  | "tls"
  | "proxy_refused"
  | "proxy_unreachable"
  | "too_many_open_files"
  | "transport_failed"
  | "client_closed";

/** The service could not be reached, or the connection broke before the response was complete. */
export class NetworkError extends CatalogueError {
  /** The name of the class, for `instanceof`. */
  static override readonly className: string = "NetworkError";
  /** The name of the class. */
  override readonly name: string = "NetworkError";
  /** The kind of error. */
  declare readonly type: "network";
  /** Why there was no response. */
  declare readonly code: NetworkErrorCode;
  /** Whether a retry may help: a connection reset is temporary, an invalid certificate is not. */
  readonly transient: boolean;

  constructor(message: string, detail: Omit<ErrorDetail, "type"> & { transient: boolean }) {
    super(message, { ...detail, type: "network" });
    this.transient = detail.transient;
  }
}

/** A deadline passed, or waiting timed out. */
export class TimeoutError extends CatalogueError {
  /** The name of the class, for `instanceof`. */
  static override readonly className: string = "TimeoutError";
  /** The name of the class. */
  override readonly name: string = "TimeoutError";
  /** The kind of error. */
  declare readonly type: "timeout";
  /** `deadline`: with all retries; `attempt_timeout`: one attempt; `wait_timeout`: a polled job. */
  declare readonly code: "deadline" | "attempt_timeout" | "wait_timeout" | (string & {});

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "timeout" });
  }
}

/** A response that is not the service's: HTML, incomplete JSON, too large, a redirect, unexpected shape. */
export class BadResponseError extends CatalogueError {
  /** The name of the class, for `instanceof`. */
  static override readonly className: string = "BadResponseError";
  /** The name of the class. */
  override readonly name: string = "BadResponseError";
  /** The kind of error. */
  declare readonly type: "bad_response";
  /** The fault of the response. */
  declare readonly code:
    | "wrong_shape"
    | "not_json"
    | "not_http"
    | "empty_response"
    | "response_too_large"
    | "redirect"
    | "bad_cursor"
    | "invalid_url"
    | "download_refused"
    | "not_a_file"
    | (string & {});
  /**
   * The JSON object of a successful response to a write that is not as documented, with null for what is
   * nested too deeply: the service has carried it out, and an ID or a secret in it may be in no other
   * response. Undefined for any other response.
   */
  readonly reply: object | undefined;

  constructor(message: string, detail: Omit<ErrorDetail, "type"> & { reply?: object | undefined }) {
    super(message, { ...detail, type: "bad_response" });
    this.reply = detail.reply;
  }
}

/** Whether a gateway rejected to take a body of that size: sending the same bytes again cannot help. */
export const isTooLargeForGateway = (error: unknown): error is BadResponseError =>
  error instanceof BadResponseError && error.status === 413;

/** A signed URL was rejected (403, 404, 410): ask the service for a new one. */
export class SignedUrlError extends CatalogueError {
  /** The name of the class, for `instanceof`. */
  static override readonly className: string = "SignedUrlError";
  /** The name of the class. */
  override readonly name: string = "SignedUrlError";
  /** The kind of error. */
  declare readonly type: "signed_url";
  /** The only reason. */
  declare readonly code: "signed_url_refused";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "signed_url" });
  }
}

/** Ends a request that waits, at the last moment before its first byte goes. */
export class Withdrawn extends Error {
  override readonly name = "Withdrawn";
}

/** The code of the error for a host one of whose addresses is not allowed. */
export const blockedHost = "EBLOCKED";
