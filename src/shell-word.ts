import { platform } from "node:os";
import { visible } from "./text.ts";

/** A word of a command line for the user to copy, quoted if it has special characters of a shell. */
export function shellWord(text: string, system: string = platform()): string {
  // PowerShell and cmd agree on double quotes, which no name of Windows has.
  if (system === "win32") return /^[\w.\\/:+-][\w.\\/=:+-]*$/.test(text) ? text : `"${visible(text)}"`;
  if (/^[\w./:@%+-][\w./=:@%+-]*$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  // Control and invisible characters become escapes that bash, zsh and ksh read. Bytes are octal, because the
  // three shells agree on the length of octal escapes.
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
