import { type Command, Option } from "commander";
import type { RowFormatName } from "../../../flows/export/live/row-format.ts";
import { UsageError } from "../../context/errors.ts";
import {
  type BucketFlags,
  bucketOption,
  checkBucketFlags,
  withBucketFlags,
} from "../../flags/bucket-flags.ts";
import {
  defaultMaxBytes,
  formatForExcel,
  maxBytesFlag,
  timeoutFlag,
  withCsvFlags,
} from "../../flags/common-flags.ts";
import { conflict } from "../../flags/usage-error.ts";
import { duration, named, several, timestamp } from "../../flags/values.ts";
import { rejectMapping } from "../../mapping/map-flags.ts";
import {
  type ProductsFileFlags,
  type RawProductsFileFlags,
  readProductsFileFlags,
  withProductsFileFlags,
} from "../../mapping/products-file-flags.ts";
import { flagName } from "../../output/command-words.ts";
import { outputFormat } from "../../output/output-names.ts";
import {
  type RawReviewFlags,
  type ReviewFlags,
  readReviewFilter,
  readRoles,
  roleFlag,
  withReviewFlags,
} from "./role-flags.ts";

/** Unix milliseconds, or the start of the previous export with `--since last`. */
type Since = number | "last";

/** The formats of rows, the default first. */
const liveFormats = ["ndjson", "csv", "xlsx"] as const satisfies readonly (RowFormatName | "xlsx")[];
type LiveFormat = (typeof liveFormats)[number];

export interface RawExportFlags extends BucketFlags, RawProductsFileFlags, RawReviewFlags {
  out?: string;
  role?: string[];
  format?: LiveFormat;
  since?: Since;
  margin?: number;
  formulaGuard?: boolean;
  excel?: boolean;
  manifest?: true;
  zip?: true;
  extract?: string;
  label?: boolean;
  maxBytes?: number;
  product?: string[];
  productsFrom?: string;
  timeout?: number;
  fresh?: true;
}

/** An export of the current rows. */
export interface LiveInput extends ReviewFlags {
  /** The file as typed; null for standard output. */
  readonly out: string | null;
  readonly bucket: BucketFlags;
  /** Asset roles, sorted and without duplicates; null for all. */
  readonly roles: readonly string[] | null;
  readonly format: LiveFormat;
  /** Only products changed since then; null for all. */
  readonly since: Since | null;
  /** Subtracted from `since`, in milliseconds: a change may show up late (Exports, `since`). */
  readonly marginMs: number;
  /** Whether cells of a CSV that a spreadsheet would run are guarded. */
  readonly formulaGuard: boolean;
  /** Whether a CSV is written for Excel; undefined as the profile says. */
  readonly excel: boolean | undefined;
}

/** A frozen export: files that the service prepares. */
export interface FrozenFlags extends Pick<LiveInput, "roles" | "bucket">, ReviewFlags, ProductsFileFlags {
  /** The file as typed; null for the default of the format. */
  readonly out: string | null;
  readonly format: "manifest" | "zip";
  /** The folder to extract ZIPs into, as typed; null to keep them. */
  readonly extract: string | null;
  readonly label: boolean;
  readonly maxBytes: number;
  /** IDs or references, trimmed. */
  readonly products: readonly string[];
  /** The file with the products, as typed; null for none. */
  readonly productsFrom: string | null;
  readonly timeoutMs: number | null;
  readonly fresh: boolean;
}

/** The default of `--out` for a frozen export. */
export const frozenNames = { manifest: "catalogue.jsonl", zip: "catalogue.zip" } as const;

export const withExportFlags = (made: Command): Command => {
  withCsvFlags(
    withReviewFlags(
      made
        .addOption(
          bucketOption(
            "--out <FILE>",
            "file to write, s3://BUCKET/NAME, or - for standard output (--yes replaces an existing file)",
          ),
        )
        .addOption(roleFlag()),
    )
      .addOption(
        new Option("--format <FORMAT>", "output format")
          .choices(liveFormats)
          .default(undefined, "from the file name, else ndjson"),
      )
      .option(
        "--since <TIME|last>",
        "only changes since a time, or since the last export with --since last",
        (text: string): Since => (text.trim() === "last" ? "last" : timestamp(text)),
      )
      .addOption(
        new Option("--margin <TIME>", "start earlier by this time, because changes may show up late")
          .argParser((text: string) => (text === "0" ? 0 : duration(text)))
          .default(undefined, "5m with --since last"),
      ),
  )
    .optionsGroup("Files prepared by the service:")
    .option(
      "--manifest",
      `one JSONL file of the catalogue at one moment (default: --out ${frozenNames.manifest})`,
    )
    .option("--zip", `ZIP files with the images (default: --out ${frozenNames.zip}, several get numbers)`)
    .option("--extract <DIR>", "with --zip: extract the images into a new folder")
    .option("--no-label", "with --extract: save images as sent, without the label of AI-generated ones")
    .addOption(maxBytesFlag())
    .option("--product <ID|REF>", "only this product (repeatable)", several)
    .option(
      "--products-from <FILE>",
      "only the products of a file: a table, or one ID or reference per line; - is stdin",
    );
  withProductsFileFlags(made, "--products-from")
    .addOption(timeoutFlag())
    .option("--fresh", "start over instead of resuming a stopped export");
  return withBucketFlags(made);
};

const usualMarginMs = 5 * 60_000;

