import { detectAll } from "jschardet";
import { knownEncoding, readAs } from "./encoding.ts";
import type { FoundEncodings } from "./problem.ts";
import { unreadablePages } from "./unreadable-pages.ts";

/**
 * Encodings that spreadsheets save, by the names of the detector and of browsers; of two that read a text
 * alike, the first is offered.
 */
const readable = [
  "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp874 mac-roman=macintosh mac-cyrillic=x-mac-cyrillic",
  "iso8859-2 iso8859-5 iso8859-6 iso8859-7 iso8859-15 koi8-r koi8-u cp866=ibm866",
  // GB18030 has GBK, in which failed rows can be written too.
  "gb18030=gbk big5hkscs=big5 cp932=shift_jis euc_jis_2004=euc-jp cp949=euc-kr johab=",
];

interface Page {
  readonly detected: string;
  /** Null where no browser reads it. */
  readonly name: string | null;
  /** What its bytes are, one for each; null if letters have several bytes. */
  readonly letters: readonly string[] | null;
}

const severalBytes = /^(?:gb|big5|euc|shift)/;
const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

let knownPages: readonly Page[] | undefined;

/** The code pages that are compared. */
function codePages(): readonly Page[] {
  const browsers = readable
    .join(" ")
    .split(" ")
    .map((entry): Page => {
      const [detected = "", alias] = entry.split("=");
      const name = alias === "" ? null : knownEncoding(alias ?? detected);
      if (name === null || severalBytes.test(name)) return { detected, name, letters: null };
      return { detected, name, letters: [...decoderOf(name).decode(allBytes, { stream: true })] };
    });
  const others = Object.entries(unreadablePages).map(([detected, upper]): Page => {
    const letters = [...Buffer.from(allBytes.subarray(0, 128)).toString("latin1"), ...upper];
    return { detected, name: null, letters };
  });
  return [...browsers, ...others];
}

const decoderOf = (name: string) => new TextDecoder(name, { fatal: severalBytes.test(name) });

/**
 * How much likelier than the next a recommended encoding is, for so many foreign bytes: with less, a few
 * texts were misread (test/rows/encoding.test.ts).
 */
const sureRatio = (bytes: number): number => (bytes < 100 ? 1.2 : 1.1);
/** The same above a sound text of Windows-1252, which most files have: names in Spanish had up to 1.38. */
const latinRatio = 1.45;
const fewestBytes = 24;
/** One letter or sign, however often, is a letter of some word in several encodings. */
const fewestLetters = 2;
/** The share of strange words up to which a text is sound. */
const soundShare = 0.1;
/** The same for a code page that cannot be read, and whose readable rivals are then not offered. */
const unreadableRatio = 1.4;

interface Fit {
  readonly name: string | null;
  readonly confidence: number;
  /** Null for a code page that is known by its bytes alone. */
  readonly text: string | null;
  /** The share of its foreign words that are of no language. */
  readonly strange: number;
}

/** The encodings that fit lines, all of which have foreign letters. */
export function findEncodings(text: Buffer): FoundEncodings {
  const different = rankedFits(text);
  const foreign = [...text.keys()].filter((at) => text[at]! >= 0x80);
  const plausible = different.filter(({ strange }) => strange < 0.5);
  const [first, ...others] = plausible;
  const isAbove = (ratio: number) => (rival: Fit) =>
    (first!.name === null && rival.name === null) || first!.confidence >= ratio * rival.confidence;
  const isSound = first !== undefined && first.strange <= soundShare;
  const latin = different.find(({ name, strange }) => name === "windows-1252" && strange <= soundShare);
  const letters = lettersOfLatin(latin);
  const hasLetters = isSound && Math.min(letters, foreignLetters(first)) >= fewestLetters;
  const isSure =
    hasLetters &&
    first.name !== null &&
    foreign.length >= fewestBytes &&
    others.every(isAbove(sureRatio(foreign.length))) &&
    isUnlikeLatin(first, latin);
  // A code page that cannot be read is none to choose.
  const isUnreadable = !latin && first?.name === null && others.every(isAbove(unreadableRatio));
  const readables = isUnreadable ? [] : plausible.filter(({ name }) => name !== null);
  // A single text is taken as right, also if it is not: others show what it might be.
  const isDoubtful = !latin && readables.length === 1 && (first!.name === null || !hasLetters);
  const shown = isDoubtful ? different.filter(({ name }) => name !== null) : readables;
  const likeliest = isDoubtful && shown.length < 2 ? [] : shown.slice(0, 3);
  const names = withLatin(likeliest, latin, letters === 0).map(({ name }) => name!);
  const place = placeToCompare(foreign.slice(0, 500), (at) => names.map((name) => readAs(name, text, at)));
  return { names, isSure, shownAs: (encoding) => readAs(encoding, text, place) };
}

