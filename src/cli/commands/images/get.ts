import type { Command } from "commander";
import type { App } from "../../app.ts";
import { command, examples } from "../../command.ts";
import { resourceId } from "../../resource-id.ts";

/** `cat images get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getImage): Command =>
  command("get")
    .summary("show one image, with a signed URL for its bytes")
    .usage("ID [flags]")
    .description("Show one image, with a signed URL for its bytes. The URL expires after one hour.")
    .argument("<ID>", "the image's ID")
    .addHelpText(
      "after",
      examples([["its signed URL, for a script", "cat images get ID --json | jq -r .url"]]),
    )
    .action(async (id: string) => run(app, { id: resourceId(id, "image") }));

/** Prints one image; not found ends in exit 5. */
export async function getImage(app: App, { id }: { id: string }): Promise<void> {
  const client = await app.client();
  await app.io.resource(await client.images.get({ image_id: id }, { signal: app.context.interrupt }));
}
