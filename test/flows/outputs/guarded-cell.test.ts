import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { guardedCell as guardedInPage } from "../../../src/flows/generate/gallery/page/formulas.js";
import { pageFiles } from "../../../src/flows/generate/gallery/page-files.ts";
import { csvRecords, plainCsv } from "../../../src/flows/outputs/cells.ts";
import { guardedCell, unguardedCell } from "../../../src/flows/outputs/formulas.ts";
import { repetitions } from "../../support/repetitions.ts";

test.each([
  ['a;"=1+1;b', `a;'"=1+1;b`],
  ['a\t"=1+1\tb', `a\t'"=1+1\tb`],
  ['a; ""=1', `a;' ""=1`],
  [`a;'"=1`, `a;''"=1`],
  ['a;"5" dress', 'a;"5" dress'],
])("a part of a cell is guarded before its quotes: %j", (text, guarded) => {
  expect([guardedCell(text), guardedInPage(text), unguardedCell(guarded)]).toEqual([guarded, guarded, text]);
});

test("no two scripts of the page have the same name: they become one", () => {
  const names = Object.entries(pageFiles).flatMap(([file, text]) =>
    file.endsWith(".js")
      ? [...text.matchAll(/^(?:export )?(?:const|let|function|class) (\w+)/gm)].map(([, name]) => name)
      : [],
  );
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test.each([
  '=HYPERLINK("https://evil.example","Open")',
  "+1+cmd|' /C calc'!A0",
  "-2+3",
  "@SUM(1)",
  "\tdress",
  "  =1",
  "\u00a0=1",
  "\u3000=1",
  "\ufeff=1",
  "\u200b=1",
  "＝1+1",
  "＋1+1",
  "－1-1",
  "＠SUM(1)",
  " ﹦1",
  "+49 30 1234",
  "-",
  "--5",
  "-5-",
  "'=1",
  "''-x",
])("an output for spreadsheets puts an apostrophe before %j", (text) => {
  expect(guardedCell(text)).toBe(`'${text}`);
});

test.each([
  ["\t=1", "'\t'=1"],
  ["\r=1", "'\r'=1"],
  ["\n=1", "'\n'=1"],
  ["-5\n=1", "'-5\n'=1"],
  ["a;=1", "a;'=1"],
  ["a; =1;+x;-3;b", "a;' =1;'+x;-3;b"],
  ["ab\t=1", "ab\t'=1"],
  ["Soft\r\n- warm\r\n- light", "Soft\r\n'- warm\r\n'- light"],
  ["a;\u200b＠SUM(1)", "a;'\u200b＠SUM(1)"],
  ["a;'=1", "a;''=1"],
])(
  "an output for spreadsheets puts an apostrophe before each part of %j that another program takes for a cell",
  (text, cell) => {
    expect(guardedCell(text)).toBe(cell);
    expect(unguardedCell(cell)).toBe(text);
  },
);

test.each([
  "",
  "Linen dress",
  "a=b",
  "5-pack",
  "-5",
  "+5",
  "-5.25",
  "-1e-7",
  "0",
  "'",
  "'5",
  "'dress",
  "a;b",
  "a;-5",
  "a;'b",
  " ",
  "日本",
  "𝒜=1",
])("an output for spreadsheets leaves %j as it is", (text) => {
  expect(guardedCell(text)).toBe(text);
});

/** Texts in which what matters is frequent. */
const text = fc
  .array(fc.oneof(fc.constantFrom(..."=+-@\t\r\n ,;\"'15.ea＝＋－＠\u00a0\u3000\u200b\ufeff"), fc.string()), {
    maxLength: 6,
  })
  .map((parts) => parts.join(""));

/** What a spreadsheet does with a text, which may be several cells for it. */
const runs = (text: string): boolean => runsAsOne(text) || text.split(/[;\t\r\n]/).some(runsAsOne);

/** What it does with a cell, independently of the code: skips spaces, folds widths, keeps numbers. */
function runsAsOne(cell: string): boolean {
  if (/^[\t\r\n]/.test(cell)) return true;
  const shown = [...cell].filter((one) => !/[\s\u180e\u200b-\u200d\u2060\ufeff]/u.test(one)).join("");
  const first = [...shown.normalize("NFKC")][0];
  return first !== undefined && "=+-@".includes(first) && Number.isNaN(Number(cell));
}

describe("for any text,", () => {
  test("the page of a gallery guards a cell as the program does", () => {
    fc.assert(
      fc.property(text, (cell) => void expect(guardedInPage(cell)).toBe(guardedCell(cell))),
      { numRuns: repetitions(200, 2_000) },
    );
  });

  test("a guarded cell is not run, and has at most an apostrophe more at each start", () => {
    let guarded = 0;
    fc.assert(
      fc.property(text, (cell) => {
        const written = guardedCell(cell);
        expect(runs(written)).toBe(false);
        if (written === cell) return;
        guarded++;
        expect(written.replaceAll("'", "")).toBe(cell.replaceAll("'", ""));
      }),
      { numRuns: repetitions(50, 1_000) },
    );
    // The texts contain what the property is about.
    expect(guarded).toBeGreaterThan(10);
    expect(fc.check(fc.property(text, (cell) => !runs(cell))).failed).toBe(true);
  });

  test("a guarded cell is read back as it was", () => {
    fc.assert(
      fc.property(fc.tuple(fc.constantFrom("", "'", "''"), text), ([apostrophes, rest]) => {
        const cell = apostrophes + rest;
        expect(unguardedCell(guardedCell(cell))).toBe(cell);
      }),
    );
  });

  test("records without a guard are read as they were written, one per line end", () => {
    const record = fc.array(text, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(record, { minLength: 1, maxLength: 5 }),
        (width, all) => {
          const records = all.map((cells) => Array.from({ length: width }, (_, at) => cells[at] ?? ""));
          const csv = csvRecords(records, plainCsv, (cell) => cell);
          expect(parse(csv, { bom: false, record_delimiter: "\n" })).toEqual(records);
          // A reader that ends records at carriage returns too finds the same ones.
          expect(parse(csv, { record_delimiter: ["\r\n", "\n", "\r"] })).toEqual(records);
        },
      ),
    );
  });
});
