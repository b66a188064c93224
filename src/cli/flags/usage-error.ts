import type { CommanderError } from "commander";
import { series } from "../../flows/words.ts";
import { maskedUserinfo } from "../../http/mask.ts";
import { UsageError } from "../context/errors.ts";

/** The error for a flag that cannot be used with another one, for cases that commander cannot check. */
export const conflict = (flag: string, other: string, hint = "Remove one of them."): UsageError =>
  new UsageError(`${flag} cannot be used with ${other}`, { code: "conflicting_option", param: flag, hint });

/** A mistake on the command line: one line, and a question about the nearest name, if there is one. */
export interface Mistake {
  readonly message: string;
  readonly near?: string | undefined;
}

/** A flag in commander's messages: its name, without the short form and the placeholder. */
const flagIn = String.raw`'(?:-\w, )?(-[^ ']*)(?: [^']*)?'`;

/** Commander's messages, without `error: ` and the near name, and their replacements. */
const rewrites: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [
    new RegExp(`^option ${flagIn} argument '(.*)' is invalid\\. (.*)$`, "s"),
    (flag, value, rule) => `invalid ${flag} ${JSON.stringify(value)}: ${toRule(rule!)}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '([^']*)'\. (.*)$/s,
    (value, name, rule) => `invalid ${name} ${JSON.stringify(value)}: ${toRule(rule!)}`,
  ],
  [
    /^option '(?:-\w, )?((-[^ ']*)(?: [^']*)?)' argument missing$/,
    (usage, flag) => `${flag} needs a value: ${plain(usage!)}`,
  ],
  [
    new RegExp(`^option ${flagIn} cannot be used with option ${flagIn}$`),
    (flag, other) => `${flag} cannot be used with ${other}`,
  ],
  [/^missing required argument '(.*)'$/, (name) => `missing argument: ${name}`],
  [/^required option '(-[^']*)' not specified$/, (usage) => `missing flag: ${plain(usage!)}`],
  [
    /^too many arguments(?: for '.*')?\. Expected (\d+) arguments? but got (\d+)$/,
    (expected, given) => `too many arguments: expected ${expected}, got ${given}`,
  ],
  [/^unknown command '(.*)'$/s, (name) => `unknown command ${JSON.stringify(name)}`],
  // Without its value, which may be a secret: `--api-key=KEY`, `-kKEY`.
  [/^unknown option '(--[^=]*(?='$|=)|-[^-])/s, (flag) => `unknown flag ${flag}`],
];

/** A complaint of commander like all errors: lower case, no full stop, masked passwords. */
export function toMistake({ message: text }: CommanderError): Mistake {
  const at = text.lastIndexOf("\n(Did you mean ");
  const near = at === -1 ? undefined : text.slice(at + 2, -1);
  const sentence = (at === -1 ? text : text.slice(0, at)).replace(/^error: /, "").replace(/\.$/, "");
  for (const [pattern, rewrite] of rewrites) {
    const parts = pattern.exec(sentence);
    if (parts !== null) return { message: maskedUserinfo(rewrite(...parts.slice(1))), near };
  }
  return { message: maskedUserinfo(sentence), near };
}

const toRule = (rule: string): string =>
  rule.replace(/^Allowed choices are (.*)$/s, (_, choices) => `use ${either(choices.split(", "))}`);

/** A usage without brackets: `--q TEXT`. */
export const plain = (usage: string): string => usage.replaceAll(/[<>]/g, "");

/** `table, json or csv` */
export const either = (choices: readonly string[]): string => series(choices, "or");
