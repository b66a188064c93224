import { CatError } from "../../errors.ts";
import { markedEncoding, withoutEnd } from "../../text.ts";
import { type FoundEncodings, UnreadableInput } from "./problem.ts";

/** The encoding given by the user, or undefined to detect UTF-8 and UTF-16. */
export type EncodingName = string | undefined;

export interface TextForm {
  /** The name that `TextDecoder` uses. */
  encoding: string;
  marked: boolean;
}

/** Bytes of a file's start that decide its form, if it has that many. */
export const formBytes = 1024;

/** Common names of encodings that `TextDecoder` does not accept. */
const otherNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:win|windows|cp)[-_ ]?(125\d|874)$/, "windows-$1"],
  [/^ansi$/, "windows-1252"],
  [/^mac[-_ ]?(?:os)?[-_ ]?roman$/, "macintosh"],
  [/^mac[-_ ]?cyrillic$/, "x-mac-cyrillic"],
  [/^(?:windows|cp)[-_ ]?932$/, "shift_jis"],
  [/^(?:windows|cp)[-_ ]?936$/, "gbk"],
  [/^(?:windows|cp)[-_ ]?949$/, "euc-kr"],
  [/^(?:windows|cp)[-_ ]?950$/, "big5"],
  [/^(?:iso|iec)?[-_ ]?8859[-_ ](\d+)$/, "iso-8859-$1"],
  [/^latin[-_ ](\d+)$/, "latin$1"],
  [/^utf[_ ]?(8|16)[-_ ]?([lb]e)?$/, "utf-$1$2"],
];

/** The name `TextDecoder` uses; `utf-16` stays: the file decides its byte order. Throws UsageError early. */
export function checkEncodingName(name: string): string {
  const known = knownEncoding(name);
  if (known !== null) return known;
  throw new CatError(`unknown encoding: --encoding ${name}`, {
    type: "usage",
    code: "invalid_option",
    hint: "Use --encoding utf-8, utf-16le, windows-1252, iso-8859-15, macintosh or another encoding that browsers know.",
  });
}

/** The same; null for an unknown name, or what is no name. */
export function knownEncoding(name: unknown): string | null {
  if (typeof name !== "string") return null;
  const given = name.trim().toLowerCase();
  const known = otherNames.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    given,
  );
  if (known === "utf-16") return known;
  try {
    return new TextDecoder(known).encoding;
  } catch {
    return null;
  }
}

const commonNames: Readonly<Record<string, string>> = {
  macintosh: "Mac Roman",
  "x-mac-cyrillic": "Mac Cyrillic",
  big5: "Big5",
  shift_jis: "Shift_JIS",
};

/** How people call an encoding. */
export const encodingName = (encoding: string): string =>
  commonNames[encoding] ??
  (encoding.startsWith("windows-") ? encoding.replace("w", "W") : encoding.toUpperCase());

/**
 * The form of the text that starts with `start`: by its byte order mark, the given encoding, or UTF-16 if it
 * clearly is. Throws UnreadableInput if the mark contradicts the given encoding.
 */
export function detectTextForm(start: Buffer, given: EncodingName): TextForm {
  const mark = markedEncoding(start);
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

/** The advice for a text that is not UTF-8, as a part of a sentence. */
export function encodingAdvice({ names, isSure, shownAs }: FoundEncodings): string {
  const [first] = names;
  const sample = (name: string) => `"${shownAs(name)}"`;
  if (first === undefined)
    return `its encoding is unknown (${sample("windows-1252")}): save it as UTF-8 (in Excel: CSV UTF-8), or add --encoding`;
  if (isSure)
    return `it looks like ${encodingName(first)} (${sample(first)}): add --encoding ${first}, or save it as UTF-8`;
  const choices = names.map((name) => `--encoding ${name} (${sample(name)})`);
  const right = choices.length === 1 ? "if its text is right" : "whose text is right";
  return `add the encoding ${right}: ${choices.join(", ")}; or save it as UTF-8`;
}

/** The maximum sample size before and after the character in question. */
const sampleLength = { before: 10, after: 16 };
/** Delimiters, line ends and characters that no cell contains. */
const endsSample = /[\x00-\x1f\x7f",;|]/;

/** The text around a byte within its cell, in another encoding; invisible characters become U+FFFD. */
export function readAs(encoding: string, bytes: Buffer, at: number): string {
  const from = 1 + Math.max(bytes.lastIndexOf(10, at), bytes.lastIndexOf(13, at));
  // Without `stream` some releases of Node read Windows-1252 as ISO-8859-1.
  const decode = (end: number) =>
    new TextDecoder(encoding).decode(bytes.subarray(Math.max(from, at - 256), end), { stream: true });
  const place = decode(at).length;
  const text = decode(at + 64);
  let [start, end] = [place, place + 1];
  while (start > Math.max(0, place - sampleLength.before) && !endsSample.test(text[start - 1]!)) start--;
  while (end < Math.min(text.length, place + sampleLength.after) && !endsSample.test(text[end]!)) end++;
  return withoutEnd(text.slice(start, end).replace(/^ +/, ""), / /).replace(/\p{C}/gu, "\ufffd");
}

const packings: readonly (readonly [string, RegExp])[] = [
  ["compressed with bzip2", /^BZh\d1AY/],
  ["compressed with xz", /^\xfd7zXZ\0/],
  ["compressed with zstd", /^\x28\xb5\x2f\xfd/],
  ["a 7z archive", /^7z\xbc\xaf\x27\x1c/],
  ["a RAR archive", /^Rar!\x1a\x07/],
  // The other ZIPs begin as workbooks do.
  ["a ZIP file", /^PK(?:\x05\x06|\x07\x08)/],
  ["a tar archive", /^[\s\S]{257}ustar/],
];

export const isGzip = (start: Buffer): boolean => start[0] === 0x1f && start[1] === 0x8b;

/** How a file is packed in another way than with gzip; null if it is not. */
export function packing(start: Buffer): string | null {
  const head = start.toString("latin1", 0, 262);
  return packings.find(([, magic]) => magic.test(head))?.[0] ?? null;
}

/** Whether a file begins as HTML, maybe without outer elements: shops export tables under the name .xls. */
export const isWebPage = (start: string): boolean =>
  /^(?:(?:<\?(?:(?!\?>)[\s\S])*\?>|<!--(?:(?!-->)[\s\S])*-->)\s*)*<(?:!doctype html|html|head|meta|title|link|style|script|body|table|div)\b/i.test(
    start,
  );
