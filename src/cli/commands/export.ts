import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { command, examples, otherFlags } from "../flags/command.ts";
import { type ExportInput, type RawExportFlags, readExportFlags, withExportFlags } from "./export/flags.ts";
import { syncCommand } from "./export/sync.ts";

/** `cat export`: parses the flags; `run` does the work. */
export const exportCommand = (app: App, run = runExport): Command =>
  otherFlags(withExportFlags(bareCommand()))
    // The flags of a subcommand may have the names of these.
    .enablePositionalOptions()
    .addCommand(syncCommand(app))
    .addHelpText(
      "after",
      examples([
        ["print every product with its images", "cat export"],
        ["save a spreadsheet with one row per image", "cat export --out catalogue.csv"],
        ["save what changed since the last time", "cat export --since last --out changes.ndjson --yes"],
        ["save all images in a new folder", "cat export --zip --extract images"],
      ]),
    )
    .action(async (raw: RawExportFlags) => run(app, readExportFlags(raw)));

const bareCommand = (): Command =>
  command("export")
    .usage("[flags]")
    .description(
      "Export the catalogue: one row per product with all its images, newest first.\n\n" +
        "NDJSON has one product per line, as the service sends it. CSV has one row per image. " +
        "Image URLs expire after one hour.",
    );

/** Runs an export of the mode that the flags ask for. */
async function runExport(app: App, input: ExportInput): Promise<void> {
  switch (input.mode) {
    case "live":
      return (await import("./export/live.ts")).exportLiveRows(app, input);
    case "frozen":
      return (await import("./export/frozen.ts")).exportFrozenFiles(app, input);
  }
}
