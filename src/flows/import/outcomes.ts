// Outcomes: the result of every row, in file order, from the service's results and from the file itself.

import type { ImportRowResult } from "../../contract/resources/imports.ts";
import { CatError } from "../../errors.ts";
import {
  inOrderOfLines,
  joinedFailure,
  notSent,
  type RowFailure,
  type RowRange,
} from "../outputs/row-outcome.ts";
import { openRows } from "../rows/open-rows.ts";
import type { InputRow } from "../rows/row-form.ts";
import type { SomeRows } from "../rows/row-sets.ts";
import { type BatchProblem, rowsIn, type SentBatch } from "../run/batch.ts";
import { productDeleted } from "./decide-fields.ts";
import { type RowMemo, unpackMemos } from "./digests.ts";
import type { FileRow } from "./file-row.ts";
import { isEnded } from "./follow.ts";
import type { ImportRun } from "./import-run.ts";
import { ResultsReader } from "./results.ts";
import {
  byIndex,
  doneRow,
  failedImage,
  failedRow,
  failureOfRow,
  type ImportedRow,
  pendingRow,
  productGone,
} from "./row-result.ts";
import { referenceOfRow } from "./said.ts";
import { settleBatch } from "./settle.ts";
import { untouched } from "./summary.ts";

/** A run after its last stage, finished or stopped. */
export interface RunEnd {
  readonly sent: readonly SentBatch[];
  /** Rows without an outcome because the run stopped before them; null if every row was imported. */
  readonly left: SomeRows | null;
}

/** The rows reported at the end of a run, in its summary and in its failed file and results file. */
export interface ReportedRows {
  accepted: boolean;
  /** Rows of rejected batches, and rows that were not sent. */
  notAccepted: boolean;
  unchanged: boolean;
  /** Whether the files are written at all. */
  inFiles: boolean;
}

/** Receives an error that keeps outcomes from being read; the others are still read. */
export type OnFault = (error: unknown, importId?: string) => void;

/** A number of rows; fewer follow if the file changed in the meantime. */
interface CountedRows extends RowRange<ImportedRow> {
  count: number;
}

/** The outcomes of all rows to report, in file order, and their number. */
export function rowOutcomes(
  run: ImportRun,
  end: RunEnd,
  reported: ReportedRows,
  onFault: OnFault,
): { total: number; outcomes: AsyncGenerator<ImportedRow> } {
  const reader = new ResultsReader(run.at.client, run.at.signal);
  const batches = end.sent
    .filter((batch) => hasOutcomes(batch, run, reported))
    .map((batch) => ({
      first: batch.lines[0]!,
      count: rowsIn([batch]),
      rows: () => readOutcomes(batch, run, reader, onFault),
    }));
  const stretches = [...batches, ...rowsWithoutResults(run, end, reported, onFault)];
  const total = stretches.reduce((sum, { count }) => sum + count, 0);
  return { total, outcomes: inOrderOfLines(stretches) };
}

/** Whether all rows of a batch have an outcome: of a rejected one, and of one whose import has ended. */
function hasOutcomes(batch: SentBatch, { follower }: ImportRun, reported: ReportedRows): boolean {
  if (batch.kind !== "accepted") return batch.kind === "rejected" && reported.notAccepted;
  const job = follower.latest(batch.jobs[0]!);
  return reported.accepted && job !== undefined && isEnded(job);
}

