import { type Command, Option } from "commander";
import { photosModes, unknownChoices } from "../../flows/import/run/import-input.ts";
import type { App } from "../app/app.ts";
import { withInputFlags, withOutputFlags } from "../files/file-flags.ts";
import { command, examples } from "../flags/command.ts";
import { duration } from "../flags/duration.ts";
import { wholeNumber } from "../flags/values.ts";
import { type ImportFlags, imageErrorChoices, modes, type RawFlags, readFlags } from "./import/flags.ts";
import { runImport } from "./import/run.ts";

/** Calls on their way at once when the user does not say; the rate limit, not this, bounds a long import. */
const defaultConcurrency = 4;

/** `cat import FILE|-`: parses the flags; `run` does the work. */
export const importCommand = (
  app: App,
  run: (app: App, flags: ImportFlags) => Promise<void> = runImport,
): Command =>
  withOutputFlags(
    withInputFlags(
      command("import")
        .usage("FILE|- [flags]")
        .description(
          "Bring products and their photos in from a CSV or NDJSON file, or from standard input (-). " +
            "The whole file is checked first: if anything is wrong with it, every problem is listed and nothing is sent.\n\n" +
            "CSV columns: reference, name, description, sex, and the photos as images (several, separated by |), " +
            "as image_1 to image_20 (with image_1_orientation and so on), or as image_front, image_back and the like. " +
            "A photo is an https:// address, the id of an uploaded image, or a file on this machine. NDJSON: one row a line, in the service's own form.\n\n" +
            "Give the same command again after a stop, whatever stopped it: it goes on, and nothing is sent twice. " +
            "A file that is imported again, with changes or without, adds no photo a second time and sends only what changed.",
        )
        .argument("<FILE>", "the file, or - for standard input"),
    )
      .addOption(
        new Option(
          "--mode <MODE>",
          "what to do with a reference that exists: update it and add the photos, fail, or leave it",
        )
          .choices(modes)
          .default("upsert"),
      )
      .addOption(
        new Option(
          "--on-image-error <DO>",
          "when a photo of a row cannot be fetched: skip it, or fail the row",
        )
          .choices(imageErrorChoices)
          .default("skip"),
      )
      .option("--dry-run", "check the file and send nothing")
      .option("--skip-invalid", "leave out the rows that do not validate and import the others")
      .addOption(
        new Option(
          "--map <COLUMN=FIELD>",
          "read a column as a field, or as ignore; may be given several times (unknown columns are asked about on a terminal)",
        ).argParser((entry: string, earlier: string[] = []) => [...earlier, entry]),
      )
      .option(
        "--images-root <DIR>",
        "the folder that photos on this machine are relative to (default: the file's own)",
      )
      .option("--images-outside", "let image paths lead out of their folder, through .. or a link")
      .addOption(
        new Option(
          "--photos <WHICH>",
          "in mode upsert: only photos that were not attached before, or all as they stand (default new)",
        ).choices(photosModes),
      )
      .option("--ledger <FILE>", "where to keep what was attached, in place of the profile's own place")
      .option("--fresh", "begin anew in place of going on with a run that was stopped")
      .addOption(
        new Option(
          "--unknown <DO>",
          "what to do with calls of earlier runs whose outcome is not known",
        ).choices(unknownChoices),
      )
      .option(
        "--same-organization",
        "a new API key belongs to the organization of earlier imports, if the service cannot tell",
      )
      .option("--no-wait", "send the rows and do not wait for the result")
      .addOption(
        new Option("--timeout <TIME>", "how long to wait for the result, e.g. 90s, 30m, 2h").argParser(
          duration,
        ),
      )
      .addOption(
        new Option("--concurrency <N>", "calls on their way at once")
          .default(defaultConcurrency)
          .argParser(wholeNumber({ min: 1, max: 16 })),
      ),
  )
    .addHelpText(
      "after",
      examples([
        ["see how it works, with a made-up service", "cat import fixtures/products.csv --mock"],
        ["only check the file", "cat import products.csv --dry-run"],
        ["in a CI job, which keeps the ledger from run to run", "cat import products.csv --ledger ledger.db"],
        ["columns with names of your own", "cat import products.csv --map SKU=reference --map Price=ignore"],
        [
          "from another program, the summary as JSON",
          "export-products | cat import - --format ndjson --json",
        ],
      ]),
    )
    .action(async (file: string, raw: RawFlags) => run(app, readFlags(file, raw, app.context.cwd)));
