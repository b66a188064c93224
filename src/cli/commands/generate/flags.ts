import { type Command, InvalidArgumentError, Option } from "commander";
import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { ulidPattern } from "../../../contract/limits.ts";
import { beautifierStyles, taskSubtypes } from "../../../contract/value-sets.ts";
import { separator } from "../../../flows/generate/columns/read-row.ts";
import { type UnknownChoice, unknownChoices } from "../../../flows/generate/generation-run.ts";
import { UsageError } from "../../context/errors.ts";
import {
  type FileFlags,
  type RawFileFlags,
  readFileFlags,
  withInputFlags,
  withOutputFlags,
} from "../../files/file-flags.ts";
import { otherFlags } from "../../flags/command.ts";
import { maxBytesFlag, maxBytesOf, timeoutFlag } from "../../flags/common-flags.ts";
import { conflict, either } from "../../flags/usage-error.ts";
import { rejectNoPath, several, wholeNumber } from "../../flags/values.ts";

/** The values of one generation, or of a matrix, that flags name. */
export interface SelectionFlags {
  product?: string[] | undefined;
  model?: string[] | undefined;
  background?: string[] | undefined;
  angle?: string[] | undefined;
  styleWith?: string[] | undefined;
  lookAway?: boolean | undefined;
  subtype?: string[] | undefined;
  style?: string[] | undefined;
}

/** The flags of a command that generates images, as commander hands them over and as they are used. */
interface SharedFlags {
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly save?: string;
  readonly fresh: boolean;
  readonly matrix: boolean;
  readonly allowDuplicates: boolean;
  readonly skipInvalid: boolean;
  readonly gallery?: string;
  /** The decisions of a review; its rejected images are generated again. */
  readonly rerun?: string;
}

export interface RawGenerateFlags extends SharedFlags, RawFileFlags, SelectionFlags {
  timeout?: number;
  maxBytes?: number;
  maxGenerations?: number;
  unknown?: UnknownChoice;
}

/** What one command is to generate, as far as flags say. */
export interface GenerateFlags extends SharedFlags, Omit<FileFlags, "file"> {
  readonly kind: GenerationKind;
  /** As typed, `-` for standard input; null where flags name the values. */
  readonly file: string | null;
  readonly selection: SelectionFlags;
  readonly timeoutMs: number | null;
  readonly maxBytes: number;
  readonly maxGenerations: number | null;
  readonly unknown: UnknownChoice | undefined;
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
    .option("--matrix", "expand cells with several values (a|b) to every combination", false)
    .option("--allow-duplicates", "accept the same image twice", false)
    .option("--skip-invalid", "queue the valid rows and skip the others", false)
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
    .option("--dry-run", "show the plan and queue nothing", false)
    .addOption(
      new Option("--max-generations <N>", "stop if the input requests more images").argParser(
        wholeNumber({ min: 1 }),
      ),
    )
    .optionsGroup("Waiting and resuming:")
    .option("--no-wait", "queue the images and exit")
    .addOption(timeoutFlag())
    .option("--fresh", "generate again instead of resuming", false)
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
  const { product, model, background, angle, styleWith, lookAway, subtype, style, ...more } = raw;
  const { timeout, maxBytes: _, maxGenerations, ...shared } = more;
  const selection: SelectionFlags = {
    product,
    model,
    background,
    angle,
    styleWith,
    lookAway,
    subtype,
    style,
  };
  const named = selectionNames.find((name) => selection[name] !== undefined);
  const input = file ?? raw.rerun;
  if (file !== undefined && raw.rerun !== undefined)
    throw new UsageError("--rerun reads its own file", { param: "--rerun", hint: "Remove FILE or --rerun." });
  if (input !== undefined && named !== undefined) {
    throw new UsageError(`${flagsOfSelection[named]} cannot be combined with a file`, {
      param: flagsOfSelection[named],
      hint: "Put the value into a column of the file, or remove the file.",
    });
  }
  if (raw.matrix !== true) rejectRepeated(selection);
  rejectNoPath("--save", raw.save, "folder, for example --save images");
  rejectNoPath("--gallery", raw.gallery, "file, for example --gallery review.html");
  for (const [flag, value] of [
    ["--results", raw.results],
    ["--gallery", raw.gallery],
    ["--save", raw.save],
    ["--failed", raw.failed],
  ] as const) {
    if (value !== undefined && !raw.wait) throw conflict(flag, "--no-wait");
  }
  return {
    ...shared,
    ...readFileFlags(input ?? "flags", raw, cwd),
    kind,
    file: file ?? null,
    selection,
    timeoutMs: timeout ?? null,
    maxBytes: maxBytesOf(raw),
    maxGenerations: maxGenerations ?? null,
    unknown: raw.unknown,
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

const selectionNames = Object.keys(flagsOfSelection) as (keyof SelectionFlags)[];

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

/** The values that one image needs, in the order in which they are asked for. */
const neededOf = {
  tryon: ["product", "model", "background", "angle"],
  beautify: ["product", "subtype", "background", "angle"],
} as const satisfies Record<GenerationKind, readonly (keyof SelectionFlags)[]>;

/** The flags that are missing. */
export const missingFlags = (kind: GenerationKind, selection: SelectionFlags): string[] =>
  neededOf[kind].filter((name) => selection[name] === undefined).map((name) => flagsOfSelection[name]);

/** The error of a command line without a file on which flags are missing. */
export const missingInput = (kind: GenerationKind, missing: readonly string[]): UsageError =>
  missing.length === neededOf[kind].length
    ? new UsageError("missing argument: FILE", {
        param: "FILE",
        hint: `Use a file, - for standard input, or ${missing.join(", ")}.`,
      })
    : new UsageError(`missing ${missing.join(", ")}`, {
        param: missing[0]!,
        hint: "Add the missing flags, or use a file.",
      });

/** The rows that flags stand for, as NDJSON: one for each product, of which only a matrix has several. */
export function rowsOfSelection(
  { kind, matrix }: { kind: GenerationKind; matrix: boolean },
  selection: SelectionFlags,
): string {
  const joined = (values: readonly string[] | undefined) => values?.join(separator);
  const { product = [], model, background, angle, styleWith, lookAway, subtype, style } = selection;
  const rows = product
    .flatMap((value) => (matrix ? value.split(separator) : value))
    .map((one) => ({
      [ulidPattern.test(one.trim()) ? "product_id" : "product_reference"]: one,
      ...(kind === "tryon"
        ? {
            model_id: joined(model),
            styling_product_ids: styleWith,
            look_at_camera: lookAway === true ? false : undefined,
          }
        : { subtype: joined(subtype), style: joined(style) }),
      background: joined(background),
      angle_shot: joined(angle),
    }));
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