async function* readOutcomes(
  batch: SentBatch,
  run: ImportRun,
  reader: ResultsReader,
  onFault: OnFault,
): AsyncGenerator<ImportedRow> {
  if (batch.kind === "rejected") yield* rowsOfRejectedBatch(batch);
  if (batch.kind !== "accepted") return;
  const { lines, bytes } = batch;
  const importId = batch.jobs[0]!;
  if (run.follower.latest(importId)?.status === "failed") {
    recordResults(batch, [], run);
    const message = `the service could not run import ${importId}; none of its rows was processed`;
    for (const line of lines) yield { line, failure: { code: "import_failed", message } };
    return;
  }
  const { signal } = run.at;
  try {
    signal.throwIfAborted();
    const results = await reader.read({ importId, rows: lines.length, bytes });
    const memos = recordResults(batch, results, run);
    for (const [at, result] of results.entries()) {
      const line = lines[at]!;
      const outcome = outcomeOfRow(line, result, memos[at]!);
      const failure = run.rows.editFailures.get(line);
      yield failure === undefined ? outcome : withFailure(outcome, failure);
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof CatError)) throw error;
    onFault(error, importId);
  }
}

/** Writes results to the ledger as soon as they are read, and returns the memos of their rows. */
function recordResults(
  batch: Extract<SentBatch, { kind: "accepted" }>,
  results: readonly ImportRowResult[],
  { at, settled }: ImportRun,
): readonly RowMemo[] {
  const { batches, uploads } = at.state;
  const memos = unpackMemos(batches.memo(at.id, batch.index));
  // Results written to the ledger by an earlier process may be out of date by now.
  if (!settled.has(batch.index)) settleBatch(at, { ...batch, run: at.id }, results);
  // The service deletes images that no product uses (Products): they have to be uploaded again.
  for (const { source, error } of results.flatMap(({ images }) => images)) {
    if (error?.code === "image_not_found" && typeof source === "string")
      uploads.forgetImage(at.account, source);
  }
  return memos;
}

function outcomeOfRow(line: number, sent: ImportRowResult, memo: RowMemo): ImportedRow {
  const images = sent.images.map((image) => ({
    ...image,
    index: memo.sent[image.index]?.image ?? image.index,
  }));
  const isRecreated = sent.action === "created" && memo.leftOut.length > 0;
  // A skipped row does not use its photos, so rejected ones do not matter.
  const rejected = sent.action === "skipped" ? [] : memo.rejected;
  images.push(...rejected.map(failedImage));
  images.sort(byIndex);
  const isPartial = isRecreated || (rejected.length > 0 && sent.status === "succeeded");
  const result = isPartial ? { ...sent, images, status: "partial" as const } : { ...sent, images };
  const failure = isRecreated ? photosMissing : failureOfRow(result);
  if (failure === undefined) return { line, result };
  // A row that failed needs all its photos once it is fixed: the ledger knows which of them are attached.
  if (sent.status === "failed") return { line, result, failure };
  const attached = images.filter(({ status }) => status === "attached").map(({ index }) => index);
  return { line, result, failure, done: isRecreated ? attached : [...memo.leftOut, ...attached] };
}

/** The outcome of a row that was imported, and whose product was not changed further. */
function withFailure({ line, result }: ImportedRow, failure: RowFailure): ImportedRow {
  if (result === undefined) return { line, failure, done: [] };
  // A product that was deleted has taken its photos with it.
  if ([productGone.code, productDeleted.code].includes(failure.code))
    return failedRow({ line, reference: result.reference }, failure, result.product_id);
  const done = result.images.map(({ index }) => index);
  return { line, result: { ...result, status: "partial" }, failure, done };
}

/** The skipped photos were attached to a product that no longer exists. */
const photosMissing: RowFailure = {
  code: "photos_missing",
  message:
    "the product was deleted during the import and re-created without its earlier photos: import this row again",
};

function* rowsOfRejectedBatch({
  error,
  problems,
  lines,
}: Extract<SentBatch, { kind: "rejected" }>): Generator<ImportedRow> {
  const ofRows = new Map<number | null, BatchProblem[]>();
  for (const problem of problems) ofRows.set(problem.line, [...(ofRows.get(problem.line) ?? []), problem]);
  const ofAll = ofRows.get(null) ?? (problems.length > 0 ? [otherRowsRejected] : [error]);
  for (const line of lines) yield { line, failure: joinedFailure(ofRows.get(line) ?? ofAll) };
}

