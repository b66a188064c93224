import { CsvReader } from "../rows/csv-rows.ts";
import type { TextForm } from "../rows/encoding.ts";
import { openRows, type RowFile } from "../rows/open-rows.ts";
import { firstLineEnd, readTextForm } from "../rows/text.ts";
import type { CsvStyle } from "./cells.ts";
import { plainCsv } from "./cells.ts";
import { failedFormOf } from "./encoded-file.ts";

/** The form of a file's text, for a file that is written like it. */
export async function formLike({ source, read }: RowFile): Promise<TextForm> {
  const form = await readTextForm(source.read(), read.encoding);
  return failedFormOf(form ?? plainCsv.form, read.encoding, source.format);
}

/** The delimiter, the encoding and the line ends of an input that is CSV; those of plain CSV for any other. */
export async function styleLike(file: RowFile): Promise<CsvStyle> {
  const { source, read } = file;
  if (source.format !== "csv") return plainCsv;
  const reader = await openRows(file);
  if (!(reader instanceof CsvReader)) return plainCsv;
  // The head of the file decides the delimiter.
  for await (const _ of reader.batches()) break;
  const lineEnd = await firstLineEnd(source.read(), read.encoding);
  return { delimiter: reader.dialect.delimiter, lineEnd, form: await formLike(file) };
}
