import { extname } from "node:path";
import { operations } from "../../contract/client-operations.ts";
import { importRowProblems } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import { type Orientation, orientations, sexes } from "../../contract/value-sets.ts";
import { type ExportedCells, exportedColumn, exportedValue } from "../../flows/import/said.ts";
import { byteOrderMark, type CsvStyle, csvRecords, plainCsv } from "../../flows/outputs/cells.ts";
import { guardedCell } from "../../flows/outputs/formulas.ts";
import { counted } from "../../flows/words.ts";
import { shellWord } from "../../shell-word.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { checkOutFile, writeOutFile } from "../files/out-files.ts";
import { formatForExcel, type SheetFormat, sheetFormats } from "../flags/common-flags.ts";
import type { RawListFlags } from "../flags/print-flags.ts";
import { printLine } from "../output/io.ts";
import { outputFormat } from "../output/output-names.ts";
import { jsonLine, visibleInCell } from "../output/visible.ts";
import { FirstOnes } from "../resources/list-resource.ts";
import { excelStyle } from "../settings/csv-style.ts";

/** A product as a row of an import (Imports, Row fields); a field without a value is missing, and stays. */
interface SheetRow {
  readonly reference: string;
  readonly name: string;
  readonly description?: string;
  readonly sex?: string;
  readonly images: readonly { readonly image_id: string; readonly orientation?: Orientation }[];
}

/** A row with what it was when it was exported, as the sheet lays out its photos. */
type ExportedRow = SheetRow & { readonly [exportedColumn]: string };

const labels = orientations.filter((label) => label !== "unlabeled");

/**
 * `cat products list --for-import`: a file that imports back unchanged. Nothing is printed if the list fails:
 * an incomplete file must not pass as complete.
 */
export async function printImportSheet(app: App, flags: RawListFlags & { q?: string }): Promise<void> {
  const { limit = null, q } = flags;
  const format = formatForExcel(flags.format, flags.excel) ?? (app.globals.json ? "ndjson" : "csv");
  if (format !== "csv" && format !== "ndjson") {
    throw new UsageError(`--for-import has no format ${format}`, {
      param: "--format",
      hint: "Use --format csv or ndjson, which an import reads.",
    });
  }
  if (flags.out !== undefined && flags.out !== "-")
    throw new UsageError("--for-import cannot be used with --out", {
      param: "--out",
      hint: `Use: ${app.io.asCalled(`cat products export ${shellWord(flags.out)}`)}`,
    });
  const { rows, notes, isMore } = await readRows(app, q, limit, format);
  // A terminal gets no control characters; a file must have the text as it is.
  const cell = app.context.stdout.isTTY ? visibleInCell : (text: string) => text;
  const style = (await excelStyle(app, flags.excel)) ?? plainCsv;
  for await (const piece of await sheetContent(rows, format, style, cell)) await printed(app, piece);
  for (const note of notes.all()) await printLine(app, note);
  if (isMore) await app.io.note(`The service has more products. For all of them, remove --limit.`);
}

export interface SheetFlags {
  readonly q?: string;
  readonly format?: SheetFormat;
  readonly excel?: boolean;
}

/** `cat products export`: a file that imports back unchanged; none if the list fails. Throws UsageError. */
export async function exportSheet(app: App, name: string, flags: SheetFlags): Promise<void> {
  const format = sheetFormat(app, name, flags);
  const hints = { flag: "FILE", example: "products.xlsx", left: "nothing was written", hasStdout: true };
  const file = name === "-" ? null : await checkOutFile(app, name, hints);
  const style = (await excelStyle(app, flags.excel)) ?? plainCsv;
  const { rows, notes } = await readRows(app, flags.q, null, format);
  const content = await sheetContent(rows, format, style);
  if (file === null) for await (const piece of content) await printed(app, piece);
  else await writeOutFile(app, file, content);
  if (app.io.json && file !== null) {
    await app.io.jsonData({ file: name, format, products: rows.length, skipped: notes.skipped });
    return;
  }
  for (const note of notes.all()) await printLine(app, note);
  if (file === null) return;
  const next = app.io.asCalled(`cat import ${shellWord(name)} --plan`);
  const change = rows.length === 0 ? "" : ` Edit it, then see what an import would change: ${next}`;
  await app.io.note(app.io.visible(`Wrote ${counted(rows.length, "product")} to ${name}.${change}`));
}

