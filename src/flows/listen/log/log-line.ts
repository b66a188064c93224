/** An event as the log keeps it, one line of JSON. */
export interface EventLine {
  readonly id: string;
  readonly type: string;
  readonly created_at: string | null;
  readonly data: unknown;
  /** RFC 3339. */
  readonly received_at: string;
  /** The value of the signature header; null for an event without one. */
  readonly header: string | null;
  /** The body as it arrived, byte for byte: signed bodies are valid UTF-8. */
  readonly body: string;
  /** Made by `--poll`, not by the service. */
  readonly synthetic?: true;
  /** The URLs of the handlers that were to get the event when it arrived. */
  readonly handlers?: readonly string[];
}

/** A handler's response to an event. */
export interface ResultLine {
  /** The ID of the event. */
  readonly result_of: string;
  readonly url: string;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** The first line of the response. */
  readonly line?: string;
  /** Why there was no response. */
  readonly error?: string;
  /** RFC 3339. */
  readonly at: string;
}

export type LogLine = EventLine | ResultLine;

export const isResult = (line: LogLine): line is ResultLine => "result_of" in line;

/** Whether a handler has accepted the event: any 2xx. */
export const isAccepted = ({ status }: Pick<ResultLine, "status">): boolean =>
  status !== null && status >= 200 && status < 300;
