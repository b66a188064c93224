import { type Command, Option } from "commander";
import type { EventType } from "../../../contract/value-sets.ts";
import type { App } from "../../app/app.ts";
import { sendOnce } from "../../app/send-once.ts";
import { command, examples } from "../../flags/command.ts";
import { eventTypeList, eventTypesText } from "../../flags/event-types.ts";
import { showWithSecret } from "./show-secret.ts";

interface CreateInput {
  url: string;
  events: EventType[];
  description: string | undefined;
}

/** `cat webhooks create`: parses the flags; `run` does the work. */
export const createCommand = (app: App, run = createWebhook): Command =>
  command("create")
    .summary("create a webhook")
    .usage("--url URL --events EVENT,... [flags]")
    .description(
      "Create a webhook and print its signing secret, which is shown only once. " +
        "The URL must be public and start with https://, and cannot be changed later.",
    )
    .requiredOption("--url <URL>", "URL that receives the events")
    .addOption(
      new Option("--events <EVENTS>", `events, separated by commas, or all: ${eventTypesText}`)
        .argParser(eventTypeList)
        .makeOptionMandatory(),
    )
    .option("--description <TEXT>", "description for people")
    .addHelpText(
      "after",
      examples([
        ["receive every event", "cat webhooks create --url https://shop.example.com/events --events all"],
        [
          "keep the secret in a file",
          "cat webhooks create --url URL --events import.completed --json | jq -r .signing_secret > secret",
        ],
      ]),
    )
    .action(async ({ url, events, description }: CreateInput) => run(app, { url, events, description }));

/** Creates a webhook and prints it with its secret. */
export async function createWebhook(app: App, { url, events, description }: CreateInput): Promise<void> {
  const client = await app.client();
  const { interrupt: signal } = app.context;
  const body = { url, events, ...(description !== undefined && { description }) };
  const created = await sendOnce(
    (options) => client.webhooks.create({ body }, { ...options, signal }),
    "Delete a webhook whose secret you do not have before you create another: cat webhooks list",
  );
  await showWithSecret(app, created);
}
