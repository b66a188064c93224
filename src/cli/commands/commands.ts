import type { Command } from "commander";
import type { App } from "../app/app.ts";
import {
  type CommandList,
  commandList,
  type ListedArgument,
  type ListedFlag,
} from "../completion/command-list.ts";
import { command, describedValue } from "../flags/command.ts";
import { lineWidth, namedLines, wrappedColumns } from "../output/wrapped.ts";

/** `cat commands`; the program loads every command for it (`describesAll` in the command table). */
export const commandsCommand = (app: App): Command =>
  command("commands", {
    about:
      "List every command with its arguments and flags, and the exit statuses. With --json: one object, for programs.",
    examples: [["print the names of all commands", "cat commands --json | jq -r '.commands[].name'"]],
  }).action(async (_flags: object, made: Command) => {
    const list: CommandList = JSON.parse(JSON.stringify(commandList(made.parent!)), (_, value) =>
      typeof value === "string" ? app.io.asCalled(value) : value,
    );
    if (app.io.json) {
      const { findOutput } = await import("../reference/outputs.ts");
      const commands = list.commands.map((listed) => ({
        ...listed,
        output: findOutput(listed.name, listed.flags),
      }));
      return app.io.jsonData({ ...list, commands });
    }
    const text = toText(list, (title) => app.io.paint.bold(title));
    await app.io.data(wrappedColumns(text, lineWidth(app.context.stdout)));
  });

/** The list for people: a block per command, then the global flags and the exit statuses. */
function toText(list: CommandList, heading: (text: string) => string): string {
  const blocks = list.commands.map(
    ({ usage, summary, arguments: all, flags }) =>
      `${heading(usage)}\n  ${summary}\n` +
      toLines([...all.map((argument) => [argument.name, about(argument)] as const), ...flags.map(toLine)]),
  );
  const statuses = list.exit_statuses.map(
    ({ status, meaning }) => [String(status).padStart(3), meaning] as const,
  );
  return [
    ...blocks,
    `${heading("Global flags")}\n${toLines(list.global_flags.map(toLine))}`,
    `${heading("Exit status")}\n${toLines(statuses)}`,
  ].join("\n");
}

type Line = readonly [name: string, about: string];

const toLines = (all: readonly Line[]): string => namedLines(all, "    ");

function toLine(flag: ListedFlag): Line {
  const name = flag.short === null ? flag.flag : `${flag.short}, ${flag.flag}`;
  return [flag.value === null ? name : `${name} ${flag.value}`, about(flag)];
}

const about = (listed: ListedArgument | ListedFlag): string =>
  describedValue(listed, [
    ...(listed.required ? ["required"] : []),
    ...(listed.repeatable && !listed.description.includes("repeatable") ? ["repeatable"] : []),
  ]);
