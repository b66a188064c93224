import { OutputFile } from "../files/output-file.ts";
import { CsvReader } from "../rows/csv-rows.ts";
import type { TextForm } from "../rows/encoding.ts";
import { formatOfName } from "../rows/input-format.ts";
import { isWithinRows, openRows, type RowFile } from "../rows/open-rows.ts";
import { doubtCodes, type Place } from "../rows/problem.ts";
import type { InputRow } from "../rows/row-form.ts";
import { rowsOfFile } from "../rows/row-parts.ts";
import { type RejectedRows, unknownPlace } from "../rows/row-sets.ts";
import { TableReader } from "../rows/table-rows.ts";
import { firstLineEnd, readTextForm } from "../rows/text.ts";
import { type CsvStyle, excelCsv, plainCsv } from "./cells.ts";
import { EncodedFile, toFailedForm } from "./encoded-file.ts";
import {
  FailedCsvRows,
  failedNdjsonRow,
  type KeptColumns,
  keptColumns,
  ndjsonEscape,
} from "./failed-rows.ts";
import type { OutputTargets } from "./results-file.ts";
import { joinedFailure, type RowFailure, type RowOutcome } from "./row-outcome.ts";

export type FailedFileTarget = OutputTargets["failedFile"] & {
  unfinished: string;
};

interface FailedRowsFile {
  /** `params`: the columns with a problem. */
  add(
    row: InputRow,
    done: ReadonlySet<number>,
    failure: RowFailure,
    params: readonly string[],
  ): Promise<void>;
  commit(): Promise<number>;
  discard(): Promise<void>;
}

/** A failure, and the paths of those parts of the row that failed. */
export type WordedFailure = RowFailure & { readonly paths?: readonly string[] };

/** Words a row's failure in terms of its file. `place`: the cell with the reference, in a workbook. */
export type WordFailure<Result> = (row: InputRow, outcome: RowOutcome<Result>, place: Place) => WordedFailure;

/**
 * Writes the rows that failed or are partial in the input's own columns, plus `error_code` and
 * `error_message`, so that the file can be fixed and imported as is.
 *
 * It starts with the first such row and reads the input again in parallel to the outcomes, which arrive in
 * file order: memory stays flat. Rows that the check rejected are written in their place.
 */
export class FailedFile<Result> {
  readonly #target: FailedFileTarget;
  readonly #input: RowFile;
  readonly #word: WordFailure<Result>;
  readonly #rejectedRows: RejectedRows;
  #reader: Awaited<ReturnType<typeof openRows>> | null = null;
  #rows: AsyncGenerator<InputRow> | null = null;
  /** The index of the last row read, from 0. */
  #ordinal = -1;
  #last: InputRow | null = null;
  /** Created with the first row, when the header is known. */
  #file: FailedRowsFile | null = null;

  constructor(
    input: RowFile,
    {
      rejectedRows,
      target,
      word,
    }: { rejectedRows: RejectedRows; target: FailedFileTarget; word: WordFailure<Result> },
  ) {
    this.#input = input;
    this.#word = word;
    this.#rejectedRows = rejectedRows;
    this.#target = target;
  }

