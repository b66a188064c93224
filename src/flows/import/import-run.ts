// The run: what the stages of an import share, and the rows that it has to import.

import { limits } from "../../contract/limits.ts";
import type { Import } from "../../contract/resources/imports.ts";
import type { DoneRow, StoredBatch } from "../../state/batches.ts";
import type { LedgerEntry } from "../../state/ledger.ts";
import type { OutputTargets } from "../outputs/results-file.ts";
import type { PhotoUpload } from "../photos/upload-photos.ts";
import type { CheckResult } from "../rows/check.ts";
import { isWithin, openRows, unchangedRows } from "../rows/open-rows.ts";
import { type RefusedRows, RowSet, type SomeRows } from "../rows/row-sets.ts";
import { rowsIn, type SentBatch } from "../run/batch.ts";
import type { JobFollower } from "../run/follow.ts";
import type { Run } from "../run/run.ts";
import { editedRow, keepsOthers } from "./as-exported.ts";
import { type DecidedRow, type Decision, decide, referenceOfRow, weigh, withRead } from "./decide.ts";
import type { FileRow } from "./file-row.ts";
import { ImportProgress, importFollower } from "./follow.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import { failedRow, productChanged, type RowOutcome, rejectedRow, updatedRow } from "./row-result.ts";
import { ReadProducts, SeenProducts } from "./seen-products.ts";

/** An import whose file passed the check, with the progress of earlier processes loaded. */
export interface ImportRun {
  readonly input: ImportInput;
  readonly deps: ImportDeps;
  /** The stored run, the service, and where its progress is stored. */
  readonly at: Run;
  readonly targets: OutputTargets;
  readonly check: CheckResult;
  /** Rows that the check rejected; not empty only with --skip-invalid. */
  readonly refused: RefusedRows;
  /** Batches of earlier processes, without rejected and unsent ones. */
  readonly earlier: readonly StoredBatch[];
  /** Rows that earlier processes finished outside any batch, so that no results report them. */
  readonly done: readonly DoneRow[];
  /** Outcomes of photos uploaded by this process, by the SHA-256 (hex) of their bytes. */
  readonly uploads: Map<string, PhotoUpload>;
  /** Products read by their reference, as they are at the service. */
  readonly read: ReadProducts;
  /** Rows that are no longer imported as planned. */
  readonly moved: RowSet;
  /** Whether products can be read before they are changed. */
  readonly record: { isPossible: boolean };
  /** Products with their values, for a plan; null where these are not needed. */
  readonly seen: SeenProducts | null;
  /** The names of products by their reference, as far as they were read. */
  readonly names: Map<string, string>;
  readonly rows: RowsToImport;
  readonly progress: ImportProgress;
  /** Follows the imports of accepted batches. */
  readonly follower: JobFollower<Import>;
}

/** Files up to this number of rows have each product read, larger ones what changed since the last import. */
export const mostRowsReadEach = limits.page.max;

/** The run with the progress of earlier processes. */
export function importRun(
  at: Run,
  targets: OutputTargets,
  check: CheckResult,
  refused: RefusedRows,
  input: ImportInput,
  deps: ImportDeps,
  { isPlan = false } = {},
): ImportRun {
  const { batches } = at.state;
  const progress = new ImportProgress(deps.onProgress);
  const run = {
    input,
    deps,
    at,
    targets,
    check,
    refused,
    earlier: batches.of(at.id),
    done: batches.doneRows(at.id),
    uploads: new Map(),
    read: new ReadProducts(),
    moved: new RowSet(),
    record: { isPossible: !isPlan },
    seen:
      isPlan || input.applies !== undefined || check.valid <= mostRowsReadEach ? new SeenProducts() : null,
    names: new Map(),
    progress,
    follower: importFollower(at, progress),
  };
  return { ...run, rows: new RowsToImport(run) };
}

/** The rows that this process has to import, and the outcomes of rows that go in no batch. */
class RowsToImport {
  readonly #run: Omit<ImportRun, "rows">;
  /** Rows of batches that an earlier process sent. */
  readonly #inBatches = new RowSet();
  /** Rows that an earlier process changed, or that the user counted as imported. */
  readonly #done = new RowSet();
  /** Rows that an earlier process may have changed: its PATCH got no response. */
  readonly patching = new RowSet();
  /** Rows that need a PATCH. */
  readonly toPatch = new RowSet();
  /** Rows of `toPatch` that this process has changed. */
  readonly patched = new RowSet();
  readonly unchanged = new RowSet();
  /** Outcomes of rows in no batch that need no PATCH: photos rejected, or changed by an earlier process. */
  readonly reported: RowOutcome[] = [];
  readonly #reportedRows = new RowSet();

