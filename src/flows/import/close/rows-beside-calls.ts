import { CatError } from "../../../errors.ts";
import type { SentBatch } from "../../batches/sent-batch.ts";
import type { Stretch } from "../../outputs/in-order-of-lines.ts";
import { notSent } from "../../outputs/row-outcome.ts";
import type { InputRow } from "../../rows/input-row.ts";
import { openRows, type RowFile } from "../../rows/open-rows.ts";
import type { SomeRows } from "../../rows/row-set.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { FileRow } from "../columns/file-row.ts";
import { unpackMemos } from "../ledger/call-memo.ts";
import { referenceOfRow } from "../ledger/decide.ts";
import { lessRefused, photosOfMemo } from "../outcomes/refused-photos.ts";
import type { RowOutcome } from "../outcomes/row-result.ts";
import type { RunToClose } from "./run-to-close.ts";
import type { WhatIsTold } from "./what-is-told.ts";

/** Rows of the file, and how many they are: fewer come where the file was changed meanwhile. */
interface CountedRows extends Stretch<RowOutcome> {
  count: number;
}

/** What became of rows that no results tell of, so far as it is told. A file that was changed meanwhile ends its rows with `onFault`. */
export function rowsBesideCalls(
  run: RunToClose,
  told: WhatIsTold,
  onFault: (error: unknown) => void,
): CountedRows[] {
  const { input, check, rows, left, taken, besideBatches } = run;
  const stretches: CountedRows[] = [];
  if (besideBatches.length > 0)
    stretches.push({ first: 0, count: besideBatches.length, rows: () => each(besideBatches) });
  if (!told.accepted) stretches.push(...run.sent.flatMap((call) => refusedInCall(call, taken.run)));
  if (told.unchanged && rows.unchanged.size > 0) {
    const unchanged = () => unchangedRows(input.file, rows.unchanged, taken.run);
    const { size: count } = rows.unchanged;
    stretches.push({ first: 0, count, rows: () => untilChanged(unchanged(), onFault) });
  }
  if (told.notTakenUp && left !== null) {
    const count = countOf(left, check.total);
    stretches.push({ first: 0, count, rows: () => untilChanged(unsentRows(input.file, left), onFault) });
  }
  return stretches;
}

/** How many of a file's rows are some of them. */
function countOf(some: SomeRows, total: number): number {
  let count = 0;
  for (let row = 0; row < total; row++) if (some.has(row)) count++;
  return count;
}

/** Rows of a call whose results are not told, of which it is known already that photos were refused. */
function refusedInCall(call: SentBatch, { state, id }: RunAtHand): CountedRows[] {
  if (call.kind !== "accepted") return [];
  const memos = unpackMemos(state.batches.memo(id, call.index));
  if (memos.every(({ refused }) => refused.length === 0)) return [];
  // Let go of where another run has read the results, of which nothing was told for this one.
  const references = state.batches.references(id, call.index);
  const outcomes = memos.flatMap((memo, at): RowOutcome[] => {
    if (memo.refused.length === 0) return [];
    const row = { reference: references[at] ?? "", productId: null, action: null };
    return [lessRefused(call.lines[at]!, row, photosOfMemo(memo))];
  });
  return [{ first: call.lines[0]!, count: outcomes.length, rows: () => each(outcomes) }];
}

/** The outcome of every row that was not sent because it would have changed nothing, in the order of the file. */
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

/** The outcome of every row that the run did not come to, in the order of the file. */
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

/** The rows up to where the file turns out to be another one by now, which must not take the summary with it. */
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
