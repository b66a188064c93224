// Text of others is cut to the length that means something before an expression looks at it, and no expression looks for
// the end of a text: on a long run of one character both would take time by the square of its length.

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

/** A sentence that has texts of others, for people: one that is twice as long as such a text loses its middle. */
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
