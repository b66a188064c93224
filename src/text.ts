// Text of others is cut to the length that means something before an expression looks at it, and no
// expression looks for the end of a text: on a long run of one character both would take time by the square
// of its length.

/** The encoding of a text by its byte order mark; null without one. */
export function markedEncoding(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | null {
  const hex = Buffer.from(bytes.subarray(0, 3)).toString("hex");
  if (hex.startsWith("fffe")) return "utf-16le";
  if (hex.startsWith("feff")) return "utf-16be";
  return hex === "efbbbf" ? "utf-8" : null;
}

/** A text without its mark: in UTF-16, as `>` of PowerShell writes it, only with one; else in UTF-8. */
export const decodedText = (bytes: Uint8Array): string =>
  new TextDecoder(markedEncoding(bytes) ?? "utf-8").decode(bytes);

/** The start of a text, of at most so many UTF-16 units; half of a character is left out. */
export function startOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The start of a text that takes so many bytes in UTF-8 at most, without half of a character. */
export function startInBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, bytes)));
  return text.slice(0, read);
}

/** A text without the characters at its end that `isEnd`, an expression for one UTF-16 unit, matches. */
export function withoutEnd(text: string, isEnd: RegExp): string {
  let end = text.length;
  while (end > 0 && isEnd.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** A text of so many characters at most, with an ellipsis if it is longer. */
export function truncated(text: string, length: number): string {
  const characters = Array.from(startOf(text, 2 * length));
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : text;
}

/** The most characters of a text of the service that people see; JSON has all of them. */
const longestShown = 500;

/** A text of the service for people. */
export const shortText = (text: string): string => truncated(text, longestShown);

/** A sentence with texts of others: one that is twice as long as such a text loses its middle. */
export function shortMessage(text: string): string {
  if (text.length <= 2 * longestShown) return text;
  const end = text.slice(-longestShown / 5);
  return `${startOf(text, longestShown - end.length - 1)}…${end.replace(/^[\udc00-\udfff]/, "")}`;
}

/** A longer URL is none that the service made. */
const longestUrl = 4_096;

/** A value of a field for people: a URL is useless when cut. */
export const shortValue = (text: string): string =>
  /^https?:\/\/\S+$/.test(startOf(text, longestUrl)) && text.length <= longestUrl ? text : shortText(text);

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The Unix milliseconds of an RFC 3339 time with its offset; NaN for any other text. */
export function parseTime(text: string): number {
  const [, local, fraction = "", offset] = rfc3339.exec(text.trim().toUpperCase()) ?? [];
  const time = Date.parse(`${local}${fraction}${offset}`);
  // Date.parse takes February 30 for March 2.
  const isReal = !Number.isNaN(time) && new Date(`${local}Z`).toISOString().slice(0, 19) === local;
  return isReal ? time : Number.NaN;
}

/**
 * C0, DEL, C1, line and paragraph separators, and every character without a look of its own (Unicode: Cf and
 * Default_Ignorable_Code_Point), such as U+200B, marks that change the writing direction, tags and byte order
 * marks; and the blank of Braille. What a name needs stays: a joiner between emoji, or between letters of a
 * script that joins them, and the first variation selector after a character. Arabic signs of Cf have a look.
 */
const signs = "\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}";
const selectors = "\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}";
const unjoined = "(?!\\p{sc=Latin}|\\p{sc=Greek}|\\p{sc=Cyrillic}|\\p{sc=Han}|\\p{sc=Common})[\\p{L}\\p{M}]";
const hidden = [
  // Joiners, if neither of these two pairs is around them.
  `(?!(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d\\p{Extended_Pictographic})(?!(?<=${unjoined})[\\u200c\\u200d]${unjoined})[\\u200c\\u200d]`,
  `(?<![^\\s${selectors}\\p{Cf}])[${selectors}]`,
  `(?![${signs}${selectors}\\u200c\\u200d])[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u2800\\p{Cf}\\p{DI}]`,
].join("|");
const unseen = new RegExp(hidden, "gu");
const unseenAtStart = new RegExp(`^(?:\\s|${hidden})`, "u");
const unseenAtEnd = new RegExp(`(?:\\s|${hidden})$`, "u");

/** Nearly every text of a file has these characters alone. */
const plainText = /^[ -~]*$/;

/** Whether a text has printable ASCII characters alone, and so no character that cannot be seen. */
export const isPlainText = (text: string): boolean => plainText.test(text);

/** Whether a text has a character that cannot be seen, such as U+200B or a line end. */
export const hasUnseen = (text: string): boolean => !plainText.test(text) && text.search(unseen) !== -1;

/**
 * A text on one line, with every character that cannot be seen as an escape (`\x1b`, `\n`, `\u200b`,
 * `\u{e0041}`). Only this function shows them, one character at a time: code that removes sequences of a
 * terminal misses malformed ones.
 */
export const visible = (text: string): string =>
  plainText.test(text) ? text : text.replace(unseen, asEscape);

/** JSON text with these characters as JSON escapes, so that its value stays the same. */
export const seenInJson = (json: string): string =>
  plainText.test(json) ? json : json.replace(unseen, asJsonEscape);

/** A character as the escape that JSON has for it. */
export const asJsonEscape = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A character as the escape that shows it. */
export function asEscape(character: string): string {
  const code = character.codePointAt(0)!.toString(16).padStart(2, "0");
  if (code.length > 4) return `\\u{${code}}`;
  return shortEscapes[character] ?? (code.length <= 2 ? `\\x${code}` : `\\u${code.padStart(4, "0")}`);
}

/** A text without spaces, and without other characters that cannot be seen, at its ends. */
export const withoutUnseenEnds = (text: string): string =>
  isSeen(text.charCodeAt(0)) && isSeen(text.charCodeAt(text.length - 1)) ? text : withCutEnds(text);

function withCutEnds(text: string): string {
  let [start, end] = [0, text.length];
  // Four units have a character and the one before it.
  const atStart = () => unseenAtStart.exec(text.slice(start, Math.min(end, start + 4)));
  const atEnd = () => unseenAtEnd.exec(text.slice(Math.max(start, end - 4), end));
  for (let cut = atStart(); cut !== null; cut = atStart()) start += cut[0].length;
  for (let cut = atEnd(); cut !== null; cut = atEnd()) end -= cut[0].length;
  return text.slice(start, end);
}

/** A text without spaces at its ends; "" if nothing of it can be seen. */
export const seenText = (text: string): string => (withoutUnseenEnds(text) === "" ? "" : text.trim());

const isSeen = (unit: number): boolean => unit > 0x20 && unit < 0x7f;

/** Whether `withoutUnseenEnds` made `cut` of a text by removing more than spaces. */
export const hadUnseenEnds = (text: string, cut: string): boolean =>
  text.length !== cut.length && /[^\s]|\ufeff/.test(text.replace(cut, ""));

/** A text as a reader sees it: texts that look equal have the same (NFKC). */
export const lookOf = (text: string): string =>
  (plainText.test(text) ? text : text.replace(/[\p{Cc}\p{Cf}\p{DI}\u2800]/gu, "").normalize("NFKC")).trim();
