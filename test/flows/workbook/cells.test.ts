import { expect, test } from "vitest";
import { parts, readAll, written } from "./raw-workbook.ts";

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const cellsOf = async (cells: string, others: Record<string, string> = {}) =>
  (await readAll(written(parts(`<row r="1">${cells}</row>`, others)))).cells.map((text) => text.slice(3));
const number = (value: string, style = 0) => `<c s="${style}"><v>${value}</v></c>`;
const styles = (...codes: string[]) => ({
  "xl/styles.xml": `<styleSheet ${main}><numFmts>${codes.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code.replaceAll('"', "&quot;")}"/>`).join("")}</numFmts><cellXfs><xf/>${codes.map((_, at) => `<xf numFmtId="${164 + at}"/>`).join("")}</cellXfs></styleSheet>`,
});

test("numbers are the shortest decimals of 15 digits, without an exponent", async () => {
  const given = [
    "4.006381333931E12",
    "0.30000000000000004",
    "19.989999999999998",
    "1E-7",
    "-5",
    "100",
    "1.5e3",
  ];
  expect(await cellsOf(given.map((value) => number(value)).join(""))).toEqual([
    '0 "4006381333931"',
    '1 "0.3"',
    '2 "19.99"',
    '3 "0.0000001"',
    '4 "-5"',
    '5 "100"',
    '6 "1500"',
  ]);
});

test("whole numbers of 16 digits and more are in doubt, as spreadsheets replace their last digits", async () => {
  expect(await cellsOf(number("999999999999999") + number("1234567890123456") + number("1E20"))).toEqual([
    '0 "999999999999999"',
    '1 "1234567890123456" too_many_digits',
    '2 "100000000000000000000" too_many_digits',
  ]);
});

test("a format of zeros pads, and one with other characters is in doubt", async () => {
  const codes = [
    "00000",
    '"SKU-"0000',
    "0%",
    "#,##0.00",
    "[Red]0",
    "[$€-407]0",
    "General",
    "0.00E+00",
    "@",
    '0 "pcs"',
  ];
  const cells = codes.map((_, at) => number("123", at + 1)).join("");
  expect(await cellsOf(cells, styles(...codes))).toEqual([
    '0 "00123"',
    '1 "123" shown_differently',
    '2 "123" shown_differently',
    '3 "123"',
    '4 "123"',
    '5 "123" shown_differently',
    '6 "123"',
    '7 "123" shown_differently',
    '8 "123"',
    '9 "123" shown_differently',
  ]);
});

test("a format that rounds, hides, divides or moves digits is in doubt", async () => {
  const shown: [code: string, value: string, doubt?: "shown_differently"][] = [
    ["0", "1.5", "shown_differently"],
    ["0.00", "1.5"],
    ["0.00", "1.234", "shown_differently"],
    ["000 000", "123", "shown_differently"],
    ["000 000", "123456"],
    ["00.00", "1.5", "shown_differently"],
    ["0,", "12000", "shown_differently"],
    ["#", "0", "shown_differently"],
    ["0;(0)", "-5", "shown_differently"],
    ["0;[Red]-0", "-5"],
    ["0;-0;;@", "0", "shown_differently"],
    ["00000;-00000", "-5", "shown_differently"],
    ["[<=99999]00000;00000-0000", "123456789", "shown_differently"],
    ["0;0", "-5", "shown_differently"],
  ];
  const cells = shown.map(([, value], at) => number(value, at + 1)).join("");
  const codes = shown.map(([code]) => code.replaceAll("<", "&lt;"));
  expect(await cellsOf(cells, styles(...codes))).toEqual(
    shown.map(([, value, doubt], at) =>
      [at, JSON.stringify(value), doubt].filter((part) => part !== undefined).join(" "),
    ),
  );
});

test("a date has the text of the sheet where its format says it, in both ways of counting days", async () => {
  const codes = ["yyyy-mm-dd", "dd.mm.yyyy", "d/m/yy", "mmm yy", "dd/mm/yyyy hh:mm", "[h]:mm"];
  const cells = codes.map((_, at) => number("46053.5", at + 1)).join("");
  expect(await cellsOf(cells, styles(...codes))).toEqual([
    '0 "2026-01-31" date',
    '1 "31.01.2026" date',
    '2 "31/1/26" date',
    '3 "2026-01-31 12:00:00" shown_differently',
    '4 "2026-01-31 12:00:00" shown_differently',
    '5 "2026-01-31 12:00:00" shown_differently',
  ]);
  const workbook = (properties: string) => ({
    "xl/workbook.xml": `<workbook ${main} xmlns:r="r" xmlns:x15="x"><workbookPr date1904="true"/>${properties}<sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
  });
  const late = '0 "2030-02-01" date';
  expect(await cellsOf(number("46053.5", 1), { ...styles("yyyy-mm-dd"), ...workbook("") })).toEqual([late]);
  // An element of another namespace changes nothing.
  const other = workbook('<x15:workbookPr date1904="false"/>');
  expect(await cellsOf(number("46053.5", 1), { ...styles("yyyy-mm-dd"), ...other })).toEqual([late]);
});

