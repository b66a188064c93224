import { CatError } from "../../../errors.ts";
import { notSent, type Stretch } from "../../outputs/row-outcome.ts";
import type { InputRow } from "../../rows/input-row.ts";
import { openRows, type RowFile } from "../../rows/open-rows.ts";
import type { SomeRows } from "../../rows/row-set.ts";
import type { SentBatch } from "../../run/batch.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { FileRow } from "../columns/file-row.ts";
import { unpackMemos } from "../ledger/batch-memo.ts";
import { referenceOfRow } from "../ledger/decide.ts";
import { photosOfMemo, withoutRejected } from "../outcomes/rejected-photos.ts";
import type { RowOutcome } from "../outcomes/row-result.ts";
import type { ReportedRows } from "./reported-rows.ts";
import type { RunToClose } from "./run-to-close.ts";

/** Rows of the file and their number; fewer follow if the file changed in the meantime. */
interface CountedRows extends Stretch<RowOutcome> {
  count: number;
}

/**
 * The outcomes of rows that are in no results of the service, as far as `reported` reports them. If the file
 * changed in the meantime, its rows end early and `onFault` receives the error.
 */
export function rowsWithoutResults(
  run: RunToClose,
  reported: ReportedRows,
  onFault: (error: unknown) => void,
): CountedRows[] {
  const { input, check, rows, left, resumed, outsideBatches } = run;
  const stretches: CountedRows[] = [];
  if (outsideBatches.length > 0)
    stretches.push({ first: 0, count: outsideBatches.length, rows: () => each(outsideBatches) });
  if (!reported.accepted) stretches.push(...run.sent.flatMap((batch) => rejectedInBatch(batch, resumed.run)));
  if (reported.unchanged && rows.unchanged.size > 0) {
    const unchanged = () => unchangedRows(input.file, rows.unchanged, resumed.run);
    const { size: count } = rows.unchanged;
    stretches.push({ first: 0, count, rows: () => untilChanged(unchanged(), onFault) });
  }
  if (reported.notAccepted && left !== null) {
    const count = countOf(left, check.total);
    stretches.push({ first: 0, count, rows: () => untilChanged(unsentRows(input.file, left), onFault) });
  }
  return stretches;
}

/** Counts the rows of the file that are in `some`. */
function countOf(some: SomeRows, total: number): number {
  let count = 0;
  for (let row = 0; row < total; row++) if (some.has(row)) count++;
  return count;
}

/** Rows with rejected photos in a batch whose results are not reported. */
function rejectedInBatch(batch: SentBatch, { state, id }: RunAtHand): CountedRows[] {
  if (batch.kind !== "accepted") return [];
  const memos = unpackMemos(state.batches.memo(id, batch.index));
  if (memos.every(({ refused }) => refused.length === 0)) return [];
  // References are deleted once another run has read the results; that run reported nothing for this one.
  const references = state.batches.references(id, batch.index);
  const outcomes = memos.flatMap((memo, at): RowOutcome[] => {
    if (memo.refused.length === 0) return [];
    const row = { reference: references[at] ?? "", productId: null, action: null };
    return [withoutRejected(batch.lines[at]!, row, photosOfMemo(memo))];
  });
  return [{ first: batch.lines[0]!, count: outcomes.length, rows: () => each(outcomes) }];
}

/** The outcome of every row without changes, in file order. */
async function* unchangedRows(
  file: RowFile,
  unchanged: SomeRows,
  { state, account }: RunAtHand,
): AsyncGenerator<RowOutcome> {
  for await (const { line, row } of rowsOf(file, unchanged)) {
    const reference = referenceOfRow(row as FileRow);
    const product_id = state.ledger.get(account, reference)?.productId ?? null;
    const result = { line: null, reference, status: "succeeded", action: "unchanged", product_id } as const;
    yield { line, result: { ...result, images: [], error: null } };
  }
}

/** The outcome of every row that was not sent, in file order. */
async function* unsentRows(file: RowFile, left: SomeRows): AsyncGenerator<RowOutcome> {
  for await (const { line } of rowsOf(file, left)) yield { line, failure: notSent };
}

async function* rowsOf(file: RowFile, some: SomeRows): AsyncGenerator<InputRow> {
  const reader = await openRows(file);
  let ordinal = 0;
  for await (const rows of reader.batches()) {
    for (const row of rows) if (some.has(ordinal++)) yield row;
  }
}

/**
 * The rows up to the point where the file turns out to have changed. The error must not prevent the summary.
 */
async function* untilChanged(
  rows: AsyncGenerator<RowOutcome>,
  onFault: (error: unknown) => void,
): AsyncGenerator<RowOutcome> {
  try {
    yield* rows;
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
    onFault(error);
  }
}

async function* each(outcomes: readonly RowOutcome[]): AsyncGenerator<RowOutcome> {
  yield* [...outcomes].sort((one, other) => one.line - other.line);
}
