import type { Command } from "commander";
import type { MaxRemovals } from "../../flows/catalogue/removals.ts";
import type { SelectionKind } from "../../flows/export/selection/columns.ts";
import { UsageError } from "../context/errors.ts";
import { conflict } from "../flags/usage-error.ts";
import { maxRemovals, named } from "../flags/values.ts";
import {
  type ProductsFileFlags,
  type RawProductsFileFlags,
  readProductsFileFlags,
  rejectProductsFileFlags,
  withProductsFileFlags,
} from "../mapping/products-file-flags.ts";
import { flagName } from "../output/command-words.ts";

export interface RawRemovalFlags extends RawProductsFileFlags {
  readonly from?: string;
  readonly dryRun?: true;
  readonly maxDelete?: MaxRemovals;
  readonly maxRemovals?: MaxRemovals;
}

export interface RemovalFlags extends ProductsFileFlags {
  readonly file: string;
  readonly dryRun: boolean;
  /** The limit of the user; null for the usual one. */
  readonly most: MaxRemovals | null;
}

/** Adds the flags about a file. `limit`: the flag of the limit. */
export const withRemovalFlags = (
  made: Command,
  { from, limit, things }: { from: string; limit: "--max-delete" | "--max-removals"; things: string },
): Command =>
  withProductsFileFlags(
    made
      .option("--from <FILE>", from)
      .option("--dry-run", "list what --from would remove, by reading alone")
      .option(
        `${limit} <LIMIT>`,
        `most ${things} to remove with --from, e.g. 200 or 30% (default: 20, or 10% if that is more)`,
        maxRemovals,
      ),
    "--from",
  );

/** The flags about a file; null for arguments, of which `missing` is the first. Throws UsageError. */
export function readRemovalFlags(
  raw: RawRemovalFlags,
  args: readonly string[],
  { kind, missing, help }: { kind: SelectionKind; missing: string | undefined; help: string },
): RemovalFlags | null {
  const file = named("--from", raw.from, "Choose a file, or - for standard input.");
  if (file !== undefined) {
    if (args.length > 0) throw conflict("--from", "products on the command line");
    const most = raw.maxDelete ?? raw.maxRemovals ?? null;
    return { ...readProductsFileFlags(raw, kind), file, dryRun: raw.dryRun ?? false, most };
  }
  const only = (["dryRun", "maxDelete", "maxRemovals"] as const).find((name) => raw[name] !== undefined);
  if (only !== undefined) {
    const param = flagName(only);
    throw new UsageError(`${param} needs --from`, { param, hint: `Add --from FILE, or remove ${param}.` });
  }
  rejectProductsFileFlags(raw, "--from");
  if (missing === undefined) return null;
  throw new UsageError(`missing argument: ${missing}`, {
    code: "missing_argument",
    param: missing,
    hint: `See: ${help} --help`,
  });
}
