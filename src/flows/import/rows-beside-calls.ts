import type { FileRow } from "./file-row.ts";
import type { ImportInput } from "./import-input.ts";
import { referenceOfRow } from "./ledger/decide.ts";
import { notSent, type RowOutcome } from "./outcomes.ts";
import type { InputRow } from "./read/input-row.ts";
import { openRows } from "./read/open-rows.ts";
import type { RunAtHand } from "./resume/run-at-hand.ts";

type FileToRead = Pick<ImportInput, "source" | "read">;

/** Rows by their place among those of the file, from 0. */
export interface SomeRows {
  has(row: number): boolean;
}

/** The outcome of every row that was not sent because it would have changed nothing, in the order of the file. */
export async function* unchangedRows(
  input: FileToRead,
  unchanged: SomeRows,
  { state, account }: Pick<RunAtHand, "state" | "account">,
): AsyncGenerator<RowOutcome> {
  for await (const { line, row } of rowsOf(input, unchanged)) {
    const reference = referenceOfRow(row as FileRow);
    const product_id = state.ledger.get(account, reference)?.productId ?? null;
    const result = { line: null, reference, status: "succeeded", action: "unchanged", product_id } as const;
    yield { line, result: { ...result, images: [], error: null } };
  }
}

/** The outcome of every row that the run did not come to, in the order of the file. */
export async function* unsentRows(input: FileToRead, left: SomeRows): AsyncGenerator<RowOutcome> {
  for await (const { line } of rowsOf(input, left)) yield { line, failure: notSent };
}

async function* rowsOf({ source, read }: FileToRead, some: SomeRows): AsyncGenerator<InputRow> {
  const reader = await openRows(source, read);
  let ordinal = 0;
  for await (const rows of reader.batches()) {
    for (const row of rows) if (some.has(ordinal++)) yield row;
  }
}
