// The sheets and rows of an .ods workbook (OpenDocument 1.3, part 3).

import {
  addText,
  type Cell,
  decimalText,
  isDecimal,
  longestRow,
  longestText,
  mostColumns,
  mostRows,
  TooMuchText,
} from "./cell.ts";
import { damagedWorkbook, encryptedWorkbook, type Package, partLimits } from "./package.ts";
import type { SheetExtras, SheetRow } from "./sheet.ts";
import { isTrue } from "./workbook.ts";
import { type Attributes, readXml, walkXml, type XmlHandler } from "./xml.ts";

const content = "content.xml";

/** A sheet, by its place among all. */
export interface OdsSheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/** Lists the sheets. Throws WorkbookError. */
export async function listOdsSheets(pack: Package): Promise<OdsSheet[]> {
  await rejectEncrypted(pack);
  const hiddenStyles = new Set<string>();
  const sheets: OdsSheet[] = [];
  let style = "";
  await readXml(pack, content, partLimits.sheet, {
    names: "full",
    open(name, attributes, parent) {
      if (name === "style:style") style = attributes["style:name"] ?? "";
      if (name === "style:table-properties" && attributes["table:display"] === "false")
        hiddenStyles.add(style);
      if (isSheet(name, parent))
        sheets.push({
          name: attributes["table:name"] ?? "",
          isHidden: hiddenStyles.has(attributes["table:style-name"] ?? ""),
        });
    },
  });
  return sheets;
}

async function rejectEncrypted(pack: Package): Promise<void> {
  const manifest = "META-INF/manifest.xml";
  if (!pack.has(manifest)) return;
  await readXml(pack, manifest, partLimits.small, {
    names: "full",
    open(name) {
      if (name === "manifest:encryption-data") throw encryptedWorkbook(pack.name);
    },
  });
}

/** Reads the rows of a sheet (from 0) in batches, and fills `extras`. Throws WorkbookError. */
export async function* readOdsSheet(
  pack: Package,
  sheet: number,
  extras: SheetExtras,
): AsyncGenerator<SheetRow[]> {
  const rows = new OdsRows(pack, sheet, extras);
  for await (const _ of walkXml(pack, content, partLimits.sheet, rows)) {
    const batch = rows.take();
    if (batch.length > 0) yield batch;
    if (rows.isDone) return;
  }
}

/** Cells next to each other with the same text at most. */
const mostRepeated = 256;
/** Rows below each other with the same cells at most. */
const mostRowTimes = 65_536;

/** Tables within cells, or of links to other programs, are no sheets. */
const isSheet = (name: string, parent: string | undefined): boolean =>
  name === "table:table" && parent === "office:spreadsheet";

const cellNames = new Set(["table:table-cell", "table:covered-table-cell"]);
const asides = new Set(["office:annotation", "table:shapes", "office:forms", "text:ruby-text", "text:note"]);

/** Whether text within an element is none of the cell, whose text is in its own paragraphs. */
const isAside = (name: string, parent = ""): boolean =>
  asides.has(name) || name.startsWith("draw:") || (cellNames.has(parent) && name !== "text:p");

class OdsRows implements XmlHandler {
  readonly names = "full";
  readonly #pack: Package;
  readonly #wanted: number;
  readonly #extras: SheetExtras;
  isDone = false;
  #done: SheetRow[] = [];
  #sheet = -1;
  #row = 0;
  #rowTimes = 1;
  #isHidden = false;
  #cells: Cell[] = [];
  /** Characters of its cells. */
  #length = 0;
  #columnsBefore = 0;
  #column = 0;
  #attributes: Attributes | null = null;
  #paragraphs: string[] = [];
  #link: string | undefined;
  /** Elements that are open within an aside, and it. */
  #aside = 0;
  /** Whether the picture of the frame that is open is counted, or is that of a chart. */
  #isDrawn = false;

  constructor(pack: Package, wanted: number, extras: SheetExtras) {
    this.#pack = pack;
    this.#wanted = wanted;
    this.#extras = extras;
  }

  take(): SheetRow[] {
    const rows = this.#done;
    this.#done = [];
    return rows;
  }

  open(name: string, attributes: Attributes, parent: string | undefined): void {
    if (isSheet(name, parent)) this.#sheet++;
    if (this.#sheet !== this.#wanted || this.isDone) return;
    if (this.#aside > 0 || isAside(name, parent)) this.#openAside(name);
    else if (name === "table:table-row") this.#openRow(attributes);
    else if (name === "table:table-column") this.#openColumn(attributes);
    else if (cellNames.has(name)) this.#openCell(attributes);
    else if (name === "text:p") this.#paragraphs.push("");
    else if (name === "text:s") this.#add(" ".repeat(times(attributes["text:c"], longestText)));
    else if (name === "text:tab") this.#add("\t");
    else if (name === "text:line-break") this.#add("\n");
    else if (name === "text:a") this.#link = attributes["xlink:href"];
  }

  #openAside(name: string): void {
    this.#aside++;
    if (name === "office:annotation") this.#extras.hasComments = true;
    if (name === "draw:frame") this.#isDrawn = false;
    // A frame may have a picture in several formats, or that of a chart after it.
    if (name === "draw:image" && !this.#isDrawn) this.#extras.pictures++;
    if (name === "draw:image" || name === "draw:object") this.#isDrawn = true;
  }

  text(value: string): void {
    if (this.#aside === 0) this.#add(value);
  }

  close(name: string): void {
    if (this.#sheet !== this.#wanted || this.isDone) return;
    if (this.#aside > 0) this.#aside--;
    else if (name === "table:table") this.isDone = true;
    else if (name === "table:table-row") this.#closeRow();
    else if (cellNames.has(name)) this.#closeCell();
  }

  #add(text: string): void {
    if (this.#attributes !== null && this.#paragraphs.length > 0)
      this.#paragraphs.push(addText(this.#paragraphs.pop()!, text));
  }

  #openRow(attributes: Attributes): void {
    this.#rowTimes = times(attributes["table:number-rows-repeated"], mostRows);
    this.#isHidden = /collapse|filter/.test(attributes["table:visibility"] ?? "");
    this.#cells = [];
    this.#length = 0;
    this.#column = 0;
  }

  #openColumn(attributes: Attributes): void {
    const first = this.#columnsBefore;
    this.#columnsBefore += times(attributes["table:number-columns-repeated"], mostColumns);
    if (/collapse|filter/.test(attributes["table:visibility"] ?? "") && first < mostColumns)
      this.#extras.columns.push({ first, last: this.#columnsBefore - 1, isHidden: true, width: undefined });
  }

  #openCell(attributes: Attributes): void {
    this.#attributes = attributes;
    this.#paragraphs = [];
    this.#link = undefined;
    const [columns, rows] = ["columns", "rows"].map((what) =>
      times(attributes[`table:number-${what}-spanned`], mostRows),
    ) as [number, number];
    if (columns > 1 || rows > 1)
      this.#extras.merged.push({
        firstRow: this.#row + 1,
        lastRow: this.#row + rows,
        firstColumn: this.#column,
        lastColumn: this.#column + columns - 1,
      });
  }

