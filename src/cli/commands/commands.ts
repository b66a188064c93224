import type { Command } from "commander";
import type { App } from "../app/app.ts";
import {
  type CommandList,
  commandList,
  type ListedArgument,
  type ListedCommand,
  type ListedFlag,
} from "../completion/command-list.ts";
import { command, describedValue } from "../flags/command.ts";
import { conflict } from "../flags/usage-error.ts";
import { lineWidth, namedLines, wrappedColumns } from "../output/wrapped.ts";

/** `cat commands`; the program loads every command for it (`describesAll` in the command table). */
export const commandsCommand = (app: App): Command =>
  command("commands", {
    usage: "[NAME ...] [flags]",
    about:
      "List every command with its arguments and flags, and the exit statuses. With --json: one object, for programs.\n\n" +
      "With NAME: only that command. Of a group such as products: the names and summaries of its commands.",
    examples: [
      ["describe one command", "cat commands products list --json"],
      [
        "print the names of the commands of a group",
        "cat commands products --json | jq -r '.commands[].name'",
      ],
      ["print the names of all commands", "cat commands --json | jq -r '.commands[].name'"],
      ["save the guide for agents as a skill", "cat commands --skill > SKILL.md"],
    ],
  })
    .argument("[NAME...]", "command or group, e.g. products list")
    .option("--skill", "print a short guide for agents, in the format of Agent Skills")
    .action(async (names: readonly string[], { skill }: { skill?: true }, made: Command) => {
      const { io, context } = app;
      if (skill && names.length > 0) throw conflict("--skill", "NAME");
      const all: CommandList = JSON.parse(JSON.stringify(commandList(made.parent!)), (_, value) =>
        typeof value === "string" ? io.asCalled(value) : value,
      );
      if (skill) {
        const text = (await import("../reference/skill.ts")).skillText(all.commands);
        return io.json ? io.jsonData({ skill: text }) : io.data(text);
      }
      const { findOutput } = await import("../reference/outputs.ts");
      const withOutput = (listed: ListedCommand) => ({
        ...listed,
        output: findOutput(listed.name, listed.flags),
      });
      if (names.length === 0) {
        if (io.json) return io.jsonData({ ...all, commands: all.commands.map(withOutput) });
        return io.data(wrappedColumns(toText(all, [], io.paint.bold), lineWidth(context.stdout)));
      }
      const typed = names.join(" ").trim().split(/\s+/);
      // A pasted command line begins with the name of the program.
      const words = typed.length > 1 && /^cat(?:alogue)?$/.test(typed[0]!) ? typed.slice(1) : typed;
      await rejectUnknown(made.parent!, words);
      const name = words.join(" ");
      const commands = all.commands.filter((listed) => listed.name === name).map(withOutput);
      const below = all.commands
        .filter((listed) => listed.name.startsWith(`${name} `))
        .map(({ name, summary }) => ({ name, summary }));
      const exits = commands.flatMap(({ output }) => output.exit_statuses);
      const exit_statuses = all.exit_statuses.filter(({ status }) => exits.includes(status));
      if (io.json) {
        const { version, global_flags } = all;
        const flags = commands.length > 0 && { global_flags };
        return io.jsonData({ version, commands: [...commands, ...below], ...flags, exit_statuses });
      }
      const global_flags = commands.length > 0 ? all.global_flags : [];
      const text = io.asCalled(toText({ commands, global_flags, exit_statuses }, below, io.paint.bold));
      await io.data(wrappedColumns(text, lineWidth(context.stdout)));
    });

/** Throws UsageError, with the nearest name, for words that are no command or group. */
async function rejectUnknown(root: Command, words: readonly string[]): Promise<void> {
  let at = root;
  for (const word of words) {
    const next = at.commands.find((made) => made.name() === word);
    if (next === undefined) throw (await import("../flags/mistakes.ts")).unknownCommand(at, word);
    at = next;
  }
}

/** The list for people: a block per command, commands of a group, the global flags and the exit statuses. */
function toText(
  { commands, global_flags, exit_statuses }: Omit<CommandList, "version" | "topics">,
  below: readonly Pick<ListedCommand, "name" | "summary">[],
  heading: (text: string) => string,
): string {
  const blocks = commands.map(
    ({ usage, summary, arguments: all, flags }) =>
      `${heading(usage)}\n  ${summary}\n` +
      toLines([...all.map((argument) => [argument.name, about(argument)] as const), ...flags.map(toLine)]),
  );
  const sections: [title: string, lines: Line[]][] = [
    ["Commands", below.map(({ name, summary }) => [`cat ${name}`, summary])],
    ["Global flags", global_flags.map(toLine)],
    ["Exit status", exit_statuses.map(({ status, meaning }) => [String(status).padStart(3), meaning])],
  ];
  const shown = sections.filter(([, lines]) => lines.length > 0);
  return [...blocks, ...shown.map(([title, lines]) => `${heading(title)}\n${toLines(lines)}`)].join("\n");
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
