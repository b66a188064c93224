// The run: what the stages of an import share, and the rows that it has to import.

import { limits } from "../../contract/limits.ts";
import type { DoneRow } from "../../state/done-rows.ts";
import type { RowFailure } from "../outputs/row-outcome.ts";
import type { PhotoUpload } from "../photos/upload-photos.ts";
import { isWithinRows, openRows, unchangedRows } from "../rows/open-rows.ts";
import { RowSet, type SomeRows } from "../rows/row-sets.ts";
import { rowsIn, type SentBatch } from "../run/batch.ts";
import type { Run } from "../run/run.ts";
import { Comparisons } from "./compare-photos.ts";
import { type DecidedRow, decide, type RowFacts } from "./decide.ts";
import { partialCode } from "./decide-photos.ts";
import type { FileRow } from "./file-row.ts";
import { ImportProgress, importFollower } from "./follow.ts";
import type { CheckedFile } from "./import-input.ts";
import type { ReadProduct } from "./known-product.ts";
import { KnownProducts } from "./known-products.ts";
import { lookalikeCode } from "./references.ts";
import {
  doneRow,
  failedRow,
  type ImportedRow,
  isConflictCode,
  mayBePartial,
  productChanged,
  rejectedRow,
} from "./row-result.ts";
import { type ExportedRow, type RowWithDigests, readExported, referenceOfRow, withDigests } from "./said.ts";
import { SaidRows } from "./said-rows.ts";
import {
  addNotApplied,
  addPhotos,
  Examples,
  noCounts,
  type SharedCounts,
  type UntouchedName,
  untouchedAs,
} from "./summary.ts";

/** The value of a run's option `catalogue`. */
export const otherCatalogue = "other";

/** Files up to this number of rows have each product read, larger ones what changed since the last import. */
export const mostRowsReadEach = limits.page.max;

/** The conflict for which a row is in a failed file; one of looks, or of --exact, is found again. */
const earlierConflict = (code: string | undefined): string | undefined =>
  code !== undefined && code !== lookalikeCode && code !== partialCode && isConflictCode(code)
    ? code
    : undefined;

function countsOf(done: readonly DoneRow[]): SharedCounts {
  const counts = noCounts();
  for (const row of done) addPhotos(counts.photos, row.counts ?? {});
  return counts;
}

/** Shared by the stages of an import besides its rows, with the progress of earlier processes. */
function sharedOf(at: Run, { check, rejectedRows, input, host }: CheckedFile, isPlan = false) {
  const { batches } = at.state;
  const progress = new ImportProgress(host.onProgress);
  const earlier = batches.of(at.id);
  const done = at.state.doneRows.of(at.id);
  return {
    input,
    host,
    at,
    check,
    /** Rows that the check rejected; not empty only with --skip-invalid. */
    rejectedRows,
    isPlan,
    /** Batches of earlier processes, without rejected and unsent ones. */
    earlier,
    /** Rows that earlier processes finished outside any batch, so that no results report them. */
    done,
    /** The batches whose results are in the ledger, by their index. */
    settled: new Set(earlier.filter(({ state }) => state === "settled").map(({ index }) => index)),
    /** Outcomes of photos uploaded by this process, by the SHA-256 (hex) of their bytes. */
    uploads: new Map<string, PhotoUpload>(),
    products: new KnownProducts(at, host.onProgress),
    comparisons: new Comparisons(),
    said: new SaidRows(at, input.file.source, isPlan),
    /** Found or chosen about the whole file. */
    choices: {
      /** No product of the file that was known exists: another catalogue. */
      isOtherCatalogue: at.options.catalogue === otherCatalogue,
      /** Whose value counts in conflicts; undefined if the user has not chosen. */
      conflicts: input.conflicts,
      /** Whether products are read and recorded before they are changed. */
      isRecorded: true,
    },
    counts: countsOf(done),
    /** How many photos each changed row has replaced, by its line. */
    replaced: new Map(done.map(({ line, counts }) => [line, counts?.replaced ?? 0])),
    examples: new Examples(),
    progress,
    follower: importFollower(at, progress),
  };
}

type Shared = ReturnType<typeof sharedOf>;

/** An import whose file passed the check. */
export type ImportRun = Shared & { readonly rows: RowsToImport };

/** The run with the progress of earlier processes. */
export function importRun(...of: Parameters<typeof sharedOf>): ImportRun {
  const shared = sharedOf(...of);
  return { ...shared, rows: new RowsToImport(shared) };
}

