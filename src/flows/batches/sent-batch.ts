import type { CatError } from "../../errors.ts";

/** What the service found wrong: with the row of that line of the user's file, or with the batch as a whole (null). */
export interface BatchProblem {
  line: number | null;
  param?: string | undefined;
  code: string;
  message: string;
}

/** What is known of a batch whatever its outcome. `bytes` is the size of its body. */
export interface BatchRows {
  /** Its number among the batches of the run, from 0. */
  index: number;
  /** The place of each row among all rows of the file, from 0, and its line. */
  rows: Uint32Array;
  lines: Uint32Array;
  bytes: number;
}

/** A batch whose outcome is known as far as it can be. */
export type SentBatch = BatchRows &
  (
    | { kind: "accepted"; jobs: readonly string[] }
    /** The service said no; nothing of the batch was created. */
    | { kind: "refused"; error: CatError; problems: BatchProblem[] }
    /** No response, or none that says what happened: the service may have accepted it. */
    | { kind: "unknown"; error: unknown }
    /** The service never saw it, or did nothing with it (429): it was waiting to be sent when the run ended, or could not be. */
    | { kind: "unsent"; error: unknown }
  );

/** How many rows are in batches. */
export const rowsIn = (batches: readonly Pick<BatchRows, "rows">[]): number =>
  batches.reduce((sum, { rows }) => sum + rows.length, 0);

/** A batch that was cut and is not written down yet. */
export interface CutBatch {
  readonly body: Uint8Array;
  /** `rows[k]` is the place among the file's rows, from 0, of the batch's row k; `lines[k]` its line. */
  readonly rows: Uint32Array;
  readonly lines: Uint32Array;
  /** The canonical reference of each row. */
  readonly references: readonly string[];
  /** What the flow must know of the rows once the results are there. */
  readonly memo: Uint8Array;
}

/** A batch that is written down and has its key: it may be sent, or sent again. */
export interface ReadyBatch extends BatchRows {
  body: Uint8Array;
  idempotencyKey: string;
  /** Whether an earlier process may have sent it. */
  again: boolean;
}
