import type { CatError } from "../../errors.ts";

/** What the service found wrong: with the row of that line of the user's file, or with the call as a whole (null). */
export interface CallProblem {
  line: number | null;
  param?: string | undefined;
  code: string;
  message: string;
}

/** What is known of a call whatever became of it. `bytes` is the size of its body. */
export interface SentRows {
  /** Its number among the calls of the run, from 0. */
  index: number;
  rows: Uint32Array;
  lines: Uint32Array;
  bytes: number;
}

/** What became of a call that was cut. */
export type SentCall = SentRows &
  (
    | { kind: "accepted"; importId: string }
    /** The service said no; nothing of the call was created. */
    | { kind: "refused"; error: CatError; problems: CallProblem[] }
    /** No answer, or none that says what happened: the service may have accepted it. */
    | { kind: "unknown"; error: unknown }
    /** The service never saw it, or did nothing with it (429): it was waiting to be sent when the run ended, or could not be. */
    | { kind: "unsent"; error: unknown }
  );

/** How many rows are in calls. */
export const rowsIn = (calls: readonly Pick<SentRows, "rows">[]): number =>
  calls.reduce((sum, { rows }) => sum + rows.length, 0);

/** A call that is written down and has its key: it may be sent, or sent again. */
export interface ReadyCall extends SentRows {
  body: Uint8Array;
  idempotencyKey: string;
  /** Whether an earlier process may have sent it. */
  again: boolean;
}
