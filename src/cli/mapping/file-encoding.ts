import { checkEncodingName } from "../../flows/rows/encoding.ts";
import type { ReadOptions } from "../../flows/rows/open-rows.ts";
import { UnreadableInput } from "../../flows/rows/problem.ts";
import type { Source } from "../../flows/rows/source.ts";
import { utf8Chunks } from "../../flows/rows/text.ts";

/** The text of a file that is not UTF-8, as an encoding reads it. */
export type ShownAs = (encoding: string) => string;

/** The encodings that a file may have, the most likely one first, by the names that people know. */
export const likelyEncodings = {
  "windows-1252": "Windows-1252",
  macintosh: "Mac Roman",
  "windows-1250": "Windows-1250",
  "iso-8859-15": "ISO-8859-15",
} as const;

export const likeliest = "windows-1252";

/** How people call an encoding. */
export const encodingName = (encoding: string): string =>
  (likelyEncodings as Readonly<Record<string, string>>)[encoding] ?? encoding;

/** Reads a file to its end, unless it is found not to be UTF-8; null for any other, and where a flag names the encoding. */
export async function notUtf8(source: Source, read: ReadOptions): Promise<ShownAs | null> {
  if (read.encoding !== undefined || source.format === "workbook") return null;
  try {
    for await (const _ of utf8Chunks(source.read(), undefined));
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    return error.shownAs ?? null;
  }
  return null;
}

/** The name of an encoding in a file of settings; null for one that is not known. */
export function knownEncoding(name: unknown): string | null {
  if (typeof name !== "string") return null;
  try {
    return checkEncodingName(name);
  } catch {
    return null;
  }
}
