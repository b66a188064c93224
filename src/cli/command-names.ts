import type { ProgramName } from "./context/context.ts";
import { globalFlagLength } from "./context/globals.ts";

/** Every subcommand, in the order of the help. A `cat` with another first word is the system's. */
export const commandNames = [
  "import",
  "imports",
  "runs",
  "tryon",
  "beautify",
  "tasks",
  "export",
  "exports",
  "products",
  "images",
  "models",
  "webhooks",
  "serve",
  "api",
  "login",
  "logout",
  "whoami",
  "doctor",
  "config",
  "commands",
  "mcp",
  "completion",
  "help",
] as const;
export type CommandName = (typeof commandNames)[number];

/** The subcommand on a command line, or a flag for the help or the version. */
export interface FoundCommand {
  readonly name: CommandName | "--help" | "-h" | "--version";
  readonly index: number;
}

const names: ReadonlySet<string> = new Set([...commandNames, "--help", "-h", "--version"]);

/** The first argument that is not a global flag or its value; null without one. */
export function firstWord(argv: readonly string[]): { word: string; index: number } | null {
  let index = 0;
  while (index < argv.length) {
    const length = globalFlagLength(argv, index);
    if (length === 0) return { word: argv[index]!, index };
    index += length;
  }
  return null;
}

/** The subcommand that the arguments name; null for a command line for the system's cat. */
export function findCommand(argv: readonly string[]): FoundCommand | null {
  const first = firstWord(argv);
  if (first === null || !names.has(first.word)) return null;
  return { name: first.word as FoundCommand["name"], index: first.index };
}

/** `cat` and a command, as in `Run: cat login`; no path, no start of a quoted name. */
const command = `(?<![\\w./'"-])cat(?= (?:${[...commandNames, "COMMAND", "--help", "--version", "needs a command"].join("|")})(?![\\w/-]|\\.\\w))`;

/**
 * Returns a function that writes the commands in a text of this program with the name that the user called;
 * the sources say `cat`. A file that the user named stays as it is, as do files named after it:
 * `cat import kit.failed.csv`.
 */
export function asCalled(program: ProgramName, argv: readonly string[]): (text: string) => string {
  if (program === "cat") return (text) => text;
  const typed = argv
    .map((word) => word.replace(/\.[^./]*$/, ""))
    .filter((word) => new RegExp(`${command}.`).test(word))
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp([...typed, '"(?!\\$\\()[^"\\n]*"', command].join("|"), "g");
  return (text) => text.replace(pattern, (matched) => (matched === "cat" ? program : matched));
}
