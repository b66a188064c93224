import { CatError, type ErrorDetail } from "../errors.ts";

/** The service could not be reached, or the connection broke before the response was complete. */
export class NetworkError extends CatError {
  override readonly name: string = "NetworkError";
  /** Whether a retry may help: a connection reset is temporary, an invalid certificate is not. */
  readonly transient: boolean;

  constructor(message: string, detail: Omit<ErrorDetail, "type"> & { transient: boolean }) {
    super(message, { ...detail, type: "network" });
    this.transient = detail.transient;
  }
}

/** A deadline passed, or waiting timed out. */
export class TimeoutError extends CatError {
  override readonly name: string = "TimeoutError";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "timeout" });
  }
}

/** A response that is not the service's: HTML, incomplete JSON, too large, a redirect, an unexpected shape. */
export class BadAnswerError extends CatError {
  override readonly name: string = "BadAnswerError";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "bad_answer" });
  }
}

/** A signed URL was rejected (403, 404, 410): ask the service for a new one. */
export class SignedUrlError extends CatError {
  override readonly name: string = "SignedUrlError";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "signed_url" });
  }
}
