import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLong, repetitions, sampled } from "../../support/repetitions.ts";
import { check, checkWhole } from "./check-support.ts";

const url = "https://cdn.example.com/a.jpg";
const head = "reference,name,description,images\n";
const good = (reference: string) => `${reference},Dress,,${url}\n`;

/** The check result of a text below the usual header: rows and problems. */
async function told(rows: string) {
  const { total, valid, invalid, unusable, problems } = await check(head + rows);
  return { counts: [total, valid, invalid], unusable, problems };
}

describe("a stray quote ends the check, and the rows before it are counted", () => {
  test.each(
    sampled(
      [
        ["within a cell", `B,5" heel,,${url}\n`],
        ["at the end of a cell", `B,5",,${url}\n`],
        ["before text that follows the closing quote", `B,"5" heel,,${url}\n`],
        ["in a cell in quotes that has another one", `B,"5" heel",,${url}\n`],
        ["in the reference", `5",Dress,,${url}\n`],
        ["in a row that is too long", `B,5",,${url},x,"y"\n`],
        ["in a cell that the header has no column for", `B,C,,${url},5"\n`],
        ["that opens a cell which a later line seems to close", `B,"5 heel,,${url}\nD,"Coat",,${url}\n`],
        ["before a formula", `B,5",="7",${url}\n`],
        ["in a formula", `B,="5" heel,,${url}\n`],
      ],
      4,
    ),
  )("%s", async (_, row) => {
    const rows = `A,Dress,"two\r\nlines",${url}\n\n,Dress,,${url}\n`;
    const expected = {
      counts: [2, 1, 1],
      unusable: true,
      problems: ["5 reference invalid_row", "6 stray_quote"],
    };
    expect(await told(`${rows}${row}${good("E")}`)).toEqual(expected);
    expect(await told(rows + row.slice(0, -1))).toEqual(expected);
  });

  test("with the way to save the file right", async () => {
    const { problems } = await checkWhole(`${head}A,5" heel,,${url}\n`);
    const message =
      'stray quote ("): a cell with a quote needs quotes around it, and each quote in it twice ("5"" heel"): save the sheet as CSV again, or as .xlsx';
    expect(problems).toEqual([{ line: 2, code: "stray_quote", message }]);
  });

  test("in the header, where no row is read", async () => {
    expect(await check(`reference,na"me,images\nA,Dress,${url}\n`)).toMatchObject({
      total: 0,
      unusable: true,
      problems: ["1 stray_quote"],
    });
  });

  test("below a sep= line, in UTF-16, with a delimiter of several bytes", async () => {
    const text = `sep=·\nreference·name·images\nA·a·${url}\nB·5" heel·${url}\n`;
    const found = await check(Buffer.from(`\ufeff${text}`, "utf16le"));
    expect(found).toMatchObject({ total: 1, valid: 1, problems: ["4 stray_quote"] });
  });
});

describe("unreadable text ends the check, and the rows before it are counted", () => {
  test.each(
    sampled(
      [
        ["an unclosed quote", `D,"Coat,,${url}\n${good("E")}`, "4 unclosed_quote"],
        ["a record of 2 MiB", `D,${"x".repeat(2 ** 21)},,${url}\n${good("E")}`, "4 record_too_long"],
        ["a cell of 5 MiB in quotes", `D,"${"x".repeat(5 * 2 ** 20)}",,${url}\n`, "4 record_too_long"],
      ],
      1,
    ),
  )("%s", async (_, rest, problem) => {
    for (const first of ["A", '="A"'])
      expect(await told(`${first},Dress,,${url}\nC,,,${url}\n${rest}`)).toEqual({
        counts: [2, 1, 1],
        unusable: true,
        problems: ["3 name invalid_row", problem],
      });
  });

  test.runIf(isLong)("a cell of 70 MB after a formula takes no memory", async () => {
    const text = Buffer.concat([Buffer.from(`${head}="A",5,,${url}\nB,"`), Buffer.alloc(70_000_000, "x")]);
    const before = process.memoryUsage().rss;
    expect((await check(text)).problems).toEqual(["3 record_too_long"]);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });
});

test.each([
  ["", ""],
  ['Our "autumn" list\n\n', ""],
  ['"Our" list,"a",b\n="1" and "2"\n', ""],
  ["sep=,\n", '"Sales" of 2026\n'],
])("a title above the header may have quotes: %j", async (first, second) => {
  const { total, valid, unusable, problems } = await check(`${first}${second}${head}="A",5,,${url}\n`);
  expect({ total, valid, unusable, problems }).toEqual({ total: 1, valid: 1, unusable: false, problems: [] });
});

test("a formula without quotes around it is read as the same one with quotes, wherever it is", async () => {
  const cell = fc.string({ unit: fc.constantFrom(..."aé😀 ,;·\n\r"), maxLength: 5 });
  const formula = cell.map((text) => `="${text.replace(/[\n\r,;·]/g, "")}"`);
  const rows = fc.array(fc.tuple(cell, fc.oneof(cell, formula), fc.oneof(cell, formula)), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.constantFrom(",", ";", "\t", "·"),
      fc.constantFrom("\n", "\r\n", "\r"),
      async (some, delimiter, end) => {
        const table = [["reference", "name", "description", "images"]].concat(
          some.map(([name, ...others], index) => [`R${index}`, `x${name}`, others.join(""), url]),
          some.map(([, , formula], index) => [`S${index}`, `x${index}`, formula, url]),
        );
        const text = stringify(table, { delimiter, record_delimiter: end, quote_record_delimiter: true });
        const bare = text.replace(/(?<=[,;\t·])"=""([^",;·\t\n\r]*)"""/g, '="$1"');
        expect(await checkWhole(bare, { delimiter })).toEqual(await checkWhole(text, { delimiter }));
      },
    ),
    { numRuns: repetitions(25, 100) },
  );
});