  constructor(run: Omit<ImportRun, "rows">) {
    this.#run = run;
    for (const batch of run.earlier) for (const row of batch.rows) this.#inBatches.add(row);
    for (const { rowIndex } of run.done) this.#done.add(rowIndex);
    for (const row of run.at.state.batches.patchingRows(run.at.id)) this.patching.add(row);
  }

  /** Number of rows that an earlier process sent or changed. */
  get made(): number {
    return rowsIn(this.#run.earlier) + this.#run.done.length;
  }

  /**
   * Reads the file again and decides about each row, in file order; `only`: limits it to these rows. Throws an
   * InputError if the file changed.
   */
  async *decided(only?: RowSet): AsyncGenerator<DecidedRow> {
    const { input, at, uploads, read, refused, moved } = this.#run;
    const { ledger } = at.state;
    const usesLedger = input.photos === "new" && !ledger.isEmpty(at.account);
    const contentDigest = (path: string) => input.localPhotos.digest(path);
    const findRefusal = (sha256: string) => {
      const upload = uploads.get(sha256);
      return upload !== undefined && "refused" in upload ? upload.refused : undefined;
    };
    let next = 0;
    for await (const rows of unchangedRows(input.file.source, await openRows(input.file))) {
      for (const { line, content } of rows) {
        const rowIndex = next++;
        if (!isWithin(input.file, rowIndex)) return;
        if (refused.has(rowIndex) || this.#isMade(rowIndex) || only?.has(rowIndex) === false) continue;
        const row = content as FileRow;
        const reference = referenceOfRow(row);
        const known = usesLedger ? ledger.get(at.account, reference) : null;
        const entry = withRead(known, read.get(reference));
        const asIs = await weigh(row, contentDigest, findRefusal);
        const first = decide(asIs, entry, input);
        // Nearly every row of an exported sheet changes nothing.
        const changing = entry === null || first.kind === "unchanged" ? row : this.#changing(row, entry);
        // It has the same photos.
        const weighed = { ...asIs, content: changing };
        const decided = changing === row ? first : decide(weighed, entry, input);
        const decision: Decision = moved.has(rowIndex) ? { kind: "moved" } : decided;
        const { productId = null } = entry ??
          ledger.get(at.account, reference) ?? { productId: this.#run.seen?.get(reference)?.id };
        const keeps = changing !== row && keepsOthers(row, changing, entry!);
        yield { ...weighed, rowIndex, line, reference, productId, decision, keepsOthers: keeps };
      }
    }
  }

  /** The row as it changes a product that exists. */
  #changing(row: FileRow, { productId }: LedgerEntry): FileRow {
    const { photos, namesFromReferences } = this.#run.input;
    if (namesFromReferences) return { ...row, keepsName: true };
    return photos === "new" && row.as_exported !== undefined ? editedRow(row, productId) : row;
  }

  /** Rows without any outcome: neither sent nor found to be unchanged. `sent`: the batches of this process. */
  left(sent: readonly SentBatch[]): SomeRows {
    const inSent = new RowSet();
    for (const batch of sent) if (batch.kind !== "unsent") for (const row of batch.rows) inSent.add(row);
    const sets = [
      this.#run.refused,
      this.#inBatches,
      this.#done,
      this.unchanged,
      this.patched,
      this.#reportedRows,
      inSent,
    ];
    const { file } = this.#run.input;
    return { has: (row) => isWithin(file, row) && !sets.some((set) => set.has(row)) };
  }

  /** Records the outcome of a row that goes in no batch. A row that is still uncertain is changed in any case. */
  readonly keep = (row: DecidedRow): void => {
    const { rowIndex, decision } = row;
    if (decision.kind === "moved") this.report(rowIndex, failedRow(row, productChanged, null));
    else if (decision.kind === "refused") this.report(rowIndex, rejectedRow(row, decision.discarded));
    else if (decision.kind !== "unchanged") this.toPatch.add(rowIndex);
    else if (this.patching.has(rowIndex)) {
      this.report(rowIndex, updatedRow({ ...row, productId: decision.productId }));
    } else this.unchanged.add(rowIndex);
  };

  /** Records the outcome of a row that needs nothing more. */
  report(rowIndex: number, outcome: RowOutcome): void {
    this.#reportedRows.add(rowIndex);
    this.reported.push(outcome);
  }

  readonly #isMade = (rowIndex: number): boolean => this.#inBatches.has(rowIndex) || this.#done.has(rowIndex);
}
