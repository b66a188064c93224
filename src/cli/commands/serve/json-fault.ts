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
    return { line: lineAt(unexpectedIn(text, around!, before === undefined)), what: what! };
  }
  return { line: lineAt(end), what: "it ends too early" };
}

/** Where the token is that V8 shows `around`, but does not say the place of. */
function unexpectedIn(text: string, around: string, isAtStart: boolean): number {
  if (isAtStart) {
    // It shows a short text as a whole, and of any other its start and a little more: the fault is somewhere in it.
    for (let index = 0; index < around.length; index++) if (endsUnexpectedly(text, index)) return index;
    return around.length;
  }
  // The same may stand before, in a text between quotes, where nothing is wrong with it.
  let found = text.indexOf(around);
  for (let next = found; next >= 0; next = text.indexOf(around, next + 1)) {
    found = next;
    if (endsUnexpectedly(text, next + shownAround)) break;
  }
  return found + shownAround;
}

/** Whether the text goes wrong with this very sign; one that is cut before it only lacks its end. */
function endsUnexpectedly(text: string, index: number): boolean {
  try {
    JSON.parse(text.slice(0, index + 1));
    return false;
  } catch (error) {
    return (error as Error).message.startsWith("Unexpected token");
  }
}
