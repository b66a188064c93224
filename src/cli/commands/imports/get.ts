import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { rememberStatus } from "../../resources/remember-status.ts";

/** `cat imports get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getImport): Command =>
  command("get")
    .summary("show the progress of an import")
    .usage("ID [flags]")
    .description("Show the status of an import, and how many of its rows succeeded, are partial, or failed.")
    .argument("<ID>", "ID of the import")
    .addHelpText(
      "after",
      examples([
        ["show an import", "cat imports get 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
        ["print the number of failed rows", "cat imports get ID --json | jq .counts.failed"],
      ]),
    )
    .action(async (id: string) => run(app, { id: resourceId(id, "import") }));

/** Prints an import; exits with 5 if it does not exist. */
export async function getImport(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  const job = await client.imports.get({ import_id: id }, { signal: app.context.interrupt });
  await app.io.resource(job);
  await rememberStatus("import")(app, job);
}
