import type { LedgerEntry, SeenProduct } from "./ledger.ts";
import type { Run } from "./runs.ts";

/** A batch of a run, which is one request, as it is written down. Rejected ones are not kept: their rows are cut again. */
export interface StoredBatch {
  readonly run: string;
  /** From 0, in the order in which the batches of the run were begun. */
  readonly index: number;
  readonly idempotencyKey: string;
  /**
   * `sent`: it may be at the service, the outcome is unknown. `accepted`: its jobs are known by their IDs. `settled`: their
   * results were read, those of an import into the ledger.
   */
  readonly state: "sent" | "accepted" | "settled";
  /** The IDs of what the service made of it: an import, an export job, or a task for each row in their order; none while `sent`. */
  readonly jobs: readonly string[];
  /** The place of each row among all rows of the file, from 0, ascending. */
  readonly rows: Uint32Array;
  /** The file's line of each row, beside `rows`. */
  readonly lines: Uint32Array;
  /** The size of the body, in bytes. */
  readonly bytes: number;
  /** When it was first sent, in Unix milliseconds of this machine's clock. */
  readonly sentAt: number;
  /** The same by the service's clock; null where it had not told its time yet. */
  readonly sentAtService: number | null;
}

/** A batch that is about to be sent. */
export interface NewBatch extends Omit<StoredBatch, "state" | "jobs" | "bytes"> {
  readonly body: Uint8Array;
  /** What the caller wants to know of the rows once the results are there; opaque here, kept until the run ends. */
  readonly memo: Uint8Array;
  /** The reference of each row (canonical), kept until the batch is settled. */
  readonly references: readonly string[];
  /** Whether none of them may be in a batch of another run of the same kind that is not settled. */
  readonly exclusive: boolean;
}

/** A row that was done without a batch whose results tell of it: by a write of its own (PATCH), or as the user says. */
export interface DoneRow {
  /** Its place among all rows of the file, from 0, and the file's line. */
  readonly row: number;
  readonly line: number;
  readonly reference: string;
  readonly productId: string;
  /** What the caller wants to tell of it; opaque here. */
  readonly memo: Uint8Array;
}

/** Every change is one transaction, on the disk when the function returns. */
export interface Batches {
  /** The batches of a run in order, without their bodies. */
  of(runId: string): StoredBatch[];
  /**
   * Written down before the socket opens. Gives null; or, of an exclusive batch, a reference that another run has in flight:
   * then nothing was written.
   */
  begin(account: number, batch: NewBatch): string | null;
  /** The exact bytes of a batch whose outcome is unknown. Throws a StateError when they are not those that were written. */
  body(runId: string, index: number): Uint8Array;
  /** What was written down with the batch, until its run ends. */
  memo(runId: string, index: number): Uint8Array;
  /** The service accepted it; its bytes are deleted. */
  accepted(runId: string, index: number, jobs: readonly string[]): void;
  /** It is certain that the service did nothing with it: forgets it, its rows may be sent again. */
  dropped(runId: string, index: number): void;
  /**
   * Nobody can say what became of it, and the user has: writes what its products are taken to have into the ledger, and
   * `done`, those of its rows that the run has nothing more to do with; forgets it, the other rows may be sent anew.
   */
  decided(runId: string, index: number, entries: readonly LedgerEntry[], done: readonly DoneRow[]): void;
  /** Its results are known: writes them into the ledger and lets other runs have its references. */
  settled(runId: string, index: number, entries: readonly LedgerEntry[]): void;
  /** Batches of other runs of that kind that are not settled, with their runs, the oldest first. */
  unsettledElsewhere(of: {
    account: number;
    kind: string;
    runId: string;
  }): { run: Run; batch: StoredBatch }[];
  /** Whether any run of the account, of any kind, has a batch that is not settled. */
  anyUnsettled(account: number): boolean;
  /** The references of a batch that is not settled, in the order of its rows. */
  references(runId: string, index: number): string[];
  /** Written down before a PATCH goes out, so that a row which is found as it should be afterwards is known to be changed by it. */
  patching(runId: string, row: DoneRow): void;
  /** The places of the rows of a run of which a PATCH went out, and it is not written down what became of it. */
  patchingRows(runId: string): number[];
  /** A row was changed by a PATCH: writes it down with what the ledger knows now, in one transaction. */
  patched(account: number, runId: string, row: DoneRow, seen: SeenProduct): void;
  /** The rows of a run that were brought in so, by line. */
  doneRows(runId: string): DoneRow[];
}
