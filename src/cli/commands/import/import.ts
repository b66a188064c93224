import { type Command, Option } from "commander";
import { limits } from "../../../contract/limits.ts";
import { importModes, onImageErrors } from "../../../contract/value-sets.ts";
import { conflictChoices, photosModes, unknownChoices } from "../../../flows/import/import-input.ts";
import { withNightFlags } from "../../after-run/flags.ts";
import type { App } from "../../app/app.ts";
import { defaultConcurrency } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import {
  readTemplateFlag,
  withInputFlags,
  withOutputFlags,
  withTemplateFlag,
} from "../../files/file-flags.ts";
import { bucketArgument, withBucketFlags } from "../../flags/bucket-flags.ts";
import { command, otherFlags } from "../../flags/command.ts";
import { timeoutFlag } from "../../flags/common-flags.ts";
import { rowLimit, wholeNumber } from "../../flags/values.ts";
import { withMapFlags } from "../../mapping/map-flags.ts";
import { planFormats, type RawFlags, readFlags } from "./flags.ts";
// Not on demand: a dry run would load many small files (scripts/build.js).
import { runImport } from "./run.ts";

/** `cat import FILE ...|-` */
export const importCommand = (app: App): Command =>
  withNightFlags(app, otherFlags(withFlags(bareCommand()))).action(
    async (files: readonly string[], raw: RawFlags, made: Command) => {
      if (raw.apply !== undefined)
        return (await import("./apply-run.ts")).applyRun(app, files, raw, (name) =>
          made.getOptionValueSource(name),
        );
      const template = readTemplateFlag(raw, files[0]);
      if (template !== null)
        return (await import("../template.ts")).writeTemplate(app, "import", template, raw);
      if (files.length > 0)
        return runImport(
          app,
          files.map((file) => readFlags(file, raw, app.context.cwd)),
        );
      throw new UsageError("missing argument: FILE", { param: "FILE", hint: "See: cat import --help" });
    },
  );

const bareCommand = (): Command =>
  command("import", {
    usage: "FILE ...|FOLDER|- [flags]",
    about:
      "Import products and photos from Excel, CSV or NDJSON files, a folder of photos, or standard input (-).\n\n" +
      "The file is checked first. If it has any problem, all problems are listed and nothing is sent.\n\n" +
      "Columns: reference, name, description, sex, and columns for photos. Required are reference, name, and a photo for new products. " +
      "Put photos in the column images (several, separated by |), in image_1 to image_20, " +
      "or in image_front, image_back and so on. " +
      "A photo is an https:// URL, the ID of an uploaded image, or a local file.\n\n" +
      "NDJSON: one row per line, with the field names of the service.\n\n" +
      "If an import stops, run the same command again to resume it. " +
      "If you import a file again, only what was edited in it is carried out, on any machine. What the service has changed since " +
      "is kept, and what both have changed is a conflict.",
    examples: [
      ["write a sheet to begin with", "cat import --template products.xlsx"],
      ["try an import without an account", "cat import products.csv --mock"],
      ["check a file without sending it", "cat import products.csv --dry-run"],
      ["show what would change", "cat import products.csv --plan"],
      ["make the products exactly as the rows say", "cat import products.csv --exact"],
      ["import several files in one command", "cat import dresses.csv shoes.xlsx bags.csv.gz"],
      ["use the column names of your shop", "cat import products.csv --map SKU=reference --map Price=ignore"],
      ["import a list with one row per photo", "cat import photos.csv --merge-rows"],
      ["read words of your shop as values", "cat import products.csv --map-value sex:Damen=female"],
      ["add photos that are named like DRESS-1_front.jpg", "cat import products.csv --images-from photos"],
      ["import a folder of photos", 'cat import photos/ --pattern "{reference}_{side}"'],
      ["restore a mirror of cat export sync in an empty organization", "cat import mirror/"],
      ["restore a mirror in a bucket", "cat import s3://shop/images"],
      ["keep the ledger between CI jobs", "cat import products.csv --ledger ledger.db"],
      [
        "import the output of another program, and print the summary as JSON",
        "export-products | cat import - --format ndjson --json",
      ],
    ],
  }).addArgument(
    bucketArgument(
      "[FILE...]",
      "files or folder of photos to import, s3://BUCKET/PREFIX of a mirror, or - for standard input",
    ),
  );

const withFlags = (made: Command): Command => {
  for (const addFlags of [addInput, addGuards, addPhotos, addExisting, addSending]) addFlags(made);
  const output = withOutputFlags(made.optionsGroup("Output:")).addOption(
    new Option(
      "--known-failures <DO>",
      "exit with 0 if only rows failed that failed for the same reason in the last two runs as well (ok)",
    )
      .choices(["ok"])
      .default(undefined, "exit with 8"),
  );
  return withBucketFlags(output);
};

