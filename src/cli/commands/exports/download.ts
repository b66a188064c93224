import { type Command, Option } from "commander";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { duration } from "../../flags/duration.ts";
import { defaultMaxBytes, maxBytesFlag } from "../../flags/max-bytes.ts";
import { resourceId } from "../../flags/resource-id.ts";
import type { DownloadFlags } from "./save-artifact.ts";

interface RawDownloadFlags {
  out?: string;
  extract?: string;
  timeout?: number;
  maxBytes?: number;
}

/** `cat exports download`: parses the arguments; `run` does the work. */
export const downloadCommand = (app: App, run = save): Command =>
  command("download")
    .summary("save the file of an export")
    .usage("ID [flags]")
    .description(
      "Save the manifest or ZIP of an export, and wait for it while the service prepares it. " +
        "A download that was stopped continues when you run the command again.",
    )
    .argument("<ID>", "ID of the export")
    .option("--out <FILE>", "file to write (default: ID.jsonl or ID.zip; --yes replaces an existing file)")
    .option("--extract <DIR>", "extract the images of a ZIP into a new folder")
    .addOption(maxBytesFlag())
    .addOption(
      new Option("--timeout <TIME>", "how long to wait, for example 90s, 30m, 2h").argParser(duration),
    )
    .addHelpText(
      "after",
      examples([
        ["save the file of an export", "cat exports download 01KE6W9ZJ8Q3V5X7B2D4F6H8JK --out catalogue.zip"],
        ["extract the images of the last export", "cat exports download ID --extract images"],
      ]),
    )
    .action(async (id: string, raw: RawDownloadFlags) =>
      run(app, { id: resourceId(id, "export"), ...readFlags(raw) }),
    );

const save = async (app: App, flags: DownloadFlags): Promise<void> =>
  (await import("./save-artifact.ts")).saveArtifact(app, flags);

function readFlags({ out, extract, timeout, maxBytes }: RawDownloadFlags): Omit<DownloadFlags, "id"> {
  for (const [flag, value, example] of [
    ["--out", out, "file, for example --out catalogue.zip"],
    ["--extract", extract, "folder, for example --extract images"],
  ] as const) {
    if (value !== undefined && (value.trim() === "" || value === "-"))
      throw new UsageError(`invalid ${flag} ${JSON.stringify(value)}`, {
        param: flag,
        hint: `Choose a ${example}.`,
      });
  }
  if (out !== undefined && extract !== undefined)
    throw new UsageError("--extract cannot be used with --out", {
      param: "--extract",
      hint: "Remove one of them.",
    });
  return {
    out: out ?? null,
    extract: extract ?? null,
    timeoutMs: timeout ?? null,
    maxBytes: maxBytes ?? defaultMaxBytes,
  };
}