/** The format of the name, else of `--format`; CSV on stdout. Throws UsageError. */
function sheetFormat(app: App, name: string, flags: SheetFlags): SheetFormat {
  const ending = extname(name).toLowerCase().slice(1);
  const invalid = (why: string) =>
    new UsageError(`cannot write ${name === "" ? "a file without a name" : app.io.visible(name)}: ${why}`, {
      param: "FILE",
      hint: "Choose a .csv, .xlsx or .ndjson file, or - for stdout.",
    });
  if (name !== "-") outputFormat("FILE", name, sheetFormats, flags.format);
  const ofName = sheetFormats.find((format) => format === ending);
  const format =
    ofName ??
    formatForExcel(flags.format, flags.excel) ??
    (name === "-" ? (app.globals.json ? "ndjson" : "csv") : undefined);
  if (format === undefined) throw invalid("its name has no format that an import reads");
  if (flags.excel === true) formatForExcel(format, true);
  if (format === "xlsx" && name === "-" && app.context.stdout.isTTY)
    throw invalid("a workbook is not for a terminal");
  return format;
}

const printed = (app: App, piece: string | Uint8Array): Promise<void> =>
  typeof piece === "string" ? app.io.csv(piece) : app.io.data(piece);

async function sheetContent(
  rows: readonly ExportedRow[],
  format: SheetFormat,
  style: CsvStyle,
  cell = (text: string) => text,
): Promise<AsyncIterable<Uint8Array> | Iterable<string>> {
  if (format === "ndjson") return rows.map(jsonLine);
  if (format === "csv") return [byteOrderMark(style) + csvRecords(toRecords(rows, cell), style)];
  const { writeWorkbook } = await import("../../flows/workbook/write-workbook.ts");
  // An import takes the apostrophe of a guarded formula from each cell.
  const [header, ...records] = toRecords(rows, guardedCell) as [string[], ...string[][]];
  const choices = [{ column: header.indexOf("sex"), values: sexes, isOpen: false }];
  const widths = header.map((column) =>
    column.startsWith("image") ? 30 : column === "description" ? 48 : 24,
  );
  return writeWorkbook({
    name: "Products",
    header,
    widths,
    choices,
    rows: records.map((texts) => ({ texts })),
  });
}

/** The products as rows, and those that an import cannot change. */
async function readRows(app: App, q: string | undefined, limit: number | null, format: SheetFormat) {
  const client = await app.client();
  const input = { limit: limits.page.max, ...(q !== undefined && { q }) };
  const listing = { signal: app.context.interrupt, isAhead: true };
  const products = new FirstOnes(client.pages(operations.products.list, input, listing), limit);
  const rows: ExportedRow[] = [];
  const notes = new SheetNotes();
  for await (const page of products) {
    for (const product of page) {
      const row = toRow(product);
      if (!notes.add(product, row)) continue;
      const photos = format === "ndjson" ? listedPhotos(row) : placedPhotos(row);
      rows.push({ ...row, [exportedColumn]: exportedValue(product.id, { ...row, photos }) });
    }
  }
  return { rows, notes, isMore: products.isMore };
}

function toRow({ reference, name, description, sex, images }: Product): SheetRow {
  const photos = Array.isArray(images) ? images : [];
  return {
    reference: reference!,
    name,
    ...(typeof description === "string" && { description }),
    // Sets of the service may grow: what an import does not know is left as it is.
    ...((sexes as readonly unknown[]).includes(sex) && { sex: sex! }),
    images: photos.slice(0, limits.imagesPerProduct.max).map(({ id: image_id, orientation }) => {
      const label = labels.find((known) => known === orientation);
      return label === undefined ? { image_id } : { image_id, orientation: label };
    }),
  };
}

