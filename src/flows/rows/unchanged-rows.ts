import type { InputRow, RowReader } from "./input-row.ts";
import { UnreadableInput } from "./problem.ts";
import { InputError, type Source } from "./source.ts";

/** The rows of a file that was checked: if it was readable then and is not now, it has changed. Throws an InputError. */
export async function* unchangedRows(
  source: Source,
  reader: Pick<RowReader, "batches">,
): AsyncGenerator<InputRow[]> {
  try {
    yield* reader.batches();
  } catch (error) {
    throw error instanceof UnreadableInput || error instanceof InputError ? source.changed(error) : error;
  }
}
