/*
 * Text from the service or a file may contain terminal controls: escape sequences, carriage returns, marks
 * that change the writing direction. Only this module makes them visible, one character at a time: code that
 * removes sequences misses malformed ones.
 */

/**
 * C0, DEL, C1, line and paragraph separators, and every character without a look of its own (Unicode: Cf and
 * Default_Ignorable_Code_Point), such as U+200B, marks that change the writing direction, tags and byte order marks. What
 * a name needs stays: a joiner between emoji, or between letters of a script that joins them, and the first variation
 * selector after a character. Arabic signs of Cf have a look.
 */
const signs = "\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}";
const selectors = "\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}";
const unjoined = "(?!\\p{sc=Latin}|\\p{sc=Greek}|\\p{sc=Cyrillic}|\\p{sc=Han}|\\p{sc=Common})[\\p{L}\\p{M}]";
const hidden = [
  // Joiners, if neither of these two pairs is around them.
  `(?!(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d\\p{Extended_Pictographic})(?!(?<=${unjoined})[\\u200c\\u200d]${unjoined})[\\u200c\\u200d]`,
  `(?<![^\\s${selectors}\\p{Cf}])[${selectors}]`,
  `(?![${signs}${selectors}\\u200c\\u200d])[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\p{Cf}\\p{DI}]`,
];
const unseen = new RegExp(hidden.join("|"), "gu");

/**
 * What a CSV cell does not have as it is: C0 except tab and line ends (it is quoted), DEL, C1, separators, byte order marks, and
 * marks that change the writing direction.
 */
const unseenInCell =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The same without C0, which JSON text has only as its own line ends. */
const unseenInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text on one line, with every character that cannot be seen as an escape (`\x1b`, `\n`, `\u200b`, `\u{e0041}`). */
export const visible = (text: string): string => (/[^ -~]/.test(text) ? text.replace(unseen, written) : text);

/** The same for a CSV cell: tabs and line ends are kept, because the cell is quoted. */
export const visibleInCell = (text: string): string => text.replace(unseenInCell, written);

/** The same for JSON text of `JSON.stringify`, with JSON escapes, so that its value stays the same. */
export const visibleInJson = (json: string): string =>
  json.replace(unseenInJson, (character) => `\\u${hex(character).padStart(4, "0")}`);

function written(character: string): string {
  const code = hex(character);
  if (code.length > 4) return `\\u{${code}}`;
  return short[character] ?? (code.length <= 2 ? `\\x${code}` : `\\u${code.padStart(4, "0")}`);
}

const hex = (character: string): string => character.codePointAt(0)!.toString(16).padStart(2, "0");

/** A value as one line of JSON, line end included; control characters that JSON allows are escaped too. */
export const jsonLine = (value: unknown): string => `${visibleInJson(JSON.stringify(value) ?? "null")}\n`;
