import type { PhotoUpload } from "../../photos/upload-photos.ts";
import { openRows } from "../../rows/open-rows.ts";
import { RowSet, type SomeRows } from "../../rows/row-set.ts";
import { rowsIn, type SentBatch } from "../../run/batch.ts";
import type { RejectedPhoto } from "../ledger/batch-memo.ts";
import { type DecideDeps, type DecidedRow, decideRows } from "../ledger/decide-rows.ts";
import type { HeldPhotos } from "../ledger/held-photos.ts";
import { photosOfRow, rejectedRow, unpackPhotos, updatedRow } from "../outcomes/rejected-photos.ts";
import type { ChangedAgain, RowOutcome } from "../outcomes/row-result.ts";
import type { ImportInput } from "./import-input.ts";
import type { ResumedRun } from "./resumed-run.ts";

interface RowsOfRun {
  input: ImportInput;
  /** Rows that the check rejected. */
  refused: RowSet;
  resumed: Pick<ResumedRun, "run" | "earlier" | "patched" | "patching">;
  held: HeldPhotos;
  /** Outcomes of photos uploaded by this process, by the SHA-256 (hex) of their bytes. */
  uploads: ReadonlyMap<string, PhotoUpload>;
}

/** The rows that this process has to import, and the outcomes of rows that go in no batch. */
export class RowsToImport {
  readonly #at: RowsOfRun;
  /** Rows of batches that an earlier process sent. */
  readonly #inBatches = new RowSet();
  /** Rows that an earlier process changed, or that the user counted as imported. */
  readonly #done = new RowSet();
  /** Rows that need a PATCH. */
  readonly toPatch = new RowSet();
  /** Rows of `toPatch` that this process has changed. */
  readonly patched = new RowSet();
  readonly unchanged = new RowSet();
  /** Outcomes of rows in no batch that need no PATCH: photos rejected, or changed by an earlier process. */
  readonly reported: RowOutcome[] = [];
  readonly #reportedRows = new RowSet();
  /** Rows that an earlier process may have changed: its PATCH got no response. */
  readonly #patching = new RowSet();

  constructor(at: RowsOfRun) {
    this.#at = at;
    for (const batch of at.resumed.earlier) for (const row of batch.rows) this.#inBatches.add(row);
    for (const { row } of at.resumed.patched) this.#done.add(row);
    for (const row of at.resumed.patching) this.#patching.add(row);
  }

  /** Number of rows that an earlier process sent or changed. */
  get made(): number {
    const { earlier, patched } = this.#at.resumed;
    return rowsIn(earlier) + patched.filter(({ row }) => !this.#inBatches.has(row)).length;
  }

  /** Reads the file again and decides about each row; `only`: limits it to these rows. */
  decided(only?: RowSet): AsyncGenerator<DecidedRow> {
    const { refused } = this.#at;
    const isSkipped = (row: number) => refused.has(row) || this.#isMade(row) || only?.has(row) === false;
    return this.#walk({ isSkipped });
  }

  /**
   * Decides again about rows that were sent in a batch, without the photos that failed there. `failed`: by
   * row.
   */
  decidedAgain(failed: ReadonlyMap<number, readonly RejectedPhoto[]>): AsyncGenerator<DecidedRow> {
    const isSkipped = (row: number) => !failed.has(row) || this.#done.has(row);
    return this.#walk({ isSkipped, failedPhotosOf: (row) => failed.get(row)! });
  }

  async *#walk(of: Pick<DecideDeps, "isSkipped" | "failedPhotosOf">): AsyncGenerator<DecidedRow> {
    const { input, resumed, uploads, held } = this.#at;
    const { state, account } = resumed.run;
    const asksLedger = input.photos === "new" && !state.ledger.isEmpty(account);
    yield* decideRows({
      ...of,
      source: input.file.source,
      reader: await openRows(input.file),
      entryOf: (reference) => held.added(reference, asksLedger ? state.ledger.get(account, reference) : null),
      onImageError: input.onImageError,
      contentOf: (path) => input.localPhotos.digest(path),
      refusalOf(sha256) {
        const upload = uploads.get(sha256);
        return upload !== undefined && "refused" in upload ? upload.refused : undefined;
      },
    });
  }

  /**
   * Rows without any outcome: neither sent nor found to be unchanged. `sent`: the batches of this process.
   */
  left(sent: readonly SentBatch[]): SomeRows {
    const reported = new RowSet();
    for (const batch of sent) if (batch.kind !== "unsent") for (const row of batch.rows) reported.add(row);
    const { refused } = this.#at;
    const sets = [
      refused,
      this.#inBatches,
      this.#done,
      this.unchanged,
      this.patched,
      this.#reportedRows,
      reported,
    ];
    return { has: (row) => !sets.some((set) => set.has(row)) };
  }

  /**
   * Records the outcome of a row that goes in no batch. A row that is still uncertain is changed in any case.
   */
  readonly keep = (one: DecidedRow): void => {
    const { row, line, reference, weighed, decision } = one;
    if (decision.kind === "refused") this.#report(row, rejectedRow({ ...one, decision }));
    else if (decision.kind !== "unchanged") this.toPatch.add(row);
    else if (weighed.refused.length > 0 || this.#patching.has(row)) {
      const { productId } = decision;
      this.#report(row, updatedRow({ line, reference, productId }, photosOfRow(weighed)));
    } else this.unchanged.add(row);
  };

  #report(row: number, outcome: RowOutcome): void {
    this.#reportedRows.add(row);
    this.reported.push(outcome);
  }

  readonly #isMade = (row: number): boolean => this.#inBatches.has(row) || this.#done.has(row);

  /** Outcomes of rows in no batch that an earlier process changed. */
  doneBefore(): RowOutcome[] {
    const done = this.#at.resumed.patched.filter(({ row }) => !this.#inBatches.has(row));
    return done.map((one) => updatedRow(one, unpackPhotos(one.memo)));
  }

  /** Products of rows that failed in a batch but whose fields an earlier process changed, by line. */
  changedBefore(): ChangedAgain {
    const changed = this.#at.resumed.patched.filter(({ row }) => this.#inBatches.has(row));
    return new Map(changed.map(({ line, productId }) => [line, productId]));
  }
}
