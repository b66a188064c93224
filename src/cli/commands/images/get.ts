import { resolve } from "node:path";
import type { Command } from "commander";
import { imageTypeBytes, imageTypeOf } from "../../../contract/image-type.ts";
import { imageTypes } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import { InterruptError, UsageError } from "../../context/errors.ts";
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
  const file = save === undefined ? null : namedFile(app, save);
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
    problemOf: (head) => notThisImage(head.subarray(0, imageTypeBytes), image.mime_type),
    signal,
  }).catch((error: unknown) => {
    throw withNextStep(error);
  });
  if (app.io.json) await app.io.jsonData(image);
  else await app.io.note(`Saved ${app.io.visible(file.name)} (${grouped(bytes)} bytes).`);
}

function namedFile(app: App, name: string) {
  const flag = "--save";
  const hint = "Choose a file, for example --save photo.jpg.";
  if (name.trim() === "") throw new UsageError("--save is empty", { param: flag, hint });
  if (name === "-") {
    throw new UsageError("--save -: an image cannot be written to standard output", { param: flag, hint });
  }
  return { flag, name, path: resolve(app.context.cwd, name) };
}

/** Why bytes are not an image of the stated type; null where they are, or where the type is newer than this program. */
function notThisImage(head: Uint8Array, type: string): string | null {
  if (head.length === 0) return "is empty";
  const found = imageTypeOf(head);
  if (found === type || !imageTypes.some((known) => known === type)) return null;
  return `has the bytes of ${found === null ? "another kind of file" : `an ${found} file`}, not of ${type}`;
}

/** What a download threw, with what the user can do about it. */
function withNextStep(error: unknown): unknown {
  if (error instanceof InterruptError) {
    return new InterruptError(error.signal, {
      message: error.message,
      hint: "To resume the download, run the same command again.",
    });
  }
  if (!(error instanceof CatError) || error.hint !== undefined) return error;
  const { type, code, param, status, requestId } = error;
  const hint = isTransient(error)
    ? "Run the same command again; bytes that were saved are not downloaded again."
    : "Run the command again. If it fails again, report this message to the service.";
  return new CatError(error.message, { type, code, param, status, requestId, hint, cause: error });
}

const isTransient = ({ type, status = 0 }: CatError): boolean =>
  type === "network" || type === "timeout" || status >= 500 || status === 429;
