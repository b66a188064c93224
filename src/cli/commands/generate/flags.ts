import { type Command, InvalidArgumentError, Option } from "commander";
import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { ulidPattern } from "../../../contract/limits.ts";
import { beautifierStyles, taskSubtypes } from "../../../contract/value-sets.ts";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import { separator } from "../../../flows/generate/columns/read-row.ts";
import { generationVocabulary } from "../../../flows/generate/columns/vocabulary.ts";
import { type UnqueuedChoice, unqueuedChoices } from "../../../flows/generate/generation-run.ts";
import { UsageError } from "../../context/errors.ts";
import {
  type FileFlags,
  type RawFileFlags,
  readFileFlags,
  withInputFlags,
  withOutputFlags,
  withTemplateFlag,
} from "../../files/file-flags.ts";
import {
  type BucketFlags,
  bucketOption,
  checkBucketFlags,
  withBucketFlags,
} from "../../flags/bucket-flags.ts";
import { otherFlags } from "../../flags/command.ts";
import { labelFlag, maxBytesFlag, readLabel, readMaxBytes, timeoutFlag } from "../../flags/common-flags.ts";
import { conflict, either } from "../../flags/usage-error.ts";
import { rejectNoPath, several, wholeNumber } from "../../flags/values.ts";
import {
  type MapFlags,
  type RawMapFlags,
  readMapFlags,
  rejectMapping,
  withMapFlags,
} from "../../mapping/map-flags.ts";
import { flagName } from "../../output/command-words.ts";

/** The flags that name the values of one generation, or of a matrix. */
const selectionNames = [
  "product",
  "model",
  "background",
  "angle",
  "styleWith",
  "lookAway",
  "subtype",
  "style",
] as const;

export type SelectionFlags = { [name in Exclude<(typeof selectionNames)[number], "lookAway">]?: string[] } & {
  lookAway?: boolean;
};

interface UnchangedFlags extends BucketFlags {
  readonly dryRun: boolean;
  readonly missing: boolean;
  readonly wait: boolean;
  readonly save?: string;
  readonly fresh: boolean;
  readonly matrix: boolean;
  readonly allowDuplicates: boolean;
  readonly skipInvalid: boolean;
  readonly label: boolean;
  readonly gallery?: string;
  /** The decisions of a review of the run, which move its rejected images out of the folder of `save`. */
  readonly approved?: string;
  /** The decisions of a review; its rejected images are generated again. */
  readonly rerun?: string;
}

export interface RawGenerateFlags extends UnchangedFlags, RawFileFlags, RawMapFlags, SelectionFlags {
  readonly timeout?: number;
  readonly maxBytes?: number;
  readonly maxGenerations?: number;
  readonly unknown?: UnqueuedChoice;
}

export interface GenerateFlags extends UnchangedFlags, Omit<FileFlags, "file">, MapFlags {
  readonly kind: GenerationKind;
  /** As typed, `-` for standard input; null where flags name the values. */
  readonly file: string | null;
  /** The input as messages name it: the file, the decisions, or `flags`. */
  readonly input: string;
  readonly selection: SelectionFlags;
  readonly timeoutMs: number | null;
  readonly maxBytes: number;
  readonly maxGenerations: number | null;
  readonly unknown: UnqueuedChoice | undefined;
}

/** Subtypes, of which a matrix may have several in one value. */
function subtypes(value: string, earlier?: string[]): string[] {
  const known: readonly string[] = taskSubtypes;
  if (value.split(separator).every((word) => known.includes(word.trim()))) return several(value, earlier);
  throw new InvalidArgumentError(`use ${either(taskSubtypes)}`);
}

const mapExamples = { tryon: "background:Weiss=white", beautify: "subtype:Schuhe=shoes" } as const;