/** Whether a key that cannot read products cannot import: only they tell what is new. */
export const needsReads = ({ input, isPlan }: Shared): boolean =>
  input.photos === "new" && (input.mode === "upsert" || isPlan);

/** The rows that this process has to import, and the outcomes of rows that go in no batch. */
class RowsToImport {
  readonly #run: Shared;
  /** Number of rows that an earlier process sent or changed. */
  readonly finished: number;
  readonly #inBatches = new RowSet();
  /** Rows that an earlier process changed, or that the user counted as imported. */
  readonly #done = new RowSet();
  /** Rows that an earlier process may have changed: its PATCH got no response. */
  readonly patching = new RowSet();
  readonly toPatch = new RowSet();
  readonly untouched: Readonly<Record<UntouchedName, RowSet>> = {
    unchanged: new RowSet(),
    kept: new RowSet(),
    deleted: new RowSet(),
  };
  /** Rows that are no longer imported as planned. */
  readonly moved = new RowSet();
  /** Rows of batches whose products are changed once the batch is imported. */
  readonly toEdit = new RowSet();
  /** Why the product of a row in a batch was not changed further, by its line. */
  readonly editFailures = new Map<number, RowFailure>();
  /** Outcomes of rows in no batch: changed, failed, or changed by an earlier process. */
  readonly reported: ImportedRow[] = [];
  readonly #reportedRows = new RowSet();
  readonly #noted = new RowSet();
  readonly #overtaken = new Map<string, ReadProduct | null>();

  constructor(run: Shared) {
    this.#run = run;
    for (const batch of run.earlier) for (const row of batch.rows) this.#inBatches.add(row);
    for (const row of run.done) {
      this.#done.add(row.rowIndex);
      if (this.#inBatches.has(row.rowIndex)) continue;
      this.report(row.rowIndex, doneRow(row, "updated", row.productId));
    }
    this.finished = rowsIn(run.earlier) + this.reported.length;
    for (const row of run.at.state.doneRows.patchingRows(run.at.id)) this.patching.add(row);
  }

  /**
   * Reads the file again and decides about rows in file order; `only`: these, `withSent`: also those in
   * batches. Throws an InputError if the file changed.
   */
  async *decided(only?: SomeRows, { withSent = false } = {}): AsyncGenerator<DecidedRow> {
    const { input, rejectedRows } = this.#run;
    let next = 0;
    for await (const rows of unchangedRows(input.file.source, await openRows(input.file))) {
      for (const { line, content, earlierReason } of rows) {
        const rowIndex = next++;
        if (!isWithinRows(input.file, rowIndex)) return;
        if (rejectedRows.has(rowIndex) || only?.has(rowIndex) === false) continue;
        if (withSent ? this.#done.has(rowIndex) : this.#isMade(rowIndex)) continue;
        // An object of NDJSON may have none.
        const row = content as FileRow;
        const own = row.images === undefined ? { ...row, images: [] } : row;
        yield await this.#decide(own, { rowIndex, line }, earlierReason?.code);
      }
    }
  }

  async #decide(
    content: FileRow,
    place: Pick<DecidedRow, "rowIndex" | "line">,
    earlierCode: string | undefined,
  ): Promise<DecidedRow> {
    const { input, uploads, products, choices, isPlan } = this.#run;
    const findRejection = (sha256: string) => {
      const upload = uploads.get(sha256);
      return upload !== undefined && "rejected" in upload ? upload.rejected : undefined;
    };
    const reference = referenceOfRow(content);
    const row = await withDigests(content, (path) => input.localPhotos.digest(path), findRejection);
    const known = products.of(reference);
    const facts = this.#facts(row, reference, earlierCode);
    const decision = this.moved.has(place.rowIndex)
      ? ({ kind: "moved" } as const)
      : decide(row, facts, {
          ...input,
          ...choices,
          isPlan: isPlan || input.applies !== undefined,
        });
    const { before, sought } = facts;
    return { ...row, ...place, reference, known, before, sought, earlierCode, decision };
  }

  /** Others have changed a product while its row waited: `before` is what it was when it was read first. */
  overtake(reference: string, before: ReadProduct | null): void {
    if (!this.#overtaken.has(reference)) this.#overtaken.set(reference, before);
  }

  again({ content, rowIndex, line, earlierCode }: DecidedRow): Promise<DecidedRow> {
    return this.#decide(content, { rowIndex, line }, earlierCode);
  }

  #facts(
    row: RowWithDigests,
    reference: string,
    earlierCode: string | undefined,
  ): RowFacts & Pick<DecidedRow, "sought"> {
    const { products, said, comparisons } = this.#run;
    const { as_exported } = row.content;
    const exported = as_exported === undefined ? null : readExported(as_exported, reference);
    // Not if the product has the reference of the row by now.
    const isRenamed =
      exported?.hasReference === false && products.byId(exported.productId!)?.reference !== reference;
    const before = said.of(reference, as_exported) ?? (isRenamed ? null : exported);
    const { of, sought, found, isUnread, known } = this.#findProduct(
      reference,
      before,
      isRenamed && exported,
    );
    return {
      before,
      isExported: exported !== null && !isRenamed,
      renamedFrom: isRenamed && !isUnread ? (found?.reference ?? null) : undefined,
      renamedTo: isRenamed ? null : (found?.reference ?? null),
      sought,
      lookalike: of == null ? products.lookalike(reference) : null,
      known,
      overtaken: this.#overtaken.get(reference),
      findCompared: (source) => comparisons.of(of?.id ?? "", source),
      earlierConflict: earlierConflict(earlierCode),
      mayBePartial: mayBePartial(earlierCode),
    };
  }

