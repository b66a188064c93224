// The sheets and rows of an .ods workbook (OpenDocument 1.3, part 3).

import { addText, type Cell, decimalText, longestRow, mostColumns, mostRows, TooMuchText } from "./cell.ts";
import { damagedWorkbook, encryptedWorkbook, type Package, partLimits } from "./package.ts";
import type { SheetExtras, SheetRow } from "./sheet.ts";
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
    open(name, attributes) {
      if (name === "style:style") style = attributes["style:name"] ?? "";
      if (name === "style:table-properties" && attributes["table:display"] === "false")
        hiddenStyles.add(style);
      if (name === "table:table")
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

/** Text within these is none of the cell. */
const besides = new Set(["office:annotation", "draw:frame", "table:shapes", "office:forms"]);

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
  #aside = 0;

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

  open(name: string, attributes: Attributes): void {
    if (name === "table:table") this.#sheet++;
    if (this.#sheet !== this.#wanted || this.isDone) return;
    if (besides.has(name)) {
      this.#aside++;
      if (name === "office:annotation") this.#extras.hasComments = true;
      if (name === "draw:frame") this.#extras.pictures++;
    } else if (this.#aside > 0) return;
    else if (name === "table:table-row") this.#openRow(attributes);
    else if (name === "table:table-column") this.#openColumn(attributes);
    else if (name === "table:table-cell" || name === "table:covered-table-cell") this.#openCell(attributes);
    else if (name === "text:p") this.#paragraphs.push("");
    else if (name === "text:s") this.#add(" ".repeat(times(attributes["text:c"], 1024)));
    else if (name === "text:tab") this.#add("\t");
    else if (name === "text:line-break") this.#add("\n");
    else if (name === "text:a") this.#link = attributes["xlink:href"];
  }

  text(value: string): void {
    if (this.#aside === 0) this.#add(value);
  }

  close(name: string): void {
    if (this.#sheet !== this.#wanted || this.isDone) return;
    if (besides.has(name)) this.#aside--;
    else if (this.#aside > 0) return;
    else if (name === "table:table") this.isDone = true;
    else if (name === "table:table-row") this.#closeRow();
    else if (name === "table:table-cell" || name === "table:covered-table-cell") this.#closeCell();
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

/** What a cell says; null if it is empty. `shown` is its text in the sheet. */
function readCell(attributes: Attributes, shown: string): Omit<Cell, "column"> | null {
  const type = attributes["office:value-type"] ?? "";
  const value = attributes["office:value"] ?? "";
  const isFormula = attributes["table:formula"] !== undefined;
  if (attributes["calcext:value-type"] === "error" || (isFormula && errorText.test(shown)))
    return { text: shown, doubt: "error_cell" };
  switch (type) {
    case "":
      if (isFormula) return { text: "", doubt: "no_value" };
      return shown === "" ? null : { text: shown };
    case "string": {
      const text = attributes["office:string-value"] ?? shown;
      return text === "" ? null : { text };
    }
    case "boolean":
      return { text: attributes["office:boolean-value"] === "true" ? "TRUE" : "FALSE" };
    case "date":
    case "time":
      return { text: shown || (attributes[`office:${type}-value`] ?? ""), doubt: "date" };
    default:
      return readNumber(value, shown);
  }
}

function readNumber(value: string, shown: string): Omit<Cell, "column"> {
  const text = decimalText(value);
  if (text === null || value.trim() === "") return { text: value, isNumber: true, doubt: "too_many_digits" };
  if (/^0\d+$/.test(shown) && Number(shown) === Number(text)) return { text: shown };
  // A column that is too narrow shows ###.
  const isAlike = /^#*$/.test(shown) || isSameNumber(text, shown);
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