export function withGenerateFlags(command: Command, kind: GenerationKind): Command {
  const isTryon = kind === "tryon";
  const input = withInputFlags(command.optionsGroup("Input:"));
  withMapFlags(withTemplateFlag(input, isTryon ? "looks.xlsx" : "shots.xlsx"), mapExamples[kind])
    .option("--matrix", "expand cells with several values (a|b) to every combination", false)
    .option("--allow-duplicates", "accept the same image twice, also one that exists", false)
    .option("--skip-invalid", "queue the valid rows and skip the others", false)
    .option("--rerun <DECISIONS>", "generate the rejected images of a review again")
    .optionsGroup("One image, without a file:")
    .option("--product <ID|REF>", "product", several);
  if (isTryon) command.option("--model <ID|NAME>", "model", several);
  else {
    const subtype = new Option("--subtype <SUBTYPE>", "kind of product").choices(taskSubtypes);
    command.addOption(subtype.argParser(subtypes));
  }
  command
    .option("--background <SLUG>", "background, or a color such as #f4f1ea", several)
    .option("--angle <SLUG>", "angle shot", several);
  if (isTryon)
    command
      .option("--style-with <ID|REF>", "product to style it with (repeatable, up to 10)", several)
      .option("--look-away", "let the model look away from the camera");
  else command.option("--style <STYLE>", `style of clothing (${beautifierStyles.join(", ")})`, several);
  command
    .optionsGroup("Cost:")
    .option("--dry-run", "show the plan and queue nothing", false)
    .option("--missing", "skip images of other computers too, and replace rejected ones", false)
    .option("--max-generations <N>", "stop if more images are to be generated", wholeNumber({ min: 1 }))
    .optionsGroup("Waiting and resuming:")
    .option("--no-wait", "queue the images and exit")
    .addOption(timeoutFlag())
    .option("--fresh", "generate all images again, also those that exist", false)
    .addOption(
      new Option("--unknown <DO>", "decide about requests without a response for over 24 h").choices(
        unqueuedChoices,
      ),
    )
    .optionsGroup("Output:")
    .addOption(
      bucketOption(
        "--save <DIR>",
        "save the images in a folder or s3://BUCKET/PREFIX, with results.csv and results.ndjson",
      ),
    )
    .addOption(maxBytesFlag())
    .addOption(labelFlag())
    .option("--approved <DECISIONS>", "move the rejected images of a review to DIR/rejected")
    .option("--gallery <FILE>", "write an HTML page to review the images");
  return otherFlags(withBucketFlags(withOutputFlags(command)));
}

/** Checks what commander cannot check by itself. Throws UsageError. */
export function readGenerateFlags(
  kind: GenerationKind,
  file: string | undefined,
  raw: RawGenerateFlags,
  cwd: string,
): GenerateFlags {
  const selection: SelectionFlags = Object.fromEntries(selectionNames.map((name) => [name, raw[name]]));
  const input = file ?? raw.rerun;
  rejectInput(file, raw);
  if (!raw.matrix) rejectRepeated(selection);
  rejectNoPath("--save", raw.save, "folder, for example --save images");
  rejectNoPath("--gallery", raw.gallery, "file, for example --gallery review.html");
  checkBucketFlags(raw.save, raw);
  rejectApproved(raw, input);
  const output = (["results", "gallery", "save", "failed"] as const).find((name) => raw[name] !== undefined);
  if (output !== undefined && !raw.wait) throw conflict(flagName(output), "--no-wait");
  return {
    ...raw,
    ...readFileFlags(input ?? "flags", raw, cwd),
    ...readMapFlags(raw, generationVocabulary(kind)),
    kind,
    file: file ?? null,
    input: input ?? "flags",
    selection,
    timeoutMs: raw.timeout ?? null,
    maxBytes: readMaxBytes(raw),
    label: readLabel(raw),
    maxGenerations: raw.maxGenerations ?? null,
    unknown: raw.unknown,
  };
}

