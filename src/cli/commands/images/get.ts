import { resolve } from "node:path";
import type { Command } from "commander";
import { imageTypeBytes, imageTypeOf } from "../../../contract/image-file.ts";
import { Image } from "../../../contract/resources/image.ts";
import { imageTypes } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import { grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { InterruptError, UsageError } from "../../context/errors.ts";
import { confirmReplace } from "../../files/confirm-replace.ts";
import { command, examples } from "../../flags/command.ts";
import { maxBytesFlag, maxBytesOf } from "../../flags/max-bytes.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { thumbnailFlag } from "../../flags/thumbnail-flag.ts";
import type { Printing } from "../../output/printing.ts";
import { resourceForm } from "../../resources/resource-form.ts";

interface GetInput {
  id: string;
  /** The file for the original, as typed. */
  save: string | undefined;
  /** The largest original that is saved, in bytes. */
  maxBytes: number;
  printing: Printing<Image>;
  /** Whether to show it on a terminal. */
  thumbnail: boolean;
}

const imageForm = resourceForm(Image, ["id", "mime_type", "created_at"]);

/** `cat images get`: parses the argument and the flag; `run` does the work. */
export const getCommand = (app: App, run = getImage): Command =>
  withPrintFlags(
    command("get")
      .summary("show or save an image")
      .usage("ID [flags]")
      .description(
        "Show one image with its signed URL, which expires after one hour. With --save, download the original.",
      )
      .argument("<ID>", "ID of the image")
      .option("--save <FILE>", "download the original to FILE (--yes replaces an existing file)")
      .addOption(maxBytesFlag())
      .addOption(thumbnailFlag()),
  )
    .addHelpText(
      "after",
      examples([
        ["save an image", "cat images get ID --save photo.jpg"],
        ["print only the signed URL", "cat images get ID --json | jq -r .url"],
      ]),
    )
    .action(
      async (
        id: string,
        {
          save,
          maxBytes,
          thumbnail,
          ...flags
        }: { save?: string; maxBytes?: number; thumbnail: boolean } & RawPrintFlags,
      ) =>
        run(app, {
          printing: readPrintFlags(flags, imageForm),
          id: resourceId(id, "image"),
          save,
          maxBytes: maxBytesOf({ maxBytes, save }),
          thumbnail,
        }),
    );

/** Prints one image, or saves its original; not found ends in exit 5. */
export async function getImage(
  app: App,
  { id, save, maxBytes, printing, thumbnail }: GetInput,
): Promise<void> {
  const file = save === undefined ? null : namedFile(app, save);
  const replaces = file !== null && (await confirmReplace(app, file));
  const client = await app.client();
  const signal = app.context.interrupt;
  const read = () => client.images.get({ image_id: id }, { signal });
  const image = await read();
  if (file === null) {
    await app.io.resource(image, printing);
    const { url } = image;
    if (!app.context.stdout.isTTY) return;
    const { showThumbnails } = await import("../../thumbnails/show-thumbnails.ts");
    return showThumbnails(app, [{ caption: null, fetch: (fetcher) => fetcher.image(url) }], {
      thumbnail,
      printing,
    });
  }
  const urlOf = ({ url }: { url: unknown }): string => {
    if (typeof url === "string" && url !== "") return url;
    throw new CatError(`the service sent no URL of image ${id}`, {
      type: "bad_answer",
      code: "wrong_shape",
      hint: "Run the command again. If it fails again, report this message to the service.",
    });
  };
  const [{ downloadToFile }, { withSizeHint }] = await Promise.all([
    import("../../../flows/files/download-file.ts"),
    import("../../../flows/files/wrong-content.ts"),
  ]);
  const bytes = await downloadToFile(client, {
    url: urlOf(image),
    freshUrl: async () => urlOf(await read()),
    ...{ path: file.path, name: file.name, replaces },
    resource: `${(await app.connection()).baseUrl} image ${id}`,
    expected: typeof image.mime_type === "string" ? { type: image.mime_type } : {},
    problemOf: (head) => notThisImage(head.subarray(0, imageTypeBytes), image.mime_type),
    signal,
    limits: { maxBytes },
  }).catch((error: unknown) => {
    throw withNextStep(withSizeHint(error));
  });
  if (app.io.json) await app.io.resource(image, printing);
  else await app.io.note(`Saved ${app.io.visible(file.name)} (${grouped(bytes)} bytes).`);
}

function namedFile(app: App, name: string) {
  const flag = "--save";
  const hint = "Choose a file, for example --save photo.jpg.";
  if (name.trim() === "") throw new UsageError("--save is empty", { param: flag, hint });
  if (name === "-") {
    throw new UsageError("cannot use --save -: images are not written to standard output", {
      param: flag,
      hint,
    });
  }
  return { flag, name, path: resolve(app.context.cwd, name) };
}

/**
 * The reason why bytes are not an image of the stated type; null if they are, or if the type is newer than
 * this program.
 */
function notThisImage(head: Uint8Array, type: string): string | null {
  if (head.length === 0) return "is empty";
  const found = imageTypeOf(head);
  if (found === type || !imageTypes.some((known) => known === type)) return null;
  return `is ${found === null ? "another kind of file" : `an ${found} file`}, not ${type}`;
}

// Whether the kept part can be resumed depends on the server, so no resume is promised.
const nextStep = "To download the image, run the same command again.";

/** The error of a download, with a next step for the user. */
function withNextStep(error: unknown): unknown {
  if (error instanceof InterruptError) {
    return new InterruptError(error.signal, {
      message: error.message,
      hint: nextStep,
    });
  }
  if (!(error instanceof CatError) || error.hint !== undefined) return error;
  const { type, code, param, status, requestId } = error;
  const hint = isTransient(error)
    ? nextStep
    : "Run the command again. If it fails again, report this message to the service.";
  return new CatError(error.message, { type, code, param, status, requestId, hint, cause: error });
}

const isTransient = ({ type, status = 0 }: CatError): boolean =>
  type === "network" || type === "timeout" || status >= 500 || status === 429;
