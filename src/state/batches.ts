import type { LedgerEntry, SeenProduct } from "./ledger.ts";
import type { Run } from "./runs.ts";

/**
 * The record of a batch, which is one request of a run. Rejected ones are not kept: their rows are batched
 * again.
 */
export interface StoredBatch {
  readonly run: string;
  /** From 0, in the order in which the run's batches were recorded. */
  readonly index: number;
  readonly idempotencyKey: string;
  /**
   * `sent`: the service may have it, the outcome is unknown. `accepted`: the IDs of its jobs are known.
   * `settled`: its results have been read, for an import into the ledger.
   */
  readonly state: "sent" | "accepted" | "settled";
  /**
   * The IDs of what the service created from it: an import, an export job, or one task per row in order; empty
   * while `sent`.
   */
  readonly jobs: readonly string[];
  /** The index of each row among all rows of the file, from 0, ascending. */
  readonly rows: Uint32Array;
  /** The file's line of each row, parallel to `rows`. */
  readonly lines: Uint32Array;
  /** The size of the body, in bytes. */
  readonly bytes: number;
  /** When it was first sent, in Unix milliseconds of the local clock. */
  readonly sentAt: number;
  /** The same by the service's clock; null if that was not known yet. */
  readonly sentAtService: number | null;
}

/** A batch that is about to be sent. */
export interface NewBatch extends Omit<StoredBatch, "state" | "jobs" | "bytes"> {
  readonly body: Uint8Array;
  /** The caller's data about the rows, needed with the results; opaque here, kept until the run ends. */
  readonly memo: Uint8Array;
  /** The reference of each row (canonical), kept until the batch is settled. */
  readonly references: readonly string[];
  /** Whether none of the references may be in an unsettled batch of another run of the same kind. */
  readonly exclusive: boolean;
}

/** A row that was done without a batch that has results for it: by a PATCH, or by the user's decision. */
export interface DoneRow {
  /** Its index among all rows of the file, from 0, and the file's line. */
  readonly row: number;
  readonly line: number;
  readonly reference: string;
  readonly productId: string;
  /** The caller's data for the report; opaque here. */
  readonly memo: Uint8Array;
}

/** Every change is one transaction, on disk when the function returns. */
export interface Batches {
  /** The batches of a run in order, without their bodies. */
  of(runId: string): StoredBatch[];
  /**
   * Records a batch before its request is sent. Returns null or, for an exclusive batch, a reference that
   * another run has in flight: then nothing was recorded.
   */
  begin(account: number, batch: NewBatch): string | null;
  /** The exact bytes of a batch with an unknown outcome. Throws a StateError if they differ from those recorded. */
  body(runId: string, index: number): Uint8Array;
  /** The data recorded with the batch, kept until its run ends. */
  memo(runId: string, index: number): Uint8Array;
  /** The service accepted the batch; its bytes are deleted. */
  accepted(runId: string, index: number, jobs: readonly string[]): void;
  /** The service certainly did nothing with the batch: deletes it, its rows may be sent again. */
  dropped(runId: string, index: number): void;
  /**
   * Ends a batch with an unknown outcome by the user's decision: writes the assumed state of its products into the
   * ledger, and records in `done` the rows that need nothing more from the run. Deletes the batch; its other
   * rows may be sent again.
   */
  decided(runId: string, index: number, entries: readonly LedgerEntry[], done: readonly DoneRow[]): void;
  /** The results of the batch are known: writes them into the ledger and releases its references to other runs. */
  settled(runId: string, index: number, entries: readonly LedgerEntry[]): void;
  /** Unsettled batches of other runs of that kind, with their runs, oldest first. */
  unsettledElsewhere(of: {
    account: number;
    kind: string;
    runId: string;
  }): { run: Run; batch: StoredBatch }[];
  /** The jobs that the service made last for the account, the newest batch first, with the kind of their run. */
  lastJobs(account: number, most: number): { kind: string; id: string }[];
  /** Every batch with jobs of runs of that kind, of any account, ended ones included. */
  withJobs(kind: string): Pick<StoredBatch, "run" | "index" | "jobs">[];
  /** Whether any run of the account, of any kind, has an unsettled batch. */
  anyUnsettled(account: number): boolean;
  /** The references of an unsettled batch, in the order of its rows. */
  references(runId: string, index: number): string[];
  /** Records a PATCH before it is sent, so that a row found up to date later is counted as changed by it. */
  patching(runId: string, row: DoneRow): void;
  /** The indexes of a run's rows whose PATCH was sent without a recorded outcome. */
  patchingRows(runId: string): number[];
  /** Records a row changed by a PATCH and what the ledger knows now, in one transaction. */
  patched(account: number, runId: string, row: DoneRow, seen: SeenProduct): void;
  /** The rows of a run that were done in this way, by line. */
  doneRows(runId: string): DoneRow[];
}
