import type { Credits, ErrorBody } from "../contract/error-codes.ts";
import { CatError } from "../errors.ts";

/**
 * One entry of an error that lists every problem: `line` for a row of an import, `input_index` for an input
 * of a try-on.
 */
export interface Problem {
  readonly line?: number;
  readonly input_index?: number;
  readonly type?: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string | undefined;
}

/** The service responded with an error. `status` is the HTTP status, `body` the envelope's `error`. */
export class ApiError extends CatError {
  override readonly name: string = "ApiError";
  override readonly status: number;
  readonly body: ErrorBody;
  /** Every problem of a 400 that lists them; empty for any other error. */
  readonly problems: readonly Problem[];
  /** Whether it is the stored response to an earlier request with the same key (Cross-cutting rule 2). */
  readonly replayed: boolean;
  /** The balance, where a 402 reports it; else null. */
  readonly credits: Credits | null;
  /** The request, without its query, e.g. `GET /v1/products`. */
  readonly request: string;

  constructor(refusal: {
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
    const {
      request,
      status,
      body,
      problems = [],
      requestId,
      earlierUnanswered,
      replayed,
      hint,
      credits = null,
    } = refusal;
    super(`${withoutStop(body.message)} (${request}: ${status} ${body.code})`, {
      type: body.type,
      code: body.code,
      param: body.param,
      status,
      requestId,
      earlierUnanswered,
      hint,
    });
    this.credits = credits;
    this.request = request;
    this.status = status;
    this.body = body;
    this.problems = problems;
    this.replayed = replayed ?? false;
  }
}

const withoutStop = (message: string): string => message.replace(/[.\s]+$/, "");
