import {
  type ErrorCode,
  errorCodes,
  type ImportRefusal,
  type TryonRefusal,
} from "../../contract/error-codes.ts";

/** A request that is refused: thrown anywhere below the pipeline, answered as the service's error envelope. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** The list of every problem, for the two operations that answer with one (Errors). */
  readonly list: ImportRefusal | TryonRefusal | undefined;
  /** More headers, e.g. `Retry-After` in seconds or `Allow`. */
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

  /** The body of the answer: `{error: {type, code, message, param?}}`, or the list where there is one. */
  body(): string {
    if (this.list !== undefined) return JSON.stringify(this.list);
    const { type } = errorCodes[this.code];
    // JSON leaves out an undefined param.
    return JSON.stringify({ error: { type, code: this.code, message: this.message, param: this.param } });
  }
}

/** A request whose field `param` (or body, or query) breaks a rule: 400 `invalid_request`. */
export const invalid = (message: string, param?: string): Refusal =>
  new Refusal("invalid_request", message, param === undefined ? {} : { param });
