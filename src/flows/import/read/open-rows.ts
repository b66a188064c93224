import type { ColumnMap } from "./csv-columns.ts";
import { CsvReader } from "./csv-rows.ts";
import { NdjsonReader } from "./ndjson-rows.ts";
import type { Source } from "./source.ts";
import { type EncodingName, utf8Chunks } from "./text.ts";

/** How the user said the file is to be read. */
export interface ReadOptions {
  delimiter?: string | undefined;
  encoding?: EncodingName;
  map: ColumnMap;
}

/** A reader over the source from its start; each pass over the file opens its own. */
export function openRows(source: Source, options: ReadOptions): CsvReader | NdjsonReader {
  const chunks = utf8Chunks(source.read(), options.encoding);
  return source.format === "csv" ? new CsvReader(chunks, options) : new NdjsonReader(chunks);
}
