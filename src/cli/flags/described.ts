import type { Argument, Option } from "commander";
import { either } from "./usage-error.ts";

/** What help says about the value of a flag or an argument. */
export interface Valued {
  readonly description: string;
  /** The allowed values; null if there are others. */
  readonly choices: readonly string[] | null;
  /** The default as help shows it; null without one. */
  readonly default: string | number | null;
}

export function toValued(flag: Option | Argument): Valued {
  const { description, argChoices, defaultValue, defaultValueDescription } = flag;
  const usual = defaultValueDescription ?? (typeof defaultValue === "boolean" ? undefined : defaultValue);
  return {
    description,
    choices: argChoices ?? null,
    default: (usual as string | number | undefined) ?? null,
  };
}

/** The text next to a flag or an argument in help, e.g. `file format (csv or ndjson; default: from the file name)`. */
export const flagDescription = (flag: Option | Argument): string => describedValue(toValued(flag), []);

/** The description of a value, with its choices, its default and other facts in parentheses. */
export function describedValue(
  { description, choices, default: usual }: Valued,
  facts: readonly string[],
): string {
  const words = description.split(/[ (),;:]+/);
  // A description that names every choice needs no list of them.
  const isListed = choices === null || choices.every((choice) => words.includes(choice));
  const more = [
    ...facts,
    ...(isListed ? [] : [either(choices)]),
    ...(usual === null ? [] : [`default: ${usual}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}
