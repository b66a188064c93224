import type { ColumnMap } from "../import/columns/csv-columns.ts";
import { CsvReader } from "./csv-rows.ts";
import type { EncodingName } from "./encoding.ts";
import type { NdjsonReader } from "./ndjson-rows.ts";
import { cutShort } from "./records.ts";
import type { Source } from "./source.ts";
import { utf8Chunks } from "./text.ts";

/** How the user said the file is to be read. */
export interface ReadOptions {
  delimiter?: string | undefined;
  encoding?: EncodingName;
  map: ColumnMap;
}

/** A reader over the source from its start; each pass over the file opens its own. */
export async function openRows(source: Source, options: ReadOptions): Promise<CsvReader | NdjsonReader> {
  const bytes = () => (source.isCut ? cutShort(source.read()) : source.read());
  const open = () => utf8Chunks(bytes(), options.encoding);
  if (source.format === "csv") return new CsvReader(open, options);
  return new (await import("./ndjson-rows.ts")).NdjsonReader(open());
}
