import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import { detectImageType, imageTypeBytes } from "../../contract/image-file.ts";
import type { Image } from "../../contract/resources/images.ts";
import { imageTypes } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import type { DigitalSource } from "../../flows/files/xmp.ts";
import { isOfContent } from "../../flows/service-errors.ts";
import { counted, grouped } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import type { Thumbnail } from "../app/thumbnails.ts";
import { InterruptError, PartialError, UsageError, withHint } from "../context/errors.ts";
import { confirmReplaceAll } from "../files/confirm-replace.ts";
import { command, group } from "../flags/command.ts";
import {
  labelFlag,
  maxBytesFlag,
  readLabel,
  readMaxBytes,
  thumbnailFlag,
  unlabeledLine,
} from "../flags/common-flags.ts";
import {
  type RawPrintFlags,
  type ResourceForm,
  readPrintFlags,
  withPrintFlags,
} from "../flags/print-flags.ts";
import { named, resourceId } from "../flags/values.ts";
import { printLine, warn } from "../output/io.ts";
import { outputFormat } from "../output/output-names.ts";
import type { Printing } from "../output/table.ts";
import { namedFields, namedForm, replyFields, resourceForm } from "../resources/forms.ts";

/** `cat images`: uploaded and generated images. */
export const imagesCommand = (app: App): Command =>
  group("images", "View, save and upload images.", [getCommand(app), uploadCommand(app)]);

interface GetFlags extends RawPrintFlags {
  save?: string;
  maxBytes?: number;
  /** How the image was made; false for no label. */
  label?: MadeBy | false;
  thumbnail: boolean;
}

const digitalSources = {
  generated: "trainedAlgorithmicMedia",
  beautified: "compositeWithTrainedAlgorithmicMedia",
} as const;
type MadeBy = keyof typeof digitalSources;

type ShownImage = Image & { readonly label?: boolean };

const imageForm = (): ResourceForm<ShownImage> => {
  const { columns, fields } = resourceForm<Image>(replyFields(operations.images.get), [
    "id",
    "mime_type",
    "created_at",
  ]);
  return { columns, fields: { ...fields, fields: { ...fields.fields, ...namedFields(["label"]).fields } } };
};

/** Prints one image, with a thumbnail on a terminal, or saves its original; not found ends in exit 5. */
const getCommand = (app: App): Command =>
  withPrintFlags(
    command("get", {
      summary: "show or save an image",
      usage: "ID [flags]",
      about:
        "Show one image with its signed URL, which expires after one hour. With --save, download the original.",
      examples: [
        ["save an image", "cat images get ID --save photo.jpg"],
        [
          "save a try-on with the label of AI-generated images",
          "cat images get ID --save look.png --label generated",
        ],
        ["print only the signed URL", "cat images get ID --json | jq -r .url"],
      ],
    })
      .argument("<ID>", "ID of the image")
      .option("--save <FILE>", "download the original to FILE (--yes replaces an existing file)")
      .addOption(maxBytesFlag())
      .addOption(
        new Option(
          "--label <HOW>",
          "label as AI-generated, without a search in exports: generated or beautified",
        ).choices(Object.keys(digitalSources)),
      )
      .addOption(labelFlag())
      .addOption(thumbnailFlag()),
  ).action(async (text: string, flags: GetFlags) => {
    const printing = readPrintFlags(flags, imageForm());
    const id = resourceId(text, "image");
    const { save, thumbnail } = flags;
    const maxBytes = readMaxBytes(flags);
    const label = readLabel(flags);
    if (save !== undefined) return saveImage(app, id, { save, maxBytes, label, printing });
    const client = await app.client();
    const image = await client.images.get({ image_id: id }, { signal: app.context.interrupt });
    await app.io.resource(image, printing);
    if (!app.context.stdout.isTTY) return;
    const { showThumbnails } = await import("../app/thumbnails.ts");
    const picture: Thumbnail = { caption: null, fetch: (fetcher) => fetcher.image(image.url) };
    await showThumbnails(app, [picture], { thumbnail, printing });
  });

async function saveImage(
  app: App,
  id: string,
  {
    save,
    maxBytes,
    label,
    printing,
  }: { save: string; maxBytes: number; label: GetFlags["label"]; printing: Printing<ShownImage> },
): Promise<void> {
  const hint = "Choose a file, for example --save photo.jpg.";
  named("--save", save, hint);
  if (save === "-") {
    const message = "cannot use --save -: images are not written to standard output";
    throw new UsageError(message, { param: "--save", hint });
  }
  const file = { flag: "--save", name: save, path: resolve(app.context.cwd, save) };
  outputFormat("--save", save, ["image/jpeg", "image/png", "image/webp"]);
  const replaces = (await confirmReplaceAll(app, [file])).has(file.path);
  const client = await app.client();
  const { interrupt: signal } = app.context;
  const read = () => client.images.get({ image_id: id }, { signal });
  const image = await read();
  const type = imageTypes.find((known) => known === image.mime_type);
  if (type !== undefined) outputFormat("--save", save, [type]);
  const { downloadFile, withSizeHint } = await import("../../flows/files/download-file.ts");
  const url = imageUrl(image);
  const source = typeof label === "string" ? digitalSources[label] : await searchedSource(app, image, label);
  const saved = await downloadFile(client, {
    url,
    freshUrl: async () => imageUrl(await read()),
    path: file.path,
    name: save,
    replaces,
    resource: `${(await app.connection()).baseUrl} image ${id}`,
    type: typeof image.mime_type === "string" ? image.mime_type : undefined,
    imageProblem: (head) => wrongType(head.subarray(0, imageTypeBytes), image.mime_type),
    signal,
    limits: { maxBytes },
    label: source,
  }).catch((error: unknown) => {
    throw withNextStep(withSizeHint(error));
  });
  if (app.io.json) {
    const { isLabeled } = await import("../../flows/files/ai-label.ts");
    await app.io.resource({ ...image, label: isLabeled(file.path) }, printing);
  } else await app.io.note(`Saved ${app.io.visible(save)} (${grouped(saved.bytes)} bytes).`);
  if (saved.label === false) await app.io.note(unlabeledLine(1));
  else if (source === undefined)
    await warn(app, "saved as sent: no recent export lists the image", unknownHint);
}

