import { Command } from "commander";
import { usageError } from "./usage-error.ts";

/** Thrown once help was printed: nothing is left to run. */
export class HelpShown extends Error {
  override readonly name = "HelpShown";
}

/** What the help of a command says. */
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
 * A command that reports mistakes as a UsageError (exit 2) instead of ending the process. The program that it
 * is added to collects its help. Flags are listed under "Flags:" unless `optionsGroup` sets another heading;
 * see `otherFlags`.
 */
export function command(name: string, texts?: CommandTexts): Command {
  const made = new Command(name)
    .optionsGroup("Flags:")
    .helpOption(...helpFlag)
    .helpCommand(false)
    .showHelpAfterError(false)
    .allowExcessArguments(false);
  if (texts !== undefined) {
    const { summary = "", usage = "[flags]", about, examples } = texts;
    const lines = examples.map(([purpose, line]) => `  # ${purpose}\n  $ ${line}\n`);
    made.summary(summary).usage(usage).description(about);
    made.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
  }
  return made.exitOverride((error) => {
    throw error.exitCode === 0 ? new HelpShown() : usageError(error, made);
  });
}

const helpFlag = ["-h, --help", "show this help (global flags: cat --help)"] as const;

/**
 * Opens the last group of flags of a long help page, which holds `--help`. The earlier groups:
 * `optionsGroup("Input:")`.
 */
export const otherFlags = (made: Command): Command =>
  made.optionsGroup("Other flags:").helpOption(...helpFlag);

/** A group of commands, such as `products`; it does nothing by itself. */
export function group(name: string, about: string, commands: readonly Command[]): Command {
  const made = command(name).usage("COMMAND [flags]").description(about);
  for (const subcommand of commands) made.addCommand(subcommand);
  return made;
}
