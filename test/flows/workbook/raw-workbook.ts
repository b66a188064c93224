import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell } from "../../../src/flows/workbook/cell.ts";
import { openWorkbook } from "../../../src/flows/workbook/open-workbook.ts";
import { noExtras, type SheetExtras } from "../../../src/flows/workbook/sheet.ts";
import { rawZip } from "../../support/raw-zip.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const xml = '<?xml version="1.0" encoding="UTF-8"?>';
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** The parts of a workbook with one sheet, whose rows are given as XML. */
export const parts = (rows: string, others: Readonly<Record<string, string | Buffer | null>> = {}) =>
  Object.entries({
    "[Content_Types].xml": `${xml}<Types/>`,
    "_rels/.rels": `${xml}<Relationships><Relationship Id="r" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `${xml}<workbook ${main} xmlns:r="${relations}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${xml}<Relationships><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${relations}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    "xl/worksheets/sheet1.xml": `${xml}<worksheet ${main}><sheetData>${rows}</sheetData></worksheet>`,
    ...others,
  }).flatMap(([name, data]) => (data === null ? [] : [{ name, data, deflate: true }]));

const namespaces = Object.entries({
  office: "office",
  table: "table",
  text: "text",
  draw: "drawing",
  calcext: "calcext",
}).map(([prefix, name]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`);

/** The parts of an .ods workbook, whose tables are given as XML. */
export const odsParts = (tables: string) => [
  { name: "mimetype", data: "application/vnd.oasis.opendocument.spreadsheet" },
  {
    name: "content.xml",
    data: `${xml}<office:document-content ${namespaces.join(" ")}><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`,
    deflate: true,
  },
];

/** Writes a file of bytes, or a workbook of parts, and gives its path. */
export function written(content: Buffer | Parameters<typeof rawZip>[0], name = "products.xlsx"): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, Buffer.isBuffer(content) ? content : rawZip(content));
  return path;
}

/** All rows of a sheet, as `A1 text`, with doubts and links, and what stands beside them. */
export async function readAll(path: string, sheet = 0): Promise<{ cells: string[]; extras: SheetExtras }> {
  const book = await openWorkbook(path, "products.xlsx");
  const extras = noExtras();
  const cells: string[] = [];
  try {
    for await (const rows of book.rows(sheet, extras)) {
      for (const row of rows) cells.push(...row.cells.map((cell) => `${row.row}: ${shown(cell)}`));
    }
  } finally {
    book.close();
  }
  return { cells, extras };
}

const shown = ({ column, text, doubt, link }: Cell): string =>
  [column, JSON.stringify(text), doubt, link].filter((part) => part !== undefined).join(" ");
