import { CsvReader } from "../rows/csv-rows.ts";
import type { InputRow } from "../rows/input-row.ts";
import { openRows, type RowFile } from "../rows/open-rows.ts";
import type { RowSet } from "../rows/row-set.ts";
import { lineEndOf, readTextForm } from "../rows/text.ts";
import { EncodedFile, failedFormOf } from "./encoded-file.ts";
import { FailedCsvRows, failedNdjsonRow, ndjsonEscape } from "./failed-rows.ts";
import { OutputFile } from "./output-file.ts";
import type { OutputTargets } from "./output-targets.ts";
import { joinedFailure, type RowFailure, type RowOutcome } from "./row-outcome.ts";

export type FailedFileTarget = OutputTargets["failedFile"] & {
  /** What the unfinished file is called. */
  unfinished: string;
};

/** The failure of a row in the words of its file; the same failure where nothing is to be said otherwise. */
export type WordFailure<Result> = (row: InputRow, outcome: RowOutcome<Result>) => RowFailure;

/**
 * Writes the rows that failed or are partial in the input's own columns, with `error_code` and `error_message` added,
 * so that the file can be fixed and used as it is. It is begun with the first such row, and reads the input once
 * more beside the outcomes, which come in the order of the file: memory stays flat. Rows that the check refused are
 * written where they stand.
 */
export class FailedFile<Result> {
  readonly #target: FailedFileTarget;
  readonly #input: RowFile;
  readonly #word: WordFailure<Result>;
  readonly #refused: RowSet;
  #reader: Awaited<ReturnType<typeof openRows>> | null = null;
  #rows: AsyncGenerator<InputRow> | null = null;
  /** The place of the row that was read last, from 0. */
  #ordinal = -1;
  #file: EncodedFile | null = null;
  /** Made with the first row, when the header is known; null for NDJSON. */
  #csv: FailedCsvRows | null = null;

  constructor(
    input: RowFile,
    { refused, target, word }: { refused: RowSet; target: FailedFileTarget; word: WordFailure<Result> },
  ) {
    this.#input = input;
    this.#word = word;
    this.#refused = refused;
    this.#target = target;
  }

  /** Adds the row of an outcome, and those before it that were refused; outcomes come in the order of the file. */
  async add(outcome: RowOutcome<Result>): Promise<void> {
    const { line, failure, done } = outcome;
    if (failure === undefined) return;
    const row = await this.#walk(line);
    // A row that was sent was on that line: the file is another one now.
    if (row === undefined) throw this.#input.source.changed();
    await this.#write(row, new Set(done), this.#word(row, outcome));
  }

  /** Adds the refused rows that are left. */
  async addRest(): Promise<void> {
    if (this.#refused.size > 0) await this.#walk();
  }

  /** Reads on, to the row of `line` or to the end, and writes the refused rows on the way. */
  async #walk(line?: number): Promise<InputRow | undefined> {
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      if (row.line === line) return row;
      if (this.#refused.has(this.#ordinal)) await this.#write(row, new Set(), await this.#refusal(row));
    }
    return undefined;
  }

  /** Why the check refused a row; one that is valid by itself repeats what may be in the file only once. */
  async #refusal(row: InputRow): Promise<RowFailure> {
    const problems = await this.#reader!.problems(row);
    if (problems.length > 0) return joinedFailure(problems);
    const { unique } = this.#input.form;
    return { code: unique!.code, message: unique!.message(unique!.keyOf(row.row)!, null) };
  }

  /**
   * Puts the file in its place and tells the number of its name (`OutputFile.commit`); null when there was nothing to
   * write. Throws when the input was changed since it was checked: other rows may stand on the lines that were read.
   */
  async commit(): Promise<number | null> {
    await this.#rows?.return(undefined);
    if (this.#file === null) return null;
    await this.#input.source.refuseIfChanged();
    return this.#file.commit();
  }

  async discard(): Promise<void> {
    await this.#rows?.return(undefined);
    await this.#file?.discard();
  }

  async #write(row: InputRow, done: ReadonlySet<number>, reason: RowFailure): Promise<void> {
    this.#file ??= await this.#begin();
    const { mask = (text) => text } = this.#target;
    const failure = { code: mask(reason.code), message: mask(reason.message) };
    await this.#file.write(
      this.#csv === null
        ? failedNdjsonRow(this.#input.form, row, done, failure)
        : this.#csv.row(row, done, failure),
    );
  }

  /** Begins the file in the encoding, with the mark and with the line ends that the input has. */
  async #begin(): Promise<EncodedFile> {
    const { path, overwrite, unfinished, mode, pipe } = this.#target;
    const { source, read } = this.#input;
    const { format } = source;
    const { encoding } = read;
    const input = await readTextForm(source.read(), encoding);
    const form = failedFormOf(input ?? { encoding: "utf-8", marked: false }, encoding, format);
    if (this.#reader instanceof CsvReader) {
      this.#csv = new FailedCsvRows(this.#reader, await lineEndOf(source.read(), encoding));
    }
    const output = pipe ?? (await OutputFile.begin(path, overwrite, unfinished, mode));
    const file = new EncodedFile(output, form, format === "csv" ? () => "?" : ndjsonEscape);
    if (this.#csv !== null) await file.write(this.#csv.head());
    return file;
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
