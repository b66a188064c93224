import {
  type ImportMode,
  importModes,
  type OnImageError,
  onImageErrors,
} from "../../../contract/value-sets.ts";
import { columnOf, knownColumns } from "../../../flows/import/columns/csv-columns.ts";
import { nearestColumns } from "../../../flows/import/columns/nearest-column.ts";
import type { PhotosMode, UnknownChoice } from "../../../flows/import/run/import-input.ts";
import { normalHeader } from "../../../flows/rows/header.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import type { InputFormat } from "../../../flows/rows/source.ts";
import { UsageError } from "../../context/errors.ts";
import { type FileFlags, type RawFileFlags, readFileFlags } from "../../files/file-flags.ts";

/** The flags as commander hands them over. */
export interface RawFlags extends RawFileFlags {
  mode: string;
  onImageError: string;
  map?: string[];
  dryRun?: boolean;
  skipInvalid?: boolean;
  wait: boolean;
  concurrency: number;
  timeout?: number;
  imagesRoot?: string;
  imagesOutside?: boolean;
  photos?: string;
  ledger?: string;
  fresh?: boolean;
  unknown?: string;
  sameOrganization?: boolean;
}

/** What one call of the command is to do. */
export interface ImportFlags extends FileFlags {
  mode: ImportMode;
  onImageError: OnImageError;
  map: ReadonlyMap<string, string>;
  dryRun: boolean;
  skipInvalid: boolean;
  wait: boolean;
  concurrency: number;
  timeoutMs: number | null;
  /** The folder that local photos are relative to; undefined for that of the file. */
  imagesRoot: string | undefined;
  /** Let paths of photos lead out of that folder. */
  imagesOutside: boolean;
  photos: PhotosMode;
  /** The file to keep the ledger in, in place of the profile's own. */
  ledger: string | undefined;
  /** Begin anew rather than take up a run that was stopped. */
  fresh: boolean;
  /** What to do with calls of earlier runs whose outcome is not known; undefined to ask. */
  unknown: UnknownChoice | undefined;
  /** Take a key that was never seen for one of the organization that earlier imports were sent to, where nothing tells. */
  sameOrganization: boolean;
}

export const modes = importModes;
export const imageErrorChoices = onImageErrors;

/** Judges the flags that commander cannot judge by itself. Throws UsageError. */
export function readFlags(file: string, raw: RawFlags, cwd: string): ImportFlags {
  const files = readFileFlags(file, raw, cwd);
  for (const [flag, value, what] of [
    ["--ledger", raw.ledger, "file"],
    ["--images-root", raw.imagesRoot, "folder"],
  ] as const) {
    if (value === "") throw new UsageError(`${flag} is empty`, { param: flag, hint: `Name a ${what}.` });
  }
  if (raw.ledger === "-") {
    const hint = "Name a file, e.g. ledger.db.";
    throw new UsageError("--ledger -: a ledger is read and written, so it must be a file", {
      param: "--ledger",
      hint,
    });
  }
  if (raw.results !== undefined && !raw.wait) {
    const hint = "Leave one of them out.";
    throw new UsageError("--results needs the results, and --no-wait does not wait for them", { hint });
  }
  return {
    ...files,
    mode: raw.mode as ImportMode,
    onImageError: raw.onImageError as OnImageError,
    map: readMap(raw.map ?? []),
    dryRun: raw.dryRun ?? false,
    skipInvalid: raw.skipInvalid ?? false,
    wait: raw.wait,
    concurrency: raw.concurrency,
    timeoutMs: raw.timeout ?? null,
    imagesRoot: raw.imagesRoot,
    imagesOutside: raw.imagesOutside ?? false,
    photos: readPhotosMode(raw),
    ledger: raw.ledger,
    fresh: raw.fresh ?? false,
    unknown: raw.unknown as UnknownChoice | undefined,
    sameOrganization: raw.sameOrganization ?? false,
  };
}

/** Refuses flags that speak of columns and cells where the input has none; a mapping that the profile has saved is just not used. */
export function refuseCsvFlags({ file, delimiter, map }: ImportFlags, format: InputFormat | undefined): void {
  if (format !== "ndjson") return;
  const flag = map.size > 0 ? "--map" : delimiter === undefined ? null : "--delimiter";
  if (flag === null) return;
  throw new UsageError(`${flag} is for CSV, and ${shownName(file)} is read as NDJSON`, {
    param: flag,
    hint: `Leave ${flag} out, or give --format csv if it is CSV.`,
  });
}

/** Only an upsert appends photos to a product that is there: the other modes have nothing to leave out. */
function readPhotosMode({ mode, photos }: RawFlags): PhotosMode {
  if (photos === "new" && mode !== "upsert") {
    throw new UsageError(`--photos new is for --mode upsert, not ${mode}`, {
      param: "--photos",
      hint: "Leave --photos out: in this mode no photo is added to a product that exists.",
    });
  }
  return mode === "upsert" ? ((photos ?? "new") as PhotosMode) : "all";
}

function readMap(entries: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const entry of entries) {
    const at = entry.lastIndexOf("=");
    const column = normalHeader(unquoted(entry.slice(0, Math.max(0, at)).trim()));
    const field = entry.slice(at + 1).trim();
    const fault = at < 1 || column === "" ? shapeFault : (fieldFault(field) ?? duplicateFault(map, column));
    if (fault !== undefined) {
      const { wrong, hint } = fault;
      throw new UsageError(`--map ${JSON.stringify(entry)}: ${wrong}`, { param: "--map", hint });
    }
    map.set(column, field);
  }
  return map;
}

/** A header as a file has it that puts its cells in quotes. */
const unquoted = (column: string): string =>
  /^"(?:[^"]|"")*"$/.test(column) ? column.slice(1, -1).replaceAll('""', '"') : column;

/** What is wrong with an entry of --map, and what to do about that. */
interface MapFault {
  wrong: string;
  hint: string;
}

const fields = `FIELD is ${knownColumns}, or ignore.`;

const shapeFault: MapFault = {
  wrong: "it must be COLUMN=FIELD",
  hint: `COLUMN is a header of the file, e.g. SKU=reference. ${fields}`,
};

function fieldFault(field: string): MapFault | undefined {
  if (field !== "" && columnOf(field).kind !== "unknown" && !/^error_/i.test(field)) return undefined;
  const near = nearestColumns(field).join(" or ");
  const hint = near === "" ? fields : `Did you mean ${near}? ${fields}`;
  return { wrong: `"${field}" is not a field of an import`, hint };
}

function duplicateFault(map: ReadonlyMap<string, string>, column: string): MapFault | undefined {
  const earlier = map.get(column);
  return earlier === undefined
    ? undefined
    : {
        wrong: `the column "${column}" is mapped twice`,
        hint: `It is mapped to ${earlier} already: leave one of the two out.`,
      };
}