/** Rejects flags that the input does not go with. */
function rejectInput(file: string | undefined, raw: RawGenerateFlags): void {
  const [named] = selectionNames.filter((name) => raw[name] !== undefined).map(flagName);
  if (file !== undefined && raw.rerun !== undefined)
    throw new UsageError("--rerun reads its own file", { param: "--rerun", hint: "Remove FILE or --rerun." });
  if ((file ?? raw.rerun) !== undefined && named !== undefined) {
    throw new UsageError(`${named} cannot be combined with a file`, {
      param: named,
      hint: "Put the value into a column of the file, or remove the file.",
    });
  }
  if (file === undefined) rejectMapping(raw, "a file");
  if (raw.missing && raw.rerun !== undefined) throw conflict("--missing", "--rerun");
  if (raw.missing && raw.fresh) throw conflict("--missing", "--fresh");
  if (raw.limit !== undefined && raw.rerun !== undefined) throw conflict("--limit", "--rerun");
  if (raw.limit !== undefined && file === undefined)
    throw new UsageError("--limit needs a file", { param: "--limit", hint: "Remove --limit." });
}

/** `--approved` is about the images of an earlier command, which `--save` has saved or saves now. */
function rejectApproved(raw: RawGenerateFlags, input: string | undefined): void {
  if (raw.approved === undefined) return;
  if (raw.save === undefined)
    throw new UsageError("--approved needs --save", { param: "--approved", hint: "Add --save DIR." });
  if (isBucketAddress(raw.save))
    throw new UsageError("--approved moves files, which --save with a bucket does not have", {
      param: "--approved",
      hint: "Use --save DIR, or record the review with cat tasks review.",
    });
  if (raw.dryRun) throw conflict("--approved", "--dry-run");
  // Images that are generated again are of another run than those of the review.
  if (raw.fresh) throw conflict("--approved", "--fresh");
  if (raw.approved === "-" && input === "-")
    throw new UsageError("FILE and --approved are both standard input", {
      param: "--approved",
      hint: "Save one of them in a file.",
    });
}

function rejectRepeated(selection: SelectionFlags): void {
  for (const name of ["product", "model", "background", "angle", "subtype", "style"] as const) {
    const count = selection[name]?.length ?? 0;
    if (count < 2) continue;
    const param = flagName(name);
    const hint = "To generate every combination, add --matrix.";
    throw new UsageError(`${param} is given ${count} times`, { param, hint });
  }
}

/** The values that one image needs, in the order in which they are asked for. */
const neededFlags = {
  tryon: ["product", "model", "background", "angle"],
  beautify: ["product", "subtype", "background", "angle"],
} as const satisfies Record<GenerationKind, readonly (keyof SelectionFlags)[]>;

export const missingFlags = (kind: GenerationKind, selection: SelectionFlags): string[] =>
  neededFlags[kind].filter((name) => selection[name] === undefined).map(flagName);

/** The error of a command line without a file on which flags are missing. */
export function missingInput(kind: GenerationKind, missing: readonly string[]): UsageError {
  const names = missing.join(", ");
  if (missing.length < neededFlags[kind].length) {
    const hint = "Add the missing flags, or use a file.";
    return new UsageError(`missing ${names}`, { param: missing[0]!, hint });
  }
  const hint = `Use a file, - for standard input, or ${names}.`;
  return new UsageError("missing argument: FILE", { param: "FILE", hint });
}

/** The rows that flags stand for, as NDJSON: one for each product, of which only a matrix has several. */
export function rowsOfSelection(
  { kind, matrix }: { kind: GenerationKind; matrix: boolean },
  selection: SelectionFlags,
): string {
  const joined = (values: readonly string[] | undefined) => values?.join(separator);
  const { product = [], model, background, angle, styleWith, lookAway, subtype, style } = selection;
  const rows = product
    .flatMap((value) => (matrix ? value.split(separator) : value))
    .map((part) => ({
      [ulidPattern.test(part.trim()) ? "product_id" : "product_reference"]: part,
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
