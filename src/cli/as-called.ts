import { commandNames } from "./command-names.ts";
import type { ProgramName } from "./context/context.ts";

/** `cat` and a command, as in `Run: cat login` or `$(cat config path)`; neither a path nor the start of a quoted name. */
const command = `(?<![\\w./'"-])cat(?= (?:${[...commandNames, "COMMAND", "--help"].join("|")})(?![\\w/-]|\\.\\w))`;

/**
 * Returns a function that writes the commands in a text of this program with the name that the user called; the sources say
 * `cat`. A file that the user named stays as it is, as do files named after it: `cat import kit.failed.csv`.
 */
export function asCalled(program: ProgramName, argv: readonly string[]): (text: string) => string {
  if (program === "cat") return (text) => text;
  const typed = argv
    .map((word) => word.replace(/\.[^./]*$/, ""))
    .filter((word) => new RegExp(`${command}.`).test(word))
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp([...typed, '"(?!\\$\\()[^"\\n]*"', command].join("|"), "g");
  return (text) => text.replace(pattern, (found) => (found === "cat" ? program : found));
}
