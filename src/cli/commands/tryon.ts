import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import { type RawGenerateFlags, readGenerateFlags, withGenerateFlags } from "./generate/flags.ts";
import { runGenerate } from "./generate/run.ts";

/** `cat tryon`: parses the flags; `run` does the work. */
export const tryonCommand = (app: App, run = runGenerate): Command =>
  withGenerateFlags(
    command("tryon")
      .usage("FILE|- [flags]  or  --product ID|REF --model ID|NAME --background SLUG --angle SLUG")
      .description(
        "Generate images of products on models, from a CSV or NDJSON file or from flags.\n\n" +
          "CSV columns: product_reference (or product_id), model_id (an ID or a name), background, angle_shot, " +
          "styling_product_ids (several, separated by |), look_at_camera. " +
          "Each image costs credits: the number is confirmed first, or add --yes.\n\n" +
          "Run the same command again to resume a stopped run. No image is queued twice.",
      )
      .argument("[FILE]", "CSV or NDJSON file, or - for standard input"),
    "tryon",
  )
    .addHelpText(
      "after",
      examples([
        ["show what a file would generate", "cat tryon looks.csv --dry-run"],
        ["generate, save and review the images", "cat tryon looks.csv --save images --gallery review.html"],
        ["generate the rejected ones again", "cat tryon --rerun decisions.csv --save images"],
        [
          "one image",
          "cat tryon --product DRESS-001 --model Mia --background studio --angle full-front --save images",
        ],
      ]),
    )
    .action(async (file: string | undefined, raw: RawGenerateFlags) =>
      run(app, readGenerateFlags("tryon", file, raw, app.context.cwd)),
    );
