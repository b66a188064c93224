/*
 * Text of the service or of a file may hold what a terminal obeys: escape sequences, carriage returns, marks that turn
 * the direction of writing. This is the one place that makes them visible, character by character: removing whole
 * sequences leaves half of the hostile ones.
 */

/** C0, DEL, C1, line and paragraph separators, byte order marks, and the marks that turn the direction of writing. */
const unseen = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** The same without tab and line ends, which a quoted CSV cell may hold. */
const unseenInCell =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with every control character written out (`\x1b`, `\n`, `\u202e`), so that it takes one line and hides nothing. */
export const visible = (text: string): string => text.replace(unseen, written);

/** The same for a CSV cell: tabs and line ends stay, as quotes hold them. */
export const visibleInCell = (text: string): string => text.replace(unseenInCell, written);

/** The same for a text that is JSON: the escapes are JSON's, so it still says exactly what it said. */
export const visibleInJson = (json: string): string =>
  json.replace(unseen, (character) => `\\u${hex(character).padStart(4, "0")}`);

function written(character: string): string {
  const code = hex(character);
  return short[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code}`);
}

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");
