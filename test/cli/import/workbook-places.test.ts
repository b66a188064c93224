import { writeFileSync } from "node:fs";
import { join } from "node:path";
import XLSX from "@e965/xlsx";
import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";

const header = ["reference", "name", "image_front"];
const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const dryRun = "--dry-run --no-progress";

async function worldWith(files: Readonly<Record<string, Buffer>>) {
  const world = await createWorld();
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(world.folder, name), bytes);
  return world;
}

test("references that are numbers are counted in the column that is mapped to them", async () => {
  const rows = [
    ["SKU", ...header.slice(1)],
    [123, "Kleid", photo("1")],
    [456, "Hose", photo("2")],
  ];
  const { cat, write } = await worldWith({ "a.xlsx": workbookOf({ S: rows }) });
  const note = "2 references stored as numbers: zeros that they may have had at the start are lost.\n";
  const ran = await cat(`import a.xlsx --map SKU=reference ${dryRun}`);
  expect([ran.exit, ran.stderr]).toEqual([0, expect.stringContaining(note)]);
  write("catalogue.map.json", '{"columns": {"SKU": "reference"}}');
  expect((await cat(`import a.xlsx ${dryRun}`)).stderr).toContain(note);
});

test("a row's problem is at its first cell with a text, and one of a missing cell at that cell", async () => {
  const rows = [
    ["note", ...header],
    ["", "A", "Kleid", ""],
    ["", "", "Hose", photo("1")],
  ];
  const { cat } = await worldWith({ "a.xlsx": workbookOf({ S: rows }) });
  const ran = await cat(`import a.xlsx --map note=ignore ${dryRun}`);
  expect(ran.stderr.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^a\.xlsx: S!B2 {2}images {2}/),
    "a.xlsx: S!B3  reference  invalid_row  reference is missing",
  ]);
});

test("a cell that is empty for a known reason is not missing, under whatever header", async () => {
  const sheet = XLSX.utils.aoa_to_sheet([
    ["SKU", "Title", "image_front"],
    [null, "Kleid", photo("1")],
    ["B", "Hose", photo("2")],
    ["C", null, photo("3")],
    ["D", "Rock", null],
    ["E", "Mantel", null],
    ["F", "Hemd", null],
  ]);
  sheet.C6 = { t: "n", f: `HYPERLINK("${photo("4")}","Foto")` };
  // What the formula makes may differ from the link that the cell has.
  sheet.C7 = { t: "n", f: '"https://cdn.example.com/"&A7', l: { Target: photo("5") } };
  sheet.A2 = { t: "n", f: "1+1" };
  sheet.C5 = { t: "n", f: "1+1" };
  sheet["!merges"] = [XLSX.utils.decode_range("B3:B4")];
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, sheet, "S");
  const { cat } = await worldWith({ "a.xlsx": XLSX.write(book, { type: "buffer", bookType: "xlsx" }) });
  const ran = await cat(`import a.xlsx --map SKU=reference --map Title=name ${dryRun} --json`);
  const { problems } = JSON.parse(ran.stdout);
  expect(problems.map(({ cell, code }: { cell: string; code: string }) => `${cell} ${code}`)).toEqual([
    "A2 formula_without_value",
    "B3 merged_cells",
    "B4 merged_cells",
    "C5 formula_without_value",
    "C7 formula_without_value",
  ]);
});

test("a row that repeats a reference names the cell with the first one, also of another file", async () => {
  const rows = [header, ["A1", "Kleid", photo("1")], ["A1", "Hose", photo("2")]];
  const files = { "a.xlsx": workbookOf({ "My sheet": rows }), "b.xlsx": workbookOf({ S: rows.slice(0, 2) }) };
  const { cat, read } = await worldWith(files);
  const ran = await cat(`import a.xlsx b.xlsx ${dryRun}`);
  expect(ran.stderr).toContain("duplicate reference \"A1\", first used in 'My sheet'!A2\n");
  expect(ran.stderr).toContain("duplicate reference \"A1\", first used in a.xlsx: 'My sheet'!A2\n");
  expect((await cat("import a.xlsx --skip-invalid --no-progress --failed f.csv")).exit).toBe(8);
  expect(read("f.csv")).toContain("first used in a.xlsx: 'My sheet'!A2");
  const again = await cat(`import f.csv ${dryRun}`);
  expect(again.stderr).toContain("first used in a.xlsx: 'My sheet'!A2: change the row");
});

test("a row that asks for the image of another one names its cell", async () => {
  const look = ["A1", "01J9ZX0000000000000000000A", "white", "full_front"];
  const rows = [["product_reference", "model_id", "background", "angle_shot"], look, look];
  const { cat } = await worldWith({ "t.xlsx": workbookOf({ S: rows }) });
  const ran = await cat(`tryon t.xlsx ${dryRun}`);
  expect(ran.stderr).toContain("the same image is requested in S!A2: remove one");
});
