import { extname } from "node:path";
import { OutputFile } from "../files/output-file.ts";
import { csvRecords, guardedCell } from "./cells.ts";
import type { OutputTarget } from "./output-targets.ts";
import type { RowOutcome } from "./row-outcome.ts";

/** How a flow writes its results: one CSV row with these columns, or one object per line, for each result. */
export interface ResultsForm<Result> {
  readonly columns: readonly string[];
  /** One cell per column; `line` is the row's line in the file. */
  cells(line: number, result: Result): readonly unknown[];
  object(line: number, result: Result): object;
}

/** Writes the result of every row that has one: NDJSON, or CSV if the name ends in `.csv`. */
export class ResultsFile<Result> {
  readonly #file: OutputFile;
  readonly #form: ResultsForm<Result>;
  readonly #csv: boolean;
  readonly #mask: (text: string) => string;
  readonly #cell: (text: string) => string;
  /** The number of rows added. */
  rows = 0;

  private constructor(
    file: OutputFile,
    form: ResultsForm<Result>,
    { path, mask, formulaGuard = true }: OutputTarget,
  ) {
    this.#file = file;
    this.#form = form;
    this.#csv = extname(path).toLowerCase() === ".csv";
    this.#mask = mask ?? ((text) => text);
    this.#cell = formulaGuard ? guardedCell : (text) => text;
  }

  static async begin<Result>(
    target: OutputTarget,
    form: ResultsForm<Result>,
    unfinished: string,
  ): Promise<ResultsFile<Result>> {
    const file = await OutputFile.begin(target.path, target.overwrite ?? true, unfinished);
    const results = new ResultsFile(file, form, target);
    if (results.#csv) await file.write(csvRecords([form.columns]));
    return results;
  }

  async add({ line, result }: RowOutcome<Result>): Promise<void> {
    if (result === undefined) return;
    this.rows++;
    const text = this.#csv
      ? csvRecords([this.#form.cells(line, result).map((value) => this.#cell(String(value ?? "")))])
      : `${JSON.stringify(this.#form.object(line, result))}\n`;
    await this.#file.write(this.#mask(text));
  }

  async commit(): Promise<void> {
    await this.#file.commit();
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }
}
