// A batch: one request of a run, from the rows that it is cut from to its outcome.

import type { CallOptions } from "../../client/api/calls.ts";
import type { ApiError, Problem } from "../../client/api-error.ts";
import type { Clocks } from "../../clock.ts";
import type { CatError } from "../../errors.ts";
import type { BatchRows } from "../../state/batches.ts";
import type { ChangeToSend } from "../../state/changes.ts";
import type { ClaimedLook } from "../../state/looks.ts";

export interface BatchOperation {
  /** Whether it may be carried out twice. */
  readonly isRepeatable: boolean;
  /** Sends the bytes of a batch unchanged. */
  send(body: Uint8Array, options: CallOptions): Promise<BatchReceipt>;
  /** A body that the service rejects, to learn whether it has had a key with another one. */
  readonly invalidBody?: Uint8Array;
  /** The index within the batch, from 0, of the row that a problem concerns; null for the entire batch. */
  toRow(problem: Problem): number | null;
  /** Whether a response other than 400 and 422 rejects the body, so that nothing was done. */
  rejectsBody?: (error: ApiError) => boolean;
}

export interface BatchReceipt {
  /** The IDs of what the service created from it: an import, an export job, or one task per row in order. */
  readonly jobs: readonly string[];
  /** When it was accepted, in Unix milliseconds of the service's clock. */
  readonly createdAt: number | null;
  /** The error of a response that is not as documented: the batch is accepted, and no other one is sent. */
  readonly odd?: CatError | undefined;
}

/** A batch that is not recorded yet. */
export interface CutBatch {
  readonly body: Uint8Array;
  /** `rows[k]` is the index among the file's rows, from 0, of the batch's row k; `lines[k]` is its line. */
  readonly rows: Uint32Array;
  readonly lines: Uint32Array;
  /** The canonical reference of each row. */
  readonly references: readonly string[];
  /** The flow's data about the rows, needed with the results. */
  readonly memo: Uint8Array;
  /** When its products were read, in Unix milliseconds; missing if it may be sent at any time. */
  readonly readAt?: number;
  /** Its changes to known products, to be undone later; they were read before. */
  readonly changes?: readonly ChangeToSend[];
  readonly looks?: readonly ClaimedLook[];
}

/** A recorded batch with its key: it may be sent, or sent again. */
export interface ReadyBatch extends BatchRows {
  body: Uint8Array;
  idempotencyKey: string;
  keyFrom: Clocks;
  /** Whether an earlier process may have sent it. */
  again: boolean;
}

/** A batch whose outcome is known as far as possible. */
export type SentBatch = BatchRows & ({ kind: "accepted"; jobs: readonly string[] } | BatchFailure);

export type BatchFailure =
  /** The service rejected it; no part of the batch was created. */
  | { kind: "rejected"; error: CatError; problems: BatchProblem[] }
  /** No response, or none that decides: the service may have accepted it. */
  | { kind: "unknown"; error: unknown }
  /** Not sent, or the service did nothing with it (429). */
  | { kind: "unsent"; error: unknown };

/** A problem found by the service, of the row on that line, or of the entire batch (null). */
export interface BatchProblem {
  line: number | null;
  /** The place of the row within the batch, from 0. */
  rowIndex?: number;
  param?: string | undefined;
  code: string;
  message: string;
}

export const rowsIn = (batches: readonly BatchRows[]): number =>
  batches.reduce((sum, { rows }) => sum + rows.length, 0);
