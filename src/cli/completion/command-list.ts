import type { Argument, Command, Option } from "commander";
import { exitMeanings } from "../context/errors.ts";
import { version } from "../context/version.ts";
import { commandExamples, toValued, type Valued } from "../flags/command.ts";
import { helpTopics } from "../reference/topics.ts";

/** Everything that a command line can consist of; `cat commands --json` prints it. */
export interface CommandList {
  readonly version: string;
  readonly commands: readonly ListedCommand[];
  readonly global_flags: readonly ListedFlag[];
  /** The pages of `cat help TOPIC`. */
  readonly topics: readonly { readonly name: string; readonly summary: string }[];
  readonly exit_statuses: readonly { readonly status: number; readonly meaning: string }[];
}

export interface ListedCommand {
  /** Its words, e.g. `products list`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly about: string;
  readonly arguments: readonly ListedArgument[];
  readonly flags: readonly ListedFlag[];
  readonly examples: readonly { readonly purpose: string; readonly command: string }[];
}

interface ListedValue extends Valued {
  readonly required: boolean;
  readonly repeatable: boolean;
}

export interface ListedArgument extends ListedValue {
  readonly name: string;
}

export interface ListedFlag extends ListedValue {
  readonly flag: string;
  /** The one-letter form, e.g. `-F`; null without one. */
  readonly short: string | null;
  /** The placeholder of its value; null for a switch. */
  readonly value: string | null;
}

export const commandList = (root: Command): CommandList => ({
  version,
  commands: root.commands.flatMap((made) => [...listed(made, "")]),
  global_flags: root.options.map(toFlag),
  topics: Object.entries(helpTopics).map(([name, { summary }]) => ({ name, summary })),
  exit_statuses: Object.entries(exitMeanings).map(([status, meaning]) => ({
    status: Number(status),
    meaning,
  })),
});

function* listed(made: Command, before: string): Generator<ListedCommand> {
  const name = `${before}${made.name()}`;
  // A group does nothing by itself.
  if (!made.usage().startsWith("COMMAND")) {
    yield {
      name,
      summary: made.summary(),
      usage: `cat ${name} ${made.usage()}`,
      about: made.description(),
      arguments: made.registeredArguments.map(toArgument),
      flags: made.options.filter(({ hidden }) => !hidden).map(toFlag),
      examples: commandExamples(made).map(([purpose, command]) => ({ purpose, command })),
    };
  }
  for (const sub of made.commands) yield* listed(sub, `${name} `);
}

const toArgument = (argument: Argument): ListedArgument => ({
  name: argument.name(),
  ...toValued(argument),
  required: argument.required,
  repeatable: argument.variadic,
});

function toFlag(option: Option): ListedFlag {
  const value = /<([^<>]+)>|\[([^[\]]+)\]/.exec(option.flags);
  return {
    flag: option.long ?? option.flags,
    short: option.short ?? null,
    value: value?.[1] ?? value?.[2] ?? null,
    ...toValued(option),
    required: option.mandatory,
    repeatable: option.variadic || /\brepeatable\b/.test(option.description),
  };
}