/** How a text reads in each code page, the likeliest first; of those that read it alike, one. */
function rankedFits(text: Buffer): readonly Fit[] {
  knownPages ??= codePages();
  const fits = knownPages.flatMap((page) => fitOf(page, text));
  // Short texts get no confidence in it, but kana are a sign that no other encoding has.
  const most = Math.max(0, ...fits.map(({ confidence }) => confidence));
  const ranked = fits
    .map((fit) => (fit.text !== null && isJapanese(fit) ? { ...fit, confidence: 2 * most } : fit))
    .sort((a, b) => b.confidence - a.confidence);
  return ranked.flatMap((fit): Fit[] => {
    if (fit.text === null) return [fit];
    const alike = ranked.filter(({ text }) => text === fit.text);
    return alike[0] === fit ? [{ ...fit, name: preferred(alike) }] : [];
  });
}

/** The list with Windows-1252, if its text is sound: first for a text of signs such as ’ and °. */
function withLatin(fits: readonly Fit[], latin: Fit | undefined, isFirst: boolean): readonly Fit[] {
  if (latin === undefined || (fits.includes(latin) && !isFirst)) return fits;
  const others = fits.filter((fit) => fit !== latin).slice(0, 2);
  return isFirst ? [latin, ...others] : [...others, latin];
}

/** The foreign letters of a text as Windows-1252 has it; enough of them where it is no sound text. */
const lettersOfLatin = (latin: Fit | undefined): number =>
  latin === undefined ? fewestLetters : foreignLetters(latin);

/** How many foreign letters a text has in its words, in either case. */
function foreignLetters({ text }: Fit): number {
  const sound = foreignWords(text ?? "").filter((word) => strangeness(word) === 0);
  const letters = sound.join("").toLowerCase();
  return new Set(letters.match(/(?![ªºµ])[^\P{L}\x00-\x7f]/gu)).size;
}

/** Whether a text is likelier than a sound one of Windows-1252, and differs from it in more than one letter. */
function isUnlikeLatin({ text, confidence }: Fit, latin: Fit | undefined): boolean {
  if (latin === undefined || latin.text === text) return true;
  const others = [...latin.text!];
  const different = [...(text ?? "")].filter((letter, at) => letter !== others[at]);
  const letters = new Set(different.join("").toLowerCase()).size;
  return letters >= fewestLetters && confidence >= latinRatio * latin.confidence;
}

/** How a page reads bytes, if it can. */
function fitOf(page: Page, bytes: Buffer): Fit[] {
  const text = read(page, bytes);
  const strange = text === null ? 0 : strangeShare(text);
  if (strange === null && page.name === "euc-kr") {
    const common = withoutRareSyllables(bytes);
    return common === null ? [] : fitOf(page, common).map((fit) => ({ ...fit, name: null, text: null }));
  }
  if (strange === null) return [];
  const isFirst = page.detected === "cp1252";
  // A detector without any encoding that fits warns on the console.
  const detectEncodings = [page.detected, "cp1252"];
  const own = detectAll(lowerCase(page, bytes), { detectEncodings, minimumThreshold: 0 }).find(
    ({ encoding }) => encoding !== null && (encoding === "Windows-1252") === isFirst,
  );
  if (own === undefined && page.letters !== null && !isFirst) return [];
  const confidence = (own?.confidence ?? 0) * (1 - strange) ** 2;
  return [{ name: page.name, confidence, text, strange }];
}

/** The first place whose samples differ, or most of them. */
function placeToCompare(places: readonly number[], samplesAt: (place: number) => readonly string[]): number {
  let best = { place: places[0] ?? 0, differing: 0 };
  for (const place of places) {
    const samples = samplesAt(place);
    const differing = new Set(samples).size;
    if (differing > best.differing) best = { place, differing };
    if (differing === samples.length) break;
  }
  return best.place;
}

const preferred = (fits: readonly Fit[]): string | null =>
  knownPages!.find(({ name }) => name !== null && fits.some((fit) => fit.name === name))?.name ?? null;

/** The bytes with each letter in lower case: capitals alone are rare in the texts that the detector knows. */
function lowerCase({ letters }: Page, bytes: Buffer): Buffer {
  if (letters === null) return bytes;
  const lower = letters.map((letter, byte) => {
    const at = letters.indexOf(letter.toLowerCase());
    return at === -1 ? byte : at;
  });
  return Buffer.from(bytes.map((byte) => lower[byte]!));
}

