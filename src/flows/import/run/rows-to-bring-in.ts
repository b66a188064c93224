import { rowsIn, type SentBatch } from "../../batches/sent-batch.ts";
import type { PhotoUpload } from "../../photos/upload-photos.ts";
import { openRows } from "../../rows/open-rows.ts";
import { RowSet, type SomeRows } from "../../rows/row-set.ts";
import type { RefusedPhoto } from "../ledger/call-memo.ts";
import { type DecideDeps, type DecidedRow, decideRows } from "../ledger/decide-rows.ts";
import { photosOfRow, refusedRow, unpackPhotos, updatedRow } from "../outcomes/refused-photos.ts";
import type { ChangedAgain, RowOutcome } from "../outcomes/row-result.ts";
import type { ImportInput } from "./import-input.ts";
import type { TakenUp } from "./taken-up.ts";

interface RowsOfRun {
  input: ImportInput;
  /** Rows that the check refused. */
  refused: RowSet;
  taken: Pick<TakenUp, "run" | "earlier" | "patched" | "patching">;
  /** What became of photos that this process has uploaded, by the SHA-256 (hex) of their bytes. */
  uploads: ReadonlyMap<string, PhotoUpload>;
}

/** The rows of the file that are this process's to bring in, and what was found of those that go in no call. */
export class RowsToBringIn {
  readonly #at: RowsOfRun;
  /** Rows of calls that an earlier process has sent. */
  readonly #inCalls = new RowSet();
  /** Rows that an earlier process has changed, or that the user says are there. */
  readonly #done = new RowSet();
  /** Rows that need a write of their own. */
  readonly toPatch = new RowSet();
  /** Those of them that this process has written. */
  readonly patched = new RowSet();
  readonly unchanged = new RowSet();
  /** What became of rows that go in no call and need no write: their photos were refused, or an earlier process has changed them. */
  readonly told: RowOutcome[] = [];
  readonly #toldRows = new RowSet();
  /** Rows that an earlier process may have changed. */
  readonly #patching = new RowSet();

  constructor(at: RowsOfRun) {
    this.#at = at;
    for (const call of at.taken.earlier) for (const row of call.rows) this.#inCalls.add(row);
    for (const { row } of at.taken.patched) this.#done.add(row);
    for (const row of at.taken.patching) this.#patching.add(row);
  }

  /** How many rows an earlier process has sent or done. */
  get made(): number {
    const { earlier, patched } = this.#at.taken;
    return rowsIn(earlier) + patched.filter(({ row }) => !this.#inCalls.has(row)).length;
  }

  /** A walk over the file that decides about each row; `only` some of them. */
  decided(only?: RowSet): AsyncGenerator<DecidedRow> {
    const { refused } = this.#at;
    const isLeftOut = (row: number) => refused.has(row) || this.#isMade(row) || only?.has(row) === false;
    return this.#walk({ isLeftOut });
  }

  /** The same of rows that went in a call, by their place, less the photos that failed there. */
  decidedAgain(failed: ReadonlyMap<number, readonly RefusedPhoto[]>): AsyncGenerator<DecidedRow> {
    const isLeftOut = (row: number) => !failed.has(row) || this.#done.has(row);
    return this.#walk({ isLeftOut, failedPhotosOf: (row) => failed.get(row)! });
  }

  async *#walk(of: Pick<DecideDeps, "isLeftOut" | "failedPhotosOf">): AsyncGenerator<DecidedRow> {
    const { input, taken, uploads } = this.#at;
    const { state, account } = taken.run;
    const asksLedger = input.photos === "new" && !state.ledger.isEmpty(account);
    yield* decideRows({
      ...of,
      source: input.file.source,
      reader: await openRows(input.file),
      entryOf: (reference) => (asksLedger ? state.ledger.get(account, reference) : null),
      onImageError: input.onImageError,
      contentOf: (path) => input.localPhotos.digest(path),
      refusalOf(sha256) {
        const upload = uploads.get(sha256);
        return upload !== undefined && "refused" in upload ? upload.refused : undefined;
      },
    });
  }

  /** Rows of which nothing will be told: they were not sent, nor found to be unchanged. `sent` is what this process has sent. */
  left(sent: readonly SentBatch[]): SomeRows {
    const told = new RowSet();
    for (const call of sent) if (call.kind !== "unsent") for (const row of call.rows) told.add(row);
    const { refused } = this.#at;
    const sets = [refused, this.#inCalls, this.#done, this.unchanged, this.patched, this.#toldRows, told];
    return { has: (row) => !sets.some((set) => set.has(row)) };
  }

  /** What no call needs to carry, or can; a product that could not be looked at is changed in any case. */
  readonly keep = (one: DecidedRow): void => {
    const { row, line, reference, weighed, decision } = one;
    if (decision.kind === "refused") this.#tell(row, refusedRow({ ...one, decision }));
    else if (decision.kind !== "unchanged") this.toPatch.add(row);
    else if (weighed.refused.length > 0 || this.#patching.has(row)) {
      const { productId } = decision;
      this.#tell(row, updatedRow({ line, reference, productId }, photosOfRow(weighed)));
    } else this.unchanged.add(row);
  };

  #tell(row: number, outcome: RowOutcome): void {
    this.#toldRows.add(row);
    this.told.push(outcome);
  }

  readonly #isMade = (row: number): boolean => this.#inCalls.has(row) || this.#done.has(row);

  /** What became of rows that an earlier process has changed, and that went in no call. */
  doneBefore(): RowOutcome[] {
    const done = this.#at.taken.patched.filter(({ row }) => !this.#inCalls.has(row));
    return done.map((one) => updatedRow(one, unpackPhotos(one.memo)));
  }

  /** The products of rows that failed in a call, by line, whose fields an earlier process has changed all the same. */
  changedBefore(): ChangedAgain {
    const changed = this.#at.taken.patched.filter(({ row }) => this.#inCalls.has(row));
    return new Map(changed.map(({ line, productId }) => [line, productId]));
  }
}
