import { joinedFailure, type RowFailure, type RowOutcome, type RowResult } from "../import/close/outcomes.ts";
import type { FileRow } from "../import/columns/file-row.ts";
import { rowProblems } from "../import/columns/row-problems.ts";
import type { ImportInput, OutputTargets } from "../import/import-input.ts";
import { CsvReader } from "../rows/csv-rows.ts";
import type { InputRow } from "../rows/input-row.ts";
import { openRows, type ReadOptions } from "../rows/open-rows.ts";
import type { RowSet } from "../rows/row-set.ts";
import { changed, type Source } from "../rows/source.ts";
import { lineEndOf, readTextForm } from "../rows/text.ts";
import { EncodedFile, failedFormOf } from "./encoded-file.ts";
import { CsvForm, ndjsonEscape, ndjsonRow } from "./failed-rows.ts";
import { OutputFile } from "./output-file.ts";

export type FailedFileTarget = OutputTargets["failedFile"] & {
  /** What the unfinished file is called. */
  unfinished: string;
};

/** What of an import says what its rows are, and why some of them were refused. */
export type FailedFileInput = Pick<ImportInput, "source" | "read" | "localPhotos">;

/**
 * Writes the rows that failed or are partial in the input's own columns, with `error_code` and `error_message` added,
 * so that the file can be mended and imported as it is. It is begun with the first such row, and reads the input once
 * more beside the outcomes, which come in the order of the file: memory stays flat. Rows that the check refused are
 * written where they stand.
 */
export class FailedFile {
  readonly #target: FailedFileTarget;
  readonly #source: Source;
  readonly #options: ReadOptions;
  readonly #localPhotos: FailedFileInput["localPhotos"];
  readonly #refused: RowSet;
  #reader: Awaited<ReturnType<typeof openRows>> | null = null;
  #rows: AsyncGenerator<InputRow> | null = null;
  /** The place of the row that was read last, from 0. */
  #ordinal = -1;
  #file: EncodedFile | null = null;
  /** Made with the first row, when the header is known; null for NDJSON. */
  #csv: CsvForm | null = null;

  constructor(input: FailedFileInput, refused: RowSet, target: FailedFileTarget) {
    this.#source = input.source;
    this.#options = input.read;
    this.#localPhotos = input.localPhotos;
    this.#refused = refused;
    this.#target = target;
  }

  /** Adds the row of an outcome, and those before it that were refused; outcomes come in the order of the file. */
  async add({ line, result, failure, attached }: RowOutcome): Promise<void> {
    if (failure === undefined) return;
    const row = await this.#walk(line);
    // A row that was sent stood there: the file is another one now.
    if (row === undefined) throw changed(this.#source.name);
    await this.#write(
      row,
      new Set(attached),
      result === undefined ? failure : inWordsOf(row, result, failure),
    );
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

  /** Why the check refused a row; one that is in order by itself has a reference that stands before it. */
  async #refusal(row: InputRow): Promise<RowFailure> {
    const problems = await rowProblems(this.#reader!, row, this.#localPhotos);
    if (problems.length > 0) return joinedFailure(problems);
    const message = "the reference stands in the file before this row already";
    return { code: "duplicate_reference_in_file", message };
  }

  /**
   * Puts the file in its place and tells the number of its name (`OutputFile.commit`); null when there was nothing to
   * write. Throws when the input was changed since it was checked: other rows may stand on the lines that were read.
   */
  async commit(): Promise<number | null> {
    await this.#rows?.return(undefined);
    if (this.#file === null) return null;
    await this.#source.refuseIfChanged();
    return this.#file.commit();
  }

  async discard(): Promise<void> {
    await this.#rows?.return(undefined);
    await this.#file?.discard();
  }

  async #write(row: InputRow, attached: ReadonlySet<number>, reason: RowFailure): Promise<void> {
    this.#file ??= await this.#begin();
    const { mask = asItIs } = this.#target;
    const failure = { code: mask(reason.code), message: mask(reason.message) };
    await this.#file.write(
      this.#csv === null ? ndjsonRow(row, attached, failure) : this.#csv.row(row, attached, failure),
    );
  }

  /** Begins the file in the encoding, with the mark and with the line ends that the input has. */
  async #begin(): Promise<EncodedFile> {
    const { path, overwrite, unfinished, mode, pipe } = this.#target;
    const { format } = this.#source;
    const { encoding } = this.#options;
    const input = await readTextForm(this.#source.read(), encoding);
    const form = failedFormOf(input ?? { encoding: "utf-8", marked: false }, encoding, format);
    if (this.#reader instanceof CsvReader) {
      this.#csv = new CsvForm(this.#reader, await lineEndOf(this.#source.read(), encoding));
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
    this.#reader = await openRows(this.#source, this.#options);
    for await (const rows of this.#reader.batches()) yield* rows;
  }
}

const asItIs = (text: string): string => text;

/** The failure with the photos of this machine called as the row calls them: the service knows the ids of their uploads alone. */
function inWordsOf({ row }: InputRow, { images }: RowResult, failure: RowFailure): RowFailure {
  let { message } = failure;
  for (const { index, source } of images) {
    const path = (row as FileRow | undefined)?.images[index]?.path;
    if (path !== undefined) message = message.replace(`${source}: `, () => `${path}: `);
  }
  return { ...failure, message };
}
