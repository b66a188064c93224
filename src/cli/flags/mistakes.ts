import type { Command, CommanderError } from "commander";
import { didYouMean } from "../../contract/did-you-mean.ts";
import { UsageError } from "../context/errors.ts";
import type { Misread } from "./command.ts";
import { meantByExtra, meantCommands, meantFlags, meantVerbs, ownVerb } from "./first-guesses.ts";
import { type Mistake, plain, toMistake } from "./usage-error.ts";

/** A complaint of commander as a UsageError: one line, then a near name and the help page to read. */
export function usageError({ error, from, example }: Misread): UsageError {
  const help = `See: ${commandPath(from)} --help`;
  // For a group without a command, commander shows its help as an error.
  if (error.code === "commander.help") {
    const names = from.commands.map((subcommand) => subcommand.name()).join(", ");
    return new UsageError(`${commandPath(from)} needs a command: ${names}`, {
      code: "missing_command",
      hint: help,
    });
  }
  const { message, near } =
    explanations.reduce<Mistake | null>((found, explain) => found ?? explain(error, from, example), null) ??
    toMistake(error);
  const [, flag] = /^unknown flag (--\S+)$/.exec(message) ?? [];
  if (flag !== undefined && hasFlag(from, flag)) {
    return new UsageError(`${flag} takes no value`, {
      code: "flag_without_value",
      hint: `Remove the = and the text after it. ${help}`,
    });
  }
  const code = error.code
    .replace(/^commander\./, "")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (code === "conflicting_option") return new UsageError(message, { code, hint: "Remove one of them." });
  if (near !== undefined) return new UsageError(message, { code, hint: `${near} ${help}` });
  const isValue = from.registeredArguments.length > 0 && /^unknown flag -[^-]$/.test(message);
  const asValue = `. For a value that starts with -, put -- before it: ${commandPath(from)} -- VALUE`;
  return new UsageError(message, { code, hint: isValue ? help + asValue : help });
}

export function unknownCommand(of: Command, word: string): UsageError {
  const near = nearCommand(of, word);
  return new UsageError(`unknown command ${JSON.stringify(word)}`, {
    code: "unknown_command",
    hint: `${near === null ? "" : `${near} `}See: ${commandPath(of)} --help`,
  });
}

