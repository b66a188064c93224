import { CatError } from "../../errors.ts";
import { UnreadableInput } from "./problem.ts";

/** How the bytes of a text file are to be read: an encoding's name, or undefined to recognise UTF-8 and UTF-16 by themselves. */
export type EncodingName = string | undefined;

/** How a file's bytes are text. */
export interface TextForm {
  /** An encoding as `TextDecoder` calls it. */
  encoding: string;
  /** Whether it begins with a byte order mark. */
  marked: boolean;
}

/** How many bytes of a file's start tell its form, where it has as many. */
export const formBytes = 1024;

/** Names that people and other programs have, where `TextDecoder` has another one. */
const otherNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:win|windows|cp)[-_ ]?(125\d|874)$/, "windows-$1"],
  [/^ansi$/, "windows-1252"],
  [/^mac[-_ ]?(?:os)?[-_ ]?roman$/, "macintosh"],
  [/^(?:iso|iec)?[-_ ]?8859[-_ ](\d+)$/, "iso-8859-$1"],
  [/^latin[-_ ](\d+)$/, "latin$1"],
  [/^utf[_ ]?(8|16)[-_ ]?([lb]e)?$/, "utf-$1$2"],
];

/**
 * The name that a decoder knows an encoding by; `utf-16` stays as it is, as the file tells the order of its bytes. Throws a
 * usage error for a name that no decoder knows, before anything is read.
 */
export function checkEncodingName(name: string): string {
  const given = name.trim().toLowerCase();
  const known = otherNames.reduce((text, [pattern, other]) => text.replace(pattern, other), given);
  if (known === "utf-16") return known;
  try {
    return new TextDecoder(known).encoding;
  } catch {
    throw new CatError(`--encoding ${name}: no encoding of that name`, {
      type: "usage",
      code: "invalid_option",
      hint: "Common ones are utf-8, utf-16le, windows-1252, iso-8859-15 and macintosh.",
    });
  }
}

/**
 * How a file of which this is the start is to be read: by its byte order mark, as it was said, or as UTF-16 where it is
 * clearly that. Throws UnreadableInput where the mark says something else than what was said.
 */
export function textFormOf(start: Buffer, given: EncodingName): TextForm {
  const mark = markOf(start);
  if (mark === "utf-32" || (mark === null && given === undefined && isUtf32(start))) {
    throw wrong("this is UTF-32, which few programs read: save it as UTF-8");
  }
  const isAsSaid = given === undefined || given === mark || (given === "utf-16" && mark !== "utf-8");
  if (mark !== null && !isAsSaid) {
    throw wrong(
      `the file begins with the byte order mark of ${mark}, and --encoding says ${given}: leave --encoding out, or save the file anew`,
    );
  }
  if (mark !== null) return { encoding: mark, marked: true };
  if (given !== undefined && given !== "utf-16") return { encoding: given, marked: false };
  return { encoding: unmarkedUtf16(start) ?? (given === undefined ? "utf-8" : "utf-16le"), marked: false };
}

function markOf(start: Buffer): "utf-8" | "utf-16le" | "utf-16be" | "utf-32" | null {
  const hex = start.toString("hex", 0, 4);
  if (hex === "fffe0000" || hex === "0000feff") return "utf-32";
  if (hex.startsWith("fffe")) return "utf-16le";
  if (hex.startsWith("feff")) return "utf-16be";
  return hex.startsWith("efbbbf") ? "utf-8" : null;
}

/** UTF-16 without a mark: every other byte is NUL where the text is Latin, and no text of another kind holds such bytes. */
export function unmarkedUtf16(start: Buffer): "utf-16le" | "utf-16be" | null {
  const { length } = start.subarray(0, formBytes);
  const nuls = [0, 0];
  for (let at = 0; at < length; at++) if (start[at] === 0) nuls[at % 2]!++;
  // The other byte is NUL in a few characters only, as in Ā.
  const isMost = (some: number, others: number) =>
    some > 0 && some * 2 >= length * 0.3 && others * 10 <= some;
  const [even, odd] = nuls as [number, number];
  if (isMost(odd, even)) return "utf-16le";
  return isMost(even, odd) ? "utf-16be" : null;
}

function isUtf32(start: Buffer): boolean {
  const little = start.length >= 8 && [2, 3, 6, 7].every((at) => start[at] === 0) && start[0] !== 0;
  const big = start.length >= 8 && [0, 1, 4, 5].every((at) => start[at] === 0) && start[3] !== 0;
  return little || big;
}

const isLetter = (byte: number): boolean => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/**
 * What bytes that are no UTF-8 may be in: Windows-1252, unless the letters with accents are where a Macintosh has them, or
 * whole words are of such bytes, as in other scripts. It is a guess: other languages of Latin letters have the same bytes.
 */
function likelyEncodings(bytes: Buffer): readonly [first: string, ...others: string[]] {
  let windows = 0;
  let macintosh = 0;
  let inRow = 0;
  let all = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80) continue;
    all++;
    if (at > 0 && bytes[at - 1]! >= 0x80) inRow++;
    if (at === 0 || !isLetter(bytes[at - 1]!)) continue;
    // Quotation marks, dashes and the like of Windows-1252 stand among the letters of the Macintosh.
    if (byte >= 0xc0) windows++;
    else if (byte === 0xa7 || (byte < 0xa0 && !/[\x80\x85\x91-\x97\x99]/.test(String.fromCharCode(byte))))
      macintosh++;
  }
  if (inRow > all / 2) return ["windows-1251", "shift_jis", "gbk"];
  return macintosh > windows ? ["macintosh"] : ["windows-1252"];
}

/**
 * The encodings that bytes which are no UTF-8 at `at` may be in, as advice, with how the text there reads in the first of
 * them: whoever knows the text sees whether that is right.
 */
export function encodingAdvice(bytes: Buffer, at: number): string {
  const [first, ...others] = likelyEncodings(bytes);
  const sample = `"${readAs(first, bytes, at)}"`;
  return others.length === 0
    ? `--encoding ${first}, in which it reads ${sample}`
    : `--encoding ${[first, ...others.slice(0, -1)].join(", ")} or ${others.at(-1)}; in the first it reads ${sample}`;
}

/** How many bytes a sample of text has at most before and from the one that it is about. */
const sampleBytes = { before: 10, after: 16 };
/** What parts cells and lines, and what can stand in no cell. */
const endsSample = /[\x00-\x1f\x7f",;|]/;

/** The text round a byte, up to the ends of its cell, in an encoding of a byte a character; what cannot be seen is U+FFFD. */
function readAs(encoding: string, bytes: Buffer, at: number): string {
  const isText = (place: number) => !endsSample.test(String.fromCharCode(bytes[place]!));
  let [start, end] = [at, at + 1];
  while (start > Math.max(0, at - sampleBytes.before) && isText(start - 1)) start--;
  while (end < Math.min(bytes.length, at + sampleBytes.after) && isText(end)) end++;
  // Without `stream` some releases of Node read Windows-1252 as ISO-8859-1.
  const text = new TextDecoder(encoding).decode(bytes.subarray(start, end), { stream: true });
  return text.replace(/^ +| +$/g, "").replace(/\p{C}/gu, "\ufffd");
}

const wrong = (message: string): UnreadableInput =>
  new UnreadableInput({ line: 1, code: "wrong_encoding", message });
