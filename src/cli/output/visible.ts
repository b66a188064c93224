// Characters that cannot be seen, in data that commands print; `visible` (src/text.ts) shows them.

import { asEscape, asJsonEscape } from "../../text.ts";

/** Characters that a CSV cell shows as escapes: controls, separators, byte order and direction marks. */
const unseenInCell =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The same without C0, which JSON text has only as its own line ends. */
const unseenInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The text of a CSV cell, with controls as escapes, except tabs and line ends. */
export const visibleInCell = (text: string): string => text.replace(unseenInCell, asEscape);

/** The same for JSON text of `JSON.stringify`, with JSON escapes, so that its value stays the same. */
export const visibleInJson = (json: string): string => json.replace(unseenInJson, asJsonEscape);

/** A value as one line of JSON, line end included; control characters that JSON allows are escaped too. */
export const jsonLine = (value: unknown): string => `${visibleInJson(JSON.stringify(value) ?? "null")}\n`;
