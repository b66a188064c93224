// The one check whether the name of an output fits what is written: Excel rejects NDJSON named .xlsx.

import { existsSync } from "node:fs";
import { platform } from "node:os";
import { extname, resolve, win32 } from "node:path";
import { isDeviceName } from "../../contract/image-file.ts";
import { series } from "../../flows/words.ts";
import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";

/** The endings of what the program writes, the usual one first. */
const endings = {
  csv: [".csv"],
  tsv: [".tsv", ".tab"],
  xlsx: [".xlsx"],
  ndjson: [".ndjson", ".jsonl", ".json"],
  /** NDJSON of the service, under the name that it uses. */
  jsonl: [".jsonl", ".ndjson", ".json"],
  json: [".json"],
  zip: [".zip"],
  html: [".html", ".htm"],
  xml: [".xml"],
  prom: [".prom"],
  "image/jpeg": [".jpg", ".jpeg", ".jpe", ".jfif"],
  "image/png": [".png"],
  "image/webp": [".webp"],
  /** Any other name will do. */
  ledger: [".db"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type OutputFormat = keyof typeof endings;

/** Endings of spreadsheets, whose user wants a table. */
const sheets = ".xls .xlsm .xlsb .xltx .ods .fods .numbers .tsv .tab .csv .xlsx".split(" ");

/** Other endings by which programs open a file. */
const others =
  ".gz .tgz .tar .7z .rar .bz2 .xz .zst .pdf .doc .docx .odt .rtf .ppt .pptx .md .yaml .yml .sql .parquet .gif .avif .heic .tif .tiff .bmp .svg .mp4 .exe";

const { ledger: _, ...ofFormats } = endings;
const known: ReadonlySet<string> = new Set([
  ...Object.values(ofFormats).flat(),
  ...sheets,
  ...others.split(" "),
]);

/** A flag and its value as typed: an argument is a value alone. */
export const asTyped = (flag: string, value: string): string =>
  flag.startsWith("-") ? `${flag} ${value}` : value;

const endingOf = (name: string): string => extname(name.trim()).toLowerCase();

/** The format of a name's ending; null for an unknown one, undefined for one not written. */
function formatOfEnding<Format extends OutputFormat>(
  name: string,
  formats: readonly Format[],
): Format | null | undefined {
  const ending = endingOf(name);
  const found = formats.find((format) => (endings[format] as readonly string[]).includes(ending));
  return found ?? (known.has(ending) ? undefined : null);
}

/** Throws UsageError for a name that other programs on Windows can neither open nor delete. */
function rejectNameOfWindows(flag: string, name: string): void {
  const last = win32.basename(name);
  const isUsual = !isDeviceName(last) && !/[<>:"|?*]|[^.][. ]$|^\.{3}|^ $/.test(last);
  if (platform() !== "win32" || isUsual) return;
  throw new UsageError(`cannot write ${asTyped(flag, name)}: Windows does not allow this name`, {
    param: flag,
    hint: "Choose another name.",
  });
}

/** The format by name, else `--format`, else the first one. Throws UsageError for another ending. */
export function outputFormat<Format extends OutputFormat>(
  flag: string,
  name: string,
  formats: readonly [Format, ...Format[]],
  given?: Format,
): Format {
  rejectNameOfWindows(flag, name);
  const ofName = formatOfEnding(name, formats);
  if (ofName === null) return given ?? formats[0];
  if (ofName !== undefined && (given ?? ofName) === ofName) return ofName;
  const stem = name.trim().replace(/\.gz$/i, "");
  const withEnding = (format: Format) =>
    asTyped(flag, `${stem.slice(0, stem.length - extname(stem).length)}${endings[format][0]}`);
  const written = given === undefined ? formats : [given];
  const what = series(
    written.map((format) => endings[format][0]),
    "or",
  );
  throw new UsageError(
    `cannot write ${asTyped(flag, name)}: it is written as ${what}, not ${endingOf(name)}`,
    {
      code: "false_ending",
      param: flag,
      hint: `Use ${withEnding(meant(name, written))}${ofName === undefined ? "" : ", or leave the format to the name"}.`,
    },
  );
}

/** The format that was probably meant: a table for the name of a spreadsheet. */
function meant<Format extends OutputFormat>(name: string, formats: readonly Format[]): Format {
  const tables = ["xlsx", "csv"].flatMap((table) => formats.filter((format) => format === table));
  return (sheets.includes(endingOf(name)) ? tables[0] : undefined) ?? formats[0]!;
}

/** Throws UsageError for a folder that would be created under the name of a file. */
export function rejectFileName(flag: string, name: string, { cwd }: Context): void {
  rejectNameOfWindows(flag, name);
  const ending = endingOf(name);
  if (!known.has(ending) || existsSync(resolve(cwd, name))) return;
  throw new UsageError(`cannot write ${asTyped(flag, name)}: it is a folder, not ${ending}`, {
    code: "false_ending",
    param: flag,
    hint: `Use ${asTyped(flag, name.trim().slice(0, -ending.length))}.`,
  });
}
