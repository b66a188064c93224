import { CsvReader } from "./csv-rows.ts";
import type { EncodingName } from "./encoding.ts";
import type { NdjsonReader } from "./ndjson-rows.ts";
import { cutShort } from "./records.ts";
import type { RowForm } from "./row-form.ts";
import type { Source } from "./source.ts";
import { utf8Chunks } from "./text.ts";

/** How to read the file, as given by flags. */
export interface ReadOptions {
  delimiter?: string | undefined;
  encoding?: EncodingName;
}

/** A file of rows and how to read it. Rows are not kept: each walk reads the file again. */
export interface RowFile {
  readonly source: Source;
  readonly read: ReadOptions;
  readonly form: RowForm;
}

/** A reader that starts at the first row; each walk opens its own. */
export async function openRows({ source, read, form }: RowFile): Promise<CsvReader | NdjsonReader> {
  const bytes = () => (source.isCut ? cutShort(source.read()) : source.read());
  const open = () => utf8Chunks(bytes(), read.encoding);
  if (source.format === "csv") return new CsvReader(open, read, form);
  return new (await import("./ndjson-rows.ts")).NdjsonReader(open(), form);
}
