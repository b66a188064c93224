import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";

/** `cat webhooks get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getWebhook): Command =>
  command("get")
    .summary("show a webhook")
    .usage("ID [flags]")
    .description("Show one webhook. Its signing secret is shown only when it is created or rotated.")
    .argument("<ID>", "ID of the webhook")
    .addHelpText("after", examples([["print the status", "cat webhooks get ID --json | jq -r .status"]]))
    .action(async (id: string) => run(app, { id: resourceId(id, "webhook") }));

/** Prints one webhook; not found ends in exit 5. */
export async function getWebhook(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  await app.io.resource(await client.webhooks.get({ webhook_id: id }, { signal: app.context.interrupt }));
}
