import { type Argument, Command, type CommanderError, type Option } from "commander";
import { either } from "./usage-error.ts";

/** Thrown once help was printed: nothing is left to run. */
export class HelpShown extends Error {
  override readonly name = "HelpShown";
}

/** A complaint of commander about a command line, of which `mistakes.ts` makes a UsageError. */
export class Misread extends Error {
  override readonly name = "Misread";
  readonly error: CommanderError;
  /** The command that it is about, and a line to type of it. */
  readonly from: Command;
  readonly example: string | undefined;

  constructor(error: CommanderError, from: Command, example: string | undefined) {
    super(error.message);
    this.error = error;
    this.from = from;
    this.example = example;
  }
}

export interface CommandTexts {
  /** One line, for the list of commands. The command table has that of a command without a group. */
  readonly summary?: string;
  /** The words after the name (default: `[flags]`). */
  readonly usage?: string;
  readonly about: string;
  /** Lines to type, each with its purpose. */
  readonly examples: readonly (readonly [purpose: string, line: string])[];
}

/**
 * A command that throws mistakes as Misread (exit 2) instead of ending the process. The program that it
 * is added to collects its help. Flags are listed under "Flags:" unless `optionsGroup` sets another heading;
 * see `otherFlags`.
 */
export function command(name: string, texts?: CommandTexts): Command {
  const target = new Command(name)
    .optionsGroup("Flags:")
    .helpOption(...helpFlag)
    .helpCommand(false)
    .showHelpAfterError(false)
    .allowExcessArguments(false);
  if (texts !== undefined) {
    const { summary = "", usage = "[flags]", about, examples } = texts;
    const lines = examples.map(([purpose, line]) => `  # ${purpose}\n  $ ${line}\n`);
    target.summary(summary).usage(usage).description(about);
    target.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
    shownExamples.set(target, examples);
  }
  return target.exitOverride((error) => {
    throw error.exitCode === 0 ? new HelpShown() : new Misread(error, target, texts?.examples[0]?.[1]);
  });
}

const shownExamples = new WeakMap<Command, CommandTexts["examples"]>();

/** The examples of a command, which its help shows. */
export const commandExamples = (target: Command): CommandTexts["examples"] => shownExamples.get(target) ?? [];

const helpFlag = ["-h, --help", "show this help (global flags: cat --help)"] as const;

/** Opens the last group of flags of a long help page, which holds `--help`. */
export const otherFlags = (target: Command): Command =>
  target.optionsGroup("Other flags:").helpOption(...helpFlag);

/** A group of commands, such as `products`; it does nothing by itself. */
export function group(name: string, about: string, commands: readonly Command[]): Command {
  const all = command(name).usage("COMMAND [flags]").description(about);
  for (const subcommand of commands) all.addCommand(subcommand);
  return all;
}

/** The value of a flag or an argument, as help describes it. */
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

/** The help of a flag or argument, e.g. `file format (csv or ndjson; default: by name)`. */
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
