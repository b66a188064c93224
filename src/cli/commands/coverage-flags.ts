import { extname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { GenerationKind } from "../../contract/generation-rules.ts";
import { beautifierStyles, taskSubtypes, taskTypes } from "../../contract/value-sets.ts";
import { UsageError } from "../context/errors.ts";
import { otherFlags } from "../flags/command.ts";
import { type SheetFormat, sheetFormats } from "../flags/common-flags.ts";
import { type RawPrintFlags, withRowsFlags } from "../flags/print-flags.ts";
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
import { outputFormat } from "../output/output-names.ts";

type TaskType = (typeof taskTypes)[number];

const lookFlags = ["model", "subtype", "background", "angle", "style"] as const;

export interface RawCoverageFlags
  extends RawPrintFlags,
    RawProductsFileFlags,
    Partial<Record<(typeof lookFlags)[number], string[]>> {
  readonly q?: string;
  readonly without?: TaskType[];
  readonly looks?: string;
}

/** The sheet of looks to write, and the values of its rows as typed; none for what the user fills in. */
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

export function withCoverageFlags(made: Command): Command {
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
  return otherFlags(withRowsFlags(made));
}

/** Kinds of images; the flag may be repeated. */
function kinds(value: string, earlier: readonly TaskType[] = []): TaskType[] {
  const kind = taskTypes.find((known) => known === value);
  if (kind === undefined) throw new InvalidArgumentError(`use ${either(taskTypes)}`);
  return [...new Set([...earlier, kind])];
}

/** Checks what commander cannot check by itself. Throws UsageError. */
export function readCoverageFlags(file: string | undefined, raw: RawCoverageFlags): CoverageFlags {
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
  const [printed] = (["out", "format", "fields"] as const).filter((name) => raw[name] !== undefined);
  if (printed !== undefined) throw conflict("--looks", flagName(printed));
  const ofShots = (["subtype", "style"] as const).find((name) => raw[name] !== undefined);
  if (raw.model !== undefined && ofShots !== undefined) throw conflict("--model", flagName(ofShots));
  const isTryon = raw.model !== undefined || (ofShots === undefined && without.join() === "tryon");
  if (!isTryon && ofShots === undefined && without.join() !== "beautifier")
    throw new UsageError("--looks needs --model or --subtype", {
      param: "--looks",
      hint: "Add --model NAME for try-ons, or --subtype SUBTYPE for beautified shots.",
    });
  const values = Object.fromEntries(lookFlags.map((name) => [name, raw[name] ?? []])) as Record<
    (typeof lookFlags)[number],
    string[]
  >;
  const kind = isTryon ? "tryon" : "beautify";
  return { ...values, out, format: sheetFormat(out), kind };
}

/** The format of the name. Throws UsageError. */
function sheetFormat(out: string): SheetFormat {
  outputFormat("--looks", out, sheetFormats);
  const ending = extname(out).toLowerCase().slice(1);
  const format = sheetFormats.find((known) => known === ending);
  if (format !== undefined) return format;
  throw new UsageError(`cannot write --looks ${out}: looks are in an .xlsx, .csv or .ndjson file`, {
    param: "--looks",
    hint: "Choose a file, for example --looks looks.xlsx.",
  });
}
