import { parse } from "csv-parse";
import { betterThanSaid, type Dialect, dialectBytes, recogniseDialect } from "./csv-dialect.ts";
import type { InputRow, RowReader } from "./input-row.ts";
import { type CsvRecord, lenientRecords, StrayRecord } from "./lenient-records.ts";
import { type Problem, type ReadingProblem, UnreadableInput } from "./problem.ts";
import { maxRecordLength, ParseFault, recordBatches } from "./records.ts";
import type { FieldProblem, RowColumns, RowForm } from "./row-form.ts";

/** What a reader of CSV is told by flags. */
export interface CsvOptions {
  delimiter?: string | undefined;
}

type CsvRow = InputRow & { record: readonly string[] };

/** Reads the rows of a CSV text in UTF-8, and speaks of them by column. */
export class CsvReader implements RowReader {
  readonly headProblems: Problem[] = [];
  /** The header as it stands in the file; empty until the first batch came. */
  header: readonly string[] = [];
  /** How records become rows; of an empty header until the first batch came. */
  columns: RowColumns;
  dialect: Dialect = { delimiter: ",", linesBeforeHeader: 0 };
  readonly #open: () => AsyncIterable<Buffer>;
  readonly #options: CsvOptions;
  readonly #form: RowForm;
  /** The line on which the next record starts. */
  #line = 1;

  /** `open` gives the text from its start. */
  constructor(open: () => AsyncIterable<Buffer>, options: CsvOptions, form: RowForm) {
    this.#open = open;
    this.#options = options;
    this.#form = form;
    this.columns = form.columns([], 1, () => {});
  }

