import type { Command } from "commander";
import { withNightFlags } from "../../after-run/flags.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, otherFlags } from "../../flags/command.ts";
import { type RawExportFlags, readFrozenFlags, readLiveFlags, withExportFlags } from "./flags.ts";
import { syncCommand } from "./sync.ts";

/** `cat export`, with `cat export sync` as its subcommand. */
export const exportCommand = (app: App): Command =>
  withNightFlags(
    app,
    otherFlags(
      withExportFlags(
        command("export", {
          about:
            "Export the catalogue: one row per product with all its images, newest first.\n\n" +
            "NDJSON has one product per line, as the service sends it. CSV has one row per image. " +
            "Image URLs expire after one hour.",
          examples: [
            ["print every product with its images", "cat export"],
            ["save a spreadsheet with one row per image", "cat export --out catalogue.csv"],
            ["save what changed since the last time", "cat export --since last --out changes.ndjson --yes"],
            ["save all images in a new folder", "cat export --zip --extract images"],
          ],
        }),
      ),
    ),
  )
    .addCommand(syncCommand(app))
    .hook("preSubcommand", () => {
      throw new UsageError("sync must follow export", {
        hint: "Put the flags after it: cat export sync DIR [flags]",
      });
    })
    .action(async (raw: RawExportFlags) =>
      raw.manifest || raw.zip
        ? (await import("./frozen.ts")).exportFrozenFiles(app, readFrozenFlags(raw))
        : (await import("./live.ts")).exportLiveRows(app, readLiveFlags(raw)),
    );
