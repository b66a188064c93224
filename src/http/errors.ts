import { CatError, type ErrorDetail } from "../errors.ts";

/** The service could not be reached, or the connection broke before a whole answer had come. */
export class NetworkError extends CatError {
  override readonly name: string = "NetworkError";
  /** Whether trying again may help: a reset may pass, a certificate that does not fit will not. */
  readonly transient: boolean;

  constructor(message: string, detail: Omit<ErrorDetail, "type"> & { transient: boolean }) {
    super(message, { ...detail, type: "network" });
    this.transient = detail.transient;
  }
}

/** A deadline passed, or a wait ran out. */
export class TimeoutError extends CatError {
  override readonly name: string = "TimeoutError";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "timeout" });
  }
}

/** Something answered, but not as the service does: HTML, half a document, too much, a redirect, another shape. */
export class BadAnswerError extends CatError {
  override readonly name: string = "BadAnswerError";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "bad_answer" });
  }
}

/** A signed URL was not honoured (403, 404, 410): ask the service for a fresh one. */
export class SignedUrlError extends CatError {
  override readonly name: string = "SignedUrlError";

  constructor(message: string, detail: Omit<ErrorDetail, "type">) {
    super(message, { ...detail, type: "signed_url" });
  }
}
