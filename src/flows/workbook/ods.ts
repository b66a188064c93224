// The sheets and rows of an .ods workbook (OpenDocument 1.3, part 3).

import { addText, type Cell, checkLength, decimalText, isDecimal, storedDigits } from "./cell.ts";
import { workbookLimits } from "./limits.ts";
import { damagedWorkbook, encryptedWorkbook, type Package } from "./package.ts";
import {
  drawsPicture,
  headRows,
  keepRange,
  noExtras,
  parseLink,
  type SheetExtras,
  type SheetRow,
} from "./sheet.ts";
import { isTrue, rejectTooManySheets } from "./workbook.ts";
import { type Attributes, readXml, walkXml, type XmlCounts, type XmlHandler } from "./xml.ts";

const content = "content.xml";

export interface OdsSheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Its first rows, as `head` of a workbook. */
  readonly head: SheetRow[];
}

/** Lists the sheets, which are one part, so their first rows are read too. Throws WorkbookError. */
export async function listOdsSheets(pack: Package): Promise<OdsSheet[]> {
  await rejectEncrypted(pack);
  const hiddenStyles = new Set<string>();
  const sheets: OdsSheet[] = [];
  let style = "";
  let length = 0;
  const rows = new OdsRows(pack, (attributes) => {
    sheets.push({
      name: attributes["table:name"] ?? "",
      isHidden: hiddenStyles.has(attributes["table:style-name"] ?? ""),
      head: [],
    });
    rejectTooManySheets(pack.name, sheets.length);
    return noExtras();
  });
  const handler: XmlHandler = {
    names: "full",
    found: rows.found,
    open(name, attributes, parent) {
      if (name === "style:style") style = attributes["style:name"] ?? "";
      if (name === "style:table-properties" && attributes["table:display"] === "false")
        hiddenStyles.add(style);
      rows.open(name, attributes, parent);
    },
    text: (value) => rows.text(value),
    close: (name) => rows.close(name),
  };
  for await (const _ of walkXml(pack, content, workbookLimits.sheetBytes, handler))
    for (const { sheet, ...row } of rows.drain()) {
      const { head } = sheets[sheet]!;
      if (head.length === headRows) continue;
      head.push(row);
      length += row.cells.reduce((sum, { text }) => sum + text.length + 100, 0);
      if (length > workbookLimits.headsText)
        throw damagedWorkbook(pack.name, "the first rows of its sheets have too much text");
    }
  return sheets;
}

