import { basename, extname } from "node:path";
import { detectForeignType, detectImageType } from "../../contract/image-file.ts";
import { isWebPage, packing } from "./encoding.ts";

export type InputFormat = "csv" | "ndjson" | "workbook";

const formatOfExtension: Readonly<Record<string, InputFormat>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".txt": "csv",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".xlsx": "workbook",
  ".xlsm": "workbook",
  ".ods": "workbook",
};

/** The format that the extension of a file name indicates, if any; that of `a.csv.gz` is that of `a.csv`. */
export const formatOfName = (name: string): InputFormat | undefined =>
  formatOfExtension[extname(withoutGz(name)).toLowerCase()];

export const withoutGz = (name: string): string => name.replace(/(?<=.)\.gz$/i, "");

export interface NotRows {
  readonly what: string;
  readonly code: string;
  readonly hint: string;
}

const saveAsWorkbook = "Open it in Excel or LibreOffice, and save it as .xlsx.";

/** The format of a file: a workbook by its content alone, others by flag, name or first character. */
export function detectFormat(
  name: string,
  start: Buffer,
  format: InputFormat | undefined,
): InputFormat | NotRows {
  const named = format ?? formatOfName(name);
  if (start.length === 0) return named ?? "csv";
  const isPacked = /^(?:PK\x03\x04|\xd0\xcf\x11\xe0)/.test(start.toString("latin1", 0, 4));
  if (isPacked || basename(name).startsWith("~$")) return "workbook";
  const other = otherThanRows(name, start) ?? otherText(name, textOf(start), format);
  if (other !== null) return other;
  if (named !== undefined && named !== "workbook") return named;
  return /^[{[]/.test(textOf(start)) ? "ndjson" : "csv";
}

const textOf = (start: Buffer): string =>
  start
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();

/** A file that is known by its name or its first bytes. */
function otherThanRows(name: string, start: Buffer): NotRows | null {
  const invalid = (what: string, hint: string) => ({ what, code: "invalid_file", hint });
  if (/^\.~lock\..*#$/.test(basename(name)))
    return invalid("a lock file of LibreOffice", "Choose the file without .~lock. and #.");
  const packed = packing(start);
  if (packed !== null)
    return { what: `${packed}, not rows`, code: "packed_file", hint: "Expand it, and use a file in it." };
  const isPdf = start.toString("latin1", 0, 5) === "%PDF-";
  if (!isPdf && detectImageType(start) === null && detectForeignType(start) === null) return null;
  const hint = "Choose a CSV or NDJSON file, a workbook, or a folder of photos.";
  return invalid(`${isPdf ? "a PDF file" : "an image"}, not rows`, hint);
}

function otherText(name: string, text: string, format: InputFormat | undefined): NotRows | null {
  const page = "The page may ask to log in, or to be exported: download the file in a browser, and use that.";
  // Many shop systems export an HTML table under the name .xls.
  const hint = /\.xls$/i.test(name) ? saveAsWorkbook : page;
  if (isWebPage(text)) return { what: "a web page, not rows", code: "web_page", hint };
  return format === "workbook" || text.startsWith("<?xml")
    ? { what: "not a workbook (.xlsx or .ods)", code: "unreadable_workbook", hint: saveAsWorkbook }
    : null;
}
