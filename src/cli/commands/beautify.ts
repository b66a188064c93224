import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import { type RawGenerateFlags, readGenerateFlags, withGenerateFlags } from "./generate/flags.ts";
import { runGenerate } from "./generate/run.ts";

/** `cat beautify`: parses the flags; `run` does the work. */
export const beautifyCommand = (app: App, run = runGenerate): Command =>
  withGenerateFlags(
    command("beautify")
      .usage("FILE|- [flags]  or  --product ID|REF --subtype SUBTYPE --background SLUG --angle SLUG")
      .description(
        "Generate images of products alone on a background, from a CSV or NDJSON file or from flags.\n\n" +
          "CSV columns: product_reference (or product_id), subtype (clothing, shoes or headwear), background, " +
          "angle_shot, style (clothing only: ghost or flatlay). " +
          "Each image costs credits: the number is confirmed first, or add --yes.\n\n" +
          "Run the same command again to resume a stopped run. No image is queued twice.",
      )
      .argument("[FILE]", "CSV or NDJSON file, or - for standard input"),
    "beautify",
  )
    .addHelpText(
      "after",
      examples([
        ["show what a file would generate", "cat beautify shots.csv --dry-run"],
        ["every angle on two backgrounds", "cat beautify shots.csv --matrix --save images"],
        [
          "one image",
          "cat beautify --product SHOE-001 --subtype shoes --background white --angle side --save images",
        ],
      ]),
    )
    .action(async (file: string | undefined, raw: RawGenerateFlags) =>
      run(app, readGenerateFlags("beautify", file, raw, app.context.cwd)),
    );
