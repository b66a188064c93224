import { CatalogueError } from "../errors.ts";
import { withoutEnd } from "../text.ts";
import type { ErrorCode, ErrorType } from "./api/errors.ts";

/**
 * One entry of an error that lists every problem: `line` for a row of an import, `input_index` for an input
 * of a try-on.
 */
export interface Problem {
  /** The row of an import: the line in the request body, from 1. */
  readonly line?: number;
  /** The input of a try-on, from 0. */
  readonly input_index?: number;
  /** The type of the error: switch on it for behavior. */
  readonly type?: string;
  /** The code of the error: switch on it for messages. */
  readonly code: "invalid_row" | "duplicate_reference_in_file" | ErrorCode | (string & {});
  /** A sentence for people; may change. */
  readonly message: string;
  /** The field with the problem. */
  readonly param?: string | undefined;
}

/** The `error` of an error response, with the fields that the service added later. */
export interface ErrorBody {
  /** The type of the error: switch on it for behavior. */
  readonly type: string;
  /** The code of the error: switch on it for messages. */
  readonly code: string;
  /** A sentence for people; may change. */
  readonly message: string;
  /** The field of the request with the problem. */
  readonly param?: string | undefined;
  readonly [field: string]: unknown;
}

/** What a 402 reports of the balance, in credits. */
export interface Credits {
  /** For the request that was rejected. */
  readonly needed: number;
  /** Left in the account. */
  readonly left: number;
}

/** The service responded with an error. */
export class ApiError extends CatalogueError {
  /** The name of the class, for `instanceof`. */
  static override readonly className: string = "ApiError";
  /** The name of the class. */
  override readonly name: string = "ApiError";
  /** The type of the error: switch on it for behavior. */
  declare readonly type: ErrorType;
  /** The code of the error: switch on it for messages. `ErrorCode` has their meanings. */
  declare readonly code: ErrorCode | "invalid_row" | "duplicate_reference_in_file" | (string & {});
  /** The HTTP status, from 400. */
  override readonly status: number;
  /** The `error` of the response. */
  readonly body: ErrorBody;
  /** Every problem of a 400 that lists them; empty for any other error. */
  readonly problems: readonly Problem[];
  /** Whether it is the stored response to an earlier request with the same key (Cross-cutting rule 2). */
  readonly replayed: boolean;
  /** The balance, where a 402 reports it; else null. */
  readonly credits: Credits | null;
  /** The request, without its query, e.g. `GET /v1/products`. */
  readonly request: string;

  constructor(rejection: {
    request: string;
    status: number;
    body: ErrorBody;
    problems?: readonly Problem[];
    requestId?: string | undefined;
    earlierUnanswered?: boolean | undefined;
    replayed?: boolean | undefined;
    hint?: string | undefined;
    credits?: Credits | null;
  }) {
    const { request, status, body, problems = [], replayed = false, credits = null, ...detail } = rejection;
    const { type, code, param } = body;
    super(`${withoutStop(body.message)} (${request}: ${status} ${code})`, {
      type,
      code,
      param,
      status,
      ...detail,
    });
    this.credits = credits;
    this.request = request;
    this.status = status;
    this.body = body;
    this.problems = problems;
    this.replayed = replayed;
  }
}

/** What the service said, as it is in the message of its error. */
export const withoutStop = (message: string): string => withoutEnd(message, /[.\s]/);
