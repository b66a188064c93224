import type { CommanderError } from "commander";
import { maskedUserinfo } from "../../http/mask.ts";

/** A mistake on the command line: one line, and the near name that commander found, if any. */
export interface UsageMessage {
  readonly message: string;
  /** A question, e.g. `Did you mean --limit?`. */
  readonly near?: string | undefined;
}

type Rewrite = (...parts: string[]) => string;

/**
 * Commander's messages, without `error: ` and the near name, and their replacements. Flags are shown without
 * placeholders.
 */
const rewrites: readonly (readonly [RegExp, Rewrite])[] = [
  [
    /^option '(?:-\w, )?(-[^ ']*)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
    (flag, value, choices) => `invalid ${flag} ${quoted(value!)}: use ${either(choices!.split(", "))}`,
  ],
  [
    /^option '(?:-\w, )?(-[^ ']*)[^']*' argument '(.*)' is invalid\. (.*?)\.?$/s,
    (flag, value, rule) => `invalid ${flag} ${quoted(value!)}: ${rule}`,
  ],
  [
    /^option '(?:-\w, )?((-[^ ']*)[^']*)' argument missing$/,
    (usage, flag) => `${flag} needs a value: ${plain(usage!)}`,
  ],
  [
    /^option '(?:-\w, )?(-[^ ']*)[^']*' cannot be used with option '(?:-\w, )?(-[^ ']*)[^']*'$/,
    (one, other) => `${one} cannot be used with ${other}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/s,
    (value, name, choices) => `invalid ${name} ${quoted(value!)}: use ${either(choices!.split(", "))}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*?)\.?$/s,
    (value, name, rule) => `invalid ${name} ${quoted(value!)}: ${rule}`,
  ],
  [/^missing required argument '(.*)'$/, (name) => `missing argument: ${name}`],
  [/^required option '(-[^']*)' not specified$/, (usage) => `missing flag: ${plain(usage!)}`],
  [
    /^too many arguments(?: for '.*')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (expected, given) => `too many arguments: expected ${expected}, got ${given}`,
  ],
  [/^unknown command '(.*)'$/s, (name) => `unknown command ${quoted(name!)}`],
  // Without its value, which may be a secret: `--api-key=KEY`, `-kKEY`.
  [/^unknown option '(--[^=]*|-[^-]).*'$/s, (flag) => `unknown flag ${flag}`],
];

/** A complaint of commander in the form of all errors: lower case, no full stop. Passwords of URLs are masked. */
export function usageMessage({ message: text }: Pick<CommanderError, "message">): UsageMessage {
  const [, sentence, near] = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s.exec(text)!;
  for (const [pattern, rewrite] of rewrites) {
    const parts = pattern.exec(sentence!);
    if (parts !== null) return { message: maskedUserinfo(rewrite(...parts.slice(1))), near };
  }
  return { message: maskedUserinfo(sentence!.replace(/\.$/, "")), near };
}

const quoted = (text: string): string => JSON.stringify(text);

const plain = (usage: string): string => usage.replaceAll(/[<>]/g, "");

/** `table, json or csv` */
export const either = (choices: readonly string[]): string =>
  choices.length < 2 ? choices.join("") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
