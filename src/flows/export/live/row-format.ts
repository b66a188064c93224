import type { ExportRow } from "../../../contract/resources/export.ts";
import { assetColumns, assetLines } from "./asset-columns.ts";

export type RowFormatName = "ndjson" | "csv";

/** How rows become text. */
export interface RowFormat {
  /** Written once, before all rows. */
  readonly head: string;
  /** The lines of the rows of a page, line ends included. */
  text(rows: readonly ExportRow[]): string;
}

/** Makes text safe for terminals, by kind: JSON keeps its value. */
export interface SafeText {
  json(line: string): string;
  cell(text: string): string;
}

/** The format of a name. NDJSON has the service's rows unchanged; CSV has one row per asset (`assetColumns`). */
export function rowFormat(name: RowFormatName, safe: SafeText): RowFormat {
  if (name === "ndjson") {
    return {
      head: "",
      text: (rows) => rows.map((row) => `${safe.json(JSON.stringify(row))}\n`).join(""),
    };
  }
  const quoted = quotedWith(safe.cell);
  return {
    head: `${assetColumns.join(",")}\n`,
    text: (rows) => {
      let lines = "";
      for (const row of rows) lines += assetLines(row, quoted);
      return lines;
    },
  };
}

/**
 * The start of a formula, anything but printable ASCII and Latin letters, and what needs quotes: most cells have none of
 * it.
 */
const unusual = /^[ =+@-]|[^ !#-+\--~\u00c0-\u024f]/;

/** A cell as RFC 4180 has it, after `safe`. */
const quotedWith =
  (safe: (text: string) => string) =>
  (text: string): string => {
    if (!unusual.test(text)) return text;
    const shown = safe(text);
    return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  };
