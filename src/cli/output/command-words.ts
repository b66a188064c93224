import type { GlobalOptions } from "../context/global-options.ts";
import { shellWord } from "./shell-word.ts";

/** The words of a command to type next, e.g. `cat import a.csv --mode create`. */
export class CommandWords {
  readonly #words: string[];

  /** `command` is a command that reads a file of rows. */
  constructor(command: string, file: string) {
    this.#words = ["cat", command, file.startsWith("-") && file !== "-" ? `./${file}` : file];
  }

  /** The command as it is typed in a shell. */
  get line(): string {
    return this.#words.map(shellWord).join(" ");
  }

  /** Adds a flag where it is set. */
  give(flag: string, value: string | boolean | undefined): void {
    if (value === true) this.#words.push(flag);
    else if (typeof value === "string") this.#words.push(flag, value);
  }

  giveDelimiter(delimiter: string | undefined): void {
    this.give("--delimiter", delimiter === "\t" ? "tab" : delimiter);
  }

  /** Adds the global flags that say which service is meant. */
  giveService({ profile, baseUrl, mock }: Pick<GlobalOptions, "profile" | "baseUrl" | "mock">): void {
    this.give("--profile", profile);
    this.give("--base-url", baseUrl);
    this.give("--mock", mock);
  }
}
