import type { Argument, Option } from "commander";
import { either } from "./usage-message.ts";

/** Whether the description names every choice, so that a list would repeat them. */
export const explainsAll = (description: string, choices: readonly string[]): boolean =>
  choices.every((choice) => description.split(/[ (),;:]+/).includes(choice));

/** The text next to a flag or an argument in help, e.g. `file format (csv or ndjson; default: from the file name)`. */
export function flagDescription(flag: Option | Argument): string {
  const { description, argChoices, defaultValue, defaultValueDescription } = flag;
  const usual = defaultValueDescription ?? (typeof defaultValue === "boolean" ? undefined : defaultValue);
  const more = [
    ...(argChoices === undefined || explainsAll(description, argChoices) ? [] : [either(argChoices)]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}
