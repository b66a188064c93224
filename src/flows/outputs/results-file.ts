import { extname } from "node:path";
import { OutputFile, type OverwriteRule } from "../files/output-file.ts";
import { type CsvStyle, csvRecords, plainCsv } from "./cells.ts";
import { EncodedFile } from "./encoded-file.ts";
import { guardedCell } from "./formulas.ts";
import type { RowOutcome } from "./row-outcome.ts";
import type { WorkbookFile } from "./workbook-file.ts";

/** How a flow writes its results: one CSV row with these columns, or one object per line, for each result. */
export interface ResultsForm<Result> {
  readonly columns: readonly string[];
  /** One cell per column; `line` is the row's line in the file. */
  cells(line: number, result: Result): readonly unknown[];
  object(line: number, result: Result): object;
}

/** Writes the results: `.xlsx` is a workbook, `.csv` is CSV, and anything else NDJSON. */
export class ResultsFile<Result> {
  readonly #file: EncodedFile | WorkbookFile<number>;
  readonly #form: ResultsForm<Result>;
  /** Null for NDJSON. */
  readonly #csv: CsvStyle | null;
  readonly #mask: (text: string) => string;
  readonly #cell: (text: string) => string;
  rows = 0;

  private constructor(
    file: EncodedFile | WorkbookFile<number>,
    form: ResultsForm<Result>,
    { path, mask, formulaGuard = true, csv = plainCsv }: OutputTarget,
  ) {
    this.#form = form;
    this.#csv = isCsvName(path) ? csv : null;
    this.#file = file;
    this.#mask = mask ?? ((text) => text);
    this.#cell = formulaGuard ? guardedCell : (text) => text;
  }

  static async begin<Result>(
    target: OutputTarget,
    form: ResultsForm<Result>,
    unfinished: string,
  ): Promise<ResultsFile<Result>> {
    const { path, overwrite = true, csv = plainCsv } = target;
    const output = await OutputFile.begin(path, overwrite, unfinished);
    if (extname(path).toLowerCase() === ".xlsx") {
      const { WorkbookFile } = await import("./workbook-file.ts");
      return new ResultsFile(
        new WorkbookFile(output, { name: "Results", header: form.columns }),
        form,
        target,
      );
    }
    const style = isCsvName(path) ? csv : plainCsv;
    const file = new EncodedFile(output, style.form, () => "?");
    if (isCsvName(path)) await file.write(csvRecords([form.columns], style));
    return new ResultsFile(file, form, target);
  }

  async add({ line, result }: RowOutcome<Result>): Promise<void> {
    if (result === undefined) return;
    this.rows++;
    const cells = () => this.#form.cells(line, result).map((value) => String(value ?? ""));
    if (!(this.#file instanceof EncodedFile))
      return this.#file.add({ texts: cells().map((text) => this.#cell(this.#mask(text))) });
    const csv = this.#csv;
    const text = csv
      ? csvRecords([cells()], csv, this.#cell)
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

/** A file to write: its path, and its name in messages. */
export interface OutputTarget {
  path: string;
  name: string;
  /** The treatment of a file that has the path (default: it is replaced). */
  overwrite?: OverwriteRule | undefined;
  /** Masks secrets in the service's texts, which may repeat the API key. */
  mask?: ((text: string) => string) | undefined;
  /** Whether cells of a results file that a spreadsheet would run are guarded (default: true). */
  formulaGuard?: boolean | undefined;
  /** How a results file is written, if it is CSV (default: plain CSV). */
  csv?: CsvStyle | undefined;
}

export interface OutputTargets {
  /** For the failed rows; all rows if the user has named it. `mode` applies to a new file. */
  failedFile: OutputTarget & { overwrite: OverwriteRule; isNamed?: boolean; mode?: number };
  resultsFile: OutputTarget | null;
}

export const isCsvName = (path: string): boolean => extname(path).toLowerCase() === ".csv";
