import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import XLSX from "@e965/xlsx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openWorkbook } from "../../../src/flows/workbook/open-workbook.ts";
import { noExtras } from "../../../src/flows/workbook/sheet.ts";
import { writeWorkbook } from "../../../src/flows/workbook/write-workbook.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { written } from "./raw-workbook.ts";

const numRuns = repetitions(8, 700);

/** Texts that a cell can have, also control characters, halves of pairs, markup and what looks like an escape. */
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(..."_x000D_&<>\"' \t\r\n=00123\ud83d\udc57ü\u0001"), maxLength: 20 }),
);
const tables = (text: fc.Arbitrary<string>) =>
  fc.array(fc.array(text, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 });

/** The texts of the first sheet, by row and column; cells that are empty are left out. */
async function textsOf(path: string): Promise<Record<string, string>> {
  const book = await openWorkbook(path, path);
  const found: Record<string, string> = {};
  try {
    for await (const rows of book.rows(0, noExtras()))
      for (const { row, cells } of rows)
        for (const { column, text } of cells) found[`${row} ${column}`] = text;
  } finally {
    book.close();
  }
  return found;
}

const expected = (table: readonly (readonly string[])[]) =>
  Object.fromEntries(
    table.flatMap((row, at) =>
      row.flatMap((text, column) => (text === "" ? [] : [[`${at + 1} ${column}`, text]])),
    ),
  );

test("texts that we write are read again as they were, by us and by SheetJS", async () => {
  await fc.assert(
    fc.asyncProperty(tables(texts), async (table) => {
      const [header = [], ...rows] = table;
      const bytes = await buffer(
        writeWorkbook({ name: "S", header, rows: rows.map((texts) => ({ texts })) }),
      );
      expect(await textsOf(written(bytes))).toEqual(expected(table));
      const sheet = XLSX.read(bytes).Sheets.S!;
      const theirs = Object.entries(sheet).flatMap(([place, cell]) => {
        if (place.startsWith("!") || cell.v === "") return [];
        const { r, c } = XLSX.utils.decode_cell(place);
        return [[`${r + 1} ${c}`, cell.v]];
      });
      // SheetJS reads \r\n, written as _x000D_ and a line end, as \n; the escape stands for \r (22.9.2.19).
      const ofSheetJs = table.map((row) => row.map((text) => text.replaceAll("\r\n", "\n")));
      expect(Object.fromEntries(theirs)).toEqual(expected(ofSheetJs));
    }),
    { numRuns },
  );
});

// SheetJS does not escape _x0041_, so its texts have no x.
const plain = fc.string({ unit: fc.constantFrom(..."abü👗 <>&\"'=0123_"), maxLength: 20 });

test.each(["xlsx", "ods"] as const)(
  "texts that SheetJS writes into .%s are read as they were",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(tables(plain), async (table) => {
        const path = join(temporaryFolder(), `a.${kind}`);
        writeFileSync(path, workbookOf({ S: table }, kind));
        expect(await textsOf(path)).toEqual(expected(table));
      }),
      { numRuns },
    );
  },
);

const cells = fc.oneof(
  plain,
  fc.constantFrom("", "A", "00123", "female", "Damen", "https://cdn.example.com/1.jpg"),
);

test("a CSV file and a workbook of the same rows give the same products and problems", async () => {
  const header = ["reference", "name", "sex", "image_front"];
  const row = fc.tuple(cells, cells, cells, cells);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), async (rows) => {
      const table = [header, ...rows];
      const quoted = table.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(","));
      const results = [];
      for (const [name, bytes] of [
        ["a.csv", Buffer.from(`${quoted.join("\n")}\n`)],
        ["a.xlsx", workbookOf({ S: table })],
        ["a.ods", workbookOf({ S: table }, "ods")],
      ] as const) {
        const { cat, folder } = await createWorld();
        writeFileSync(join(folder, name), bytes);
        const dry = await cat(`import ${name} --dry-run --json --skip-invalid`);
        const check = JSON.parse(dry.stdout.replaceAll(folder, ""));
        const problems = check.problems?.map(
          ({ sheet: _, cell: __, message, ...problem }: Record<string, unknown>) => ({
            ...problem,
            // A workbook names the cell of the same line.
            message: String(message).replace(/first used in S![A-Z]+(\d+)/, "first used on line $1"),
          }),
        );
        const ran = await cat(`import ${name} --no-progress --json --skip-invalid`);
        const products = (await cat("products list --all --json")).stdout
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line))
          .map(({ reference, name, sex }) => JSON.stringify([reference, name, sex]))
          .sort();
        results.push({ problems, products, exit: ran.exit, total: check.total, invalid: check.invalid });
      }
      const [csv, ...workbooks] = results;
      for (const workbook of workbooks) expect(workbook).toEqual(csv);
    }),
    { numRuns: repetitions(2, 40) },
  );
});
