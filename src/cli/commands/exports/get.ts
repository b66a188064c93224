import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { rememberStatus } from "../../resources/remember-status.ts";

/** `cat exports get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getExport): Command =>
  command("get")
    .summary("show the status of an export")
    .usage("ID [flags]")
    .description("Show the status of an export, with a new URL of its file, which is valid for one hour.")
    .argument("<ID>", "ID of the export")
    .addHelpText(
      "after",
      examples([
        ["show an export", "cat exports get 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
        ["print a new URL of its file", "cat exports get ID --json | jq -r .url"],
      ]),
    )
    .action(async (id: string) => run(app, { id: resourceId(id, "export") }));

/** Prints an export; exits with 5 if it does not exist. */
export async function getExport(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  const job = await client.exports.get({ export_id: id }, { signal: app.context.interrupt });
  await app.io.resource(job);
  await rememberStatus("export")(app, job);
}
