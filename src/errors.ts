/** What an error says beside its message, in the words of the service's envelope where there is one. */
export interface ErrorDetail {
  /** For programs: an error type of the service's envelope, or one of ours such as `network`. */
  type: string;
  /** For programs: what exactly. */
  code: string;
  /** What to do about it, one plain sentence. */
  hint?: string | undefined;
  param?: string | undefined;
  /** The HTTP status, when the service answered. */
  status?: number | undefined;
  requestId?: string | undefined;
  /** Whether an earlier attempt of the same request ended without an answer, so that it may have been carried out. */
  earlierUnanswered?: boolean | undefined;
  cause?: unknown;
}

/**
 * The root of every error that is not a fault of ours: its message is one plain sentence for a person, and `type` and
 * `code` are what programs switch on. Which exit status each becomes is one table, in cli/context/exit.ts.
 */
export class CatError extends Error {
  override readonly name: string = "CatError";
  readonly type: string;
  readonly code: string;
  readonly hint: string | undefined;
  readonly param: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly earlierUnanswered: boolean;

  constructor(message: string, detail: ErrorDetail) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.type = detail.type;
    this.code = detail.code;
    this.hint = detail.hint;
    this.param = detail.param;
    this.status = detail.status;
    this.requestId = detail.requestId;
    this.earlierUnanswered = detail.earlierUnanswered ?? false;
  }
}
