import { stringify } from "csv-stringify/sync";
import type { ExportRow } from "../../../contract/resources/export.ts";
import { assetCells, assetColumns } from "./asset-columns.ts";

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
  return {
    head: stringify([[...assetColumns]]),
    text: (rows) => stringify(rows.flatMap(assetCells).map((cells) => cells.map((cell) => safe.cell(cell)))),
  };
}