/** The input of an export of rows. Throws UsageError for what commander cannot check by itself. */
export function readLiveFlags(raw: RawExportFlags): LiveInput {
  const out = readOut(raw);
  const roles = readRoles(raw.role);
  const onlyFrozen = [
    ..."extract maxBytes product productsFrom sheet map mapValue mapFile delimiter encoding".split(" "),
    ..."timeout fresh".split(" "),
  ];
  rejectLabel(raw);
  const flag = onlyFrozen.find((name) => raw[name as keyof RawExportFlags] !== undefined);
  if (flag !== undefined) {
    const isOfZip = flag === "extract" || flag === "maxBytes";
    throw new UsageError(`${flagName(flag)} needs ${isOfZip ? "--zip" : "--manifest or --zip"}`, {
      param: flagName(flag),
      hint: isOfZip ? "Add --zip." : "Add one of them.",
    });
  }
  const { since = null, margin, formulaGuard = true, excel } = raw;
  const format = outputFormat("--out", out ?? "-", liveFormats, formatForExcel(raw.format, excel));
  if (margin !== undefined && since === null) {
    throw new UsageError("--margin needs --since", {
      param: "--margin",
      hint: "Add --since last or --since TIME, or remove --margin.",
    });
  }
  const marginMs = margin ?? (since === "last" ? usualMarginMs : 0);
  const bucket = readBucket(out, raw);
  return { ...readReviewFilter(raw), out, bucket, roles, format, since, marginMs, formulaGuard, excel };
}

/** Throws UsageError for `--no-label` of images that are not extracted. */
export function rejectLabel(
  { label = true, extract }: Pick<RawExportFlags, "label" | "extract">,
  extraction = "--zip --extract DIR",
): void {
  if (label || extract !== undefined) return;
  const hint = `Add ${extraction}, or remove --no-label.`;
  throw new UsageError("--no-label needs --extract", { param: "--no-label", hint });
}

/** The file of `--out`; null for standard output, and without the flag. */
function readOut(raw: RawExportFlags): string | null {
  const hint = "Choose a file, for example --out catalogue.ndjson, or - for standard output.";
  const out = named("--out", raw.out, hint) ?? "-";
  return out === "-" ? null : out;
}

function readBucket(out: string | null, { endpoint, region, pathStyle }: BucketFlags): BucketFlags {
  const flags = { endpoint, region, pathStyle };
  checkBucketFlags(out, flags);
  return flags;
}

/** The input of a frozen export. Throws UsageError for what commander cannot check by itself. */
export function readFrozenFlags(raw: RawExportFlags): FrozenFlags {
  const out = readOut(raw);
  const roles = readRoles(raw.role);
  const format = raw.zip ? "zip" : "manifest";
  const mode = `--${format}`;
  rejectConflicts(raw, mode);
  const reviewFlags = readReviewFilter(raw);
  const { filter } = reviewFlags;
  if (filter !== null && raw.extract === undefined)
    throw new UsageError(`--${filter} needs --extract with --zip`, {
      param: `--${filter}`,
      hint: "Add --extract DIR, because the service writes the ZIP.",
    });
  rejectLabel(raw);
  if (raw.out === "-")
    throw new UsageError(`${mode} cannot write to standard output`, {
      param: "--out",
      hint: `Choose a file, for example --out ${frozenNames[format]}. For rows on standard output, remove ${mode}.`,
    });
  if (out !== null) outputFormat("--out", out, [format === "zip" ? "zip" : "jsonl"]);
  return {
    out,
    bucket: readBucket(out, raw),
    roles,
    format,
    ...reviewFlags,
    extract: filled("--extract", raw.extract, "Choose a folder, for example --extract images."),
    label: raw.label ?? true,
    maxBytes: raw.maxBytes ?? defaultMaxBytes,
    products: (raw.product ?? []).map((name) => filled("--product", name, "Use an ID or a reference.")!),
    productsFrom: filled("--products-from", raw.productsFrom, "Choose a file, or - for standard input."),
    ...readFileFlags(raw),
    timeoutMs: raw.timeout ?? null,
    fresh: raw.fresh ?? false,
  };
}

function rejectConflicts(raw: RawExportFlags, mode: string): void {
  const unlessZip = <Value>(value: Value) => (raw.zip ? undefined : value);
  for (const [flag, value, counterpart] of [
    [mode, raw.manifest && raw.zip ? true : undefined, "--manifest"],
    ["--format", raw.format, mode],
    ["--since", raw.since, mode],
    ["--margin", raw.margin, mode],
    ["--extract", unlessZip(raw.extract), mode],
    ["--max-bytes", unlessZip(raw.maxBytes), mode],
    ["--extract", raw.extract === undefined ? undefined : raw.out, "--out"],
    ["--approved", unlessZip(raw.approved), mode],
    ["--not-rejected", unlessZip(raw.notRejected), mode],
    ["--product", raw.productsFrom === undefined ? undefined : raw.product, "--products-from"],
  ] as const) {
    if (value !== undefined) throw conflict(flag, counterpart);
  }
}

/** The flags about the file of `--products-from`. */
function readFileFlags(raw: RawExportFlags): ProductsFileFlags {
  if (raw.productsFrom === undefined) rejectMapping(raw, "--products-from");
  return readProductsFileFlags(raw);
}

/** The trimmed value of a flag; null for a missing one. */
const filled = (flag: string, value: string | undefined, hint: string): string | null =>
  named(flag, value, hint)?.trim() ?? null;
