import type { CsvReader } from "../../rows/csv-rows.ts";
import type { EncodingName } from "../../rows/encoding.ts";
import { openRows, type RowFile } from "../../rows/open-rows.ts";
import { type Problem, UnreadableInput } from "../../rows/problem.ts";
import type { Source } from "../../rows/source.ts";
import { utf8Chunks } from "../../rows/text.ts";
import { type Selection, type WantedProduct, withoutRepetitions } from "./selection.ts";
import { nameIn, selectionForm } from "./selection-form.ts";

/** How to read a file of `--products-from`. */
export interface SelectionReading {
  readonly delimiter?: string | undefined;
  readonly encoding: EncodingName;
}

/**
 * Reads a file of `--products-from`: a table with a column product_id, id or reference, else a list with an ID or a reference
 * per line. A file without products is a problem, because no selection would mean the entire catalogue.
 */
export async function readSelection(
  source: Source,
  reading: SelectionReading,
): Promise<{ selection: Selection; problems: readonly Problem[] }> {
  const wanted: WantedProduct[] = [];
  const problems: Problem[] = [];
  try {
    const file: RowFile = { source, read: reading, form: selectionForm };
    const isTable = source.format === "ndjson" || (await hasHeader(file));
    const products = isTable ? rowsOf(file, problems) : linesOf(source, reading.encoding);
    for await (const one of products) wanted.push(one);
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    problems.push(error.problem);
  }
  if (wanted.length === 0 && problems.length === 0)
    problems.push({ line: 1, code: "empty_file", message: "the file names no products" });
  return { selection: { file: source.name, wanted: withoutRepetitions(wanted) }, problems };
}

/** Whether the first line has one of the columns. */
async function hasHeader(file: RowFile): Promise<boolean> {
  const reader = (await openRows(file)) as CsvReader;
  try {
    for await (const _ of reader.batches()) break;
  } catch (error) {
    // A list may contain anything; its reader judges the encoding again.
    if (!(error instanceof UnreadableInput)) throw error;
  }
  return reader.header.some((cell) => selectionForm.isColumn(cell));
}

async function* rowsOf(file: RowFile, problems: Problem[]): AsyncGenerator<WantedProduct> {
  const reader = await openRows(file);
  for await (const rows of reader.batches()) {
    for (const row of rows) {
      const found = await reader.problems(row);
      problems.push(...found);
      const named = found.length === 0 ? nameIn(row.row as object) : null;
      if (named !== null) yield { ...named, line: row.line };
    }
  }
  problems.unshift(...reader.headProblems);
}

/** The products of a list; blank lines are skipped, and quotes around a line are removed, as spreadsheets write them. */
async function* linesOf(source: Source, encoding: EncodingName): AsyncGenerator<WantedProduct> {
  const decoder = new TextDecoder();
  let rest = "";
  let line = 0;
  const named = (text: string): WantedProduct | null => {
    line++;
    const name = unquoted(text.trim());
    return name === "" ? null : { name, as: "either", line };
  };
  for await (const chunk of utf8Chunks(source.read(), encoding)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?=[^\n])/);
    rest = lines.pop()!;
    for (const text of lines) {
      const one = named(text);
      if (one !== null) yield one;
    }
    if (rest.length > longestLine)
      throw new UnreadableInput({
        line: line + 1,
        code: "wrong_format",
        message: "the line is too long for a product: use one ID or reference per line",
      });
  }
  const last = named(rest);
  if (last !== null) yield last;
}

/** No ID or reference is nearly as long (Limits). */
const longestLine = 64 * 1024;

const unquoted = (text: string): string =>
  /^"(?:[^"]|"")*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"').trim() : text;
