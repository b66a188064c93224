import type { GlobalOptions } from "../context/globals.ts";
import { shellWord } from "./shell-word.ts";

/** Builds a command for the user to run next, e.g. `cat import a.csv --mode create`. */
export class CommandWords {
  readonly #words: string[];

  /** `command` is a command that reads a file of rows; null where flags name what it reads. */
  constructor(command: string, file: string | null) {
    const named = file?.startsWith("-") && file !== "-" ? `./${file}` : file;
    this.#words = ["cat", command, ...(named === null ? [] : [named])];
  }

  /** The command, quoted for a shell. */
  get line(): string {
    return this.#words.map(shellWord).join(" ");
  }

  /** Adds a flag if it is set. */
  give(flag: string, value: string | boolean | undefined): void {
    if (value === true) this.#words.push(flag);
    else if (typeof value === "string") this.#words.push(flag, value);
  }

  giveDelimiter(delimiter: string | undefined): void {
    this.give("--delimiter", delimiter === "\t" ? "tab" : delimiter);
  }

  /** Adds the global flags that choose the service. */
  giveService({ profile, baseUrl, mock }: Pick<GlobalOptions, "profile" | "baseUrl" | "mock">): void {
    this.give("--profile", profile);
    this.give("--base-url", baseUrl);
    this.give("--mock", mock);
  }
}

/** A command for the same service and profile, for the user to copy: `cat imports get ID --profile dev`. */
export function commandLine(
  words: readonly string[],
  { profile, baseUrl }: Pick<GlobalOptions, "profile" | "baseUrl">,
): string {
  const where = [
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(baseUrl === undefined ? [] : ["--base-url", baseUrl]),
  ];
  return ["cat", ...words, ...where].map(shellWord).join(" ");
}
