// Letters that were encoded twice: UTF-8 that was read as a legacy code page, such as CafÃ© for Café. A word
// is one of them if its characters, written in a code page, are valid UTF-8, and no sound word looks so.

import { startOf } from "../../text.ts";

/** Bytes without a character in them are C1 controls, as in ISO 8859-1. */
const codePages = [
  "windows-1252",
  "windows-1250",
  "windows-1251",
  "windows-1253",
  "windows-1254",
  "windows-1257",
  "macintosh",
] as const;

interface Tables {
  /** Bits of the code pages in which a UTF-16 unit is the first byte of a letter, and a later one. */
  readonly first: Uint8Array;
  readonly later: Uint8Array;
  /** By code page, the bytes of its characters. */
  readonly bytes: readonly ReadonlyMap<number, number>[];
}

let tables: Tables | undefined;

function makeTables(): Tables {
  const first = new Uint8Array(0x10000);
  const later = new Uint8Array(0x10000);
  const bytes = codePages.map((codePage, at) => {
    const high = Uint8Array.from({ length: 0x80 }, (_, index) => 0x80 + index);
    // Without `stream` some Node releases read Windows-1252 as ISO-8859-1.
    const text = new TextDecoder(codePage).decode(high, { stream: true });
    const ofPage = new Map<number, number>();
    for (const byte of high) {
      const unit = text.charCodeAt(byte - 0x80);
      const units = byte < 0xa0 ? [byte, unit] : [unit];
      for (const one of units.filter((one) => one !== 0xfffd)) {
        ofPage.set(one, byte);
        if (byte < 0xc0) later[one]! |= 1 << at;
        else if (byte >= 0xc2 && byte <= 0xf4) first[one]! |= 1 << at;
      }
    }
    return ofPage;
  });
  return { first, later, bytes };
}

/** The rest of a longer text is not looked at. */
const longestText = 4_000;

/** Whether a text has a word whose letters were encoded twice. */
export function isDoubleEncoded(whole: string): boolean {
  const text = startOf(whole, longestText);
  tables ??= makeTables();
  const { first, later } = tables;
  // Nearly all foreign words have no such pair.
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80 || (first[text.charCodeAt(at - 1)]! & later[unit]!) === 0) continue;
    return msDos.test(text) || foreignA.test(text) || text.split(betweenWords).some(isDoubleWord);
  }
  return msDos.test(text);
}

/** Code pages of MS-DOS are not among those of `TextDecoder`: é is ├®, Р is ╨а. */
const msDos = /[├┬┼╨╤][^\s\x00-\x7f─]/;

/** The word à between Latin words, in an alphabet in which Г or Γ may be a word. */
const foreignA = /[a-z\d] [ГΓ]\u00a0 [a-z\d]/i;

