import { constants, crc32, deflateRawSync } from "node:zlib";
import { type RawEntry, rawZip } from "../../support/raw-zip.ts";
import { odsParts, parts } from "./raw-workbook.ts";

const mebibyte = 1024 * 1024;

/** XML that repeats a piece until it has so many MiB; small in a ZIP, and quick to make. */
function repeated(
  name: string,
  [start, piece, end]: readonly [string, string, string],
  size = 1024,
): RawEntry {
  const chunk = Buffer.from(piece.repeat(Math.ceil(mebibyte / piece.length)));
  const flushed = (text: string | Buffer) =>
    deflateRawSync(text, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const times = Math.ceil((size * mebibyte) / chunk.length);
  const compressed = flushed(chunk);
  let crc = crc32(start);
  for (let time = 0; time < times; time++) crc = crc32(chunk, crc);
  return {
    name,
    method: 8,
    raw: Buffer.concat([
      flushed(start),
      ...Array<Buffer>(times).fill(compressed),
      deflateRawSync(end, { level: 9 }),
    ]),
    size: start.length + times * chunk.length + end.length,
    crc: crc32(end, crc),
  };
}

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const header = ["reference", "name", "image_front"];
const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const headerRow = `<row>${header.map(text).join("")}</row>`;
const cell = (value: string) =>
  `<table:table-cell office:value-type="string"><text:p>${value}</text:p></table:table-cell>`;
const odsHeader = `<table:table-row>${header.map(cell).join("")}</table:table-row>`;

const withPart = (entry: RawEntry, rows = headerRow) =>
  rawZip([...parts(rows, { [entry.name as string]: null }), entry]);
const sheetOf = (start: string, piece: string, end: string, size?: number) =>
  withPart(
    repeated("xl/worksheets/sheet1.xml", [`<worksheet ${main}>${start}`, piece, `${end}</worksheet>`], size),
  );
const rowsOf = (piece: string, size?: number) =>
  sheetOf(`<sheetData>${headerRow}`, piece, "</sheetData>", size);
const inRow = (piece: string, size?: number) =>
  sheetOf(`<sheetData>${headerRow}<row>`, piece, "</row></sheetData>", size);
const inCell = (start: string, piece: string, end: string) =>
  sheetOf(`<sheetData>${headerRow}<row><c ${start}`, piece, `${end}</c></row></sheetData>`);
const textsOf = (piece: string, size?: number) =>
  withPart(
    repeated("xl/sharedStrings.xml", [`<sst ${main}>`, piece, "</sst>"], size),
    `${headerRow}<row><c t="s"><v>0</v></c></row>`,
  );
const partOf = (name: string, root: string, piece: string, size?: number) =>
  withPart(repeated(name, [`<${root} ${main}>`, piece, `</${root}>`], size));

/** The pieces of `content.xml` around the place that is repeated. */
function odsOf(start: string, piece: string, end: string, size?: number): Buffer {
  const [mimetype, content] = odsParts(`<table:table table:name="S">${start}|${end}</table:table>`);
  const [before = "", after = ""] = String(content!.data).split("|");
  return rawZip([mimetype!, repeated("content.xml", [before, piece, after], size)]);
}
const odsRows = (piece: string, size?: number) => odsOf(odsHeader, piece, "", size);

const long = (length: number) => "x".repeat(length);

/** Workbooks that are small, and have a GB of one thing. */
export const bombs: Readonly<Record<string, () => Buffer>> = {
  "a sheet of spaces": () => rowsOf(" "),
  "a sheet of line ends": () => rowsOf("\n"),
  "a sheet of comments": () => rowsOf("<!--x-->"),
  "a sheet of long comments": () => rowsOf(`<!--${long(1_000_000)}-->`),
  "a sheet of instructions": () => rowsOf("<?x y?>"),
  "a sheet of elements without a meaning": () => rowsOf("<a/>"),
  "a sheet of elements with long attributes": () => rowsOf(`<a b="${long(500_000)}"/>`),
  "a sheet of elements with many attributes": () =>
    rowsOf(`<a ${Array.from({ length: 2000 }, (_, at) => `a${at}="x"`).join(" ")}/>`),
  "a sheet of elements with long names": () => rowsOf(`<${long(500_000)}/>`),
  "a sheet of rows without cells": () => rowsOf("<row/>"),
  "rows with long attributes": () => rowsOf(`<row spans="${long(2000)}"/>`),
  "rows of one number": () => rowsOf("<row><c><v>0</v></c></row>"),
  "rows of empty cells": () => rowsOf(`<row>${"<c/>".repeat(16_000)}</row>`),
  "rows of styled cells": () => rowsOf(`<row>${'<c s="1"/>'.repeat(500)}</row>`),
  "rows of numbers": () => rowsOf(`<row>${"<c><v>1</v></c>".repeat(5000)}</row>`),
  "rows of texts": () => rowsOf(`<row>${text(long(500_000)).repeat(8)}</row>`),
  "rows of one long text": () => rowsOf(`<row>${text(long(30_000))}</row>`),
  "a row of cells": () => inRow("<c/>"),
  "a row in another order": () => rowsOf('<row r="1"/>'),
  "a cell of spaces": () => inCell('t="inlineStr"><is>', "<t> </t>", "</is>"),
  "a cell of empty texts": () => inCell('t="inlineStr"><is>', "<t/>", "</is>"),
  "a cell of one text": () => inCell('t="str"><v>', long(1000), "</v>"),
  "a cell of values": () => inCell(">", "<v>1</v>", ""),
  "a cell of formulas": () => inCell(">", "<f/>", ""),
  "a cell of digits": () => inCell("><v>", "0", "</v>"),
  "a cell of character entities": () => inCell('t="str"><v>', "&#65;", "</v>"),
  "a cell of CDATA": () => inCell('t="str"><v>', "<![CDATA[]]>", "</v>"),
  "a row of values": () => inRow("<c><v>1</v></c>"),
  "merged cells": () => sheetOf(`<sheetData>${headerRow}</sheetData>`, '<mergeCell ref="A1:B2"/>', ""),
  links: () => sheetOf(`<sheetData>${headerRow}</sheetData>`, '<hyperlink ref="A1"/>', ""),
  columns: () => sheetOf("", '<col min="1" max="2"/>', `<sheetData>${headerRow}</sheetData>`),
  "shared texts": () => textsOf("<si><t>x</t></si>"),
  "empty shared texts within the limit": () => textsOf("<si/>", 500),
  "short shared texts within the limit": () => textsOf("<si><t>x</t></si>", 500),
  "long shared texts within the limit": () => textsOf(`<si><t>${long(500_000)}</t></si>`, 500),
  "wide shared texts within the limit": () => textsOf(`<si><t>${"線".repeat(1000)}</t></si>`, 500),
  "shared texts of parts": () => textsOf("<si><r><t>x</t></r></si>", 500),
  "one shared text of parts": () => textsOf("<r><t/></r>", 500),
  styles: () => partOf("xl/styles.xml", "styleSheet", "<cellXfs><xf/></cellXfs>"),
  "styles within the limit": () => partOf("xl/styles.xml", "styleSheet", "<cellXfs><xf/></cellXfs>", 15),
  "formats within the limit": () =>
    partOf(
      "xl/styles.xml",
      "styleSheet",
      `<numFmts><numFmt numFmtId="1" formatCode="${"[x]".repeat(80)}0"/></numFmts>`,
      15,
    ),
  "sheets within the limit": () =>
    withPart(
      repeated(
        "xl/workbook.xml",
        [`<workbook ${main}><sheets>`, '<sheet name="S" id:id="rId1"/>', "</sheets></workbook>"],
        15,
      ),
    ),
  "relations within the limit": () =>
    withPart(
      repeated(
        "xl/_rels/workbook.xml.rels",
        ["<Relationships>", '<Relationship Id="a" Type="x/worksheet" Target="a.xml"/>', "</Relationships>"],
        15,
      ),
    ),
  "an .ods sheet of spaces": () => odsRows(" "),
  "an .ods sheet of elements without a meaning": () => odsRows("<a/>"),
  "an .ods sheet of empty rows": () => odsRows("<table:table-row/>"),
  "an .ods sheet of repeated rows": () =>
    odsRows(`<table:table-row table:number-rows-repeated="65536">${cell("x")}</table:table-row>`),
  "an .ods sheet of empty cells": () =>
    odsRows(`<table:table-row>${"<table:table-cell/>".repeat(16_000)}</table:table-row>`),
  "an .ods sheet of repeated cells": () =>
    odsRows(
      `<table:table-row>${'<table:table-cell office:value-type="string" table:number-columns-repeated="256"><text:p>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</text:p></table:table-cell>'.repeat(60)}</table:table-row>`,
    ),
  "an .ods cell of paragraphs": () =>
    odsOf(
      `${odsHeader}<table:table-row><table:table-cell>`,
      "<text:p/>",
      "</table:table-cell></table:table-row>",
    ),
  "an .ods cell of repeated spaces": () =>
    odsRows(
      `<table:table-row>${`<table:table-cell><text:p><text:s text:c="1000000"/></text:p></table:table-cell>`.repeat(8)}</table:table-row>`,
    ),
  "an .ods sheet of merged cells": () =>
    odsRows(
      `<table:table-row>${'<table:table-cell table:number-rows-spanned="2"/>'.repeat(100)}</table:table-row>`,
    ),
  "an .ods sheet of columns": () => odsOf("", '<table:table-column table:visibility="collapse"/>', odsHeader),
  ".ods sheets": () =>
    odsOf(
      `${odsHeader}</table:table>`,
      `<table:table table:name="S"><table:table-row>${cell("x")}</table:table-row></table:table>`,
      '<table:table table:name="T">',
    ),
  ".ods sheets with long rows": () =>
    odsOf(
      `${odsHeader}</table:table>`,
      `<table:table table:name="S"><table:table-row>${cell(long(100_000)).repeat(9)}</table:table-row></table:table>`,
      '<table:table table:name="T">',
    ),
  ".ods styles": () => odsOf("", '<style:style style:name="x"/>', odsHeader),
};