/** Korean without the few syllables that Windows has in addition and Node may lack; null for other bytes. */
function withoutRareSyllables(bytes: Buffer): Buffer | null {
  const pairs = bytes.toString("latin1").match(/[\xa1-\xfe]{2}|[\x81-\xc6][A-Za-z\x81-\xfe]|./gs) ?? [];
  const isCommon = (pair: string) => /^(?:[\0-\x7f]|[\xa1-\xfe]{2})$/.test(pair);
  const common = pairs.filter((pair) => pair.length === 1 || isCommon(pair));
  const syllables = common.filter((pair) => pair.length === 2).length;
  const rare = pairs.length - common.length;
  return rare > 0 && rare * 2 <= syllables && common.every(isCommon)
    ? Buffer.from(common.join(""), "latin1")
    : null;
}

const unreadableText = "\ufffd";

/** A text as a code page reads it; null if it cannot. */
function read({ name, letters }: Page, bytes: Buffer): string | null {
  if (letters !== null) return Array.from(bytes, (byte) => letters[byte]!).join("");
  try {
    // Without `stream` some releases of Node read Windows-1252 as ISO-8859-1.
    return name === null ? null : decoderOf(name).decode(bytes, { stream: true });
  } catch {
    return unreadableText;
  }
}

/** Scripts of which a word has one alone; Japanese and Chinese names have Latin letters in their words. */
const scripts = ["Latin", "Cyrillic", "Greek", "Hebrew", "Arabic", "Thai"].map(
  (script) => new RegExp(`\\p{Script=${script}}`, "u"),
);
/** One such character alone among Latin letters is a letter with its neighbor, misread. */
const eastern = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}]";
/** Joiners, and punctuation next to letters that are not Latin. */
const joined =
  "\\u05be\\u05f3\\u05f4\\u060c\\u061b\\u061f\\u200c-\\u200f\\u3000-\\u303f\\u30fb\\uff00-\\uff65";
const strangeForms = [
  // Other than abc, Abc and ABC.
  /(?<![\p{L}\p{M}])(?!(?:[\p{Lu}\p{Lt}]?[\p{Ll}\p{Lo}\p{Lm}\p{M}]*|[\p{Lu}\p{Lo}\p{Lm}\p{M}ß]+)(?![\p{L}\p{M}]))[\p{L}\p{M}]/u,
  // Symbols, and punctuation that is on the other side of a word, or of other words.
  new RegExp(`\\p{L}[^\\p{L}\\p{M}\\p{N}\\x00-\\x7f’‘–—${joined}]+\\p{L}`, "u"),
  // ©Disney, not ©aty, which is a misread Šaty.
  new RegExp(`(?!©\\p{Lu}\\p{Ll})[^\\p{L}\\p{M}\\p{N}\\x00-\\x7f“„«‘’‹”»–—¿¡°•${joined}]\\p{L}`, "u"),
  new RegExp(`\\p{L}[^\\p{L}\\p{M}\\p{N}\\x00-\\x7f”“»«’‘›…®©™°×€–—${joined}]`, "u"),
  /ς\p{L}|[ˆˇﬁﬂ]/u,
  new RegExp(
    `[A-Za-z]{2}${eastern}(?!${eastern})|(?<!${eastern})${eastern}[A-Za-z]{2}|${eastern}[a-z](?![A-Za-z])`,
    "u",
  ),
];

/** From 0 to 1, which is no word; a raised number in one, as in `¿ó³ta`, is unlikely. */
function strangeness(word: string): number {
  const isMixed = scripts.filter((script) => script.test(word)).length > 1;
  if (isMixed || strangeForms.some((form) => form.test(word))) return 1;
  return /\p{L}\p{No}+\p{L}/u.test(word) ? 0.4 : 0;
}

/** Without the delimiters of tables, paths and URLs. */
const foreignWords = (text: string): readonly string[] =>
  text.split(/[\s,;|"/:]/).filter((word) => /[^\x00-\x7f]/.test(word));

/** The share of foreign words that are of no language; null for a text with characters that no table has. */
function strangeShare(text: string): number | null {
  if (/[\u0080-\u009f\ufffd\p{Co}\p{Cn}]/u.test(text)) return null;
  const words = foreignWords(text);
  return words.reduce((sum, word) => sum + strangeness(word), 0) / Math.max(1, words.length);
}

/** Whether a text has Japanese letters alone, a third of them kana. */
function isJapanese({ name, text }: Fit): boolean {
  if (name !== "shift_jis" && name !== "euc-jp") return false;
  const foreign = text!.replace(/[\x00-\x7f]+/g, "");
  return (
    /^[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]+$/.test(foreign) &&
    foreign.replace(/[^\u3041-\u30ff]+/g, "").length * 3 >= foreign.length
  );
}
