// Made from the schemas of the mock by `npm run api-types`; a test compares both.

/** What a fault acts on: requests, a job, or deliveries of an event. All fields must fit. */
export interface FaultMatch {
  /** The method of the request. For example `GET`, `HEAD`, `POST`, `PATCH`, `DELETE`. */
  method?: string | undefined;
  /** The start of the path and query, as sent. 1 to 8,192 characters. */
  path?: string | undefined;
  /** The complete path without the query; `{name}` is any one part between slashes. 1 to 8,192 characters. */
  pattern?: string | undefined;
  /** Values of query parameters, decoded. A repeated one needs the value once; null: not sent. */
  query?: Record<string, string | number | null> | undefined;
  /** Values of request headers; names in any case. null: not sent. */
  headers?: Record<string, string | null> | undefined;
  /** A part of the JSON body: the fields of each object that must be there; lists have the same length. */
  body?: unknown;
  /** The kind of job that fails. */
  job?: "import" | "export" | "task" | undefined;
  /** The type of event in a webhook delivery. Each attempt matches by itself. */
  event?:
    | "task.succeeded"
    | "task.failed"
    | "import.completed"
    | "import.failed"
    | "export.completed"
    | "export.failed"
    | "any"
    | undefined;
  /** With `event`: the ID of the webhook. 1 to 200 characters. */
  webhook_id?: string | undefined;
}

/** An effect of a fault: one field, or `status` with `headers` and `body`; none in an empty entry. */
export interface FaultEffect {
  /** Respond with this status, 200 to 599, instead of doing the work. 200 to 599. */
  status?: number | undefined;
  /** With `status`: response headers by name; null removes one. */
  headers?: Record<string, string | null> | undefined;
  /** With `status`: a string is sent as is, anything else as JSON. Default from 400 on: the envelope. */
  body?: unknown;
  /**
   * Delay the work by milliseconds; the idempotency key counts as in use. A delivery is sent later. At most
   * 86,400,000.
   */
  delay_ms?: number | undefined;
  /**
   * Close the connection `before` or `after` the work, or like a `crash`. A delivery is not sent, or its
   * response is lost.
   */
  drop?: "before" | "after" | "crash" | undefined;
  /** Send only this many bytes of the body, then close the connection. */
  truncate?: number | undefined;
  /** Send this many more copies of the delivery at once. 1 to 10. */
  duplicate?: number | undefined;
  /** Send the delivery after this many later ones of its webhook, or after a minute. 1 to 100. */
  reorder?: number | undefined;
  /** Sign the delivery with another secret, not at all, or an hour ago. */
  signature?: "wrong" | "missing" | "old" | undefined;
  /** Fail the job with this `code` and `message`. */
  fail?:
    | {
        /** The code of the error: `internal_error`. 1 to 200 characters. */
        code: string;
        /** The text of the error. 1 to 2,000 characters. */
        message: string;
      }
    | undefined;
}

/** A fault: what it acts on, and its effect or a `sequence` of them (docs/mock-server.md, Faults). */
export interface FaultOrder extends FaultEffect {
  /** What the fault acts on: requests, a `job`, or deliveries of an `event`. All fields must fit. */
  match: FaultMatch;
  /** Spare this many matches first. Default: 0. */
  skip?: number | undefined;
  /** How often it acts. Default: no limit. */
  times?: number | undefined;
  /** How likely it acts on a match. Default: 1. At most 1. */
  probability?: number | undefined;
  /**
   * Instead of one effect: each match takes the next entry, `{}` for none. Used up after the last. 1 to 1,000
   * entries.
   */
  sequence?: readonly FaultEffect[] | undefined;
}
