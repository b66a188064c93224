import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { showWithSecret } from "./show-secret.ts";

/** `cat webhooks rotate`: parses the argument; `run` does the work. */
export const rotateCommand = (app: App, run = rotateSecret): Command =>
  command("rotate")
    .summary("replace the signing secret of a webhook")
    .usage("ID [flags]")
    .description(
      "Replace the signing secret of a webhook and print the new one, which is shown only once. " +
        "The old secret stops working immediately.",
    )
    .argument("<ID>", "ID of the webhook")
    .addHelpText(
      "after",
      examples([
        ["keep the secret in a file", "cat webhooks rotate ID --yes --json | jq -r .signing_secret"],
      ]),
    )
    .action(async (id: string) => run(app, { id: resourceId(id, "webhook") }));

/** Rotates the secret after a question that names the URL: receivers reject events until they have the new one. */
export async function rotateSecret(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  const signal = app.context.interrupt;
  if (!app.globals.yes) {
    const { url } = await client.webhooks.get({ webhook_id: id }, { signal });
    await confirmAction(app, {
      question: `Replace the secret of the webhook for ${url}?`,
      about: "Receivers with the old secret reject all events from then on.",
      doing: `replacing the secret of the webhook for ${url}`,
      left: "the secret was not replaced",
    });
  }
  const input = { webhook_id: id, body: { rotate_secret: true } };
  await showWithSecret(app, await client.webhooks.update(input, { signal }));
}
