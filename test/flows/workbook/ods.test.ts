import XLSX from "@e965/xlsx";
import { expect, test } from "vitest";
import { odsParts, readAll, written } from "./raw-workbook.ts";

const table = (rows: string) => `<table:table table:name="S">${rows}</table:table>`;
const row = (cells: string) => `<table:table-row>${cells}</table:table-row>`;
const cell = (content: string, attributes = 'office:value-type="string"') =>
  `<table:table-cell ${attributes}>${content}</table:table-cell>`;
const read = (tables: string, sheet = 0) => readAll(written(odsParts(tables), "a.ods"), sheet);
const cellsOf = async (cells: string) => (await read(table(row(cells)))).cells.map((text) => text.slice(3));

test("a formula without a value is in doubt, whatever its type, one with an empty text is empty; pictures and links are found", async () => {
  const formula = (type: string, others = "") =>
    cell("", `office:value-type="${type}" table:formula="of:=A1"${others}`);
  const types = ["float", "percentage", "currency", "boolean", "date", "time", "string"];
  const empty = formula("string", ' office:string-value=""');
  const image = empty.replace("of:=A1", "of:=IMAGE(&quot;https://cdn.example.com/a.jpg&quot;)");
  expect(await cellsOf(types.map((type) => formula(type)).join("") + empty + image)).toEqual([
    ...types.map((_, at) => `${at} "" no_value`),
    '8 "" image_in_cell',
  ]);
  const link = 'table:formula="of:=HYPERLINK(&quot;https://a&quot;;&quot;Foto&quot;)"';
  expect(await cellsOf(cell("<text:p>Foto</text:p>", link))).toEqual(['0 "Foto" https://a']);
});

test("a cell without the value that its type needs is in doubt, also with a text", async () => {
  const shown = (type: string, others = "") =>
    cell("<text:p>5</text:p>", `office:value-type="${type}"${others}`);
  expect(await cellsOf(shown("float") + shown("boolean") + shown("float", ' office:value="x"'))).toEqual([
    '0 "5" error_cell',
    '1 "5" error_cell',
    '2 "5" error_cell',
  ]);
});

test("a date in a column that is too narrow to show it is in doubt", async () => {
  const date = 'office:value-type="date" office:date-value="2026-01-31"';
  expect(await cellsOf(cell("<text:p>31.01.26</text:p>", date) + cell("<text:p>###</text:p>", date))).toEqual(
    ['0 "31.01.26" date', '1 "2026-01-31" shown_differently'],
  );
});

test("a date that is stored as a number, as SheetJS does, is a date as shown or in doubt", async () => {
  const sheet = XLSX.utils.aoa_to_sheet([[]]);
  const day = { t: "n", v: 45356 } as const;
  const cells = [{ ...day, z: "m/d/yy", w: "3/5/24" }, { ...day, z: "yyyy" }, { ...day, z: "hh:mm" }, day];
  cells.forEach((one, column) => {
    sheet[XLSX.utils.encode_cell({ r: 0, c: column })] = one;
  });
  sheet["!ref"] = "A1:D1";
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, sheet, "S");
  const path = written(XLSX.write(book, { bookType: "ods", type: "buffer" }), "a.ods");
  expect((await readAll(path)).cells).toEqual([
    '1: 0 "3/5/24" date',
    '1: 1 "45356" shown_differently',
    '1: 2 "45356" shown_differently',
    '1: 3 "45356"',
  ]);
});

test("the text of a cell is its own paragraphs: no ruby, comments, shapes, lists or tables", async () => {
  const ruby =
    "<text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>";
  const others = [
    "<office:annotation><text:p>a comment</text:p></office:annotation>",
    "<draw:custom-shape><text:p>a shape</text:p></draw:custom-shape>",
    "<text:list><text:list-item><text:p>a list</text:p></text:list-item></text:list>",
    table(row(cell("<text:p>a table</text:p>"))),
  ].join("");
  const { cells, extras } = await read(
    table(
      row(cell(`${others}<text:p>in ${ruby}<text:s text:c="3"/><text:span>x</text:span></text:p>`)) +
        row(cell("<text:p>next</text:p>")),
    ),
  );
  expect(cells).toEqual(['1: 0 "in 東京   x"', '2: 0 "next"']);
  expect(extras.hasComments).toBe(true);
});

test("a picture is counted once, in whatever formats; a chart is none", async () => {
  const frame = (content: string) => `<draw:frame>${content}</draw:frame>`;
  const picture = frame("<draw:image/><draw:image/>");
  const chart = frame("<draw:object/><draw:image/>");
  const { cells, extras } = await read(
    table(`<table:shapes>${picture}</table:shapes>${row(cell(`${picture}${chart}<text:p>x</text:p>`))}`),
  );
  expect([cells, extras.pictures]).toEqual([['1: 0 "x"'], 2]);
});

test("tables of links to other programs are no sheets", async () => {
  const one = table(row(cell("<text:p>one</text:p>")));
  const two = table(row(cell("<text:p>two</text:p>")));
  const links = `<table:dde-links><table:dde-link>${one}</table:dde-link></table:dde-links>`;
  expect((await read(links + one + two, 1)).cells).toEqual(['1: 0 "two"']);
});

test("rows, comments and hidden columns of one sheet are not those of the next one", async () => {
  const hidden = '<table:table-column table:visibility="collapse"/>';
  const comment = "<office:annotation><text:p>a comment</text:p></office:annotation>";
  const tables =
    table(hidden + row(cell(`${comment}<text:p>one</text:p>`)) + row(cell("<text:p>below</text:p>"))) +
    table(row(cell("<text:p>two</text:p>")));
  const first = await read(tables);
  expect(first.cells).toEqual(['1: 0 "one"', '2: 0 "below"']);
  expect([first.extras.hasComments, first.extras.columns.length]).toEqual([true, 1]);
  const second = await read(tables, 1);
  expect(second.cells).toEqual(['1: 0 "two"']);
  expect([second.extras.hasComments, second.extras.columns.length]).toEqual([false, 0]);
});
