import { type DecidedRow, decideRows } from "./decide-rows.ts";
import type { ImportInput } from "./import-input.ts";
import type { RowOutcome } from "./outcomes.ts";
import { updatedRow } from "./patch-rows.ts";
import { type PhotoUpload, photosOfRow, refusedRow, unpackPhotos } from "./photos/refused-photos.ts";
import { openRows } from "./read/open-rows.ts";
import type { TakenUp } from "./resume/take-up.ts";
import { RowSet } from "./row-set.ts";
import type { SomeRows } from "./rows-beside-calls.ts";
import type { SentCall } from "./sent-call.ts";

interface RowsOfRun {
  input: ImportInput;
  /** Rows that the check refused. */
  refused: RowSet;
  taken: TakenUp;
  /** What became of photos that this process has uploaded, by the SHA-256 (hex) of their bytes. */
  uploads: ReadonlyMap<string, PhotoUpload>;
}

/** The rows of the file that are this process's to bring in, and what was found of those that go in no call. */
export class RowsToBringIn {
  readonly #at: RowsOfRun;
  readonly #made = new RowSet();
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
    for (const call of at.taken.earlier) for (const row of call.rows) this.#made.add(row);
    for (const { row } of at.taken.patched) this.#made.add(row);
    for (const row of at.taken.patching) this.#patching.add(row);
  }

  /** A walk over the file that decides about each row; `only` some of them. */
  async *decided(only?: RowSet): AsyncGenerator<DecidedRow> {
    const { input, refused, taken, uploads } = this.#at;
    const { state, account } = taken.run;
    const asksLedger = input.photos === "new" && !state.ledger.isEmpty(account);
    yield* decideRows({
      source: input.source,
      reader: await openRows(input.source, input.read),
      isLeftOut: (row) => refused.has(row) || this.#made.has(row) || only?.has(row) === false,
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
  left(sent: readonly SentCall[]): SomeRows {
    const told = new RowSet();
    for (const call of sent) if (call.kind !== "unsent") for (const row of call.rows) told.add(row);
    const { refused } = this.#at;
    const sets = [refused, this.#made, this.unchanged, this.patched, this.#toldRows, told];
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

  patchedBefore() {
    return this.#at.taken.patched.map((done) => updatedRow(done, unpackPhotos(done.memo)));
  }
}