const unknownHint = "If it is AI-generated, add --label generated or --label beautified; if not, --no-label.";

/** How exports say that an image was made: null without the label, undefined if it is not certain. */
async function searchedSource(
  app: App,
  image: Image,
  label: false | undefined,
): Promise<DigitalSource | null | undefined> {
  if (label === false) return null;
  const { sourceOfImage } = await import("../../flows/export/how-made.ts");
  return sourceOfImage(image, { client: await app.client(), signal: app.context.interrupt });
}

const reportIt = "Run the command again. If it fails again, report this message to the service.";

function imageUrl({ id, url }: Image): string {
  if (typeof url === "string" && url !== "") return url;
  throw new CatError(`the service sent no URL of image ${id}`, {
    type: "bad_response",
    code: "wrong_shape",
    hint: reportIt,
  });
}

/** Why bytes are no image of the stated type; null if they are, or if the type is newer than this program. */
function wrongType(head: Uint8Array, type: string): string | null {
  if (head.length === 0) return "is empty";
  const imageType = detectImageType(head);
  if (imageType === type || !imageTypes.some((known) => known === type)) return null;
  return `is ${imageType === null ? "another kind of file" : `an ${imageType} file`}, not ${type}`;
}

function withNextStep(error: unknown): unknown {
  if (!(error instanceof CatError)) return error;
  const { type, hint, status = 0 } = error;
  const isTransient = type === "network" || type === "timeout" || status >= 500 || status === 429;
  // Whether the kept part can be resumed depends on the server, so no resume is promised.
  if (error instanceof InterruptError || (hint === undefined && isTransient))
    return withHint(error, "To download the image, run the same command again.");
  return hint === undefined ? withHint(error, reportIt) : error;
}

const uploadFields = ["file", "id", "mime_type", "created_at", "error"] as const;

/** A file, and the image that it became or the reason why not. */
type Uploaded = Readonly<Record<(typeof uploadFields)[0 | 1 | 2 | 3], string | null>> & {
  readonly error?: { readonly code: string; readonly message: string };
};

const uploadForm = namedForm<Uploaded>(
  [
    { name: "id", value: ({ id }) => id },
    { name: "mime_type", value: ({ mime_type }) => mime_type },
    { name: "file", value: ({ file }) => file, cut: "last" },
    { name: "created_at", value: ({ created_at }) => created_at, only: "csv" },
    { name: "error", value: ({ error }) => error?.message, only: "csv" },
  ],
  uploadFields,
);

/** Checks all files, then uploads them. Exits with 8 if the service rejects some of them. */
const uploadCommand = (app: App): Command =>
  withPrintFlags(
    command("upload", {
      summary: "upload photos",
      usage: "FILE ... [flags]",
      about:
        "Upload photos (JPEG, PNG or WebP, at most 10 MB each) and print their IDs. " +
        "An image that no product uses is removed by the service after a while.",
      examples: [
        ["upload two photos", "cat images upload front.jpg back.jpg"],
        ["keep the ID of an upload", "id=$(cat images upload front.jpg --json | jq -r .id)"],
      ],
    }).argument("<FILE...>", "photos to upload"),
  ).action(async (files: string[], flags: RawPrintFlags) => {
    const printing = readPrintFlags(flags, uploadForm);
    const { checkedPhotos, uploadPhoto } = await import("../files/photo-arguments.ts");
    const { cwd, interrupt } = app.context;
    const photos = await checkedPhotos(files, cwd);
    const client = await app.client();
    let rejected = 0;
    async function* upload(file: string): AsyncGenerator<Uploaded> {
      try {
        const { reply, odd } = await uploadPhoto(client, photos, file, interrupt);
        const { id, mime_type, created_at } = reply;
        yield { file, id, mime_type, created_at };
        if (odd !== undefined) throw odd;
      } catch (error) {
        // The others may be fine.
        if (!isOfContent(error) || files.length === 1) throw error;
        rejected++;
        const { code, message } = error;
        await printLine(app, `${file}: ${message}`);
        yield { file, id: null, mime_type: null, created_at: null, error: { code, message } };
      }
    }
    async function* uploads() {
      for (const file of files) yield* upload(file);
    }
    await app.io.show(printing, uploads());
    if (rejected === 0) return;
    await app.io.note(`The service rejected ${counted(rejected, "photo")}.`);
    throw new PartialError(`the service rejected ${grouped(rejected)} of ${counted(files.length, "photo")}`);
  });
