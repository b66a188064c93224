import { CatError } from "../../errors.ts";
import { series } from "../words.ts";
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
  const known = otherNames.reduce((text, [pattern, other]) => text.replace(pattern, other), given);
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
export function textFormOf(start: Buffer, given: EncodingName): TextForm {
  const mark = markOf(start);
  if (mark === "utf-32" || (mark === null && given === undefined && isUtf32(start))) {
    throw wrong("UTF-32 is not supported: save the file as UTF-8");
  }
  const isAsSaid = given === undefined || given === mark || (given === "utf-16" && mark !== "utf-8");
  if (mark !== null && !isAsSaid) {
    throw wrong(
      `the byte order mark says ${mark}, but --encoding says ${given}: remove --encoding, or save the file again`,
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

function isUtf32(start: Buffer): boolean {
  const little = start.length >= 8 && [2, 3, 6, 7].every((at) => start[at] === 0) && start[0] !== 0;
  const big = start.length >= 8 && [0, 1, 4, 5].every((at) => start[at] === 0) && start[3] !== 0;
  return little || big;
}

const isLetter = (byte: number): boolean => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/**
 * Candidate encodings of bytes that are not UTF-8: Windows-1252, unless accented letters are in the places of
 * a Macintosh encoding, or most such bytes are adjacent, as in other scripts. A guess: other Latin languages
 * use the same bytes.
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
    // Windows-1252 has quotation marks and dashes where Macintosh has letters.
    if (byte >= 0xc0) windows++;
    else if (byte === 0xa7 || (byte < 0xa0 && !/[\x80\x85\x91-\x97\x99]/.test(String.fromCharCode(byte))))
      macintosh++;
  }
  if (inRow > all / 2) return ["windows-1251", "shift_jis", "gbk"];
  return macintosh > windows ? ["macintosh"] : ["windows-1252"];
}

/**
 * Advice for bytes that are not UTF-8 at `at`: the likely encodings, and a sample of the text in the first
 * one, so the user can judge whether it is right.
 */
export function encodingAdvice(bytes: Buffer, at: number): string {
  const likely = likelyEncodings(bytes);
  const [first] = likely;
  const sample = `"${readAs(first, bytes, at)}"`;
  return likely.length === 1
    ? `--encoding ${first}, which gives ${sample}`
    : `--encoding ${series(likely, "or")}; the first gives ${sample}`;
}

/** The maximum sample size before and after the byte in question. */
const sampleBytes = { before: 10, after: 16 };
/** Delimiters, line ends and characters that no cell contains. */
const endsSample = /[\x00-\x1f\x7f",;|]/;

/** The text around a byte within its cell, in a single-byte encoding; invisible characters become U+FFFD. */
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
