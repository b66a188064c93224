// The rows of a sheet of an .xlsx workbook, and what stands beside them.

import { addText, type Cell, type CellDoubt, checkLength, parsePlace } from "./cell.ts";
import { numberCell } from "./formats.ts";
import { shownCount, workbookLimits } from "./limits.ts";
import { damagedWorkbook } from "./package.ts";
import {
  isTrue,
  prefixed,
  readRelations,
  type Sheet,
  TextCollector,
  unescapeText,
  type Workbook,
} from "./workbook.ts";
import { type Attributes, readXml, walkXml, type XmlCounts } from "./xml.ts";

/** A row with at least one cell that is not empty. */
export interface SheetRow {
  /** From 1. */
  readonly row: number;
  readonly isHidden: boolean;
  /** In the order of columns. */
  readonly cells: readonly Cell[];
}

/** Cells merged into one: rows from 1, columns from 0, both ends included. */
export interface MergedRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** Contents of a sheet besides its rows; complete once its rows were read. */
export interface SheetExtras {
  /** Targets of links, by place such as `C14`. */
  readonly links: Map<string, string>;
  readonly merged: MergedRange[];
  /** Ranges of columns, counted from 0, that are hidden, or have a width of their own (in characters). */
  readonly columns: { first: number; last: number; isHidden: boolean; width: number | undefined }[];
  pictures: number;
  hasComments: boolean;
}

export const noExtras = (): SheetExtras => ({
  links: new Map(),
  merged: [],
  columns: [],
  pictures: 0,
  hasComments: false,
});

/** Rows with cells among which the header of a sheet is. */
export const headRows = 21;

/** Adds a range or link of a sheet. Throws WorkbookError for too many. */
export function keepRange<Value>(list: Value[], value: Value, name: string): void {
  const most = workbookLimits.ranges;
  if (list.push(value) > most)
    throw damagedWorkbook(name, `a sheet has more than ${shownCount(most)} links or ranges`);
}

/** Reads the rows of a sheet in batches, and fills `extras`. Throws WorkbookError. */
export async function* readSheet(
  book: Workbook,
  sheet: Sheet,
  extras: SheetExtras,
): AsyncGenerator<SheetRow[]> {
  const { pack } = book;
  const readRange = (range = ""): MergedRange => {
    const [first, last = first] = range.split(":").map((place) => parsePlace(place));
    if (!first || !last)
      throw damagedWorkbook(pack.name, `${sheet.name} has merged cells ${JSON.stringify(range)}`);
    return {
      firstRow: first.row,
      lastRow: last.row,
      firstColumn: first.column,
      lastColumn: last.column,
    };
  };
  const linkIds: [place: string, id: string][] = [];
  const rows = new RowCollector(book, sheet, extras);
  const keep = <Value>(list: Value[], value: Value) => keepRange(list, value, pack.name);
  const handler = {
    open(name: string, attributes: Attributes, parent: string | undefined) {
      if (name === "mergeCell") keep(extras.merged, readRange(attributes.ref));
      else if (name === "col") keep(extras.columns, readColumn(attributes));
      else if (name === "hyperlink") keep(linkIds, [attributes.ref ?? "", prefixed(attributes, "id") ?? ""]);
      else rows.open(name, attributes, parent);
    },
    close: (name: string) => rows.close(name),
    text: (value: string) => rows.text(value),
    found: rows.found,
  };
  for await (const _ of walkXml(pack, sheet.part, workbookLimits.sheetBytes, handler)) {
    const batch = rows.drain();
    if (batch.length > 0) yield batch;
  }
  await readExtras(book, sheet, linkIds, extras);
}

const readColumn = ({ min, max, hidden, width }: Attributes): SheetExtras["columns"][number] => ({
  first: Number(min) - 1,
  last: Number(max) - 1,
  isHidden: isTrue(hidden),
  width: width === undefined ? undefined : Number(width),
});

async function readExtras(
  { pack }: Workbook,
  sheet: Sheet,
  linkIds: readonly (readonly [place: string, id: string])[],
  extras: SheetExtras,
): Promise<void> {
  const relations = await readRelations(pack, sheet.part);
  for (const [places, id] of linkIds) {
    const relation = relations.get(id);
    // A link of a range belongs to its first cell; one to a place in the workbook has no target.
    if (relation?.type === "hyperlink") extras.links.set(places.split(":")[0]!, relation.target);
  }
  for (const { type, target } of relations.values()) {
    if (/comments/i.test(type)) extras.hasComments = true;
    if (type !== "drawing" || !pack.has(target)) continue;
    await readXml(pack, target, workbookLimits.otherBytes, {
      open(name) {
        if (name === "pic") extras.pictures++;
      },
    });
  }
}

/** Makes rows from elements: `row` has cells `c`, with the formula `f`, value `v` or text `is`. */
class RowCollector {
  readonly found: XmlCounts = { values: 0, characters: 0 };
  #done: SheetRow[] = [];
  #row = 0;
  #isHidden = false;
  #cells: Cell[] = [];
  #column = -1;
  /** Characters of its cells. */
  #length = 0;
  #type = "n";
  #style = 0;
  #hasPicture = false;
  #value: string | null = null;
  #formula: string | null = null;
  readonly #inline = new TextCollector();
  #isInline = false;
  /** The element whose text is collected. */
  #inside: "v" | "f" | null = null;

  constructor(
    private readonly book: Workbook,
    private readonly sheet: Sheet,
    private readonly extras: SheetExtras,
  ) {}

  drain(): SheetRow[] {
    const rows = this.#done;
    this.#done = [];
    return rows;
  }

