import { extname } from "node:path";
import { type Command, Option } from "commander";
import type { RowFormatName } from "../../../flows/export/live/row-format.ts";
import type { SharedFlags } from "./shared-flags.ts";

/** The flags of live rows as commander hands them over. */
export interface RawLiveFlags {
  format?: RowFormatName;
}

/** An export of the current rows. */
export interface LiveInput extends SharedFlags {
  readonly mode: "live";
  readonly format: RowFormatName;
}

/** Adds the flags of live rows. */
export const withLiveFlags = (one: Command): Command =>
  one.addOption(
    new Option("--format <FORMAT>", "output format")
      .choices(["ndjson", "csv"] satisfies RowFormatName[])
      .default(undefined, "from the file name, else ndjson"),
  );

/** Reads the flags of live rows. Throws UsageError. */
export function readLiveFlags(shared: SharedFlags, raw: RawLiveFlags): LiveInput {
  return { ...shared, mode: "live", format: raw.format ?? formatOf(shared.out) };
}

const formatOf = (out: string | null): RowFormatName =>
  out !== null && extname(out).toLowerCase() === ".csv" ? "csv" : "ndjson";
