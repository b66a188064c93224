import { resolve } from "node:path";
import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { confirmReplace } from "../../files/confirm-replace.ts";
import { command, examples } from "../../flags/command.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { grouped } from "../../output/numbers.ts";

interface GetInput {
  id: string;
  /** The file that the original goes to, as it was typed. */
  save: string | undefined;
}

/** `cat images get`: parses the argument and the flag; `run` does the work. */
export const getCommand = (app: App, run = getImage): Command =>
  command("get")
    .summary("show one image, or save it")
    .usage("ID [flags]")
    .description(
      "Show one image, with a signed URL for its bytes, or save it to a file. The URL expires after one hour.",
    )
    .argument("<ID>", "the image's ID")
    .option("--save <FILE>", "save the original to this file (with --yes also where it exists)")
    .addHelpText(
      "after",
      examples([
        ["save the image", "cat images get ID --save photo.jpg"],
        ["its signed URL, for a script", "cat images get ID --json | jq -r .url"],
      ]),
    )
    .action(async (id: string, { save }: { save?: string }) =>
      run(app, { id: resourceId(id, "image"), save }),
    );

/** Prints one image, or saves its original; not found ends in exit 5. */
export async function getImage(app: App, { id, save }: GetInput): Promise<void> {
  const file =
    save === undefined ? null : { flag: "--save", name: save, path: resolve(app.context.cwd, save) };
  if (file !== null) await confirmReplace(app, file);
  const client = await app.client();
  const signal = app.context.interrupt;
  const read = () => client.images.get({ image_id: id }, { signal });
  const image = await read();
  if (file === null) return app.io.resource(image);
  const { downloadToFile } = await import("../../../flows/downloads/download-file.ts");
  const bytes = await downloadToFile(client, {
    url: image.url,
    freshUrl: async () => (await read()).url,
    path: file.path,
    resource: `${(await app.connection()).baseUrl} image ${id}`,
    expected: typeof image.mime_type === "string" ? { type: image.mime_type } : {},
    signal,
  });
  if (app.io.json) await app.io.jsonData(image);
  else await app.io.note(`Saved ${app.io.visible(file.name)} (${grouped(bytes)} bytes).`);
}
