import type { Command } from "commander";
import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { withNightFlags } from "../../after-run/flags.ts";
import type { App } from "../../app/app.ts";
import { readTemplateFlag } from "../../files/file-flags.ts";
import { type CommandTexts, command } from "../../flags/command.ts";
import { type RawGenerateFlags, readGenerateFlags, withGenerateFlags } from "./flags.ts";

/** `cat tryon`: images of products on models. */
export const tryonCommand = (app: App): Command =>
  generateCommand(app, "tryon", {
    usage: "FILE|- [flags]  or  --product ID|REF --model ID|NAME --background SLUG --angle SLUG",
    about:
      "Generate images of products on models, from an Excel, CSV or NDJSON file or from flags.\n\n" +
      "Columns: product_reference (or product_id), model_id (an ID or a name), background, angle_shot, " +
      "styling_product_ids (several, separated by |), look_at_camera. ",
    examples: [
      ["write a sheet to begin with", "cat tryon --template looks.xlsx"],
      ["show what a file would generate", "cat tryon looks.csv --dry-run"],
      ["generate, save and review the images", "cat tryon looks.csv --save images --gallery review.html"],
      ["generate what does not exist yet", "cat tryon looks.csv --missing --save images"],
      ["generate the rejected ones again", "cat tryon --rerun looks.decisions.csv --save images"],
      [
        "one image",
        "cat tryon --product DRESS-001 --model Mia --background studio --angle full-front --save images",
      ],
    ],
  });

/** `cat beautify`: images of products alone. */
export const beautifyCommand = (app: App): Command =>
  generateCommand(app, "beautify", {
    usage: "FILE|- [flags]  or  --product ID|REF --subtype SUBTYPE --background SLUG --angle SLUG",
    about:
      "Generate images of products alone on a background, from an Excel, CSV or NDJSON file or from flags.\n\n" +
      "Columns: product_reference (or product_id), subtype (clothing, shoes or headwear), background, " +
      "angle_shot, style (clothing only: ghost or flatlay). ",
    examples: [
      ["write a sheet to begin with", "cat beautify --template shots.xlsx"],
      ["show what a file would generate", "cat beautify shots.csv --dry-run"],
      ["every angle on two backgrounds", "cat beautify shots.csv --matrix --save images"],
      [
        "one image",
        "cat beautify --product SHOE-001 --subtype shoes --background white --angle side --save images",
      ],
    ],
  });

function generateCommand(app: App, kind: GenerationKind, texts: CommandTexts): Command {
  const about =
    `${texts.about}Each image costs credits: the number is confirmed first, or add --yes.\n\n` +
    "Run the same command again to resume a stopped run. No image is queued twice, also not by an edited file.";
  const subcommand = command(kind, { ...texts, about });
  subcommand.argument("[FILE]", "Excel, CSV or NDJSON file, or - for standard input");
  return withNightFlags(app, withGenerateFlags(subcommand, kind)).action(
    async (file: string | undefined, raw: RawGenerateFlags) => {
      const template = readTemplateFlag(raw, file);
      if (template !== null) return (await import("../template.ts")).writeTemplate(app, kind, template, raw);
      const flags = readGenerateFlags(kind, file, raw, app.context.cwd);
      const { runGenerate } = await import("./run.ts");
      await runGenerate(app, flags);
    },
  );
}
