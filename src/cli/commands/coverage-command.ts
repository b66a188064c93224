import { extname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { GenerationKind } from "../../contract/generation-rules.ts";
import { beautifierStyles, taskSubtypes, taskTypes } from "../../contract/value-sets.ts";
import { splitValues } from "../../flows/generate/columns/read-row.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { command } from "../flags/command.ts";
import { type SheetFormat, sheetFormats } from "../flags/common-flags.ts";
import { type RawPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { conflict, either } from "../flags/usage-error.ts";
import { named, several } from "../flags/values.ts";
import {
  type ProductsFileFlags,
  type RawProductsFileFlags,
  readProductsFileFlags,
  rejectProductsFileFlags,
  withProductsFileFlags,
} from "../mapping/products-file-flags.ts";
import { flagName } from "../output/command-words.ts";

type TaskType = (typeof taskTypes)[number];

/** The flags with the values of looks. */
const lookFlags = ["model", "subtype", "background", "angle", "style"] as const;

/** The flags of `cat products coverage`, as commander parses them. */
export interface RawCoverageFlags
  extends RawPrintFlags,
    RawProductsFileFlags,
    Partial<Record<(typeof lookFlags)[number], string[]>> {
  readonly q?: string;
  readonly without?: TaskType[];
  readonly looks?: string;
}

/** The sheet of looks to write, and the values of its rows; none for what the user fills in. */
export interface LooksFlags extends Readonly<Record<(typeof lookFlags)[number], readonly string[]>> {
  readonly out: string;
  readonly format: SheetFormat;
  readonly kind: GenerationKind;
}

/** Which products are listed, and the sheet to write instead; null for none. */
export interface CoverageFlags {
  readonly file: (ProductsFileFlags & { readonly name: string }) | null;
  readonly q: string | undefined;
  readonly without: readonly TaskType[];
  readonly looks: LooksFlags | null;
}

/** `cat products coverage`: which images exist, and the sheet of those that do not. */
export const coverageCommand = (app: App): Command => {
  const made = command("coverage", {
    summary: "list which images each product has, or write a sheet of the missing ones",
    usage: "[FILE] [flags]",
    about:
      "List for each product which photos, beautified shots and try-ons exist. Images that a review has rejected are only counted.\n\n" +
      "With --looks, write a sheet of the images that do not exist, which cat tryon or cat beautify reads.",
    examples: [
      ["list all products", "cat products coverage"],
      ["list the dresses without a try-on", "cat products coverage --q dress --without tryon"],
      [
        "list the products without any generated image",
        "cat products coverage --without tryon --without beautifier",
      ],
      [
        "write the try-ons that the products of a file lack",
        "cat products coverage products.csv --looks looks.xlsx --model Mia --background studio --angle full-front",
      ],
      [
        "write the beautified shots that are missing",
        "cat products coverage --looks shots.xlsx --subtype clothing --background white --angle front",
      ],
    ],
  });
  made
    .argument("[FILE]", "only the products of a CSV or Excel file, or a list of IDs or references")
    .optionsGroup("Products:")
    .option("--q <TEXT>", "only products with TEXT in the reference or name")
    .addOption(
      new Option("--without <KIND>", "only products that have no image of KIND; repeatable")
        .choices(taskTypes)
        .argParser(kinds),
    );
  withProductsFileFlags(made, "FILE")
    .optionsGroup("Sheet of missing images:")
    .option("--looks <OUT>", "write an .xlsx, .csv or .ndjson file of the images that do not exist")
    .option("--model <ID|NAME>", "model of a try-on; repeatable, as the next ones", several)
    .option("--subtype <SUBTYPE>", `${either(taskSubtypes)}: for beautified shots`, several)
    .option("--background <SLUG>", "background, or a color such as #f4f1ea", several)
    .option("--angle <SLUG>", "angle shot", several)
    .option("--style <STYLE>", `style of clothing (${beautifierStyles.join(", ")})`, several)
    .optionsGroup("Output:");
  return withPrintFlags(made).action(async (file: string | undefined, raw: RawCoverageFlags) => {
    const flags = readCoverageFlags(file, raw);
    const { printCoverage } = await import("./coverage.ts");
    await printCoverage(app, flags, raw);
  });
};

/** Kinds of images; the flag may be repeated. */
function kinds(value: string, earlier: readonly TaskType[] = []): TaskType[] {
  const kind = taskTypes.find((known) => known === value);
  if (kind === undefined) throw new InvalidArgumentError(`use ${either(taskTypes)}`);
  return [...new Set([...earlier, kind])];
}

/** Checks what commander cannot check by itself. Throws UsageError. */
function readCoverageFlags(file: string | undefined, raw: RawCoverageFlags): CoverageFlags {
  const name = named("FILE", file, "Choose a file, or - for standard input.");
  if (name === undefined) rejectProductsFileFlags(raw, "FILE");
  const { q, without = [] } = raw;
  return {
    file: name === undefined ? null : { ...readProductsFileFlags(raw), name },
    q,
    without,
    looks: readLooksFlags(raw),
  };
}

function readLooksFlags({ looks, without = [], ...raw }: RawCoverageFlags): LooksFlags | null {
  const [given] = lookFlags.filter((name) => raw[name] !== undefined);
  const out = named("--looks", looks, "Choose a file, for example --looks looks.xlsx.");
  if (out === undefined) {
    if (given === undefined) return null;
    const param = flagName(given);
    const hint = `Add --looks looks.xlsx, or remove ${param}.`;
    throw new UsageError(`${param} needs --looks`, { param, hint });
  }
  const [printed] = (["format", "fields"] as const).filter((name) => raw[name] !== undefined);
  if (printed !== undefined) throw conflict("--looks", flagName(printed));
  const ofShots = (["subtype", "style"] as const).find((name) => raw[name] !== undefined);
  if (raw.model !== undefined && ofShots !== undefined) throw conflict("--model", flagName(ofShots));
  const isTryon = raw.model !== undefined || (ofShots === undefined && without.join() === "tryon");
  if (!isTryon && ofShots === undefined && without.join() !== "beautifier")
    throw new UsageError("--looks needs --model or --subtype", {
      param: "--looks",
      hint: "Add --model NAME for try-ons, or --subtype SUBTYPE for beautified shots.",
    });
  const values = Object.fromEntries(
    lookFlags.map((name) => [name, [...new Set((raw[name] ?? []).flatMap(splitValues))]]),
  ) as Record<(typeof lookFlags)[number], string[]>;
  const kind = isTryon ? "tryon" : "beautify";
  return { ...values, out, format: sheetFormat(out), kind };
}

/** The format of the name. Throws UsageError. */
function sheetFormat(out: string): SheetFormat {
  const ending = extname(out).toLowerCase().slice(1);
  const format = sheetFormats.find((known) => known === ending);
  if (format !== undefined) return format;
  throw new UsageError(`cannot write --looks ${out}: looks are in an .xlsx, .csv or .ndjson file`, {
    param: "--looks",
    hint: "Choose a file, for example --looks looks.xlsx.",
  });
}