/** The full name of a command, e.g. `cat products list`. */
function commandPath(command: Command): string {
  const names = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

function nearCommand(command: Command, word: string): string | null {
  const own = command.commands.map((subcommand) => subcommand.name());
  const meant = meantVerbs(word).find((verb) => own.includes(verb));
  return (
    question(meant === undefined ? [] : [meant]) ??
    guessedCommand(command, word) ??
    question(didYouMean(word, own))
  );
}

const question = (meant: readonly string[]): string | null =>
  meant.length === 0 ? null : `Did you mean ${meant.join(" or ")}?`;

/** Asks about the command that a word of other programs means; `noun` is the word after it. */
function guessedCommand(command: Command, word: string, noun?: string): string | null {
  const reversed = command.parent === null ? verbAndNoun(word, noun, command) : null;
  return question(reversed === null ? meantCommands(word, command.name()) : [reversed]);
}

/** `cat products list` for `list products` and `ls product`. */
function verbAndNoun(word: string, noun: string | undefined, { commands }: Command): string | null {
  const names = commands.map((command) => command.name());
  const group = names.find((name) => name.endsWith("s") && (name === noun || name === `${noun}s`));
  const verb = ownVerb(word);
  if (group === undefined || verb === null) return null;
  // `show product X` is one of them, `show products` all.
  return `cat ${group} ${verb === "get" && noun === group ? "list" : verb}`;
}

/** For a word in the place of a command, also for `export`, which has some but needs none. */
function mistypedCommand(error: CommanderError, command: Command): Mistake | null {
  const [word, next] = command.args;
  const isUnknown = error.code === "commander.unknownCommand";
  const isExtra = error.code === "commander.excessArguments" && command.commands.length > 0;
  if (word === undefined || !(isUnknown || isExtra)) return null;
  // Commander has proposed the nearest one.
  const near = isUnknown ? guessedCommand(command, word, next) : nearCommand(command, word);
  return near === null ? null : { message: `unknown command ${JSON.stringify(word)}`, near };
}

/** For a flag of other programs, such as curl, or of another command. */
function flagOfOthers(error: CommanderError, command: Command): Mistake | null {
  if (error.code !== "commander.unknownOption") return null;
  const { message } = toMistake(error);
  const flag = message.replace("unknown flag ", "");
  // Before its arguments, a short flag may be a value that starts with -.
  const takesAny = /^(?:ID|FILE|RUN|NAME)/.test(command.registeredArguments[0]?.name() ?? "");
  const isValue = flag.length === 2 && takesAny && command.args[0] === flag;
  const near = isValue || hasFlag(command, flag) ? null : knownFlag(flag, command);
  return near === null ? null : { message, near };
}

/** The match of a command for a flag of that name, as a sentence. */
function knownFlag(flag: string, command: Command): string | null {
  const [argument] = command.registeredArguments;
  for (const meant of meantFlags(flag, command.name())) {
    if (meant.startsWith("--") && hasFlag(command, meant)) return `Did you mean ${meant}?`;
    if (meant === "ARGUMENT" && argument !== undefined)
      return `Use it without a flag: ${commandPath(command)} ${argument.name()}.`;
    if (meant.includes(" ")) return meant;
  }
  return choiceOfFlag(flag.replace(/^-+/, ""), command);
}

function choiceOfFlag(word: string, { options }: Command): string | null {
  const chosen = options.find(({ argChoices }) => argChoices?.includes(word));
  return chosen === undefined ? null : `Did you mean ${chosen.long} ${word}?`;
}

const pathForm = /[./\\]/;

/** Forms of values, and the placeholders of the flags that take them; the last form is that of any word. */
const forms: readonly (readonly [value: RegExp, placeholder: RegExp])[] = [
  [/^https?:/i, /^URL$/],
  [/^\d+$/, /^(?:N|PORT)$/],
  [/^\d{4}-\d\d-\d\d/, /^TIME/],
  [pathForm, /^(?:FILE|DIR)$/],
  [/^/, /^(?:TEXT|ID\|REF|ID\|NAME)$/],
];

/** For an extra argument: the flags that take such a value. A key is not repeated. */
function looseValue(error: CommanderError, command: Command): Mistake | null {
  const count = command.registeredArguments.length;
  const word = command.args[count];
  if (error.code !== "commander.excessArguments" || word === undefined) return null;
  const [argument] = command.registeredArguments;
  const isFile = argument !== undefined && /^(?:FILE|DIR|DECISIONS)$/.test(argument.name());
  if (isFile && command.args.some((one) => pathForm.test(one))) return null;
  const { message } = toMistake(error);
  const near = /^ak_/.test(word) ? knownFlag("--key", command) : flagsTaking(word, command);
  if (near !== null) return { message, near };
  if (argument === undefined || isFile) return null;
  return { message, near: "Run it once for each, or put a value with spaces in quotes." };
}

function flagsTaking(word: string, command: Command): string | null {
  const chosen = choiceOfFlag(word, command);
  if (chosen !== null) return chosen;
  const placeholder = forms.find(([value]) => value.test(word))![1];
  const taking = command.options.filter(({ flags }) => placeholder.test(/<([^<>]*)>/.exec(flags)?.[1] ?? ""));
  const get = siblingOf(command, "get");
  const near =
    taking.length > 0
      ? taking.slice(0, 2).map(({ flags }) => plain(flags))
      : get !== undefined && command.name() === "list"
        ? [`${commandPath(get)} ${get.registeredArguments[0]!.name()}`]
        : meantByExtra(command.name());
  return question(near);
}

const siblingOf = ({ parent }: Command, name: string): Command | undefined =>
  parent?.commands.find((command) => command.name() === name);

/** For a missing argument: the list that has its IDs, or an example. */
function missingArgument(
  error: CommanderError,
  command: Command,
  example: string | undefined,
): Mistake | null {
  const argument = command.registeredArguments[command.args.length];
  if (error.code !== "commander.missingArgument" || argument === undefined) return null;
  const list = siblingOf(command, "list");
  const { message } = toMistake(error);
  if (list !== undefined && argument.name().startsWith("ID"))
    return { message, near: `To find it: ${commandPath(list)}.` };
  return example === undefined ? null : { message, near: `For example: ${example}.` };
}

/** Dashes that editors and chats put in the place of `-` and `--`. */
const otherDash = /^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+/;

/** For an extra argument such as `—json`, which a text editor made of a flag. */
function otherDashes({ code }: CommanderError, { args }: Command): Mistake | null {
  const word = code === "commander.excessArguments" ? args.find((text) => otherDash.test(text)) : undefined;
  if (word === undefined) return null;
  // Without its value, which may be a secret.
  const flag = word.replace(otherDash, "").replace(/[=\s].*$/s, "");
  return {
    message: `${JSON.stringify(word.slice(0, 1))} is not the - of a flag`,
    near: `Did you mean --${flag}?`,
  };
}

function severalFiles({ code }: CommanderError, command: Command): Mistake | null {
  const [argument, ...others] = command.registeredArguments;
  if (code !== "commander.excessArguments" || argument?.name() !== "FILE" || others.length > 0) return null;
  return {
    message: `${commandPath(command)} takes one file, and ${command.args.length} are named`,
    near: "Run it once for each file.",
  };
}

/** For a command without several flags that it needs: commander names the first one only. */
function missingFlags({ code }: CommanderError, command: Command): Mistake | null {
  const missing = command.options.filter(
    (option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
  );
  if (code !== "commander.missingMandatoryOptionValue" || missing.length < 2) return null;
  return { message: `missing flags: ${missing.map(({ flags }) => plain(flags)).join(", ")}` };
}

function hasFlag(command: Command, flag: string): boolean {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    if (at.options.some(({ long }) => long === flag)) return true;
  }
  return false;
}

/** The first one that knows a mistake explains it. */
const explanations = [
  flagOfOthers,
  otherDashes,
  mistypedCommand,
  looseValue,
  severalFiles,
  missingFlags,
  missingArgument,
] as const;
