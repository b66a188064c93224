import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import { lineWidth } from "../output/wrapped.ts";
import { wrappedColumns } from "../output/wrapped-columns.ts";
import type { CommandList } from "./commands/command-list.ts";

/** `cat commands`; the program loads every command for it (`everyCommand` in the command table). */
export const commandsCommand = (app: App): Command =>
  command("commands")
    .usage("[flags]")
    .description(
      "List every command with its arguments and flags, and the exit statuses. With --json: one object, for programs.",
    )
    .addHelpText(
      "after",
      examples([["print the names of all commands", "cat commands --json | jq -r '.commands[].name'"]]),
    )
    .action(async (_flags: object, made: Command) => {
      const { commandList } = await import("./commands/command-list.ts");
      const list: CommandList = JSON.parse(JSON.stringify(commandList(made.parent!)), (_, value) =>
        typeof value === "string" ? app.io.asCalled(value) : value,
      );
      if (app.io.json) return app.io.jsonData(list);
      const { commandListText } = await import("./commands/command-list-text.ts");
      const text = commandListText(list, (title) => app.io.paint.bold(title));
      await app.io.data(wrappedColumns(text, lineWidth(app.context.stdout)));
    });
