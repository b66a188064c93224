import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";

/** `cat webhooks delete`: parses the argument; `run` does the work. */
export const deleteCommand = (app: App, run = deleteWebhook): Command =>
  command("delete")
    .summary("delete a webhook")
    .usage("ID [flags]")
    .description("Delete a webhook. Its events are no longer delivered.")
    .argument("<ID>", "ID of the webhook")
    .addHelpText("after", examples([["delete a webhook in a script", "cat webhooks delete ID --yes"]]))
    .action(async (id: string) => run(app, { id: resourceId(id, "webhook") }));

/** Deletes a webhook after a question that names its URL; not found ends in exit 5. */
export async function deleteWebhook(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  const signal = app.context.interrupt;
  if (!app.globals.yes) {
    const { url } = await client.webhooks.get({ webhook_id: id }, { signal });
    await confirmAction(app, {
      question: `Delete the webhook for ${url}?`,
      doing: `deleting the webhook for ${url}`,
      left: "nothing was deleted",
    });
  }
  await client.webhooks.delete({ webhook_id: id }, { signal });
  if (app.io.json) await app.io.jsonData({ id, deleted: true });
  else await app.io.note(`Deleted webhook ${id}.`);
}
