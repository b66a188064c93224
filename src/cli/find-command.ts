import { type CommandName, commandNames } from "./command-names.ts";
import { globalFlagLength } from "./global-flags.ts";

/** The subcommand on a command line, or a flag for the help or the version. */
export interface Found {
  readonly name: CommandName | "--help" | "-h" | "--version";
  /** Its index in the arguments. */
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
export function findCommand(argv: readonly string[]): Found | null {
  const first = firstWord(argv);
  if (first === null || !names.has(first.word)) return null;
  return { name: first.word as Found["name"], index: first.index };
}