  /** Adds the row of an outcome and the rejected rows before it; outcomes arrive in file order. */
  async add(outcome: RowOutcome<Result>): Promise<void> {
    const { line, failure, done } = outcome;
    if (failure === undefined) return;
    // A row that stands for several things has several outcomes.
    const row = this.#last?.line === line ? this.#last : await this.#walk(line);
    // The row was on that line when it was sent, so the file has changed.
    if (row === undefined) throw this.#input.source.changed();
    this.#last = row;
    // The service, and the IDs of products, show repetitions that the check cannot see.
    if (failure.code === this.#input.form.unique?.code)
      for (const own of rowsOfFile(row)) {
        const left = own.row.typed === undefined ? own.done(new Set(done)) : none;
        await this.#write(asTyped(own.row), left, this.#repetition(row, unknownPlace));
      }
    else {
      const table = this.#reader instanceof TableReader ? this.#reader : null;
      const { paths = [], ...reason } = this.#word(row, outcome, table?.placeOfReference(line) ?? {});
      for (const own of rowsOfFile(row)) {
        const params = table === null ? [] : own.paths(paths).map((path) => table.columnTitle(path, own.row));
        await this.#write(own.row, own.done(new Set(done)), reason, params);
      }
    }
  }

  async addRest(): Promise<void> {
    if (this.#rejectedRows.size > 0) await this.#walk();
  }

  /** Reads up to the row of `line`, or to the end, and writes the rejected rows in between. */
  async #walk(line?: number): Promise<InputRow | undefined> {
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      if (row.line === line) return row;
      if (this.#rejectedRows.has(this.#ordinal) && isWithinRows(this.#input, this.#ordinal))
        await this.writeRejected(row);
    }
    return undefined;
  }

  async writeRejected(row: InputRow): Promise<void> {
    const problems = await this.#reader!.problems(row);
    // A repetition comes first: its code and key keep the row rejected after its other problems are fixed.
    const repeated = this.#rejectedRows.repeated.has(this.#ordinal)
      ? [this.#repetition(row, this.#rejectedRows.toPlace(this.#ordinal))]
      : [];
    // Likewise the code of a cell whose text is not known.
    const [unknown, others] = [true, false].map((is) =>
      problems.filter(({ code }) => doubtCodes.has(code) === is),
    );
    const params = problems.flatMap(({ param }) => (param === undefined ? [] : [param]));
    const { code, message } = joinedFailure([...repeated, ...unknown!, ...others!]);
    // Both codes, as each keeps the row rejected until what it is about was corrected.
    const both = repeated.length > 0 && unknown!.length > 0 ? `${code} ${unknown![0]!.code}` : code;
    for (const own of rowsOfFile(row))
      await this.#write(asTyped(own.row), none, { code: both, message }, params);
  }

  #repetition({ content }: InputRow, place: string): RowFailure {
    const unique = this.#input.form.unique!;
    const [key, ...others] = [unique.toKey(content)!].flat();
    return { code: unique.code, message: `${unique.reason(others.length === 0 ? key! : null)}${place}` };
  }

  /**
   * Moves the file to its final name and returns the number of that name (`OutputFile.commit`); null if it
   * has no rows. Throws if the input changed since the check, because its lines may hold other rows now.
   */
  async commit(): Promise<number | null> {
    await this.#rows?.return(undefined);
    if (this.#file === null) return null;
    await this.#input.source.rejectIfChanged();
    return this.#file.commit();
  }

  async discard(): Promise<void> {
    await this.#rows?.return(undefined);
    await this.#file?.discard();
  }

  async #write(
    row: InputRow,
    done: ReadonlySet<number>,
    reason: RowFailure,
    params: readonly string[] = [],
  ): Promise<void> {
    this.#file ??= await this.#begin();
    const { mask = (text) => text } = this.#target;
    await this.#file.add(row, done, { code: mask(reason.code), message: mask(reason.message) }, params);
  }

  async #begin(): Promise<FailedRowsFile> {
    const { path, overwrite, unfinished, mode } = this.#target;
    const output = await OutputFile.begin(path, overwrite, unfinished, mode);
    const reader = this.#reader;
    if (!(reader instanceof TableReader)) return this.#ndjsonFile(output);
    const kept = keptColumns(reader);
    if (formatOfName(path) !== "workbook") return this.#csvFile(output, reader, kept);
    const { FailedWorkbook } = await import("./failed-workbook.ts");
    return new FailedWorkbook(output, reader, kept, this.#input.source.sheet);
  }

  /** With the delimiter, encoding, byte order mark and line ends of a CSV input. */
  async #csvFile(output: OutputFile, reader: TableReader, kept: KeptColumns): Promise<FailedRowsFile> {
    const isCsv = reader instanceof CsvReader;
    const dialect = isCsv ? reader.dialect : { delimiter: ",", isDeclared: false };
    const { lineEnd, form } = isCsv ? await detectStyle(this.#input, reader) : excelCsv;
    const file = new EncodedFile(output, form, () => "?");
    const rows = new FailedCsvRows(reader, kept, dialect, lineEnd);
    await file.write(rows.head());
    return {
      add: (row, done, failure) => file.write(rows.row(row, done, failure)),
      commit: () => file.commit(),
      discard: () => file.discard(),
    };
  }

  async #ndjsonFile(output: OutputFile): Promise<FailedRowsFile> {
    const file = new EncodedFile(output, await formLike(this.#input), ndjsonEscape);
    return {
      add: (row, done, failure) => file.write(failedNdjsonRow(this.#input.form, row, done, failure)),
      commit: () => file.commit(),
      discard: () => file.discard(),
    };
  }

  async #next(): Promise<InputRow | undefined> {
    this.#rows ??= this.#read();
    const next = await this.#rows.next();
    if (next.done) return undefined;
    this.#ordinal++;
    return next.value;
  }

  async *#read(): AsyncGenerator<InputRow> {
    this.#reader = await openRows(this.#input);
    for await (const rows of this.#reader.batches()) yield* rows;
  }
}

const none: ReadonlySet<number> = new Set();

/** The row without what was added to it. */
const asTyped = (row: InputRow): InputRow => (row.typed === undefined ? row : { ...row, record: row.typed });

/** The form of a file's text, for a file that is written like it. */
async function formLike({ source, read }: RowFile): Promise<TextForm> {
  const form = await readTextForm(source.read(), read.encoding);
  return toFailedForm(form ?? plainCsv.form, read.encoding, source.format);
}

/** The delimiter, encoding and line ends of an input; of plain CSV if it is not CSV. */
export async function styleLike(file: RowFile): Promise<CsvStyle> {
  if (file.source.format !== "csv") return plainCsv;
  const reader = await openRows(file);
  if (!(reader instanceof CsvReader)) return plainCsv;
  // The head of the file decides the delimiter.
  for await (const _ of reader.batches()) break;
  return detectStyle(file, reader);
}

const detectStyle = async (file: RowFile, { dialect }: CsvReader): Promise<CsvStyle> => ({
  delimiter: dialect.delimiter,
  lineEnd: await firstLineEnd(file.source.read(), file.read.encoding),
  form: await formLike(file),
});
