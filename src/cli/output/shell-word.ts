import { visible } from "./visible.ts";

/** A word of a command line that people are to copy: quoted where a shell would take it for something else. */
export function shellWord(text: string): string {
  if (/^[\w./:@%+-][\w./=:@%+-]*$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  // What a terminal would obey, or not show, stands as an escape that bash, zsh and ksh read: bytes in octal, as all three
  // agree on where those end.
  return `$'${Array.from(text, escaped).join("")}'`;
}

function escaped(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  const short = visible(character);
  if (short === character || /^\\[nrt]$/.test(short)) return short;
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `\\${byte.toString(8).padStart(3, "0")}`,
  ).join("");
}
