import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";

/** `cat tasks get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getTask): Command =>
  command("get")
    .summary("show a task")
    .usage("ID [flags]")
    .description("Show one task. The signed URL of its image expires after one hour.")
    .argument("<ID>", "ID of the task")
    .addHelpText(
      "after",
      examples([["print the URL of the image", "cat tasks get ID --json | jq -r .output_image.url"]]),
    )
    .action(async (id: string) => run(app, { id: resourceId(id, "task") }));

/** Prints one task; not found exits with 5. */
export async function getTask(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  await app.io.resource(await client.tasks.get({ task_id: id }, { signal: app.context.interrupt }));
}