  /** The product of the reference, else the one that the row had before, which is sought by its ID. */
  #findProduct(reference: string, before: RowFacts["before"], renamed: ExportedRow | false) {
    const { products, choices } = this.#run;
    // Without the scope to read products, rows are sent as they are.
    const mayRead = choices.isRecorded || needsReads(this.#run);
    const of = mayRead ? products.of(reference) : null;
    const gone = mayRead && of === null ? (before?.productId ?? null) : null;
    const sought = renamed ? renamed.productId : gone;
    const found = sought === null ? null : products.byId(sought);
    const isUnread = sought !== null && !products.isAsked(sought);
    const other = renamed ? null : (found?.known ?? null);
    return { of, sought, found, isUnread, known: isUnread ? undefined : of === null ? other : of };
  }

  /** Rows without any outcome: neither sent nor unchanged. `sent`: the batches of this process. */
  left(sent: readonly SentBatch[]): SomeRows {
    const inSent = new RowSet();
    for (const batch of sent) if (batch.kind !== "unsent") for (const row of batch.rows) inSent.add(row);
    const sets = [
      this.#run.rejectedRows,
      this.#inBatches,
      this.#done,
      ...Object.values(this.untouched),
      this.#reportedRows,
      inSent,
    ];
    const { file } = this.#run.input;
    return { has: (row) => isWithinRows(file, row) && !sets.some((set) => set.has(row)) };
  }

  /** Records the outcome of a row in no batch; a row that is still uncertain is changed in any case. */
  keep(row: DecidedRow): void {
    const { rowIndex, decision } = row;
    const { said, examples } = this.#run;
    this.noteNotApplied(row);
    const left = untouchedAs(decision);
    if (decision.kind === "moved") this.report(rowIndex, failedRow(row, productChanged));
    else if (decision.kind === "rejected") this.report(rowIndex, rejectedRow(row, decision.discarded));
    else if (decision.kind === "conflict") this.report(rowIndex, failedRow(row, decision, row.known?.id));
    else if (left === null) this.toPatch.add(rowIndex);
    else {
      const productId = "productId" in decision ? decision.productId : (row.before?.productId ?? null);
      if (productId !== null) said.add(row, productId);
      if (decision.kind === "kept" || decision.kind === "deleted") examples.add(decision.kind, row.reference);
      if (left !== "deleted" && this.patching.has(rowIndex))
        this.report(rowIndex, doneRow(row, "updated", productId));
      else this.untouched[left].add(rowIndex);
    }
  }

  /** Counts what a row says that is not carried out, once. */
  noteNotApplied({ decision: { notApplied }, reference, rowIndex }: DecidedRow): void {
    const { counts, examples } = this.#run;
    if (notApplied === undefined || this.#noted.has(rowIndex)) return;
    this.#noted.add(rowIndex);
    addNotApplied(counts.not_applied, notApplied);
    if (notApplied.emptied.length > 0) examples.add("emptied", reference);
    if (notApplied.removed.length > 0) examples.add("removed", reference);
  }

  report(rowIndex: number, outcome: ImportedRow): void {
    this.#reportedRows.add(rowIndex);
    this.reported.push(outcome);
  }

  readonly #isMade = (rowIndex: number): boolean => this.#inBatches.has(rowIndex) || this.#done.has(rowIndex);
}