function addInput(made: Command): void {
  const input = withInputFlags(made.optionsGroup("Input:"));
  withMapFlags(withTemplateFlag(input, "products.xlsx"), "sex:Damen=female")
    .option("--skip-invalid", "skip invalid rows and import the others", false)
    .option(
      "--codes-as-written",
      "keep references as written, also those that look damaged, such as 1001.0 or 1E+06",
      false,
    )
    .option(
      "--merge-rows",
      "import the rows of each reference as one product, such as one per photo or size; a column position orders their photos",
    )
    .option("--dry-run", "check the file without sending it", false);
}

const addGuards = (made: Command): Command =>
  made
    .optionsGroup("Before anything is sent:")
    .option("--plan [FILE]", "show what would change at the service without sending it, and write it to FILE")
    .option("--apply <PLAN>", "send what a plan file shows, instead of a FILE")
    .option("--strict", "with --apply, send nothing if any product changed since the plan was made", false)
    .addOption(new Option("--plan-format <FORMAT>", "how a plan is printed").choices(planFormats))
    .option(
      "--max-changes <LIMIT>",
      "send nothing if more rows than this would be sent, e.g. 200 or 30%",
      rowLimit,
    )
    .option(
      "--max-removals <LIMIT>",
      "send nothing if more photos than this would be detached, e.g. 50 or 10%",
      rowLimit,
    )
    .option("--exit-code", "with --plan, exit with 9 if anything would change", false);

const addPhotos = (made: Command): Command =>
  made
    .optionsGroup("Photos:")
    .addOption(
      new Option("--images-root <DIR>", "base folder for the paths of local photos").default(
        undefined,
        "the folder of the file",
      ),
    )
    .option(
      "--images-from <FOLDER>",
      "add the photos of a folder to the rows, by the references in their names",
    )
    .option(
      "--pattern <PATTERN>",
      "how photos in a folder are named, e.g. {reference}_{side} or {reference}/*",
    )
    .option("--images-outside", "allow local photos outside that folder", false)
    .option(
      "--convert",
      "upload TIFF, AVIF, GIF and BMP files, CMYK and turned photos, and photos over 10 MB or 30 megapixels, as JPEG",
      false,
    )
    .option(
      "--check-photos",
      "check first that each URL has a photo, at most twice per second and host; results are kept for a day",
      false,
    )
    .addOption(
      new Option(
        "--on-image-error <DO>",
        "if a photo cannot be fetched: import the row without it (skip), or fail the row (fail_row)",
      )
        .choices(onImageErrors)
        .default("skip"),
    );

const addExisting = (made: Command): Command =>
  made
    .optionsGroup("Existing products:")
    .addOption(
      new Option(
        "--mode <MODE>",
        "if a product exists: carry out what was edited in the row (upsert), fail the row (create), or skip the row (skip_existing)",
      )
        .choices(importModes)
        .default("upsert"),
    )
    .addOption(
      new Option(
        "--photos <WHICH>",
        "in mode upsert, compare rows and photos with their products first (new), or add all photos again (all)",
      )
        .choices(photosModes)
        .default(undefined, "new"),
    )
    .option(
      "--exact",
      "make the products exactly as the rows say: empty cells are cleared, other photos detached",
      false,
    )
    .addOption(
      new Option(
        "--conflicts <WHOSE>",
        "if a cell was edited in the sheet and at the service: keep the service's value (service), or write the sheet's (sheet)",
      )
        .choices(conflictChoices)
        .default(undefined, "skip the row"),
    )
    .addOption(
      new Option("--ledger <FILE>", "file that records what was imported").default(
        undefined,
        "kept in the profile",
      ),
    )
    .option("--same-organization", "the API key changed, but belongs to the same organization", false);

const addSending = (made: Command): Command =>
  made
    .optionsGroup("Resuming:")
    .option("--fresh", "start over instead of resuming a stopped run", false)
    .addOption(
      new Option(
        "--unknown <DO>",
        "if an earlier run got no response for some rows: send them again (resend), or treat them as imported or as not-imported",
      ).choices(unknownChoices),
    )
    .optionsGroup("Sending:")
    .option("--no-wait", "exit once the rows are sent, without waiting for the results")
    .addOption(timeoutFlag("how long to wait for the results"))
    .option(
      "--concurrency <N>",
      "number of requests in flight",
      wholeNumber({ min: 1, max: 16 }),
      defaultConcurrency,
    )
    .addOption(
      new Option("--batch <N>", "number of rows per request at most")
        .argParser(wholeNumber({ min: 1, max: limits.importRows.max }))
        .default(undefined, "2000"),
    );
