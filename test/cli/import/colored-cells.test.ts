import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import XLSX from "@e965/xlsx";
import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;

/** The cells of a workbook that have a color, by another library. */
function coloredCells(path: string): string[] {
  const book = XLSX.read(readFileSync(path), { cellStyles: true });
  const sheet = book.Sheets[book.SheetNames[0]!]!;
  return Object.keys(sheet).filter((cell) => sheet[cell].s?.fgColor?.rgb === "FFD9D2");
}

async function failedOf(rows: readonly (readonly string[])[]) {
  const { cat, folder } = await createWorld();
  writeFileSync(join(folder, "a.xlsx"), workbookOf({ S: rows }));
  const ran = await cat("import a.xlsx --skip-invalid --no-progress");
  expect(ran.exit, ran.stderr).toBe(8);
  return coloredCells(join(folder, "a.failed.xlsx"));
}

test("photos that the service rejected are colored, as are cells that the check rejected", async () => {
  const colored = await failedOf([
    ["reference", "name", "image_front", "image_back", "images"],
    ["A", "Kleid", photo("1"), photo("fail-timeout"), ""],
    ["B", "Hose", photo("2"), photo("3"), `${photo("4")}|${photo("fail-too_large")}`],
    ["C", "", photo("5"), "", ""],
    ["D", "Rock", photo("6"), "", ""],
    ["E", "Jacke", photo("fail-timeout"), photo("fail-http_error"), ""],
  ]);
  expect(colored).toEqual(["D2", "E3", "B4", "C5", "D5"]);
});

test("a cell is colored whatever the header of its column", async () => {
  const { cat, folder } = await createWorld();
  const rows = [
    ["SKU", "Titel", "Geschlecht", "image_front"],
    ["A", "", "Damen", photo("1")],
    ["", "Kleid", "female", photo("2")],
    ["B", "Kleid", "female", photo("3")],
  ];
  writeFileSync(join(folder, "a.xlsx"), workbookOf({ S: rows }));
  const maps = "--map SKU=reference --map Titel=name --map Geschlecht=sex";
  expect((await cat(`import a.xlsx ${maps} --skip-invalid --no-progress`)).exit).toBe(8);
  expect(coloredCells(join(folder, "a.failed.xlsx"))).toEqual(["B2", "C2", "A3"]);
});

test("a reference that exists is colored, and not the photos that failed with its row", async () => {
  const { cat, folder } = await createWorld();
  const rows = [
    ["SKU", "name", "image_front"],
    ["A", "Kleid", photo("1")],
  ];
  writeFileSync(join(folder, "a.xlsx"), workbookOf({ S: rows }));
  expect((await cat("import a.xlsx --map SKU=reference --no-progress")).exit).toBe(0);
  expect((await cat("import a.xlsx --map SKU=reference --no-progress --mode create")).exit).toBe(8);
  expect(coloredCells(join(folder, "a.failed.xlsx"))).toEqual(["A2"]);
});
