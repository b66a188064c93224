import { type ErrorCode, errorCodes } from "../../contract/error-codes.ts";
import type { ImportRefusal, TryonRefusal } from "../../contract/resources/errors.ts";

/** A problem with one field, or with the complete value if there is no `param`. */
export interface Problem {
  readonly message: string;
  readonly param?: string;
}

/** The rejection of a request: thrown below the pipeline, sent as the error envelope. */
export class Rejection extends Error {
  override readonly name = "Rejection";
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** All problems, for the two operations that respond with a list (Errors). */
  readonly list: ImportRefusal | TryonRefusal | undefined;
  /** All problems of a control request, shown next to the error. */
  readonly problems: readonly Problem[] | undefined;
  /** Extra headers, such as `Allow`, or `Retry-After` in seconds. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      param?: string | undefined;
      list?: ImportRefusal | TryonRefusal;
      problems?: readonly Problem[];
      headers?: Record<string, string>;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.param = more.param;
    this.list = more.list;
    this.problems = more.problems;
    this.headers = more.headers;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  /** The response body: `{error: {type, code, message, param?}}`, or the list of problems. */
  body(): string {
    if (this.list !== undefined) return JSON.stringify(this.list);
    const { code, message, param } = this;
    const { type } = errorCodes[code];
    const errors = this.problems?.map((problem) => ({ code, ...problem }));
    // JSON.stringify omits what is undefined.
    return JSON.stringify({ error: { type, code, message, param }, errors });
  }
}

/** 400 `invalid_request`, because the field `param`, the body or the query breaks a rule. */
export const invalid = (message: string, param?: string): Rejection =>
  new Rejection("invalid_request", message, param === undefined ? {} : { param });

type Resource = "product" | "image" | "import" | "export" | "task" | "webhook" | "delivery";

/** A record, or the 404 of one that the organization does not have. */
export function found<Item>(record: Item | undefined, what: Resource, param?: string): Item {
  if (record !== undefined) return record;
  throw new Rejection(`${what}_not_found`, `${what} not found`, { param });
}
