import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { configPath } from "../../settings/profiles.ts";

/** `cat config path`: parses the flags; `run` does the work. */
export const pathCommand = (app: App, run = printPath): Command =>
  command("path")
    .summary("show the path of the config file")
    .usage("[flags]")
    .description("Print the path of the config file, whether or not it exists.")
    .addHelpText("after", examples([["open the file in an editor", '$EDITOR "$(cat config path)"']]))
    .action(() => run(app));

/** Prints the path of the config file. */
export async function printPath({ context, io }: App): Promise<void> {
  const path = await configPath(context.env);
  if (io.json) return io.jsonData({ path });
  await io.data(`${io.visible(path)}\n`);
}