  async *batches(): AsyncGenerator<CsvRow[]> {
    const { head, chunks } = await takeHead(this.#open());
    if (looksLikeJson(head)) throw new UnreadableInput(notCsv);
    this.dialect = recogniseDialect(head, this.#options.delimiter, this.#form);
    let toSkip = this.dialect.linesBeforeHeader;
    try {
      for await (const records of this.#records(chunks)) {
        const rows: CsvRow[] = [];
        for (const record of records) {
          const start = this.#line;
          this.#line += linesOf(record instanceof StrayRecord ? record.cells : record);
          if (toSkip > 0) toSkip--;
          else if (record instanceof StrayRecord) {
            if (this.header.length === 0) this.#strayHeader(record, start);
            else rows.push(this.#strayRow(record, start));
          } else if (isBlank(record)) continue;
          else if (this.header.length === 0) this.#readHeader(record, start);
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

  /** The records of the text; from the first one with a stray quote on they are read anew, and more slowly. */
  async *#records(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly CsvRecord[]> {
    const { delimiter } = this.dialect;
    // Blank lines come as records of one empty cell and are counted here: the parser's own line count goes wrong
    // where a quoted cell holds a CRLF.
    const parser = parse({
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      max_record_size: maxRecordLength,
    });
    try {
      yield* recordBatches<string[]>(chunks, parser);
    } catch (error) {
      if (!(error instanceof ParseFault) || !isStrayQuote(error.cause)) throw error;
      yield* lenientRecords(this.#open(), {
        delimiter,
        linesBefore: this.#line - 1,
        width: () => this.header.length,
      });
    }
  }

  problems(row: InputRow): readonly Problem[] | Promise<readonly Problem[]> {
    if (row.fault !== undefined) return [row.fault];
    const found = this.#form.problems(row.row);
    return found instanceof Promise
      ? found.then((problems) => this.#problemsOf(row as CsvRow, problems))
      : this.#problemsOf(row as CsvRow, found);
  }

  #problemsOf(row: CsvRow, found: readonly FieldProblem[]): readonly Problem[] {
    const ofCells = this.columns.cellProblems(row.record);
    if (found.length === 0 && ofCells.length === 0) return none;
    const { line } = row;
    const reference = this.#form.referenceOf(row.row);
    const told = ofCells.map(({ column, code, message }) => {
      const param = this.header[column]!.trim();
      return { line, reference, param, code, message };
    });
    const params = new Set(told.map(({ param }) => param));
    const others = found
      .map((problem) => this.#inColumns(row, problem))
      .filter(({ param }) => param === undefined || !params.has(param));
    return [...others, ...told];
  }

  #readHeader(record: readonly string[], line: number): void {
    this.header = record;
    const { delimiter, linesBeforeHeader } = this.dialect;
    const isGiven = this.#options.delimiter !== undefined;
    const isSaid = isGiven || linesBeforeHeader > 0;
    const better = isSaid ? betterThanSaid(record, delimiter, this.#form) : null;
    const problems: Problem[] = [];
    this.columns = this.#form.columns(record, line, (problem) => problems.push(problem));
    // Cut as it is not meant to be, the header has other problems only for that.
    if (better === null) this.headProblems.push(...problems);
    else if (isGiven) this.headProblems.push(wrongFlag(line, this.dialect, better));
    else this.headProblems.push(wrongSeparator(delimiter, better));
  }

  /** Nobody knows what stands below a header that cannot be read for sure. */
  #strayHeader({ cells, atFault }: StrayRecord, line: number): void {
    const [column] = atFault as ReadonlySet<number> & [number];
    this.#readHeader(cells, line);
    this.headProblems.splice(0, Number.POSITIVE_INFINITY, strayQuote(line, cells[column]!.trim()));
  }

  #strayRow({ cells, atFault }: StrayRecord, line: number): CsvRow {
    const [column] = atFault as ReadonlySet<number> & [number];
    const at = this.columns.referenceColumn;
    const reference = (at < column ? cells[at]?.trim() : "") || undefined;
    const fault = { ...strayQuote(line, this.header[column]?.trim() || undefined), reference };
    return { line, record: cells, asItStands: atFault, row: null, fault };
  }

  #row(record: readonly string[], line: number): CsvRow {
    const expected = this.header.length;
    if (record.length === expected) {
      const row = this.columns.toRow(record);
      const stray = this.columns.strayCell(record);
      if (stray === null) return { line, record, row };
      const param = this.header[stray.column]!.trim() || undefined;
      const { message } = stray;
      return {
        line,
        record,
        row,
        fault: { line, reference: this.#form.referenceOf(row), param, code: "invalid_row", message },
      };
    }
    const message = `has ${record.length} ${record.length === 1 ? "cell" : "cells"}, the header has ${expected}: look for a missing or an extra "${this.dialect.delimiter}", or a cell that needs quotes${this.#decimalComma(record)}`;
    const reference = record[this.columns.referenceColumn]?.trim();
    return {
      line,
      record,
      row: null,
      fault: { line, reference: reference || undefined, code: "ragged_row", message },
    };
  }

  /** The number that a spreadsheet with decimal commas seems to have written, where one made the row too long. */
  #decimalComma(record: readonly string[]): string {
    if (this.dialect.delimiter !== "," || record.length <= this.header.length) return "";
    const at = record.findIndex(
      (cell, index) => /^\s*-?\d{1,9}$/.test(cell) && /^\d{1,2}(?!\d)/.test(record[index + 1] ?? ""),
    );
    return at === -1 ? "" : `, as "${record[at]!.trim()},${record[at + 1]!.trim()}" does if it is one number`;
  }

  /** A problem by the row's path, told by the column that a person sees. */
  #inColumns({ line, row, record }: CsvRow, { cellMessage, ...problem }: FieldProblem): Problem {
    const reference = this.#form.referenceOf(row);
    const { param: path, code, message } = problem;
    const column = path === undefined ? null : this.columns.columnOfPath(path, record);
    if (column === null) return { line, reference, ...problem };
    const param = this.header[column]!.trim();
    return { line, reference, param, code, message: cellMessage ?? message.replace(path!, param) };
  }
}

const none: readonly Problem[] = [];

const isBlank = (record: readonly string[]): boolean => record.every((cell) => cell.trim() === "");

/** How many lines of the file a record takes: one, and one more for each line end within its cells. */
function linesOf(record: readonly string[]): number {
  let lines = 1;
  for (const cell of record) {
    if (cell.includes("\n") || cell.includes("\r")) lines += cell.match(/\r\n|\n|\r/g)!.length;
  }
  return lines;
}

function structureProblem(cause: Error & { code?: string }, line: number): ReadingProblem {
  switch (cause.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return {
        line,
        code: "unclosed_quote",
        message: 'a quote (") is opened in this record and never closed',
      };
    case "CSV_MAX_RECORD_SIZE":
      return {
        line,
        code: "record_too_long",
        message: `this record is longer than ${maxRecordLength / 1024 / 1024} MiB: perhaps a quote (") is not closed`,
      };
    default:
      return { line, code: "wrong_format", message: `this is not readable as CSV: ${cause.message}` };
  }
}

/** Whether a text begins as an object of JSON does, or a list of them. */
const looksLikeJson = (head: string): boolean => /^\s*(?:\[\s*)?\{\s*(?:["}\r\n]|$)/.test(head);

const notCsv: ReadingProblem = {
  line: 1,
  code: "wrong_format",
  message: "this looks like JSON, not CSV: if each line is an object (NDJSON), give --format ndjson",
};

const isStrayQuote = ({ code }: Error & { code?: string }): boolean =>
  code === "CSV_INVALID_CLOSING_QUOTE" || code === "INVALID_OPENING_QUOTE";

const strayQuote = (line: number, param: string | undefined): Problem => ({
  line,
  param,
  code: "stray_quote",
  message: 'a quote (") stands within a cell: put the cell in quotes and double the quote inside it ("")',
});

/** The head of the text for a look at the dialect, and the chunks again from the start. */
async function takeHead(
  chunks: AsyncIterable<Buffer>,
): Promise<{ head: string; chunks: AsyncIterable<Buffer> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.length < dialectBytes) {
    const next = await iterator.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  async function* again() {
    if (start.length > 0) yield start;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head: start.toString("utf8", 0, Math.min(start.length, dialectBytes)), chunks: again() };
}

/** The problem of a `sep=` line, which is a file's first, that does not say what parts the cells below it. */
function wrongSeparator(declared: string, better: string): Problem {
  const [said, found] = [declared, better].map((one) => JSON.stringify(one));
  const message = `the first line says that ${said} parts the cells (sep=), but ${found} seems to: take that line out, or give ${delimiterFlag(better)}`;
  return { line: 1, code: "wrong_format", message };
}

/** The problem of a header that --delimiter does not fit. */
function wrongFlag(line: number, { delimiter, linesBeforeHeader }: Dialect, better: string): Problem {
  // Without the flag a `sep=` line would count, which may be wrong as well.
  const leaveOut = linesBeforeHeader > 0 ? "" : "leave --delimiter out, or ";
  const message = `${delimiterFlag(delimiter)} does not part the cells, but ${JSON.stringify(better)} seems to: ${leaveOut}give ${delimiterFlag(better)}`;
  return { line, code: "wrong_format", message };
}

const delimiterFlag = (delimiter: string): string =>
  `--delimiter ${delimiter === "\t" ? "tab" : JSON.stringify(delimiter)}`;
