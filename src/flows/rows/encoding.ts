import { CatError } from "../../errors.ts";
import { withoutEnd } from "../../text.ts";
import { UnreadableInput } from "./problem.ts";

/** The encoding given by the user, or undefined to detect UTF-8 and UTF-16. */
export type EncodingName = string | undefined;

/** The encoding of a file's text. */
export interface TextForm {
  /** The name that `TextDecoder` uses. */
  encoding: string;
  /** Whether the text starts with a byte order mark. */
  marked: boolean;
}

/** Bytes of a file's start that decide its form, if it has that many. */
export const formBytes = 1024;

/** Common names of encodings that `TextDecoder` does not accept. */
const otherNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:win|windows|cp)[-_ ]?(125\d|874)$/, "windows-$1"],
  [/^ansi$/, "windows-1252"],
  [/^mac[-_ ]?(?:os)?[-_ ]?roman$/, "macintosh"],
  [/^(?:iso|iec)?[-_ ]?8859[-_ ](\d+)$/, "iso-8859-$1"],
  [/^latin[-_ ](\d+)$/, "latin$1"],
  [/^utf[_ ]?(8|16)[-_ ]?([lb]e)?$/, "utf-$1$2"],
];

/**
 * The name `TextDecoder` uses for an encoding. `utf-16` is kept, because the file decides its byte order.
 * Throws a usage error for an unknown name, before anything is read.
 */
export function checkEncodingName(name: string): string {
  const given = name.trim().toLowerCase();
  const known = otherNames.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    given,
  );
  if (known === "utf-16") return known;
  try {
    return new TextDecoder(known).encoding;
  } catch {
    throw new CatError(`unknown encoding: --encoding ${name}`, {
      type: "usage",
      code: "invalid_option",
      hint: "Use --encoding utf-8, utf-16le, windows-1252, iso-8859-15, macintosh or another encoding that browsers know.",
    });
  }
}

/**
 * The form of the text that starts with `start`: by its byte order mark, by the given encoding, or UTF-16
 * if the bytes clearly are. Throws UnreadableInput if the mark contradicts the given encoding.
 */
export function detectTextForm(start: Buffer, given: EncodingName): TextForm {
  const mark = detectMark(start);
  const isAsSaid = given === undefined || given === mark || (given === "utf-16" && mark !== "utf-8");
  if (mark !== null && !isAsSaid) {
    throw new UnreadableInput({
      line: 1,
      code: "wrong_encoding",
      message: `the byte order mark says ${mark}, but --encoding says ${given}: remove --encoding, or save the file again`,
    });
  }
  if (mark !== null) return { encoding: mark, marked: true };
  if (given !== undefined && given !== "utf-16") return { encoding: given, marked: false };
  return { encoding: unmarkedUtf16(start) ?? (given === undefined ? "utf-8" : "utf-16le"), marked: false };
}

function detectMark(start: Buffer): "utf-8" | "utf-16le" | "utf-16be" | null {
  const hex = start.toString("hex", 0, 3);
  if (hex.startsWith("fffe")) return "utf-16le";
  if (hex.startsWith("feff")) return "utf-16be";
  return hex.startsWith("efbbbf") ? "utf-8" : null;
}

/** UTF-16 without a mark: in Latin text every other byte is NUL, which no other text contains. */
export function unmarkedUtf16(start: Buffer): "utf-16le" | "utf-16be" | null {
  const { length } = start.subarray(0, formBytes);
  const nuls = [0, 0];
  for (let at = 0; at < length; at++) if (start[at] === 0) nuls[at % 2]!++;
  // The other byte is NUL in a few characters only, such as Ā.
  const isMost = (some: number, others: number) =>
    some > 0 && some * 2 >= length * 0.3 && others * 10 <= some;
  const [even, odd] = nuls as [number, number];
  if (isMost(odd, even)) return "utf-16le";
  return isMost(even, odd) ? "utf-16be" : null;
}

/**
 * Advice for bytes that are not UTF-8 at `at`: the encoding to try first, and a sample of the text in it, so the user can
 * judge whether it is right.
 */
export function encodingAdvice(bytes: Buffer, at: number): string {
  const sample = readAs("windows-1252", bytes, at);
  return sample.includes("\ufffd")
    ? `its encoding is unknown ("${sample}"): save it as UTF-8 (in Excel: CSV UTF-8), or add --encoding`
    : `it looks like Windows-1252 ("${sample}"): add --encoding windows-1252, or save it as UTF-8`;
}

/** The maximum sample size before and after the byte in question. */
const sampleBytes = { before: 10, after: 16 };
/** Delimiters, line ends and characters that no cell contains. */
const endsSample = /[\x00-\x1f\x7f",;|]/;

/** The text around a byte within its cell, in a single-byte encoding; invisible characters become U+FFFD. */
export function readAs(encoding: string, bytes: Buffer, at: number): string {
  const isText = (place: number) => !endsSample.test(String.fromCharCode(bytes[place]!));
  let [start, end] = [at, at + 1];
  while (start > Math.max(0, at - sampleBytes.before) && isText(start - 1)) start--;
  while (end < Math.min(bytes.length, at + sampleBytes.after) && isText(end)) end++;
  // Without `stream` some releases of Node read Windows-1252 as ISO-8859-1.
  const text = new TextDecoder(encoding).decode(bytes.subarray(start, end), { stream: true });
  return withoutEnd(text.replace(/^ +/, ""), / /).replace(/\p{C}/gu, "\ufffd");
}

const packings: readonly (readonly [string, RegExp])[] = [
  ["compressed with bzip2", /^BZh\d1AY/],
  ["compressed with xz", /^\xfd7zXZ\0/],
  ["compressed with zstd", /^\x28\xb5\x2f\xfd/],
  ["a 7z archive", /^7z\xbc\xaf\x27\x1c/],
  ["a RAR archive", /^Rar!\x1a\x07/],
  ["a tar archive", /^[\s\S]{257}ustar/],
];

/** How a file is packed in another way than with gzip; null if it is not. */
export function packing(start: Buffer): string | null {
  const head = start.toString("latin1", 0, 262);
  return packings.find(([, magic]) => magic.test(head))?.[0] ?? null;
}

/** Whether a file begins as HTML does, also without its outer elements: shops export tables under the name .xls. */
export const isWebPage = (start: string): boolean =>
  /^(?:(?:<\?(?:(?!\?>)[\s\S])*\?>|<!--(?:(?!-->)[\s\S])*-->)\s*)*<(?:!doctype html|html|head|meta|title|link|style|script|body|table|div)\b/i.test(
    start,
  );
