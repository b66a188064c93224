import { shellWord } from "../../shell-word.ts";
import type { GlobalOptions, ServiceFlags } from "../context/globals.ts";

/** A command for the same service and profile, for the user to copy: `cat imports get ID --profile dev`. */
export const commandLine = (
  words: readonly string[],
  { profile, baseUrl }: Pick<GlobalOptions, "profile" | "baseUrl">,
): string => flagLine(words, {}, { profile, baseUrl, mock: false });

/** A command with flags, which are named as in code: `cat import a.csv --skip-invalid --profile dev`. */
export const flagLine = (
  words: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  { profile, baseUrl, mock }: ServiceFlags,
): string =>
  ["cat", ...words, ...flagWords({ ...flags, profile, baseUrl, mock })]
    .map((word) => shellWord(word))
    .join(" ");

interface TypedChange {
  readonly without?: readonly string[];
  /** Flags to leave out with their value. */
  readonly withoutValues?: readonly string[];
  readonly add?: readonly string[];
}

/** The command as the user typed it, to run again with a change. */
export function typedLine(
  typed: readonly string[],
  { without = [], withoutValues = [], add = [] }: TypedChange = {},
): string {
  const isLeftOut = (word: string, at: number) =>
    without.includes(word) ||
    withoutValues.some((flag) => word === flag || word.startsWith(`${flag}=`) || typed[at - 1] === flag);
  const kept = typed.filter((word, at) => !isLeftOut(word, at));
  return ["cat", ...kept, ...add.filter((word) => !kept.includes(word))]
    .map((word) => shellWord(word))
    .join(" ");
}

/** Flags that start over or decide about an earlier run, which the next run must not do again. */
export const onceOnly: TypedChange = { without: ["--fresh"], withoutValues: ["--unknown"] };

/** The same for a command that waits for the results. */
export const waiting: TypedChange = { ...onceOnly, without: ["--fresh", "--no-wait"] };

/** The same for a command that also takes the rows beyond its limit, of which a review says nothing. */
export const unlimited: TypedChange = { ...onceOnly, withoutValues: ["--unknown", "--limit", "--approved"] };

/** A flag as typed, by its name in code: `--images-root`. */
export const flagName = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** In order: a switch that is true, a text, and each of several texts. Any other value is not set. */
export const flagWords = (flags: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(flags).flatMap(([name, value]) => {
    if (value === true) return [flagName(name)];
    const texts = [value].flat().filter((text) => typeof text === "string");
    return texts.flatMap((text) => [flagName(name), name === "delimiter" && text === "\t" ? "tab" : text]);
  });

/** A file as an argument: a name that starts with `-` would be a flag. */
export const fileWord = (file: string): string => (file.startsWith("-") && file !== "-" ? `./${file}` : file);
