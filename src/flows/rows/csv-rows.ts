import { parse } from "csv-parse";
import { withAddedQuotes } from "./added-quotes.ts";
import { type Dialect, fittingDelimiter, recogniseDialect } from "./dialect.ts";
import type { HeaderForm } from "./find-header.ts";
import { parseCells, spoiledMark } from "./odd-lines.ts";
import { type InputProblem, type ReadingProblem, UnreadableInput } from "./problem.ts";
import { maxRecordLength, ParseFault, recordBatches } from "./records.ts";
import type { RowForm } from "./row-form.ts";
import { isBlank, TableReader, type TableRow } from "./table-rows.ts";
import { peek } from "./text.ts";

export interface CsvOptions {
  delimiter?: string | undefined;
  /** By which the header is found, if not by the form of the rows. */
  finds?: HeaderForm | undefined;
}

/** Reads the rows of a CSV text in UTF-8 and reports problems by column. */
export class CsvReader extends TableReader {
  dialect: Dialect = { delimiter: ",", isDeclared: false, recordsAbove: 0 };
  readonly #open: () => AsyncIterable<Buffer>;
  readonly #options: CsvOptions;
  /** The line on which the next record starts. */
  #line = 1;

  /** `open` gives the text from its start. */
  constructor(open: () => AsyncIterable<Buffer>, options: CsvOptions, form: RowForm) {
    super(form);
    this.#open = open;
    this.#options = options;
  }

  async *batches(): AsyncGenerator<TableRow[]> {
    const { first, all } = await peek(this.#open());
    const head = String(first ?? "");
    if (looksLikeJson(head)) throw new UnreadableInput(notCsv);
    const { delimiter, finds = this.form } = this.#options;
    this.dialect = recogniseDialect(head, delimiter, finds);
    const { isDeclared, recordsAbove } = this.dialect;
    let toSkip = recordsAbove + (isDeclared ? 1 : 0);
    try {
      for await (const records of this.#records(all)) {
        const rows: TableRow[] = [];
        for (const record of records) {
          const start = this.#line;
          this.#line += countLines(record);
          if (isBlank(record)) continue;
          if (toSkip > 0) {
            if (toSkip === recordsAbove) this.noteAbove(recordsAbove, start, record);
            if (toSkip <= recordsAbove) this.addAbove(start, record);
            toSkip--;
          } else if (this.header.length === 0) this.readHeader(record, start);
          else rows.push(this.#row(record, start));
        }
        if (rows.length > 0) yield rows;
      }
    } catch (error) {
      throw error instanceof ParseFault
        ? new UnreadableInput(structureProblem(error.cause, this.#line))
        : error;
    }
  }

  /** The records of the text, which is read again from its start if cells lack quotes that can be added. */
  async *#records(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly (readonly string[])[]> {
    const { delimiter, isDeclared, recordsAbove } = this.dialect;
    const above = recordsAbove + (isDeclared ? 1 : 0);
    let given = 0;
    try {
      for await (const records of this.#parsed(chunks)) {
        given += records.length;
        yield records;
      }
    } catch (error) {
      if (!(error instanceof ParseFault) || !isStrayQuote(error.cause)) throw error;
      let known = given;
      for await (const records of this.#parsed(withAddedQuotes(this.#open(), { delimiter, above }))) {
        if (known < records.length) yield records.slice(known);
        known = Math.max(0, known - records.length);
      }
    }
  }

  #parsed(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[][]> {
    // Blank lines arrive as records of one empty cell and are counted here: the parser's own line count is
    // wrong where a quoted cell contains a CRLF.
    const parser = parse({
      delimiter: this.dialect.delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      max_record_size: maxRecordLength,
    });
    return recordBatches(chunks, parser);
  }

  protected override readHeader(record: readonly string[], line: number): void {
    super.readHeader(record, line);
    const { delimiter, isDeclared } = this.dialect;
    const isGiven = this.#options.delimiter !== undefined || isDeclared;
    const fitting = isGiven ? fittingDelimiter(record, delimiter, this.form) : null;
    // With the wrong delimiter, every other header problem is a consequence.
    if (fitting !== null) this.rejectHeader(wrongDelimiter(line, delimiter, fitting));
  }

  #row(record: readonly string[], line: number): TableRow {
    const expected = this.width;
    if (record.length === expected) return this.completeRow(record, line);
    const odd = this.oddRow(record, line);
    if (odd !== null) return odd;
    const { delimiter } = this.dialect;
    const [first, ...others] = record;
    const isOneCell = expected > 1 && isBlank(others) && parseCells(first!, delimiter).length === expected;
    const message = isOneCell
      ? 'this line is one quoted cell with all columns in it: remove the quotes around it, and write each "" in it as "'
      : `row has ${record.length} ${record.length === 1 ? "cell" : "cells"}, but the header has ${expected}: check for a missing or extra "${delimiter}", or put quotes (") around a cell that contains one`;
    const reference = record[this.columns.referenceColumn]?.trim();
    return {
      line,
      record: this.padded(record),
      content: this.columns.toRow(
        this.header.map((_, index) => (index < expected ? (record[index] ?? "") : "")),
      ),
      ...this.earlierReason(record),
      fault: { line, reference: reference || undefined, code: "ragged_row", message },
    };
  }
}

/** The number of lines a record takes: one, plus one per line end within its cells. */
function countLines(record: readonly string[]): number {
  let lines = 1;
  for (const cell of record) {
    if (cell.includes("\n") || cell.includes("\r")) lines += cell.match(/\r\n|\n|\r/g)!.length;
  }
  return lines;
}

function structureProblem(cause: Error & { code?: string; field?: unknown }, line: number): ReadingProblem {
  // The text before a quote in the first line may be a byte order mark.
  const mark = line === 1 && typeof cause.field === "string" ? spoiledMark(cause.field) : null;
  if (mark !== null) return { line, code: "wrong_format", message: mark };
  if (isStrayQuote(cause))
    return {
      line,
      code: "stray_quote",
      message:
        'stray quote ("): a cell with a quote needs quotes around it, and each quote in it twice ("5"" heel"): save the sheet as CSV again, or as .xlsx',
    };
  switch (cause.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return {
        line,
        code: "unclosed_quote",
        message: 'unclosed quote ("): a cell that starts here has no closing quote',
      };
    case "CSV_MAX_RECORD_SIZE":
      return {
        line,
        code: "record_too_long",
        message: `record is longer than ${maxRecordLength / 1024 / 1024} MiB: check for an unclosed quote (")`,
      };
    default:
      return { line, code: "wrong_format", message: `not valid CSV: ${cause.message}` };
  }
}

const looksLikeJson = (head: string): boolean => /^\s*(?:\[\s*)?\{\s*(?:["}\r\n]|$)/.test(head);

const notCsv: ReadingProblem = {
  line: 1,
  code: "wrong_format",
  message: "looks like JSON, not CSV: if each line is an object (NDJSON), add --format ndjson",
};

const isStrayQuote = ({ code }: Error & { code?: string }): boolean =>
  code === "CSV_INVALID_CLOSING_QUOTE" || code === "INVALID_OPENING_QUOTE";

function wrongDelimiter(line: number, given: string, fitting: string): InputProblem {
  const [flag, header] = [given, fitting].map((character) => JSON.stringify(character));
  const message = `the delimiter ${flag} does not fit the header, which seems to use ${header}: use --delimiter ${fitting === "\t" ? "tab" : header}`;
  return { line, code: "wrong_format", message };
}
