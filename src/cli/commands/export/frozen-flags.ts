import { type Command, Option } from "commander";
import { checkEncodingName, type EncodingName } from "../../../flows/rows/encoding.ts";
import { UsageError } from "../../context/errors.ts";
import { readDelimiter } from "../../files/file-flags.ts";
import { defaultMaxBytes, maxBytesFlag, timeoutFlag } from "../../flags/common-flags.ts";
import { several } from "../../flags/values.ts";
import type { RawLiveFlags } from "./live-flags.ts";
import type { SharedFlags } from "./shared-flags.ts";

/** The flags of frozen exports as commander hands them over. */
export interface RawFrozenFlags {
  manifest?: boolean;
  zip?: boolean;
  extract?: string;
  maxBytes?: number;
  product?: string[];
  productsFrom?: string;
  delimiter?: string;
  encoding?: string;
  timeout?: number;
  fresh?: boolean;
}

/** A frozen export: files that the service prepares. */
export interface FrozenCommand extends SharedFlags {
  readonly mode: "frozen";
  readonly format: "manifest" | "zip";
  /** The folder to extract ZIPs into, as typed; null to keep them. */
  readonly extract: string | null;
  readonly maxBytes: number;
  /** IDs or references, trimmed. */
  readonly products: readonly string[];
  /** The file with the products, as typed; null for none. */
  readonly productsFrom: string | null;
  readonly delimiter: string | undefined;
  readonly encoding: EncodingName;
  readonly timeoutMs: number | null;
  readonly fresh: boolean;
}

/** The default of `--out`. */
export const frozenNames = { manifest: "catalogue.jsonl", zip: "catalogue.zip" } as const;

/** Adds the flags of frozen exports. */
export const withFrozenFlags = (one: Command): Command =>
  one
    .optionsGroup("Files prepared by the service:")
    .option(
      "--manifest",
      `one JSONL file of the catalogue at one moment (default: --out ${frozenNames.manifest})`,
    )
    .option("--zip", `ZIP files with the images (default: --out ${frozenNames.zip}, several get numbers)`)
    .option("--extract <DIR>", "with --zip: extract the images into a new folder")
    .addOption(maxBytesFlag())
    .addOption(new Option("--product <ID|REF>", "only this product (repeatable)").argParser(several))
    .option(
      "--products-from <FILE>",
      "only the products of a file: a CSV or one ID or reference per line; - is stdin",
    )
    .option("--delimiter <C>", "column separator of --products-from (default: detected)")
    .option("--encoding <NAME>", "text encoding of --products-from (default: detects UTF-8 and UTF-16)")
    .addOption(timeoutFlag())
    .option("--fresh", "start over instead of resuming a stopped export");

/** Whether the flags ask for a frozen export. Throws UsageError for a flag that only such an export has. */
export function isFrozen(raw: RawFrozenFlags): boolean {
  if (raw.manifest || raw.zip) return true;
  for (const [flag, value] of [
    ["--extract", raw.extract],
    ["--max-bytes", raw.maxBytes],
    ["--product", raw.product],
    ["--products-from", raw.productsFrom],
    ["--delimiter", raw.delimiter],
    ["--encoding", raw.encoding],
    ["--timeout", raw.timeout],
    ["--fresh", raw.fresh],
  ] as const) {
    if (value === undefined) continue;
    const [needs, hint] =
      flag === "--extract" || flag === "--max-bytes"
        ? ["--zip", "Add --zip."]
        : ["--manifest or --zip", "Add one of them."];
    throw new UsageError(`${flag} needs ${needs}`, { param: flag, hint });
  }
  return false;
}

/** Reads the flags of a frozen export. Throws UsageError. */
export function readFrozenFlags(
  shared: SharedFlags,
  raw: RawFrozenFlags & Pick<RawLiveFlags, "format"> & { out?: string; since?: unknown; margin?: unknown },
): FrozenCommand {
  const format = raw.zip ? "zip" : "manifest";
  const mode = `--${format}`;
  for (const [flag, value, other] of [
    [mode, raw.manifest && raw.zip ? true : undefined, "--manifest"],
    ["--format", raw.format, mode],
    ["--since", raw.since, mode],
    ["--margin", raw.margin, mode],
    ["--extract", raw.zip ? undefined : raw.extract, mode],
    ["--max-bytes", raw.zip ? undefined : raw.maxBytes, mode],
    ["--extract", raw.extract === undefined ? undefined : raw.out, "--out"],
    ["--product", raw.productsFrom === undefined ? undefined : raw.product, "--products-from"],
  ] as const) {
    if (value === undefined) continue;
    throw new UsageError(`${flag} cannot be used with ${other}`, {
      param: flag,
      hint: "Remove one of them.",
    });
  }
  if (raw.out === "-")
    throw new UsageError(`${mode} cannot write to standard output`, {
      param: "--out",
      hint: `Choose a file, for example --out ${frozenNames[format]}. For rows on standard output, remove ${mode}.`,
    });
  return {
    ...shared,
    mode: "frozen",
    format,
    extract: filled("--extract", raw.extract, "Choose a folder, for example --extract images."),
    maxBytes: raw.maxBytes ?? defaultMaxBytes,
    products: (raw.product ?? []).map((one) => filled("--product", one, "Use an ID or a reference.")!),
    productsFrom: filled("--products-from", raw.productsFrom, "Choose a file, or - for standard input."),
    delimiter: raw.delimiter === undefined ? undefined : readDelimiter(raw.delimiter),
    encoding: raw.encoding === undefined ? undefined : checkEncodingName(raw.encoding),
    timeoutMs: raw.timeout ?? null,
    fresh: raw.fresh ?? false,
  };
}

/** The trimmed value of a flag; null for a missing one. */
function filled(flag: string, value: string | undefined, hint: string): string | null {
  if (value === undefined) return null;
  if (value.trim() !== "") return value.trim();
  throw new UsageError(`${flag} is empty`, { param: flag, hint });
}