const otherRowsRejected: RowFailure = {
  code: "call_refused",
  message: "not imported, because other rows of the same batch were rejected",
};

/** The outcomes of rows that are in no results of the service, as far as `reported` reports them. */
function rowsWithoutResults(
  run: ImportRun,
  { sent, left }: RunEnd,
  reported: ReportedRows,
  onFault: OnFault,
): CountedRows[] {
  const { check, rows, at, products } = run;
  const sets = untouched.map((action) => [action, rows.untouched[action]] as const);
  const actionOf = (rowIndex: number) => sets.find(([, set]) => set.has(rowIndex))?.[0];
  const toUntouched = ({ line, content }: InputRow, rowIndex: number) => {
    const reference = referenceOfRow(content as FileRow);
    const product = products.of(reference)?.id ?? at.state.ledger.get(at.account, reference)?.productId;
    const action = actionOf(rowIndex)!;
    return doneRow({ line, reference }, action, action === "deleted" ? null : (product ?? null));
  };
  const inFile = (
    some: SomeRows,
    count: number,
    toOutcome: (row: InputRow, rowIndex: number) => ImportedRow,
  ) => (count === 0 ? [] : [{ first: 0, count, rows: () => rowsOfFile(run, some, toOutcome, onFault) }]);
  const own = reported.accepted
    ? rows.reported
    : [...rows.reported, ...sent.flatMap((batch) => rejectedInBatch(batch, run))];
  const isUntouched = { has: (rowIndex: number) => actionOf(rowIndex) !== undefined };
  const areUntouched = reported.unchanged ? sets.reduce((sum, [, { size }]) => sum + size, 0) : 0;
  const unsent = reported.notAccepted && left !== null ? countRows(left, check.total) : 0;
  return [
    ...inMemory(own),
    ...inFile(isUntouched, areUntouched, toUntouched),
    ...inFile(left!, unsent, ({ line }) => ({ line, failure: notSent })),
  ];
}

function inMemory(outcomes: readonly ImportedRow[]): CountedRows[] {
  if (outcomes.length === 0) return [];
  const sorted = [...outcomes].sort((a, b) => a.line - b.line);
  async function* rows() {
    yield* sorted;
  }
  return [{ first: 0, count: sorted.length, rows }];
}

function countRows(some: SomeRows, total: number): number {
  let count = 0;
  for (let row = 0; row < total; row++) if (some.has(row)) count++;
  return count;
}

/** Rows with rejected photos in a batch whose results are not reported. */
function rejectedInBatch(batch: SentBatch, { at: { state, id } }: ImportRun): ImportedRow[] {
  if (batch.kind !== "accepted") return [];
  const memos = unpackMemos(state.batches.memo(id, batch.index));
  if (memos.every(({ rejected }) => rejected.length === 0)) return [];
  // References are deleted once another run has read the results; that run reported nothing for this one.
  const references = state.batches.references(id, batch.index);
  return memos.flatMap(({ rejected, leftOut, sent }, at): ImportedRow[] => {
    if (rejected.length === 0) return [];
    const row = { line: batch.lines[at]!, reference: references[at] ?? "" };
    return [pendingRow(row, rejected, [...leftOut, ...sent.map(({ image }) => image)])];
  });
}

/** These rows of the file, up to the point where the file turns out to have changed. */
async function* rowsOfFile(
  { input }: ImportRun,
  some: SomeRows,
  toOutcome: (row: InputRow, rowIndex: number) => ImportedRow,
  onFault: OnFault,
): AsyncGenerator<ImportedRow> {
  try {
    const reader = await openRows(input.file);
    let next = 0;
    for await (const rows of reader.batches()) {
      for (const row of rows) {
        const rowIndex = next++;
        if (some.has(rowIndex)) yield toOutcome(row, rowIndex);
      }
    }
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
    onFault(error);
  }
}
