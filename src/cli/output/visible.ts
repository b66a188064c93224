/*
 * Text from the service or a file may contain terminal controls: escape sequences, carriage returns, marks
 * that change the writing direction. Only this module makes them visible, one character at a time: code that
 * removes sequences misses malformed ones.
 */

/**
 * C0, DEL, C1, line and paragraph separators, byte order marks, and marks that change the writing direction.
 */
const unseen = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** The same without tab and line ends, which a quoted CSV cell may contain. */
const unseenInCell =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The same without C0, which JSON text has only as its own line ends. */
const unseenInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text on one line, with every control character as an escape (`\x1b`, `\n`, `\u202e`). */
export const visible = (text: string): string => text.replace(unseen, written);

/** The same for a CSV cell: tabs and line ends are kept, because the cell is quoted. */
export const visibleInCell = (text: string): string => text.replace(unseenInCell, written);

/** The same for JSON text of `JSON.stringify`, with JSON escapes, so that its value stays the same. */
export const visibleInJson = (json: string): string =>
  json.replace(unseenInJson, (character) => `\\u${hex(character).padStart(4, "0")}`);

function written(character: string): string {
  const code = hex(character);
  return short[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code}`);
}

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");

/** A value as one line of JSON, line end included; control characters that JSON allows are escaped too. */
export const jsonLine = (value: unknown): string => `${visibleInJson(JSON.stringify(value) ?? "null")}\n`;