test("texts are verbatim: shared, inline, with formats, pronunciation and escaped characters", async () => {
  const shared = `<sst ${main}><si><t>00123</t></si><si><r><t xml:space="preserve">red </t></r><r><t>dress</t></r><rPh><t>REDDO</t></rPh></si><si><t><![CDATA[a < b]]></t></si><si><t>line_x000D_end _x005F_x0041_</t></si></sst>`;
  const cells = [0, 1, 2, 3].map((at) => `<c t="s"><v>${at}</v></c>`).join("");
  const inline =
    '<c t="inlineStr"><is><r><t>grün </t></r><r><t>👗</t></r></is></c><c t="s"><v/></c><c t="b"><v>1</v></c>';
  expect(await cellsOf(cells + inline, { "xl/sharedStrings.xml": shared })).toEqual([
    '0 "00123"',
    '1 "red dress"',
    '2 "a < b"',
    '3 "line\\rend _x0041_"',
    '4 "grün 👗"',
    '6 "TRUE"',
  ]);
});

test("errors, formulas without a value and pictures in cells are in doubt, and formulas name their links", async () => {
  const cells = [
    '<c t="e"><v>#REF!</v></c>',
    "<c><f>A1+1</f></c>",
    '<c t="str"><f>A1</f><v></v></c>',
    "<c><f>1+1</f><v>2</v></c>",
    '<c vm="1" t="e"><v>#VALUE!</v></c>',
    '<c t="str"><f>_xlfn.DISPIMG("ID",1)</f><v>x</v></c>',
    '<c t="str"><f>HYPERLINK("https://cdn.example.com/a.jpg","Photo")</f><v>Photo</v></c>',
    '<c t="str"><f>HYPERLINK("https://cdn.example.com/"&amp;A2,"Photo")</f><v>Photo</v></c>',
    '<c t="str"><f>HYPERLINK("https://a","x")&amp;"|"&amp;HYPERLINK("https://b","x")</f><v>x|x</v></c>',
    '<c t="str"><f>HYPERLINK("https://a",CONCAT("(",A2,""""))</f><v>x</v></c>',
    '<c t="str"><f>IMAGE("https://cdn.example.com/a.jpg")</f><v></v></c>',
    '<c t="str"><f>A2&amp;" image (front)"</f><v>x</v></c>',
  ].join("");
  const read = await cellsOf(cells);
  expect(read).toEqual([
    '0 "#REF!" error_cell',
    '1 "" no_value',
    '3 "2"',
    '4 "#VALUE!" image_in_cell',
    '5 "x" image_in_cell',
    '6 "Photo" https://cdn.example.com/a.jpg',
    '7 "Photo"',
    '8 "x|x"',
    '9 "x" https://a',
    '10 "" image_in_cell',
    '11 "x"',
  ]);
  const stale = {
    "xl/workbook.xml": `<workbook ${main} xmlns:r="r"><sheets><sheet name="S" r:id="rId1"/></sheets><calcPr fullCalcOnLoad="1"/></workbook>`,
  };
  expect(await cellsOf("<c><f>1+1</f><v>2</v></c>", stale)).toEqual(['0 "2" no_value']);
});

test("places come from the file, or are counted; rows keep their numbers", async () => {
  const rows =
    '<row><c><v>1</v></c><c r="D1"><v>2</v></c><c><v>3</v></c></row><row r="7"><c r="B7"><v>4</v></c><c r="A7"><v>5</v></c></row>';
  expect((await readAll(written(parts(rows)))).cells).toEqual([
    '1: 0 "1"',
    '1: 3 "2"',
    '1: 4 "3"',
    '7: 0 "5"',
    '7: 1 "4"',
  ]);
});
