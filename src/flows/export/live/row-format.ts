import type { ExportRow } from "../../../contract/resources/exports.ts";
import { byteOrderMark, type CsvStyle, plainCsv } from "../../outputs/cells.ts";

export type RowFormatName = "ndjson" | "csv";

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

/** The format of a name: rows unchanged as NDJSON, or one CSV row per asset (`assetColumns`). */
export function rowFormat(
  name: RowFormatName,
  safe: SafeText,
  csv: CsvStyle = plainCsv,
  added: readonly string[] = [],
): RowFormat {
  if (name === "ndjson") {
    return {
      head: "",
      text: (rows) => rows.map((row) => `${safe.json(JSON.stringify(row))}\n`).join(""),
    };
  }
  const quoted = quotedWith(safe.cell, csv.delimiter);
  return {
    head: `${byteOrderMark(csv)}${[...assetColumns, ...added].join(csv.delimiter)}${csv.lineEnd}`,
    text: (rows) => {
      let lines = "";
      for (const row of rows) lines += assetLines(row, quoted, csv, added);
      return lines;
    },
  };
}

/** Characters that need quotes or a guard; most cells have none. */
const unusual = /^[ =+@-]|[^ !#-+\--:<-~\u00c0-\u024f]/;

/** A cell as RFC 4180 has it, after `safe`. */
const quotedWith =
  (safe: (text: string) => string, delimiter: string) =>
  (text: string): string => {
    if (!unusual.test(text) && !text.includes(delimiter)) return text;
    const shown = safe(text);
    return shown.includes(delimiter) || /["\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  };

const productColumns = ["product_id", "reference", "name", "sex", "deleted_at"] as const;

/** Fields of an asset that are columns of their own, between its ID and its attributes. */
const plainFields = [
  "role",
  "url",
  "url_expires_at",
  "mime_type",
  "width",
  "height",
  "ai_generated",
  "watermarked",
  "derived",
  "created_at",
  "task_id",
] as const;

/** The attributes that the specification names (Asset, `attributes`); others share column `attributes`. */
const knownAttributes = ["orientation", "angle_shot", "background", "model_id", "edit_number"] as const;

/** The columns of a CSV export, in order. New ones are added at the end. */
export const assetColumns = [
  ...productColumns,
  "asset_id",
  ...plainFields,
  ...knownAttributes,
  "attributes",
  "also_features",
  "suggested_filename",
] as const;

type Fields = Readonly<Record<string, unknown>>;

const assetCells = assetColumns.length - productColumns.length;

/**
 * The CSV lines of a product: one per asset, one for a deleted product, none for one without assets. The
 * client does not check the fields. Built as text: lists of cells take three times as long.
 */
function assetLines(
  { product, assets }: ExportRow,
  quoted: (text: string) => string,
  { delimiter: d, lineEnd }: CsvStyle,
  added: readonly string[],
): string {
  const cell = (value: unknown): string => toCell(value, quoted);
  const { id, reference, name, sex, deleted_at } = product;
  const ofProduct = `${cell(id)}${d}${cell(reference)}${d}${cell(name)}${d}${cell(sex)}${d}${cell(deleted_at)}`;
  if (deleted_at !== null) return `${ofProduct}${d.repeat(assetCells + added.length)}${lineEnd}`;
  if (!Array.isArray(assets)) return "";
  let lines = "";
  for (const listed of assets as readonly unknown[]) {
    const asset = toFields(listed);
    lines += `${ofProduct}${d}${cell(asset.id)}`;
    for (const field of plainFields) lines += `${d}${cell(asset[field])}`;
    const attributes = toFields(asset.attributes);
    for (const attribute of knownAttributes) lines += `${d}${cell(attributes[attribute])}`;
    lines += `${d}${cell(otherAttributes(attributes))}${d}${cell(toFeatures(asset.also_features))}`;
    lines += `${d}${cell(asset.suggested_filename)}`;
    for (const field of added) lines += `${d}${cell(asset[field])}`;
    lines += lineEnd;
  }
  return lines;
}

const known: ReadonlySet<string> = new Set(knownAttributes);

/** The attributes without a column; undefined if there is none. */
function otherAttributes(attributes: Fields): Fields | undefined {
  for (const name in attributes) {
    if (known.has(name)) continue;
    return Object.fromEntries(Object.entries(attributes).filter(([name]) => !known.has(name)));
  }
  return undefined;
}

const toFeatures = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((item) => toCell(item, (text) => text)).join("|") : value;

const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

function toCell(value: unknown, quoted: (text: string) => string): string {
  if (typeof value === "string") return quoted(value);
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? quoted(JSON.stringify(value)) : String(value);
}