async function rejectEncrypted(pack: Package): Promise<void> {
  const manifest = "META-INF/manifest.xml";
  if (!pack.has(manifest)) return;
  await readXml(pack, manifest, workbookLimits.otherBytes, {
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
  let at = -1;
  const rows = new OdsRows(pack, () => (++at === sheet ? extras : noExtras()));
  for await (const _ of walkXml(pack, content, workbookLimits.sheetBytes, rows)) {
    const batch = rows.drain().filter((row) => row.sheet === sheet);
    if (batch.length > 0) yield batch;
    if (at > sheet) return;
  }
}

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
  readonly found: XmlCounts = { values: 0, characters: 0 };
  readonly #pack: Package;
  readonly #onSheet: (attributes: Attributes) => SheetExtras;
  #extras = noExtras();
  #done: (SheetRow & { readonly sheet: number })[] = [];
  #sheet = -1;
  #isInSheet = false;
  #row = 0;
  #rowTimes = 1;
  #isHidden = false;
  #cells: Cell[] = [];
  /** Characters of its cells. */
  #length = 0;
  #columnsBefore = 0;
  #column = 0;
  #attributes: Attributes | null = null;
  /** The text of the cell that is open; null before its first paragraph. */
  #text: string | null = null;
  #link: string | undefined;
  /** Elements that are open within an aside, and it. */
  #aside = 0;
  /** Whether the picture of the frame that is open is counted, or is that of a chart. */
  #isDrawn = false;
  /** Formats of dates and times, and the styles of cells that have one. */
  readonly #dates = new Set<string>();

  /** `onSheet` gives what is filled with the extras of a sheet that begins. */
  constructor(pack: Package, onSheet: (attributes: Attributes) => SheetExtras) {
    this.#pack = pack;
    this.#onSheet = onSheet;
  }

  drain(): (SheetRow & { readonly sheet: number })[] {
    const rows = this.#done;
    this.#done = [];
    return rows;
  }

  open(name: string, attributes: Attributes, parent: string | undefined): void {
    if (isSheet(name, parent)) this.#openSheet(attributes);
    else if (!this.#isInSheet) this.#openStyle(name, attributes);
    else if (this.#aside > 0 || isAside(name, parent)) this.#openAside(name);
    else if (name === "table:table-row") this.#openRow(attributes);
    else if (name === "table:table-column") this.#openColumn(attributes);
    else if (cellNames.has(name)) this.#openCell(attributes);
    else if (name === "text:p") this.#text = this.#text === null ? "" : addText(this.#text, "\n");
    else if (name === "text:s") this.#add(this.#spaces(attributes));
    else if (name === "text:tab") this.#add("\t");
    else if (name === "text:line-break") this.#add("\n");
    else if (name === "text:a") this.#link = outsidePackage(attributes["xlink:href"]);
  }

  /** Formats come before the styles with them. */
  #openStyle(name: string, attributes: Attributes): void {
    const format = attributes["style:data-style-name"];
    const isFormat = name === "number:date-style" || name === "number:time-style";
    const isStyle = name === "style:style" && format !== undefined && this.#dates.has(format);
    if (!isFormat && !isStyle) return;
    this.#dates.add(attributes["style:name"] ?? "");
    if (this.#dates.size > workbookLimits.dateStyles)
      throw damagedWorkbook(this.#pack.name, "it has too many formats of dates");
  }

  #openSheet(attributes: Attributes): void {
    this.#sheet++;
    this.#isInSheet = true;
    this.#row = 0;
    this.#columnsBefore = 0;
    this.#extras = this.#onSheet(attributes);
  }

  #spaces(attributes: Attributes): string {
    const count = times(attributes["text:c"], workbookLimits.rows);
    // A few bytes could stand for any number of spaces.
    if (count > workbookLimits.repeatedSpaces)
      throw damagedWorkbook(this.#pack.name, `row ${this.#row + 1} has too many spaces`);
    return " ".repeat(count);
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
    if (!this.#isInSheet) return;
    if (this.#aside > 0) this.#aside--;
    else if (name === "table:table") this.#isInSheet = false;
    else if (name === "table:table-row") this.#closeRow();
    else if (cellNames.has(name)) this.#closeCell();
  }

  #add(text: string): void {
    if (this.#text !== null) this.#text = addText(this.#text, text);
  }

  #openRow(attributes: Attributes): void {
    this.#rowTimes = times(attributes["table:number-rows-repeated"], workbookLimits.rows);
    this.#isHidden = /collapse|filter/.test(attributes["table:visibility"] ?? "");
    this.#cells = [];
    this.#length = 0;
    this.#column = 0;
  }

  #openColumn(attributes: Attributes): void {
    const first = this.#columnsBefore;
    this.#columnsBefore += times(attributes["table:number-columns-repeated"], workbookLimits.columns);
    if (/collapse|filter/.test(attributes["table:visibility"] ?? "") && first < workbookLimits.columns)
      this.#keep(this.#extras.columns, {
        first,
        last: this.#columnsBefore - 1,
        isHidden: true,
        width: undefined,
      });
  }

  #keep<Value>(list: Value[], value: Value): void {
    keepRange(list, value, this.#pack.name);
  }

  #openCell(attributes: Attributes): void {
    this.#attributes = attributes;
    this.#text = null;
    this.#link = undefined;
    const columns = times(attributes["table:number-columns-spanned"], workbookLimits.columns);
    const rows = times(attributes["table:number-rows-spanned"], workbookLimits.rows);
    if (columns > 1 || rows > 1)
      this.#keep(this.#extras.merged, {
        firstRow: this.#row + 1,
        lastRow: this.#row + rows,
        firstColumn: this.#column,
        lastColumn: this.#column + columns - 1,
      });
  }

  #closeCell(): void {
    const attributes = this.#attributes!;
    const repeated = times(attributes["table:number-columns-repeated"], workbookLimits.columns);
    const isDate = this.#dates.has(attributes["table:style-name"] ?? "");
    const cell = readCell(attributes, this.#text ?? "", isDate);
    if (cell !== null) {
      // A few bytes could stand for any number of cells.
      if (repeated > workbookLimits.repeatedCells || this.#column + repeated > workbookLimits.columns)
        throw damagedWorkbook(this.#pack.name, `row ${this.#row + 1} has too many cells`);
      this.#length += cell.text.length * repeated;
      this.found.values += repeated;
      this.found.characters += cell.text.length;
      checkLength(this.#length);
      const formula = attributes["table:formula"]?.replace(/^\w+:=/, "");
      const link = this.#link === undefined ? parseLink(formula ?? "") : { link: this.#link };
      for (let more = 0; more < repeated; more++)
        this.#cells.push({ column: this.#column + more, ...cell, ...link });
    }
    this.#column += repeated;
    this.#text = null;
  }

  #closeRow(): void {
    const first = this.#row + 1;
    this.#row += this.#rowTimes;
    if (this.#cells.length === 0) return;
    if (this.#rowTimes > workbookLimits.repeatedRows)
      throw damagedWorkbook(this.#pack.name, `row ${first} is repeated ${this.#rowTimes} times`);
    if (this.#row > workbookLimits.rows) throw damagedWorkbook(this.#pack.name, "it has too many rows");
    for (let row = first; row <= this.#row; row++)
      this.#done.push({ sheet: this.#sheet, row, isHidden: this.#isHidden, cells: this.#cells });
  }
}

/** A link relative to the file itself: the folder of the workbook is one above its parts (part 2, 3.7). */
const outsidePackage = (link: string | undefined): string | undefined => link?.replace(/^\.\.\//, "");

/** A number of repetitions; at least 1, and cut at `most`. */
const times = (text: string | undefined, most: number): number =>
  text === undefined ? 1 : Math.max(1, Math.min(most, Number.parseInt(text, 10) || 1));

const errorText = /^(?:#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!)|Err:\d+)$/;

/** The attribute with the value of each type; numbers, percentages and currencies have `office:value`. */
const valueNames: Readonly<Record<string, string>> = {
  string: "office:string-value",
  boolean: "office:boolean-value",
  date: "office:date-value",
  time: "office:time-value",
};

/** A cell's content; null if empty. `shown`: its text in the sheet. `isDate`: by its style. */
function readCell(attributes: Attributes, shown: string, isDate: boolean): Omit<Cell, "column"> | null {
  const type = attributes["office:value-type"] ?? "string";
  const formula = attributes["table:formula"];
  if (formula !== undefined && drawsPicture(formula)) return { text: shown, doubt: "image_in_cell" };
  if (attributes["calcext:value-type"] === "error" || (formula !== undefined && errorText.test(shown)))
    return { text: shown, doubt: "error_cell" };
  const value = attributes[valueNames[type] ?? "office:value"];
  if (type === "string" && (value !== undefined || shown !== "" || formula === undefined)) {
    const text = value ?? shown;
    return text === "" ? null : { text };
  }
  if (value === undefined) return { text: shown, doubt: formula === undefined ? "error_cell" : "no_value" };
  return readValue(type, value, shown, isDate);
}

function readValue(type: string, value: string, shown: string, isDate: boolean): Omit<Cell, "column"> {
  if (type === "boolean") return { text: isTrue(value) ? "TRUE" : "FALSE" };
  if (type === "date" || type === "time")
    return isHashes(shown) ? { text: value, doubt: "shown_differently" } : { text: shown, doubt: "date" };
  const cell = readNumber(value, shown);
  if (!isDate || !isDecimal(value)) return cell;
  // Some writers store a date as the number of its day, with its text or without.
  return cell.doubt === "shown_differently" && shown !== ""
    ? { text: shown, doubt: "date" }
    : { text: value, doubt: "shown_differently" };
}

/** Whether a column is too narrow to show anything but ###. */
const isHashes = (shown: string): boolean => /^#*$/.test(shown);

function readNumber(value: string, shown: string): Omit<Cell, "column"> {
  if (!isDecimal(value)) return { text: shown, doubt: "error_cell" };
  const text = decimalText(value);
  if (text === null) return { text: storedDigits(value), isNumber: true, doubt: "too_many_digits" };
  if (/^0\d+$/.test(shown) && Number(shown) === Number(text)) return { text: shown };
  const isAlike = isHashes(shown) || isSameNumber(text, shown);
  return { text, isNumber: true, ...(isAlike ? {} : { doubt: "shown_differently" as const }) };
}

/** Whether a text is a number in some language, with separators, and zeros after its point. */
function isSameNumber(text: string, shown: string): boolean {
  if (!/^-?\d[\d.,\s]*$/.test(shown) || shown.startsWith("-") !== text.startsWith("-")) return false;
  const digits = (number: string) => number.replace(/\D/g, "");
  const zeros = digits(shown).slice(digits(text).length);
  return (
    digits(shown).startsWith(digits(text)) &&
    /^0*$/.test(zeros) &&
    (zeros === "" || text.includes(".") || [".", ","].some((point) => shown.endsWith(point + zeros)))
  );
}
