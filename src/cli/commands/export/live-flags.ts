import { extname } from "node:path";
import { type Command, Option } from "commander";
import type { RowFormatName } from "../../../flows/export/live/row-format.ts";
import { UsageError } from "../../context/errors.ts";
import { formulaGuardFlag } from "../../flags/common-flags.ts";
import { duration, timestamp } from "../../flags/values.ts";
import type { SharedFlags } from "./shared-flags.ts";

/** The flags of live rows as commander hands them over. */
export interface RawLiveFlags {
  format?: RowFormatName;
  since?: Since;
  margin?: number;
  formulaGuard?: boolean;
}

/** Unix milliseconds, or the start of the previous export with `--since last`. */
export type Since = number | "last";

/** An export of the current rows. */
export interface LiveInput extends SharedFlags {
  readonly mode: "live";
  readonly format: RowFormatName;
  /** Only products changed since then; null for all. */
  readonly since: Since | null;
  /** Subtracted from `since`, in milliseconds: a change may show up late (Exports, `since`). */
  readonly marginMs: number;
  /** Whether cells of a CSV that a spreadsheet would run are guarded. */
  readonly formulaGuard: boolean;
}

const usualMarginMs = 5 * 60_000;

/** Adds the flags of live rows. */
export const withLiveFlags = (one: Command): Command =>
  one
    .addOption(
      new Option("--format <FORMAT>", "output format")
        .choices(["ndjson", "csv"] satisfies RowFormatName[])
        .default(undefined, "from the file name, else ndjson"),
    )
    .addOption(
      new Option(
        "--since <TIME|last>",
        "only changes since a time, or since the last export with --since last",
      ).argParser((text: string): Since => (text.trim() === "last" ? "last" : timestamp(text))),
    )
    .addOption(
      new Option("--margin <TIME>", "start earlier by this time, because changes may show up late")
        .argParser(duration)
        .default(undefined, "5m with --since last"),
    )
    .addOption(formulaGuardFlag());

/** Reads the flags of live rows. Throws UsageError. */
export function readLiveFlags(shared: SharedFlags, raw: RawLiveFlags): LiveInput {
  const { format = formatOf(shared.out), since = null, margin, formulaGuard = true } = raw;
  if (margin !== undefined && since === null) {
    throw new UsageError("--margin needs --since", {
      param: "--margin",
      hint: "Add --since last or --since TIME, or remove --margin.",
    });
  }
  return {
    ...shared,
    mode: "live",
    format,
    since,
    formulaGuard,
    marginMs: margin ?? (since === "last" ? usualMarginMs : 0),
  };
}

const formatOf = (out: string | null): RowFormatName =>
  out !== null && extname(out).toLowerCase() === ".csv" ? "csv" : "ndjson";
