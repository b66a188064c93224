/** The first error in an invalid JSON text, and its line, counted from 1. */
export interface JsonError {
  readonly line: number;
  readonly what: string;
}

/** The number of characters that V8 shows on each side of an unexpected token. */
const shownAround = 10;

/** Finds the place of the error from the message of `JSON.parse`. V8 has three forms of messages. */
export function jsonError(text: string, message: string): JsonError {
  // A text that ends too early ends on its last line that is not empty.
  const end = text.trimEnd().length;
  const lineAt = (index: number) => text.slice(0, Math.min(end, Math.max(0, index))).split("\n").length;
  const placed = / (?:in|after) JSON at position (\d+)/.exec(message);
  if (placed !== null) return { line: lineAt(Number(placed[1])), what: message.slice(0, placed.index) };
  const shown = /^(Unexpected token .+?), (\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/s.exec(message);
  if (shown !== null) {
    const [, what, before, around] = shown;
    return { line: lineAt(unexpectedIn(text, around!, before === undefined)), what: what! };
  }
  return { line: lineAt(end), what: "unexpected end of file" };
}

/** The index of an unexpected token, for which V8 shows only the text `around` it. */
function unexpectedIn(text: string, around: string, isAtStart: boolean): number {
  if (isAtStart) {
    // V8 shows a short text completely, and else its start up to just after the token, which is somewhere in
    // it.
    for (let index = 0; index < around.length; index++) if (endsUnexpectedly(text, index)) return index;
    return around.length;
  }
  // The same characters may occur earlier in a quoted string, where they are valid.
  let found = text.indexOf(around);
  for (let next = found; next >= 0; next = text.indexOf(around, next + 1)) {
    found = next;
    if (endsUnexpectedly(text, next + shownAround)) break;
  }
  return found + shownAround;
}

/** Whether the character at this index is the unexpected one; a text cut before it is only incomplete. */
function endsUnexpectedly(text: string, index: number): boolean {
  try {
    JSON.parse(text.slice(0, index + 1));
    return false;
  } catch (error) {
    return (error as Error).message.startsWith("Unexpected token");
  }
}
