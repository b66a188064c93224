import { Command, type CommanderError } from "commander";
import { UsageError } from "../context/errors.ts";

/** Thrown when help was printed, which ends the command line's work. */
export class HelpShown extends Error {
  override readonly name = "HelpShown";
}

/**
 * A command whose mistakes end in a UsageError (exit 2) rather than in the process. Its help is collected by the
 * program it is put in.
 */
export function command(name: string): Command {
  const made = new Command(name)
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .showHelpAfterError(false)
    .allowExcessArguments(false);
  return made.exitOverride((error) => {
    throw error.exitCode === 0 ? new HelpShown() : usageError(error, made);
  });
}

/** A group of commands, such as `products`: by itself it does nothing. */
export function group(name: string, commands: readonly Command[]): Command {
  const made = command(name).usage("COMMAND [flags]");
  for (const one of commands) made.addCommand(one);
  return made;
}

/** Examples at the end of a command's help: what it is for, then the line to type. */
export const examples = (lines: readonly (readonly [what: string, line: string])[]): string =>
  `\nExamples:\n${lines.map(([what, line]) => `  # ${what}\n  $ ${line}\n`).join("\n")}`;

/** What a command is called from the top, e.g. `cat products list`. */
export function pathOf(one: Command): string {
  const names = [];
  for (let at: Command | null = one; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}

/** Commander's complaint as ours: one sentence, what is meant perhaps, and where to look. */
function usageError(error: CommanderError, from: Command): UsageError {
  const hint = `See: ${pathOf(from)} --help`;
  // A group without a command makes commander show help as for an error.
  if (error.code === "commander.help") {
    const names = from.commands.map((one) => one.name()).join(", ");
    return new UsageError(`${pathOf(from)} needs a command: ${names}`, { code: "missing_command", hint });
  }
  const [what, ...more] = withoutValue(error)
    .replace(/^error: /, "")
    .split("\n");
  return new UsageError([what!.replace(/\.$/, ""), ...more].join(" "), {
    code: error.code.replace(/^commander\./, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    hint,
  });
}

/** The message that names an unknown flag without its value, which may be a secret: `--api-key=KEY`, `-kKEY`. */
const withoutValue = ({ code, message }: CommanderError): string =>
  code === "commander.unknownOption"
    ? message.replace(/'(?:(--[^=]*)=|(-[^-])).*'/s, (_, long, short) => `'${long ?? short}'`)
    : message;