/** A space that does not break may be a byte of a letter. */
const betweenWords = /[\t\n\r !-/:-@[-`{-~]+/;

function isDoubleWord(word: string): boolean {
  const { first, later, bytes } = tables!;
  const at = word.search(/[^\x00-\x7f]/);
  const pages = at === -1 ? 0 : first[word.charCodeAt(at)]! & (later[word.charCodeAt(at + 1)] ?? 0);
  return pages !== 0 && bytes.some((ofPage, page) => (pages & (1 << page)) !== 0 && isDoubleIn(word, ofPage));
}

function isDoubleIn(word: string, bytes: ReadonlyMap<number, number>): boolean {
  let isSure = false;
  /** Letters of another alphabet one after the other, and whether not all are capitals. */
  let foreign = { count: 0, isMixed: false };
  let isAfterLatin = false;
  for (let at = 0; at < word.length; ) {
    const letter = letterAt(word, at, bytes);
    if (letter === null) return false;
    const { length, character } = letter;
    const own = word.slice(at, at + length);
    const [before, after] = [word[at - 1] ?? "", word[at + length] ?? ""];
    at += length;
    const kind = length === 1 ? "plain" : kindOf(character);
    if (kind === null) return false;
    foreign =
      kind === "foreign"
        ? { count: foreign.count + 1, isMixed: foreign.isMixed || mixed.test(own) }
        : { count: 0, isMixed: false };
    isSure ||= kind === "sure" || (foreign.count > 1 && foreign.isMixed);
    isSure ||= kind === "latin" && (isAfterLatin || isSureLatin(own, before, after));
    isAfterLatin = kind === "latin" && !signBetweenWords.test(own);
  }
  return isSure;
}

/** The kind of a character that words have; null for others. */
function kindOf(character: string): "foreign" | "latin" | "sure" | null {
  if (foreignLetter.test(character)) return "foreign";
  if (latinLetter.test(character)) return "latin";
  return sureSign.test(character) ? "sure" : null;
}

/** A character of UTF-8 whose bytes are characters of a code page; null if they are none. */
function letterAt(
  word: string,
  at: number,
  bytes: ReadonlyMap<number, number>,
): { length: number; character: string } | null {
  const unit = word.charCodeAt(at);
  if (unit < 0x80) return { length: 1, character: word[at]! };
  const start = bytes.get(unit) ?? 0;
  const length = start < 0xc2 ? 0 : start < 0xe0 ? 2 : start < 0xf0 ? 3 : start < 0xf5 ? 4 : 0;
  if (length === 0) return null;
  // A TextDecoder and its exceptions take several times as long.
  let point = start & (0x7f >> length);
  for (let later = at + 1; later < at + length; later++) {
    const byte = bytes.get(word.charCodeAt(later)) ?? 0;
    if (byte < 0x80 || byte > 0xbf) return null;
    point = point * 0x40 + (byte & 0x3f);
  }
  const isShortest = point >= (length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000);
  return isShortest && point <= 0x10ffff ? { length, character: String.fromCodePoint(point) } : null;
}

/** Letters, and signs of Latin texts, that are in common use. */
const latinLetter = /[\u00a0-\u017fƏəƠơƯưȘ-ț\u1e80-\u1ef9]|[\u0300-\u036f]/;
const foreignLetter =
  /[ЁЄІЇА-яёєіїҐґΆΈ-ώא-תء-يپچژکگی۰-۹\u0e01-\u0e5b\u0900-\u097f\u10d0-\u10fa\u0531-\u0587\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]/;
/** Signs that no sound word is by chance: quotes, the euro sign, a byte order mark, emoji. */
const sureSign = /[\u200b-\u203a€№™\ufeff\u{1f000}-\u{1ffff}]|\ufe0f/u;

/** Not capitals alone; after a dash or another sign, a letter may be the first of a word. */
const mixed = /^\p{L}.*\P{Lu}|^\P{L}+$/u;

/** Signs that are written next to words, and those that are between words too. */
const besideWords = /^[\u00a0\u00ad–—‘’‚“”„…‹›«»•·™®©*№°§ˇ]$/;
const betweenLetters = /[\u00a0–—‘’“”…»™®·]/;
const signBetweenWords = /^[«»…\u00a0]/;
/** Letters of words; œ and Ÿ follow no capital letter but an O. */
const letterOfWord = /^(?![œŒŸƒ])[\p{Lu}\p{Ll}]$/u;

/** Whether a Latin letter was encoded twice for sure: BLÅ–HVIT, LÃ™, MĂŞTI and Ăştia are words. */
function isSureLatin(own: string, before: string, after: string): boolean {
  const lead = own[0]!;
  if (signBetweenWords.test(own)) return false;
  // The word à, and a space that does not break; LÃ is a word.
  if (/^[ÂÃĂĆ]\u00a0$/.test(own) && !/\p{L}/u.test(before)) return true;
  const later = [...own.slice(1)];
  const isOdd = later.some((one) => !besideWords.test(one) && !letterOfWord.test(one));
  const isInWord = /[a-z]/.test(after);
  // Letters of another alphabet are next to Latin ones by no chance.
  if (/[^\p{sc=Latin}\p{sc=Common}]/u.test(lead))
    return isInWord || /[a-z]/.test(before) || (isOdd && /[A-Z]/.test(before + after));
  if (isOdd || /[√≈¬]/.test(lead)) return true;
  if (own.length === 3 && later.every((one) => letterOfWord.test(one))) return true;
  if (lead === "Â" && /[\xa1-\xba\xbc-\xbf]/.test(later[0]!)) return true;
  // No word has a capital letter within small ones.
  if (/[\p{Lu}ƒ]/u.test(lead) && /[a-z]/.test(before)) return true;
  return isInWord && isSureBeforeSmall(own, before);
}

/** The same for a letter before a small one, such as NÄ›mecko and Ã–sterreich. */
function isSureBeforeSmall(own: string, before: string): boolean {
  const later = [...own.slice(1)];
  if (/[A-Z]/.test(before)) return !later.some((one) => betweenLetters.test(one));
  const isStart = own.length > 2 || !/\p{L}/u.test(before);
  return isStart && !/[şţ]/.test(own);
}
