import { limits } from "../../contract/limits.ts";
import type { InputRow, RowReader } from "./read/input-row.ts";
import { UnreadableInput } from "./read/problem.ts";
import { changed, InputError, type Source } from "./read/source.ts";
import type { RefusedRows } from "./refused-rows.ts";

/** One POST /v1/imports: its NDJSON body, and the file's line of each row in it. */
export interface Call {
  /** From 0, in the order of the file. */
  readonly index: number;
  readonly body: Uint8Array;
  /** `lines[k - 1]` is the file's line of the row that the service calls line k. */
  readonly lines: Uint32Array;
}

/**
 * The second pass: cuts the file's rows into calls of at most 2,000 rows and 8 MB (Limits). Rows of `refused`
 * are left out. Refuses to go on when the file was changed since the check.
 */
export async function* cutIntoCalls(
  source: Source,
  reader: RowReader,
  refused: RefusedRows,
): AsyncGenerator<Call> {
  let index = 0;
  let ordinal = 0;
  let texts: string[] = [];
  let lines: number[] = [];
  let bytes = 0;
  const cut = async (): Promise<Call> => {
    await source.refuseIfChanged();
    const call = { index: index++, body: Buffer.from(texts.join("")), lines: Uint32Array.from(lines) };
    texts = [];
    lines = [];
    bytes = 0;
    return call;
  };
  for await (const rows of sameAsChecked(reader, source)) {
    for (const { line, row } of rows) {
      if (refused.has(ordinal++)) continue;
      const text = `${JSON.stringify(row)}\n`;
      const size = Buffer.byteLength(text);
      if (lines.length === limits.importRows.max || bytes + size > limits.importCallBytes) yield await cut();
      texts.push(text);
      lines.push(line);
      bytes += size;
    }
  }
  if (lines.length > 0) yield await cut();
}

/** The rows again; what could be read when it was checked and cannot be now was changed. */
async function* sameAsChecked(reader: RowReader, source: Source): AsyncGenerator<InputRow[]> {
  try {
    yield* reader.batches();
  } catch (error) {
    throw error instanceof UnreadableInput || error instanceof InputError ? changed(source.name) : error;
  }
}
