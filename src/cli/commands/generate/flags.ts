import { type Command, InvalidArgumentError, Option } from "commander";
import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { beautifierStyles, taskSubtypes } from "../../../contract/value-sets.ts";
import { separator } from "../../../flows/generate/columns/read-row.ts";
import { type UnknownChoice, unknownChoices } from "../../../flows/generate/generation-run.ts";
import type { EncodingName } from "../../../flows/rows/encoding.ts";
import type { InputFormat } from "../../../flows/rows/source.ts";
import { UsageError } from "../../context/errors.ts";
import { type RawFileFlags, readFileFlags, withInputFlags, withOutputFlags } from "../../files/file-flags.ts";
import { otherFlags } from "../../flags/command.ts";
import { maxBytesFlag, maxBytesOf, timeoutFlag } from "../../flags/common-flags.ts";
import { either } from "../../flags/usage-error.ts";
import { several, wholeNumber } from "../../flags/values.ts";

/** The values of one generation, or of a matrix, that flags name. */
export interface SelectionFlags {
  product?: string[];
  model?: string[];
  background?: string[];
  angle?: string[];
  styleWith?: string[];
  lookAway?: boolean;
  subtype?: string[];
  style?: string[];
}

/** The flags as commander hands them over. */
export interface RawGenerateFlags extends RawFileFlags, SelectionFlags {
  dryRun?: boolean;
  wait: boolean;
  timeout?: number;
  save?: string;
  maxBytes?: number;
  fresh?: boolean;
  matrix?: boolean;
  maxGenerations?: number;
  allowDuplicates?: boolean;
  skipInvalid?: boolean;
  unknown?: string;
  gallery?: string;
  rerun?: string;
}

/** What one command is to generate, as far as flags say. */
export interface GenerateFlags {
  readonly kind: GenerationKind;
  /** As typed, `-` for standard input; null where flags name the values. */
  readonly file: string | null;
  readonly selection: SelectionFlags;
  readonly format: InputFormat | undefined;
  readonly delimiter: string | undefined;
  readonly encoding: EncodingName;
  readonly results: string | undefined;
  readonly failed: string | undefined;
  readonly formulaGuard: boolean;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly timeoutMs: number | null;
  readonly save: string | undefined;
  readonly maxBytes: number;
  readonly fresh: boolean;
  readonly matrix: boolean;
  readonly maxGenerations: number | null;
  readonly allowDuplicates: boolean;
  readonly skipInvalid: boolean;
  readonly unknown: UnknownChoice | undefined;
  readonly gallery: string | undefined;
  /** The decisions of a review; its rejected images are generated again. */
  readonly rerun: string | undefined;
}

/** Subtypes, of which a matrix may have several in one value. */
function subtypes(value: string, earlier?: string[]): string[] {
  const known: readonly string[] = taskSubtypes;
  if (value.split(separator).every((one) => known.includes(one.trim()))) return several(value, earlier);
  throw new InvalidArgumentError(`use ${either(taskSubtypes)}`);
}
const repeatable = (flags: string, description: string) => new Option(flags, description).argParser(several);

/** Adds the flags of a command that generates images, in groups. */
export function withGenerateFlags(one: Command, kind: GenerationKind): Command {
  const isTryon = kind === "tryon";
  one.optionsGroup("Input:");
  withInputFlags(one);
  one
    .option("--matrix", "expand cells with several values (a|b) to every combination")
    .option("--allow-duplicates", "accept the same image twice")
    .option("--skip-invalid", "queue the valid rows and skip the others")
    .addOption(new Option("--rerun <DECISIONS>", "generate the rejected images of a review again"))
    .optionsGroup("One image, without a file:")
    .addOption(repeatable("--product <ID|REF>", "product"));
  if (isTryon) one.addOption(repeatable("--model <ID|NAME>", "model"));
  else
    one.addOption(
      repeatable("--subtype <SUBTYPE>", "kind of product")
        .choices([...taskSubtypes])
        .argParser(subtypes),
    );
  one
    .addOption(repeatable("--background <SLUG>", "background, or a color such as #f4f1ea"))
    .addOption(repeatable("--angle <SLUG>", "angle shot"));
  if (isTryon)
    one
      .addOption(repeatable("--style-with <ID|REF>", "product to style it with (repeatable, up to 10)"))
      .option("--look-away", "let the model look away from the camera");
  else one.addOption(repeatable("--style <STYLE>", `style of clothing (${beautifierStyles.join(", ")})`));
  one
    .optionsGroup("Cost:")
    .option("--dry-run", "show the plan and queue nothing")
    .addOption(
      new Option("--max-generations <N>", "stop if the input requests more images").argParser(
        wholeNumber({ min: 1 }),
      ),
    )
    .optionsGroup("Waiting and resuming:")
    .option("--no-wait", "queue the images and exit")
    .addOption(timeoutFlag())
    .option("--fresh", "generate again instead of resuming")
    .addOption(
      new Option("--unknown <DO>", "decide about requests without a response for over 24 h").choices(
        unknownChoices,
      ),
    )
    .optionsGroup("Output:")
    .option("--save <DIR>", "save the images in a folder, with results.csv and results.ndjson")
    .addOption(maxBytesFlag())
    .option("--gallery <FILE>", "write an HTML page to review the images");
  withOutputFlags(one);
  return otherFlags(one);
}

