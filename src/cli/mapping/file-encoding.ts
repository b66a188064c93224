import type { ReadOptions } from "../../flows/rows/open-rows.ts";
import { type FoundEncodings, UnreadableInput } from "../../flows/rows/problem.ts";
import type { Source } from "../../flows/rows/source.ts";
import { utf8Chunks } from "../../flows/rows/text.ts";

/** Reads a file to its end, unless it is found not to be UTF-8; null for any other, and where a flag names the encoding. */
export async function notUtf8(source: Source, read: ReadOptions): Promise<FoundEncodings | null> {
  if (read.encoding !== undefined || source.format === "workbook") return null;
  try {
    for await (const _ of utf8Chunks(source.read(), undefined));
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    return error.encodings ?? null;
  }
  return null;
}
