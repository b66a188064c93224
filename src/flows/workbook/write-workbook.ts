// Writes an .xlsx workbook with one sheet of texts.

import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import { CatError } from "../../errors.ts";
import { columnName } from "./cell.ts";

export interface TextRow {
  readonly texts: readonly string[];
  /** Columns (from 0) to color, because something is wrong there. */
  readonly marked?: ReadonlySet<number>;
}

/** A drop-down list of a column, for all rows below the header. */
export interface Choices {
  /** From 0. */
  readonly column: number;
  /** At most 255 characters together: more need a sheet of their own. */
  readonly values: readonly string[];
  /** Whether a spreadsheet accepts other values too. */
  readonly isOpen: boolean;
}

export interface SheetToWrite {
  readonly name: string;
  readonly header: readonly string[];
  /** Widths of columns, in characters; undefined for the default. */
  readonly widths?: readonly (number | undefined)[];
  readonly rows: AsyncIterable<TextRow> | Iterable<TextRow>;
  readonly choices?: readonly Choices[];
  /** Notes that a spreadsheet shows next to each header while that is selected; at most 255 characters. */
  readonly notes?: readonly string[];
}

/** Rows of a sheet at most, with the header. */
const mostRows = 1_048_576;

/** Characters of a cell at most; longer texts are cut. */
export const longestCell = 32_767;

/** A workbook of text cells, which spreadsheets keep (00123) and never run; its header stays in view. */
export function writeWorkbook(sheet: SheetToWrite): Readable {
  const zip = new ZipFile();
  // One fixed time makes the same rows the same bytes.
  const options = { mtime: new Date(Date.UTC(2000, 0, 1)), compress: true };
  for (const [path, xml] of Object.entries(fixedParts(sheet)))
    zip.addBuffer(Buffer.from(head + xml), path, options);
  const xml = Readable.from(sheetXml(sheet), { objectMode: false });
  zip.addReadStream(xml, "xl/worksheets/sheet1.xml", options);
  zip.end();
  const bytes = zip.outputStream as Readable;
  // Rows that fail would otherwise leave the output open: yazl does not listen to the stream.
  xml.on("error", (error) => bytes.destroy(error));
  return bytes;
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const ofPackage = "http://schemas.openxmlformats.org/package/2006";
const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** Styles by index: default, text, header, marked text. Format 49 is Text. */
const styles = { text: 1, header: 2, marked: 3 };

const fixedParts = ({ name }: SheetToWrite): Record<string, string> => ({
  "[Content_Types].xml": `<Types xmlns="${ofPackage}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${spreadsheet}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/></Types>`,
  "_rels/.rels": `<Relationships xmlns="${ofPackage}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="${escapeXml(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${ofPackage}/relationships"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
  "xl/styles.xml": `<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFFFD9D2"/></patternFill></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="49" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/><xf numFmtId="49" fillId="2" applyNumberFormat="1" applyFill="1"/></cellXfs></styleSheet>`,
});

/** Characters collected before they are compressed. */
const pieceLength = 64 * 1024;

async function* sheetXml({
  header,
  widths = [],
  rows,
  choices = [],
  notes = [],
}: SheetToWrite): AsyncGenerator<string> {
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  let piece = `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
  piece += `<cols>${header.map((_, column) => columnXml(column, widths[column])).join("")}</cols><sheetData>`;
  piece += rowXml(1, header, () => styles.header);
  let row = 1;
  for await (const { texts, marked } of rows) {
    if (row === mostRows) throw tooManyRows();
    piece += rowXml(++row, texts, (column) => (marked?.has(column) ? styles.marked : styles.text));
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  const last = columnName(Math.max(0, header.length - 1));
  const lists = choices.map(
    ({ column, values, isOpen }) =>
      `<dataValidation type="list" allowBlank="1"${isOpen ? "" : ' showErrorMessage="1"'} sqref="${columnName(column)}2:${columnName(column)}10000"><formula1>"${escapeXml(values.join(","))}"</formula1></dataValidation>`,
  );
  const shownNotes = notes.map(
    (note, column) =>
      `<dataValidation allowBlank="1" showInputMessage="1" promptTitle="${escapeXml(header[column]!)}" prompt="${escapeXml(note)}" sqref="${columnName(column)}1"/>`,
  );
  const validations = [...lists, ...shownNotes];
  yield `${piece}</sheetData>${validations.length === 0 ? "" : `<dataValidations count="${validations.length}">${validations.join("")}</dataValidations>`}<ignoredErrors><ignoredError sqref="A1:${last}${Math.max(row, 10_000)}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;
}

const tooManyRows = (): CatError =>
  new CatError("a workbook has at most 1,048,575 rows", {
    type: "usage",
    code: "too_many_rows",
    hint: "Write a .csv file instead, or select fewer rows.",
  });

/** A column whose empty cells are texts too, so that 00123 typed there keeps its zeros. */
const columnXml = (column: number, width = 16): string =>
  `<col min="${column + 1}" max="${column + 1}" width="${width}" style="${styles.text}" customWidth="1"/>`;

function rowXml(row: number, texts: readonly string[], toStyle: (column: number) => number): string {
  let xml = `<row r="${row}">`;
  for (const [column, text] of texts.entries()) {
    const style = toStyle(column);
    if (text === "" && style === styles.text) continue;
    const cut = text.length > longestCell ? text.slice(0, longestCell) : text;
    xml += `<c r="${columnName(column)}${row}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cut)}</t></is></c>`;
  }
  return `${xml}</row>`;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text for XML; characters that it cannot have are written as `_x0001_` (ECMA-376, part 1, 22.9.2.19). */
const escapeXml = (text: string): string =>
  text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replace(
      /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`,
    )
    .replace(/[&<>"]/g, (character) => escapes[character]!);
