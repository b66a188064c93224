import {
  type ErrorCode,
  errorCodes,
  type ImportRefusal,
  type TryonRefusal,
} from "../../contract/error-codes.ts";

/** The rejection of a request: thrown below the pipeline, sent as the error envelope. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** All problems, for the two operations that respond with a list (Errors). */
  readonly list: ImportRefusal | TryonRefusal | undefined;
  /** Extra headers, such as `Allow`, or `Retry-After` in seconds. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: { param?: string; list?: ImportRefusal | TryonRefusal; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.param = more.param;
    this.list = more.list;
    this.headers = more.headers;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  /** The response body: `{error: {type, code, message, param?}}`, or the list of problems. */
  body(): string {
    if (this.list !== undefined) return JSON.stringify(this.list);
    const { type } = errorCodes[this.code];
    // JSON.stringify omits an undefined param.
    return JSON.stringify({ error: { type, code: this.code, message: this.message, param: this.param } });
  }
}

/** 400 `invalid_request`, because the field `param`, the body or the query breaks a rule. */
export const invalid = (message: string, param?: string): Refusal =>
  new Refusal("invalid_request", message, param === undefined ? {} : { param });
