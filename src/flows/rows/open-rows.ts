import { CsvReader } from "./csv-rows.ts";
import type { EncodingName } from "./encoding.ts";
import type { HeaderForm } from "./find-header.ts";
import type { MergedCopy } from "./merged-reader.ts";
import type { NdjsonReader } from "./ndjson-rows.ts";
import { UnreadableInput } from "./problem.ts";
import type { InputRow, RowForm, RowReader } from "./row-form.ts";
import { InputError, type Source } from "./source.ts";
import { utf8Chunks } from "./text.ts";
import type { WorkbookReader } from "./workbook-rows.ts";

export interface ReadOptions {
  delimiter?: string | undefined;
  encoding?: EncodingName;
}

/** A file of rows and how to read it. Rows are not kept: each walk reads the file again. */
export interface RowFile {
  readonly source: Source;
  readonly read: ReadOptions;
  readonly form: RowForm;
  /** By which the header of a table is found, if not by `form`. */
  readonly finds?: HeaderForm | undefined;
  /** Only so many rows are checked and sent (`--limit`); undefined for all. */
  readonly limit?: number | undefined;
  /** Its rows in the order in which those of one key are merged; undefined if they are not. */
  readonly merged?: MergedCopy | undefined;
}

/** Whether the row, counted from 0, is one of those that are checked and sent. */
export const isWithinRows = ({ limit = Number.POSITIVE_INFINITY }: RowFile, row: number): boolean =>
  row < limit;

type FileReader = CsvReader | NdjsonReader | WorkbookReader;

/** A reader that starts at the first row; each walk opens its own. */
export async function openRows(file: RowFile): Promise<FileReader> {
  const reader = await openOwnRows(file);
  const { merged, form } = file;
  return merged === undefined ? reader : (await import("./merged-reader.ts")).asMerged(reader, merged, form);
}

async function openOwnRows({ source, read, form, finds }: RowFile): Promise<FileReader> {
  if (source.sheet !== undefined)
    return new (await import("./workbook-rows.ts")).WorkbookReader(() => source.read(), source.sheet, form);
  const open = () => utf8Chunks(source.read(), read.encoding);
  if (source.format === "csv") return new CsvReader(open, { ...read, finds }, form);
  return new (await import("./ndjson-rows.ts")).NdjsonReader(open(), form);
}

/** The rows of a checked file: if it is no longer readable, it has changed. Throws an InputError. */
export async function* unchangedRows(source: Source, reader: RowReader): AsyncGenerator<InputRow[]> {
  try {
    yield* reader.batches();
  } catch (error) {
    throw error instanceof UnreadableInput || error instanceof InputError ? source.changed(error) : error;
  }
}

/**
 * Rows made from flags, as NDJSON in memory: `name` is shown in messages; files about them are next to
 * `place`, null where there is none.
 */
export async function textSource(name: string, text: string, place: string | null = null): Promise<Source> {
  const { hash } = await import("node:crypto");
  const bytes = Buffer.from(text);
  const digest = hash("sha256", bytes);
  return {
    name,
    format: "ndjson",
    path: null,
    place,
    async *read() {
      yield bytes;
    },
    digest,
    readDigest: async () => digest,
    rejectIfChanged: async () => {},
    changed: () => new InputError(`${name} changed`, "file_changed"),
    close: async () => {},
  };
}
