import { Command, type CommanderError } from "commander";
import { didYouMean } from "../../contract/did-you-mean.ts";
import { UsageError } from "../context/errors.ts";
import { type UsageMessage, usageMessage } from "./usage-message.ts";

/** Thrown once help was printed: nothing is left to run. */
export class HelpShown extends Error {
  override readonly name = "HelpShown";
}

/**
 * A command that reports mistakes as a UsageError (exit 2) instead of ending the process. The program that it
 * is added to collects its help. Flags are listed under "Flags:" unless `optionsGroup` sets another heading;
 * see `otherFlags`.
 */
export function command(name: string): Command {
  const made = new Command(name)
    .optionsGroup("Flags:")
    .helpOption(...helpFlag)
    .helpCommand(false)
    .showHelpAfterError(false)
    .allowExcessArguments(false);
  return made.exitOverride((error) => {
    throw error.exitCode === 0 ? new HelpShown() : usageError(error, made);
  });
}

const helpFlag = ["-h, --help", "show this help (global flags: cat --help)"] as const;

/**
 * Opens the last group of flags of a long help page, which holds `--help`. The earlier groups:
 * `optionsGroup("Input:")`.
 */
export const otherFlags = (one: Command): Command => one.optionsGroup("Other flags:").helpOption(...helpFlag);

/** A group of commands, such as `products`; it does nothing by itself. */
export function group(name: string, commands: readonly Command[]): Command {
  const made = command(name).usage("COMMAND [flags]");
  for (const one of commands) made.addCommand(one);
  return made;
}

/** Examples at the end of a command's help: a comment with the purpose, then the line to type. */
export const examples = (lines: readonly (readonly [purpose: string, line: string])[]): string =>
  `\nExamples:\n${lines.map(([purpose, line]) => `  # ${purpose}\n  $ ${line}\n`).join("\n")}`;

/** The full name of a command, e.g. `cat products list`. */
export function pathOf(one: Command): string {
  const names = [];
  for (let at: Command | null = one; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

/** For a command that takes no arguments but has commands, such as `export`: an extra argument is a mistyped command. */
function mistypedCommand({ code }: CommanderError, { commands, args }: Command): UsageMessage | null {
  const [word] = args;
  if (code !== "commander.excessArguments" || word === undefined) return null;
  const meant = didYouMean(
    word,
    commands.map((one) => one.name()),
  );
  if (meant.length === 0) return null;
  return { message: `unknown command ${JSON.stringify(word)}`, near: `Did you mean ${meant.join(" or ")}?` };
}

/** Dashes that editors and chats put in the place of `-` and `--`. */
const otherDash = /^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+/;

/** For an extra argument such as `—json`, which a text editor made of a flag. */
function otherDashes({ code }: CommanderError, { args }: Command): UsageMessage | null {
  const word = code === "commander.excessArguments" ? args.find((one) => otherDash.test(one)) : undefined;
  if (word === undefined) return null;
  // Without its value, which may be a secret.
  const flag = word.replace(otherDash, "").replace(/[=\s].*$/s, "");
  return {
    message: `${JSON.stringify(word.slice(0, 1))} is not the - of a flag`,
    near: `Did you mean --${flag}?`,
  };
}

/** The error for a word that is not a command of a group. */
export function unknownCommand(of: Command, word: string): UsageError {
  const names = of.commands.map((one) => one.name());
  const near = didYouMean(word, names);
  const question = near.length === 0 ? "" : `Did you mean ${near.join(" or ")}? `;
  return new UsageError(`unknown command ${JSON.stringify(word)}`, {
    code: "unknown_command",
    hint: `${question}See: ${pathOf(of)} --help`,
  });
}

/** Whether the command has a flag, or the program has it for all commands. */
function hasFlag(one: Command, flag: string): boolean {
  for (let at: Command | null = one; at !== null; at = at.parent) {
    if (at.options.some(({ long }) => long === flag)) return true;
  }
  return false;
}

/** A complaint of commander as a UsageError: one line, then a near name and the help page to read. */
function usageError(error: CommanderError, from: Command): UsageError {
  const help = `See: ${pathOf(from)} --help`;
  // For a group without a command, commander shows its help as an error.
  if (error.code === "commander.help") {
    const names = from.commands.map((one) => one.name()).join(", ");
    return new UsageError(`${pathOf(from)} needs a command: ${names}`, {
      code: "missing_command",
      hint: help,
    });
  }
  const { message, near } = otherDashes(error, from) ?? mistypedCommand(error, from) ?? usageMessage(error);
  const [, flag] = /^unknown flag (--\S+)$/.exec(message) ?? [];
  if (flag !== undefined && hasFlag(from, flag)) {
    return new UsageError(`${flag} takes no value`, {
      code: "flag_without_value",
      hint: `Remove the = and the text after it. ${help}`,
    });
  }
  const isConflict = error.code === "commander.conflictingOption";
  const isValue = from.registeredArguments.length > 0 && /^unknown flag -[^-]$/.test(message);
  const asValue = isValue
    ? ` For a value that starts with -, put -- before it: ${pathOf(from)} -- VALUE`
    : "";
  return new UsageError(message, {
    code: error.code.replace(/^commander\./, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    hint: isConflict
      ? "Remove one of them."
      : `${near === undefined ? help : `${near} ${help}`}${asValue && `.${asValue}`}`,
  });
}
