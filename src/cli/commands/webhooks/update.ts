import { type Command, Option } from "commander";
import type { EventType } from "../../../contract/value-sets.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { eventTypeList, eventTypesText } from "../../flags/event-types.ts";
import { resourceId } from "../../flags/resource-id.ts";

interface UpdateFlags {
  events?: EventType[];
  status?: "active" | "paused";
  description?: string;
  clear?: "description";
}
type Change = { events?: EventType[]; status?: "active" | "paused"; description?: string | null };

/** `cat webhooks update`: parses the flags; `run` does the work. */
export const updateCommand = (app: App, run = updateWebhook): Command =>
  command("update")
    .summary("change, pause or resume a webhook")
    .usage("ID [flags]")
    .description("Change a webhook. Fields without a flag stay as they are; the URL cannot be changed.")
    .argument("<ID>", "ID of the webhook")
    .addOption(
      new Option("--events <EVENTS>", `events, separated by commas, or all: ${eventTypesText}`).argParser(
        eventTypeList,
      ),
    )
    .addOption(new Option("--status <STATUS>", "whether it receives events").choices(["active", "paused"]))
    .option("--description <TEXT>", "description for people")
    .addOption(
      new Option("--clear <FIELD>", "remove the value of a field")
        .choices(["description"])
        .conflicts("description"),
    )
    .addHelpText("after", examples([["pause a webhook", "cat webhooks update ID --status paused"]]))
    .action(async (id: string, { events, status, description, clear }: UpdateFlags) => {
      const change: Change = {
        ...(events !== undefined && { events }),
        ...(status !== undefined && { status }),
        ...(description !== undefined && { description }),
        ...(clear !== undefined && { [clear]: null }),
      };
      if (Object.keys(change).length === 0) {
        throw new UsageError("nothing to change", {
          code: "nothing_to_change",
          hint: "Add --events, --status, --description or --clear.",
        });
      }
      await run(app, { id: resourceId(id, "webhook"), change });
    });

/** Changes a webhook and prints it; not found ends in exit 5. */
export async function updateWebhook(app: App, { id, change }: { id: string; change: Change }): Promise<void> {
  const client = await app.client();
  await app.io.resource(
    await client.webhooks.update({ webhook_id: id, body: change }, { signal: app.context.interrupt }),
  );
}