class SheetNotes {
  #unnamed = 0;
  #cut = 0;
  readonly #invalid: string[] = [];

  /** Whether an import takes the row of this product. */
  add({ reference, images }: Product, row: SheetRow): boolean {
    const isNamed = typeof (reference as unknown) === "string";
    const [problem] = isNamed ? importRowProblems(row) : [];
    if (!isNamed) this.#unnamed++;
    else if (problem !== undefined) this.#invalid.push(`${reference}: ${problem.message}`);
    else if (images.length > row.images.length) this.#cut++;
    return isNamed && problem === undefined;
  }

  get skipped(): number {
    return this.#unnamed + this.#invalid.length;
  }

  *all(): Generator<string> {
    const { max } = limits.imagesPerProduct;
    if (this.#unnamed > 0)
      yield `Skipped ${counted(this.#unnamed, "product")} without a reference, which an import needs.`;
    const [first] = this.#invalid;
    if (first !== undefined)
      yield `Skipped ${counted(this.#invalid.length, "product")} that an import would reject, for example ${first}`;
    if (this.#cut > 0)
      yield `${counted(this.#cut, "product")} with over ${max} photos: the row has the first ${max}. An import changes none of the others.`;
  }
}

/**
 * Records with a header: the first photo of an orientation has its column, further ones numbered columns, and
 * photos without an orientation are in `images`.
 */
function toRecords(rows: readonly ExportedRow[], cell: (text: string) => string): string[][] {
  const laidOut = rows.map((row) => ({ row, ...layOut(row) }));
  const used = labels.filter((label) => laidOut.some(({ byLabel }) => byLabel.has(label)));
  const most = Math.max(0, ...laidOut.map(({ more }) => more.length));
  const numbers = Array.from({ length: most }, (_, at) => at);
  const hasImages = (used.length === 0 && most === 0) || laidOut.some(({ unlabeled }) => unlabeled !== "");
  const header = [
    ...["reference", "name", "description", "sex"],
    ...used.map((label) => `image_${label}`),
    ...numbers.flatMap((at) => [`image_${at + 1}`, `image_${at + 1}_orientation`]),
    ...(hasImages ? ["images"] : []),
    exportedColumn,
  ];
  const records = laidOut.map(
    ({ row: { reference, name, description = "", sex = "", as_exported }, byLabel, more, unlabeled }) => [
      ...[reference, name, description].map(cell),
      sex,
      ...used.map((label) => byLabel.get(label) ?? ""),
      ...numbers.flatMap((at) => more[at] ?? ["", ""]),
      ...(hasImages ? [unlabeled] : []),
      as_exported,
    ],
  );
  return [header, ...records];
}

function placedPhotos(row: SheetRow): ExportedCells["photos"] {
  const { byLabel, more, unlabeled } = layOut(row);
  return [
    ...[...byLabel].map(([side, image_id]) => ({ place: side, side, image_id })),
    ...more.map(([image_id, side], at) => ({ place: String(at + 1), side, image_id })),
    ...unlabeled
      .split("|")
      .flatMap((image_id) => (image_id === "" ? [] : [{ place: "", side: undefined, image_id }])),
  ];
}

/** The photos of a row as a list. */
const listedPhotos = ({ images }: SheetRow): ExportedCells["photos"] =>
  images.map(({ image_id, orientation: side }) => ({ place: "", side, image_id }));

function layOut({ images }: SheetRow) {
  const byLabel = new Map<Orientation, string>();
  const more: [id: string, orientation: Orientation][] = [];
  const unlabeled: string[] = [];
  for (const { image_id, orientation } of images) {
    if (orientation === undefined) unlabeled.push(image_id);
    else if (byLabel.has(orientation)) more.push([image_id, orientation]);
    else byLabel.set(orientation, image_id);
  }
  return { byLabel, more, unlabeled: unlabeled.join("|") };
}
