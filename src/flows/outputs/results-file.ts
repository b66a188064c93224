import { extname } from "node:path";
import { stringify } from "csv-stringify/sync";
import type { RowOutcome } from "../import/close/outcomes.ts";
import type { OutputTarget } from "../import/import-input.ts";
import { OutputFile } from "./output-file.ts";
import type { OutputPipe } from "./output-pipe.ts";

const columns = [
  "file_line",
  "line",
  "reference",
  "status",
  "action",
  "product_id",
  "error_code",
  "error_message",
  "images",
] as const;

/** Writes every row's ImportRowResult with `file_line` added: NDJSON, or CSV when the name ends in `.csv`. */
export class ResultsFile {
  readonly #file: OutputFile | OutputPipe;
  readonly #csv: boolean;
  readonly #mask: (text: string) => string;
  /** How many rows were added. */
  rows = 0;

  private constructor(file: OutputFile | OutputPipe, csv: boolean, mask: (text: string) => string) {
    this.#file = file;
    this.#csv = csv;
    this.#mask = mask;
  }

  static async begin({ path, pipe, mask }: OutputTarget, unfinished: string): Promise<ResultsFile> {
    const results = new ResultsFile(
      pipe ?? (await OutputFile.begin(path, true, unfinished)),
      extname(path).toLowerCase() === ".csv",
      mask ?? ((text) => text),
    );
    if (results.#csv) await results.#file.write(stringify([[...columns]]));
    return results;
  }

  async add({ line: file_line, result }: RowOutcome): Promise<void> {
    if (result === undefined) return;
    this.rows++;
    if (!this.#csv) return this.#file.write(this.#mask(`${JSON.stringify({ ...result, file_line })}\n`));
    const { line, reference, status, action, product_id, error, images } = result;
    const cells = [
      file_line,
      line,
      reference,
      status,
      action,
      product_id,
      error?.code,
      error?.message,
      JSON.stringify(images),
    ];
    await this.#file.write(this.#mask(stringify([cells])));
  }

  async commit(): Promise<void> {
    await this.#file.commit();
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }
}
