/** Where a text stops being JSON, as a line of it counted from 1, and what is wrong there. */
export interface JsonFault {
  readonly line: number;
  readonly what: string;
}

/** How much of the text V8 shows on each side of what it did not expect. */
const shownAround = 10;

/** Reads the place out of the message of a `JSON.parse` that failed. V8 tells it in three ways. */
export function jsonFault(text: string, message: string): JsonFault {
  // What is missing at the end is missing on the last line that has anything on it.
  const end = text.trimEnd().length;
  const lineAt = (index: number) => text.slice(0, Math.min(end, Math.max(0, index))).split("\n").length;
  const told = / (?:in|after) JSON at position (\d+)/.exec(message);
  if (told !== null) return { line: lineAt(Number(told[1])), what: message.slice(0, told.index) };
  const shown = /^(Unexpected token .+?), (\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/s.exec(message);
  if (shown !== null) {
    const [, what, before, around] = shown;
    return { line: lineAt(text.indexOf(around!) + (before === undefined ? 0 : shownAround)), what: what! };
  }
  return { line: lineAt(end), what: "it ends too early" };
}