  #closeCell(): void {
    const attributes = this.#attributes!;
    const repeated = times(attributes["table:number-columns-repeated"], mostColumns);
    const cell = readCell(attributes, this.#paragraphs.join("\n"));
    if (cell !== null) {
      // A few bytes could stand for any number of cells.
      if (repeated > mostRepeated || this.#column + repeated > mostColumns)
        throw damagedWorkbook(this.#pack.name, `row ${this.#row + 1} has too many cells`);
      this.#length += cell.text.length * repeated;
      if (this.#length > longestRow) throw new TooMuchText("has more than 8 MiB of text in one row");
      const link = this.#link === undefined ? {} : { link: this.#link };
      for (let more = 0; more < repeated; more++)
        this.#cells.push({ column: this.#column + more, ...cell, ...link });
    }
    this.#column += repeated;
    this.#attributes = null;
  }

  #closeRow(): void {
    const first = this.#row + 1;
    this.#row += this.#rowTimes;
    if (this.#cells.length === 0) return;
    if (this.#rowTimes > mostRowTimes)
      throw damagedWorkbook(this.#pack.name, `row ${first} is repeated ${this.#rowTimes} times`);
    if (this.#row > mostRows) throw damagedWorkbook(this.#pack.name, "it has too many rows");
    for (let row = first; row <= this.#row; row++)
      this.#done.push({ row, isHidden: this.#isHidden, cells: this.#cells });
  }
}

/** A number of repetitions; at least 1, and cut at `most`. */
const times = (text: string | undefined, most: number): number =>
  Math.max(1, Math.min(most, Number.parseInt(text ?? "1", 10) || 1));

const errorText = /^(?:#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!)|Err:\d+)$/;

/** The attribute with the value of each type; numbers, percentages and currencies have `office:value`. */
const valueNames: Readonly<Record<string, string>> = {
  string: "office:string-value",
  boolean: "office:boolean-value",
  date: "office:date-value",
  time: "office:time-value",
};

/** What a cell says; null if it is empty. `shown` is its text in the sheet. */
function readCell(attributes: Attributes, shown: string): Omit<Cell, "column"> | null {
  const type = attributes["office:value-type"] ?? "string";
  const isFormula = attributes["table:formula"] !== undefined;
  if (attributes["calcext:value-type"] === "error" || (isFormula && errorText.test(shown)))
    return { text: shown, doubt: "error_cell" };
  const value = attributes[valueNames[type] ?? "office:value"];
  if (type === "string" && (value !== undefined || shown !== "" || !isFormula)) {
    const text = value ?? shown;
    return text === "" ? null : { text };
  }
  if (value === undefined) return { text: shown, doubt: isFormula ? "no_value" : "error_cell" };
  if (type === "boolean") return { text: isTrue(value) ? "TRUE" : "FALSE" };
  if (type === "date" || type === "time")
    return isHashes(shown) ? { text: value, doubt: "shown_differently" } : { text: shown, doubt: "date" };
  return readNumber(value, shown);
}

/** Whether a column is too narrow to show anything but ###. */
const isHashes = (shown: string): boolean => /^#*$/.test(shown);

function readNumber(value: string, shown: string): Omit<Cell, "column"> {
  if (!isDecimal(value)) return { text: shown, doubt: "error_cell" };
  const text = decimalText(value);
  if (text === null) return { text: value, isNumber: true, doubt: "too_many_digits" };
  if (/^0\d+$/.test(shown) && Number(shown) === Number(text)) return { text: shown };
  const isAlike = isHashes(shown) || isSameNumber(text, shown);
  return { text, isNumber: true, ...(isAlike ? {} : { doubt: "shown_differently" as const }) };
}

/** Whether a text is a number in the notation of some language: with its separators, and zeros after its point. */
function isSameNumber(text: string, shown: string): boolean {
  if (!/^-?\d[\d.,\s]*$/.test(shown) || shown.startsWith("-") !== text.startsWith("-")) return false;
  const digits = (number: string) => number.replace(/\D/g, "");
  const zeros = digits(shown).slice(digits(text).length);
  return (
    digits(shown).startsWith(digits(text)) &&
    /^0*$/.test(zeros) &&
    (zeros === "" || text.includes(".") || new RegExp(`[.,]${zeros}$`).test(shown))
  );
}
