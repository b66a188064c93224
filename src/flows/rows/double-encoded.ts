// Letters that were encoded twice: UTF-8 that was read as a legacy code page, such as CafÃ© for Café. A word
// is one of them if its characters, written in a code page, are valid UTF-8, and no sound word looks so.

import { startOf } from "../../text.ts";
import { upperHalf } from "./code-pages.ts";

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
  /** The ASCII characters between words; a space that does not break may be a byte of a letter. */
  readonly betweenWords: Uint8Array;
  /** By code page, the bytes of its characters. */
  readonly bytes: readonly ReadonlyMap<number, number>[];
}

let tables: Tables | undefined;

function makeTables(): Tables {
  const first = new Uint8Array(0x10000);
  const later = new Uint8Array(0x10000);
  const bytes = codePages.map((codePage, at) => {
    const text = upperHalf(codePage);
    const ofPage = new Map<number, number>();
    for (let byte = 0x80; byte < 0x100; byte++) {
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
  const isBetween = (unit: number) => /[\t\n\r !-/:-@[-`{-~]/.test(String.fromCharCode(unit));
  const betweenWords = Uint8Array.from({ length: 0x80 }, (_, unit) => (isBetween(unit) ? 1 : 0));
  return { first, later, betweenWords, bytes };
}

/** The rest of a longer text is not looked at. */
const longestText = 4_000;

/** Whether a text has a word whose letters were encoded twice. */
export function isDoubleEncoded(whole: string): boolean {
  const text = startOf(whole, longestText);
  tables ??= makeTables();
  const { first, later, betweenWords } = tables;
  let start = 0;
  let isAscii = true;
  // Nearly all words are sound by their first letter that is not ASCII.
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) {
      const pages = isAscii ? first[unit]! & (later[text.charCodeAt(at + 1)] ?? 0) : 0;
      if (pages !== 0 && isDoubleWord(text, start, at, pages)) return true;
      isAscii = false;
    } else if (betweenWords[unit] === 1) {
      start = at + 1;
      isAscii = true;
    }
  }
  return apart.test(text);
}

/**
 * Letters of code pages of MS-DOS, which are not among those of `TextDecoder`: é is ├®, Р is ╨а. Then the
 * last letter of città without its space, and the word à in alphabets in which Г or Γ may be a word.
 */
const apart = /[├┬┼╨╤][^\s\x00-\x7f─]|[a-z][ÃĂĆГΓ]$|[A-Za-z\d] [ГΓ]\u00a0 [A-Za-z\d]/;

/** Whether a word, whose first letter that is not ASCII is given, was encoded twice in one of the pages. */
function isDoubleWord(text: string, start: number, letter: number, pages: number): boolean {
  const { bytes, betweenWords } = tables!;
  let end = letter;
  while (end < text.length && betweenWords[text.charCodeAt(end)] !== 1) end++;
  const word = text.slice(start, end);
  return bytes.some((ofPage, page) => (pages & (1 << page)) !== 0 && isDoubleIn(word, ofPage));
}

function isDoubleIn(word: string, bytes: ReadonlyMap<number, number>): boolean {
  let isSure = false;
  /** Letters of another alphabet one after the other, and whether not all are capitals. */
  let foreign = 0;
  let isMixed = false;
  let isAfterLatin = false;
  for (let at = 0, next = 0; at < word.length; at = next) {
    const point = letterAt(word, at, bytes);
    if (point === null) return false;
    next = at + lengthOf(point);
    const kind = point < 0x80 ? "plain" : kindOf(String.fromCodePoint(point));
    if (kind === null) return false;
    const isForeign = kind === "foreign";
    foreign = isForeign ? foreign + 1 : 0;
    isMixed = isForeign && (isMixed || mixed.test(word.slice(at, next)));
    isSure ||= kind === "sure" || (foreign > 1 && isMixed);
    isSure ||= kind === "latin" && (isAfterLatin || isSureLatin(word, at, next));
    isAfterLatin = kind === "latin" && !signBetweenWords.test(word[at]!);
  }
  return isSure;
}

/** The kind of a character that words have; null for others. */
function kindOf(character: string): "foreign" | "latin" | "sure" | null {
  if (foreignLetter.test(character)) return "foreign";
  if (latinLetter.test(character)) return "latin";
  return sureSign.test(character) ? "sure" : null;
}

/** How many bytes a character takes in UTF-8. */
const lengthOf = (point: number): number => (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4);

/**
 * A character of UTF-8 whose bytes are characters of a code page; null if they are none. A TextDecoder and
 * its exceptions would take several times as long.
 */
function letterAt(word: string, at: number, bytes: ReadonlyMap<number, number>): number | null {
  const unit = word.charCodeAt(at);
  if (unit < 0x80) return unit;
  const start = bytes.get(unit) ?? 0;
  if (start < 0xc2 || start > 0xf4) return null;
  const length = start < 0xe0 ? 2 : start < 0xf0 ? 3 : 4;
  let point = start & (0x7f >> length);
  for (let later = at + 1; later < at + length; later++) {
    const byte = bytes.get(word.charCodeAt(later)) ?? 0;
    if (byte < 0x80 || byte > 0xbf) return null;
    point = point * 0x40 + (byte & 0x3f);
  }
  return point <= 0x10ffff && lengthOf(point) === length ? point : null;
}

/** Letters, and signs of Latin texts, that are in common use. */
const latinLetter = /[\u00a0-\u017fƏəƠơƯưȘ-ț\u1e80-\u1ef9]|[\u0300-\u036f]/;
const foreignLetter =
  /[Ё-яё-џҐґΆΈ-ώא-ת\u0621-\u06d3\u06f0-\u06f9\u0900-\u0eff\u1200-\u137f\u1780-\u17ff\u10d0-\u10fa\u0531-\u0587\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]/;
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

/** The word à, or a space that does not break; LÃ is a word. */
const aloneA = /^\P{L}?[ÂÃĂĆ]\u00a0$/u;

/** Whether a Latin letter was encoded twice for sure: BLÅ–HVIT, LÃ™, MĂŞTI and Ăştia are words. */
function isSureLatin(word: string, at: number, next: number): boolean {
  const own = word.slice(at, next);
  const lead = own[0]!;
  const [before, after] = [word.charAt(at - 1), word.charAt(next)];
  if (signBetweenWords.test(own)) return false;
  const later = [...own.slice(1)];
  const isOdd = later.some((one) => !besideWords.test(one) && !letterOfWord.test(one));
  const isInWord = /[a-z]/.test(after);
  // Letters of another alphabet are next to Latin ones by no chance.
  if (/[\u0370-\u04ff]/.test(lead))
    return isInWord || /[a-z]/.test(before) || (isOdd && /[A-Z]/.test(before + after));
  if (isOdd || /[√≈¬]/.test(lead) || aloneA.test(before + own)) return true;
  if (own.length === 3 && later.every((one) => letterOfWord.test(one))) return true;
  if (/^Â[\xa1-\xba\xbc-\xbf]/.test(own)) return true;
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
