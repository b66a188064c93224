import { didYouMean } from "../contract/did-you-mean.ts";
import { commandNames } from "./command-names.ts";
import { firstWord } from "./find-command.ts";

/**
 * One line that names the command of this program which a failed command line for the system's cat probably meant, e.g.
 * `cat improt x.csv`; null if it named a file, or no command is near. It repeats nothing but the first word.
 */
export async function nearMiss(argv: readonly string[]): Promise<string | null> {
  const word = firstWord(argv)?.word;
  if (word === undefined || !/^[a-z]{3,20}$/i.test(word)) return null;
  const { existsSync } = await import("node:fs");
  if (existsSync(word)) return null;
  const [near] = didYouMean(word, commandNames);
  return near === undefined
    ? null
    : `Did you mean the command \`cat ${near}\` of catalogue? See: cat help ${near}\n`;
}
