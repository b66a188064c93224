import type { ImportMode, OnImageError } from "../../../contract/value-sets.ts";
import { columnOf, knownColumns, nearestColumns } from "../../../flows/import/columns.ts";
import type { PhotosMode, UnknownChoice } from "../../../flows/import/import-input.ts";
import { normalHeader } from "../../../flows/rows/row-form.ts";
import type { InputFormat } from "../../../flows/rows/source.ts";
import { shownName } from "../../../flows/words.ts";
import { UsageError } from "../../context/errors.ts";
import { type FileFlags, type RawFileFlags, readFileFlags } from "../../files/file-flags.ts";
import { named } from "../../flags/values.ts";

/** The flags of `cat import`, as commander parses them. */
export interface RawFlags extends RawFileFlags {
  readonly mode: ImportMode;
  readonly onImageError: OnImageError;
  readonly dryRun: boolean;
  readonly skipInvalid: boolean;
  readonly wait: boolean;
  readonly concurrency: number;
  /** The folder that local photos are relative to (default: the folder of the file). */
  readonly imagesRoot?: string;
  /** Allow local photos outside that folder. */
  readonly imagesOutside: boolean;
  /** Convert local photos that the service does not take. */
  readonly convert: boolean;
  /** The file of the ledger, instead of the one in the profile. */
  readonly ledger?: string;
  /** Start over instead of resuming a stopped run. */
  readonly fresh: boolean;
  /** Treat a new API key as one of the organization of earlier imports, if the service cannot determine it. */
  readonly sameOrganization: boolean;
  readonly map?: string[];
  readonly timeout?: number;
  readonly photos?: PhotosMode;
  /** The choice for batches of earlier runs with an unknown outcome; undefined to prompt. */
  readonly unknown?: UnknownChoice;
}

/** The input of one import command. */
export interface ImportFlags
  extends Omit<RawFlags, keyof RawFileFlags | "map" | "timeout" | "unknown">,
    FileFlags {
  readonly map: ReadonlyMap<string, string>;
  readonly timeoutMs: number | null;
  readonly photos: PhotosMode;
  readonly unknown: UnknownChoice | undefined;
}

/** Makes the checks that commander cannot make. Throws UsageError. */
export function readFlags(file: string, raw: RawFlags, cwd: string): ImportFlags {
  const files = readFileFlags(file, raw, cwd);
  named("--ledger", raw.ledger, "Choose a file.");
  named("--images-root", raw.imagesRoot, "Choose a folder.");
  if (raw.ledger === "-") {
    const hint = "Choose a file, for example --ledger ledger.db.";
    throw new UsageError("--ledger -: a ledger cannot be standard input", { param: "--ledger", hint });
  }
  if (raw.results !== undefined && !raw.wait) {
    const message = "--results cannot be used with --no-wait, which does not wait for results";
    throw new UsageError(message, { hint: "Remove one of them." });
  }
  const { map = [], timeout = null, unknown, mode, photos } = raw;
  // Only mode upsert adds photos to existing products, so the other modes have no photos to skip.
  if (photos === "new" && mode !== "upsert") {
    throw new UsageError(`--photos new cannot be used with --mode ${mode}`, {
      param: "--photos",
      hint: "Remove --photos: this mode never adds photos to existing products.",
    });
  }
  return {
    ...raw,
    ...files,
    map: readMap(map),
    timeoutMs: timeout,
    photos: mode === "upsert" ? (photos ?? "new") : "all",
    unknown,
  };
}

/** Rejects flags for columns with NDJSON input, and a delimiter with a workbook. Columns saved in the profile are only not used. */
export function rejectCsvFlags({ file, delimiter, map }: ImportFlags, format: InputFormat | undefined): void {
  if (format !== "ndjson" && format !== "workbook") return;
  const flag = map.size > 0 && format === "ndjson" ? "--map" : delimiter !== undefined ? "--delimiter" : null;
  if (flag === null) return;
  const isNdjson = format === "ndjson";
  throw new UsageError(
    `cannot use ${flag}: ${shownName(file)} is ${isNdjson ? "read as NDJSON" : "a workbook"}`,
    { param: flag, hint: `Remove ${flag}${isNdjson ? ", or add --format csv if the file is CSV" : ""}.` },
  );
}

const fields = `FIELD is one of ${knownColumns}, or ignore.`;

/** The entries of `--map`: normal headers, and their fields. */
function readMap(entries: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const entry of entries) {
    const mistake = (wrong: string, hint: string) =>
      new UsageError(`invalid --map ${JSON.stringify(entry)}: ${wrong}`, { param: "--map", hint });
    const at = entry.lastIndexOf("=");
    const column = normalHeader(unquoted(entry.slice(0, Math.max(0, at)).trim()));
    const field = entry.slice(at + 1).trim();
    if (at < 1 || column === "") {
      const hint = `For example: --map SKU=reference. COLUMN is a column of the file. ${fields}`;
      throw mistake("use COLUMN=FIELD", hint);
    }
    if (field === "" || columnOf(field).kind === "unknown" || /^error_/i.test(field)) {
      const near = nearestColumns(field).join(" or ");
      throw mistake(`unknown field "${field}"`, near === "" ? fields : `Did you mean ${near}? ${fields}`);
    }
    const earlier = map.get(column);
    if (earlier !== undefined) {
      const hint = `It is already mapped to ${earlier}. Remove one of the two.`;
      throw mistake(`the column "${column}" is mapped twice`, hint);
    }
    map.set(column, field);
  }
  return map;
}

/** The header without the quotes that a CSV file may put around it. */
const unquoted = (column: string): string =>
  /^"(?:[^"]|"")*"$/.test(column) ? column.slice(1, -1).replaceAll('""', '"') : column;