  open(name: string, attributes: Attributes, parent: string | undefined): void {
    if (name === "c" && parent === "row") this.#openCell(attributes);
    else if (name === "row" && parent === "sheetData") this.#openRow(attributes);
    else if (name === "v" || name === "f") {
      this.#inside = name;
      if (name === "v") this.#value = "";
      else this.#formula = "";
    } else if (name === "is") {
      this.#isInline = true;
      this.#inline.start();
    } else if (this.#isInline) this.#inline.open(name);
  }

  text(value: string): void {
    if (this.#inside === "v") this.#value = addText(this.#value ?? "", value);
    else if (this.#inside === "f") this.#formula = addText(this.#formula ?? "", value);
    else if (this.#isInline) this.#inline.add(value);
  }

  close(name: string): void {
    if (name === "v" || name === "f") this.#inside = null;
    else if (name === "c") this.#closeCell();
    else if (name === "row") this.#closeRow();
    else if (name === "is") {
      this.#isInline = false;
      this.#value = unescapeText(this.#inline.raw);
    } else if (this.#isInline) this.#inline.close(name);
  }

  #openRow({ r, hidden }: Attributes): void {
    const row = r === undefined ? this.#row + 1 : Number(r);
    if (!Number.isInteger(row) || row <= this.#row || row > workbookLimits.rows)
      throw this.#damaged(
        r === undefined ? "it has too many rows" : `row ${JSON.stringify(r)} follows row ${this.#row}`,
      );
    this.#row = row;
    this.#isHidden = isTrue(hidden);
    this.#column = -1;
    this.#length = 0;
    this.#cells = [];
  }

  #openCell({ r, t = "n", s = "0", vm }: Attributes): void {
    const place = r === undefined ? { column: this.#column + 1, row: this.#row } : parsePlace(r);
    if (place === null || place.row !== this.#row || place.column >= workbookLimits.columns)
      throw this.#damaged(
        `row ${this.#row} has ${r === undefined ? "too many cells" : `a cell ${JSON.stringify(r)}`}`,
      );
    this.#column = place.column;
    this.#type = t;
    this.#style = Number(s);
    this.#hasPicture = vm !== undefined;
    this.#value = null;
    this.#formula = null;
  }

  #closeCell(): void {
    const cell = this.#readCell();
    if (cell === null) return;
    this.#length += cell.text.length;
    checkLength(this.#length);
    this.found.values++;
    this.found.characters += cell.text.length;
    const column = this.#column;
    const last = this.#cells.at(-1);
    if (last !== undefined && last.column >= column) this.#insert({ column, ...cell });
    else this.#cells.push({ column, ...cell });
  }

  /** For cells in another order, which some programs write. */
  #insert(cell: Cell): void {
    if (this.#cells.some(({ column }) => column === cell.column))
      throw this.#damaged(`row ${this.#row} has two cells in one column`);
    this.#cells.push(cell);
    this.#cells.sort((a, b) => a.column - b.column);
  }

  #closeRow(): void {
    if (this.#cells.length === 0) return;
    this.#done.push({ row: this.#row, isHidden: this.#isHidden, cells: this.#cells });
    this.#cells = [];
  }

  /** The cell without its column; null if it is empty. */
  #readCell(): Omit<Cell, "column"> | null {
    const value = this.#value;
    const formula = this.#formula;
    if (this.#hasPicture || (formula !== null && drawsPicture(formula))) {
      this.extras.pictures++;
      return { text: value ?? "", doubt: "image_in_cell" };
    }
    if (
      formula !== null &&
      (this.book.hasStaleFormulas || value === null || (value === "" && this.#type !== "str"))
    )
      return { text: value ?? "", doubt: "no_value", ...parseLink(formula) };
    if (value === null || value === "") return null;
    const link = formula === null ? {} : parseLink(formula);
    const typed = this.#typed(value);
    return typed.text === "" ? null : { ...typed, ...link };
  }

  #typed(value: string): { text: string; isNumber?: boolean; doubt?: CellDoubt } {
    switch (this.#type) {
      case "s": {
        const text = /^\d+$/.test(value) ? this.book.sharedStrings.at(Number(value)) : undefined;
        if (text === undefined) throw this.#damaged(`row ${this.#row} names a text that does not exist`);
        return { text: unescapeText(text) };
      }
      case "inlineStr":
        return { text: value };
      case "str":
        return { text: unescapeText(value) };
      case "b":
        return { text: isTrue(value.trim()) ? "TRUE" : "FALSE" };
      case "e":
        return { text: value, doubt: "error_cell" };
      case "d":
        return { text: value.trim().replace(/T00:00:00(?:\.0+)?Z?$/, ""), doubt: "date" };
      case "n":
        return numberCell(value, this.book.formats[this.#style] ?? { kind: "plain" }, this.book.isFrom1904);
      default:
        throw this.#damaged(`row ${this.#row} has a cell of the unknown type ${JSON.stringify(this.#type)}`);
    }
  }

  #damaged(why: string): Error {
    return damagedWorkbook(this.book.pack.name, `${this.sheet.name}: ${why}`);
  }
}

/** Whether a formula shows a picture: Google Sheets saves its value as an empty text. */
export const drawsPicture = (formula: string): boolean =>
  /DISPIMG\s*\(/i.test(formula) || /\bIMAGE\(/.test(formula);

/** A link that is all of a formula, and its target; functions in its text have no others. */
const linkFormula =
  /^\s*HYPERLINK\s*\(\s*"((?:[^"]|"")*)"\s*(?:[,;](?:"[^"]*"|[^"()]|\((?:"[^"]*"|[^"()])*\))*)?\)\s*$/i;

/** The target of a link that a formula writes out: `HYPERLINK("https://…")`; a longer expression is none. */
export function parseLink(formula: string): { link?: string } {
  const [, link] = linkFormula.exec(formula) ?? [];
  return link === undefined ? {} : { link: link.replaceAll('""', '"') };
}
