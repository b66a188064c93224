import type { Command } from "commander";
import { ApiError } from "../../../client/api-error.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { ExitCode } from "../../context/exit.ts";
import { command, examples } from "../../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import type { Printing } from "../../output/printing.ts";
import { namedForm } from "../../resources/named-form.ts";

/** A file, and the image that it became or the reason why not. */
interface Uploaded {
  readonly file: string;
  readonly id: string | null;
  readonly mime_type: string | null;
  readonly created_at: string | null;
  readonly error?: { readonly code: string; readonly message: string };
}

/** `cat images upload`: parses the arguments; `run` does the work. */
export const uploadCommand = (app: App, run = uploadImages): Command =>
  withPrintFlags(
    command("upload")
      .summary("upload photos")
      .usage("FILE ... [flags]")
      .description(
        "Upload photos (JPEG, PNG or WebP, at most 10 MB each) and print their IDs. " +
          "An image that no product uses is removed by the service after a while.",
      )
      .argument("<FILE...>", "photos to upload"),
  )
    .addHelpText(
      "after",
      examples([
        ["upload two photos", "cat images upload front.jpg back.jpg"],
        ["keep the ID of an upload", "id=$(cat images upload front.jpg --json | jq -r .id)"],
      ]),
    )
    .action(async (files: string[], flags: RawPrintFlags) =>
      run(app, { files, printing: readPrintFlags(flags, uploadForm) }),
    );

const uploadForm = namedForm<Uploaded>(
  [
    { name: "id", value: ({ id }) => id },
    { name: "mime_type", value: ({ mime_type }) => mime_type },
    { name: "file", value: ({ file }) => file, cut: "last" },
    { name: "error", value: ({ error }) => error?.message, only: "csv" },
  ],
  ["file", "id", "mime_type", "created_at", "error"],
);

/** Checks all files, then uploads them. Exits with 8 if the service rejects some of them. */
export async function uploadImages(
  app: App,
  { files, printing }: { files: readonly string[]; printing: Printing<Uploaded> },
): Promise<void> {
  const { checkedPhotos, uploadPhoto } = await import("../../files/photo-arguments.ts");
  const { cwd, interrupt } = app.context;
  const photos = await checkedPhotos(files, cwd);
  const client = await app.client();
  let rejected = 0;
  const upload = async (file: string): Promise<Uploaded> => {
    try {
      const { id, mime_type, created_at } = await uploadPhoto(client, photos, file, interrupt);
      return { file, id, mime_type, created_at };
    } catch (error) {
      // The others may be fine.
      if (!isOfContent(error) || files.length === 1) throw error;
      rejected++;
      const { code, message } = error;
      await app.io.line(app.io.visible(`${file}: ${message}`));
      return { file, id: null, mime_type: null, created_at: null, error: { code, message } };
    }
  };
  async function* uploads() {
    for (const file of files) yield await upload(file);
  }
  await app.io.show(printing, uploads());
  if (rejected === 0) return;
  app.exit = ExitCode.partial;
  await app.io.note(`The service rejected ${counted(rejected, "photo")}.`);
}

/** Whether the service rejected the bytes of a photo. */
const isOfContent = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 413, 415, 422].includes(error.status);