/** Checks what commander cannot check by itself. Throws UsageError. */
export function readGenerateFlags(
  kind: GenerationKind,
  file: string | undefined,
  raw: RawGenerateFlags,
  cwd: string,
): GenerateFlags {
  const { product, model, background, angle, styleWith, lookAway, subtype, style } = raw;
  const selection = {
    product,
    model,
    background,
    angle,
    styleWith,
    lookAway,
    subtype,
    style,
  } as SelectionFlags;
  const named = Object.entries(flagsOfSelection).find(
    ([name]) => selection[name as keyof SelectionFlags] !== undefined,
  );
  const input = file ?? raw.rerun;
  if (file !== undefined && raw.rerun !== undefined)
    throw new UsageError("--rerun reads its own file", { param: "--rerun", hint: "Remove FILE or --rerun." });
  if (input !== undefined && named !== undefined) {
    throw new UsageError(`${named[1]} cannot be combined with a file`, {
      param: named[1],
      hint: "Put the value into a column of the file, or remove the file.",
    });
  }
  if (raw.matrix !== true) rejectRepeated(selection);
  for (const [flag, value, what] of [
    ["--save", raw.save, "folder, for example --save images"],
    ["--gallery", raw.gallery, "file, for example --gallery review.html"],
  ] as const) {
    if (value !== undefined && (value.trim() === "" || value === "-"))
      throw new UsageError(`invalid ${flag} ${JSON.stringify(value)}`, {
        param: flag,
        hint: `Choose a ${what}.`,
      });
  }
  for (const [flag, value] of [
    ["--results", raw.results],
    ["--gallery", raw.gallery],
    ["--save", raw.save],
    ["--failed", raw.failed],
  ] as const) {
    if (value !== undefined && !raw.wait)
      throw new UsageError(`${flag} cannot be used with --no-wait`, {
        param: flag,
        hint: "Remove one of them.",
      });
  }
  const files = readFileFlags(input ?? "flags", raw, cwd);
  return {
    ...files,
    kind,
    file: file ?? null,
    selection,
    dryRun: raw.dryRun ?? false,
    wait: raw.wait,
    timeoutMs: raw.timeout ?? null,
    save: raw.save,
    maxBytes: maxBytesOf(raw),
    fresh: raw.fresh ?? false,
    matrix: raw.matrix ?? false,
    maxGenerations: raw.maxGenerations ?? null,
    allowDuplicates: raw.allowDuplicates ?? false,
    skipInvalid: raw.skipInvalid ?? false,
    unknown: raw.unknown as GenerateFlags["unknown"],
    gallery: raw.gallery,
    rerun: raw.rerun,
  };
}

/** The flags that name the values of one image. */
export const flagsOfSelection: Readonly<Record<keyof SelectionFlags, string>> = {
  product: "--product",
  model: "--model",
  background: "--background",
  angle: "--angle",
  styleWith: "--style-with",
  lookAway: "--look-away",
  subtype: "--subtype",
  style: "--style",
};

function rejectRepeated(selection: SelectionFlags): void {
  for (const name of ["product", "model", "background", "angle", "subtype", "style"] as const) {
    if ((selection[name]?.length ?? 0) < 2) continue;
    const flag = flagsOfSelection[name];
    throw new UsageError(`${flag} is given ${selection[name]!.length} times`, {
      param: flag,
      hint: "To generate every combination, add --matrix.",
    });
  }
}
