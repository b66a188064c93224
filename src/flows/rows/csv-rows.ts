import { parse } from "csv-parse";
import { type Dialect, fittingDelimiter, recogniseDialect } from "./csv-dialect.ts";
import { type CsvRecord, lenientRecords, StrayRecord } from "./lenient-records.ts";
import { type Problem, type ReadingProblem, UnreadableInput } from "./problem.ts";
import { maxRecordLength, ParseFault, recordBatches } from "./records.ts";
import type { FieldProblem, InputRow, RowColumns, RowForm, RowReader } from "./row-form.ts";
import { failureColumns, normalHeader } from "./row-form.ts";
import { peek } from "./text.ts";

/** Options of the CSV reader that come from flags. */
export interface CsvOptions {
  delimiter?: string | undefined;
}

type CsvRow = InputRow & { record: readonly string[] };

/** Reads the rows of a CSV text in UTF-8 and reports problems by column. */
export class CsvReader implements RowReader {
  readonly headProblems: Problem[] = [];
  /** The header as it is in the file; empty until the first batch. */
  header: readonly string[] = [];
  /** Turns records into rows; based on an empty header until the first batch. */
  columns: RowColumns;
  dialect: Dialect = { delimiter: ",", linesBeforeHeader: 0 };
  readonly #open: () => AsyncIterable<Buffer>;
  readonly #options: CsvOptions;
  readonly #form: RowForm;
  /** The columns of a failed file: `error_code` and `error_message`; -1 without them. */
  #failureCells: readonly [code: number, message: number] = [-1, -1];
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
    const { first, all } = await peek(this.#open());
    const head = String(first ?? "");
    if (looksLikeJson(head)) throw new UnreadableInput(notCsv);
    this.dialect = recogniseDialect(head, this.#options.delimiter, this.#form);
    let toSkip = this.dialect.linesBeforeHeader;
    try {
      for await (const records of this.#records(all)) {
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

  /**
   * The records of the text. From the first stray quote on they are read again by the slower, lenient reader.
   */
  async *#records(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly CsvRecord[]> {
    const { delimiter } = this.dialect;
    // Blank lines arrive as records of one empty cell and are counted here: the parser's own line count is
    // wrong where a quoted cell contains a CRLF.
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
    const found = this.#form.problems(row.content);
    return found instanceof Promise
      ? found.then((problems) => this.#problemsOf(row as CsvRow, problems))
      : this.#problemsOf(row as CsvRow, found);
  }

  #problemsOf(row: CsvRow, found: readonly FieldProblem[]): readonly Problem[] {
    const ofCells = this.columns.cellProblems(row.record);
    if (found.length === 0 && ofCells.length === 0) return none;
    const { line } = row;
    const reference = this.#form.referenceOf(row.content);
    const reported = ofCells.map(({ column, code, message }) => {
      const param = this.header[column]!.trim();
      return { line, reference, param, code, message };
    });
    const params = new Set(reported.map(({ param }) => param));
    const others = found
      .map((problem) => this.#inColumns(row, problem))
      .filter(({ param }) => param === undefined || !params.has(param));
    return [...others, ...reported];
  }

  #readHeader(record: readonly string[], line: number): void {
    this.header = record;
    const { delimiter, linesBeforeHeader } = this.dialect;
    const isGiven = this.#options.delimiter !== undefined || linesBeforeHeader > 0;
    const fitting = isGiven ? fittingDelimiter(record, delimiter, this.#form) : null;
    this.columns = this.#form.columns(record, line, (problem) => this.headProblems.push(problem));
    // With the wrong delimiter, every other header problem is a consequence.
    if (fitting !== null)
      this.headProblems.splice(0, Number.POSITIVE_INFINITY, wrongDelimiter(line, delimiter, fitting));
    const { names } = this.columns;
    const columnOf = (name: string) =>
      record.findIndex((header, index) => names[index] === null && normalHeader(header) === name);
    this.#failureCells = [columnOf(failureColumns[0]), columnOf(failureColumns[1])];
  }

  /** A header that cannot be read reliably makes all rows below it doubtful. */
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
    const content = this.columns.toRow(
      this.header.map((_, index) => (index < column ? (cells[index] ?? "") : "")),
    );
    return { line, record: cells, unparsedCells: atFault, content, fault };
  }

  #row(record: readonly string[], line: number): CsvRow {
    const expected = this.header.length;
    if (record.length === expected) {
      const content = this.columns.toRow(record);
      const stray = this.columns.strayCell(record);
      if (stray === null) return { line, record, content, ...this.#earlierReason(record) };
      const param = this.header[stray.column]!.trim() || undefined;
      const { message } = stray;
      return {
        line,
        record,
        content,
        fault: { line, reference: this.#form.referenceOf(content), param, code: "invalid_row", message },
      };
    }
    const message = `row has ${record.length} ${record.length === 1 ? "cell" : "cells"}, but the header has ${expected}: check for a missing or extra "${this.dialect.delimiter}", or put quotes (") around a cell that contains one`;
    const reference = record[this.columns.referenceColumn]?.trim();
    return {
      line,
      record,
      content: this.columns.toRow(this.header.map((_, index) => record[index] ?? "")),
      ...this.#earlierReason(record),
      fault: { line, reference: reference || undefined, code: "ragged_row", message },
    };
  }

  /** The reason of a row of a failed file; a mapped column is none of its columns. */
  #earlierReason(record: readonly string[]): Pick<CsvRow, "earlierReason"> {
    const [code, message] = this.#failureCells;
    const text = record[code]?.trim() ?? "";
    return text === "" ? {} : { earlierReason: { code: text, message: record[message]?.trim() ?? "" } };
  }

  /** Converts a problem with a path of the row into one with the column that the user sees. */
  #inColumns({ line, content, record }: CsvRow, { cellMessage, ...problem }: FieldProblem): Problem {
    const reference = this.#form.referenceOf(content);
    const { param: path, code, message } = problem;
    const column = path === undefined ? null : this.columns.columnOfPath(path, record);
    if (column === null) return { line, reference, ...problem };
    const param = this.header[column]!.trim();
    return { line, reference, param, code, message: cellMessage ?? message.replace(path!, param) };
  }
}

const none: readonly Problem[] = [];

const isBlank = (record: readonly string[]): boolean => record.every((cell) => cell.trim() === "");

/** The number of lines a record takes: one, plus one per line end within its cells. */
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

/** Whether a text starts like a JSON object or a list of them. */
const looksLikeJson = (head: string): boolean => /^\s*(?:\[\s*)?\{\s*(?:["}\r\n]|$)/.test(head);

const notCsv: ReadingProblem = {
  line: 1,
  code: "wrong_format",
  message: "looks like JSON, not CSV: if each line is an object (NDJSON), add --format ndjson",
};

const isStrayQuote = ({ code }: Error & { code?: string }): boolean =>
  code === "CSV_INVALID_CLOSING_QUOTE" || code === "INVALID_OPENING_QUOTE";

const strayQuote = (line: number, param: string | undefined): Problem => ({
  line,
  param,
  code: "stray_quote",
  message: 'stray quote (") in a cell: remove it or double it ("") and put quotes around the cell',
});

function wrongDelimiter(line: number, given: string, fitting: string): Problem {
  const [flag, header] = [given, fitting].map((one) => JSON.stringify(one));
  const message = `the delimiter ${flag} does not fit the header, which seems to use ${header}: use --delimiter ${fitting === "\t" ? "tab" : header}`;
  return { line, code: "wrong_format", message };
}
