import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorkbook } from "../../../src/flows/workbook/open-workbook.ts";
import { noExtras } from "../../../src/flows/workbook/sheet.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const header = ["reference", "name", "image_front"];
const rows = [header, ["00123", "Kleid grün", photo("1")], [4006381333931, "Hose", photo("2")]];

async function worldWith(name: string, bytes: Buffer) {
  const world = await createWorld();
  writeFileSync(join(world.folder, name), bytes);
  const products = async () =>
    (await world.cat("products list --all --json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ reference, name }: { reference: string; name: string }) => [reference, name])
      .sort();
  return { ...world, products };
}

async function cellsOf(path: string): Promise<string[][]> {
  const book = await openWorkbook(path, path);
  const read: string[][] = [];
  for await (const batch of book.rows(0, noExtras()))
    read.push(...batch.map(({ cells }) => cells.map(({ text }) => text)));
  book.close();
  return read;
}

test("a workbook shows its progress while its rows are copied, before they are checked", async () => {
  const { cat } = await worldWith("a.xlsx", workbookOf({ S: rows }));
  const { stderr } = await cat("import a.xlsx --dry-run --progress json");
  const steps = [...stderr.matchAll(/"step":"([^"]+)","done":(\d+)/g)].map(([, ...found]) => found.join(" "));
  expect(steps).toEqual(["reading the sheet 0", "reading the sheet 3", "checking the file 2"]);
});

describe("a workbook is imported like a CSV file", () => {
  test.each(sampled(["xlsx", "ods"] as const, 1))("%s, with texts as they are", async (kind) => {
    const { cat, products } = await worldWith(`products.${kind}`, workbookOf({ Sheet1: rows }, kind));
    const ran = await cat(`import products.${kind} --no-progress`);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(ran.stderr).toContain(
      "1 reference stored as a number: zeros that it may have had at the start are lost.",
    );
    expect(await products()).toEqual([
      ["00123", "Kleid grün"],
      ["4006381333931", "Hose"],
    ]);
    const again = await cat(`import products.${kind} --no-progress --json`);
    expect(JSON.parse(again.stdout)).toMatchObject({ total: 2, unchanged: 2 });
  });

  longTest("on standard input, and whatever its name", async () => {
    const bytes = workbookOf({ Sheet1: rows });
    const { cat, products } = await worldWith("products.csv", bytes);
    expect((await cat("import products.csv --no-progress")).exit).toBe(0);
    expect(await products()).toHaveLength(2);
    const other = await worldWith("a.txt", Buffer.from(""));
    expect((await other.cat("import - --no-progress", { stdin: bytes })).exit).toBe(0);
    expect(await other.products()).toHaveLength(2);
  });

  test("from the sheet whose columns fit, which a note names, or the one that is named", async () => {
    const bytes = workbookOf({
      Notes: [["to do"], ["call Anna"]],
      Produkte: rows,
      Alt: [header, ["OLD", "Rock", photo("3")]],
    });
    const { cat } = await worldWith("a.xlsx", bytes);
    const open = await cat("import a.xlsx --dry-run");
    expect(open.exit).toBe(3);
    expect(open.stderr).toBe(
      'error: a.xlsx has several sheets that may be meant: "Produkte", "Alt"\nChoose one with --sheet.\n',
    );
    expect((await cat("import a.xlsx --dry-run --sheet alt")).stderr).toContain("1 row, all valid");
    expect((await cat("import a.xlsx --dry-run --sheet nope")).stderr).toBe(
      'error: a.xlsx has no sheet "nope"\nIts sheets: "Notes", "Produkte", "Alt".\n',
    );
    const two = await worldWith("b.xlsx", workbookOf({ Notes: [["to do"]], Produkte: rows }));
    const ran = await two.cat("import b.xlsx --dry-run");
    expect(ran.stderr).toContain(
      'Reading the sheet "Produkte", whose columns fit; choose another one with --sheet.',
    );
    expect(ran.exit).toBe(0);
  });

  test("with problems at their cells, also in JSON", async () => {
    const bad = [
      ["Catalogue 2026"],
      [],
      header,
      ["A", "Kleid", photo("1")],
      [new Date(Date.UTC(2026, 2, 1)), "Hose", photo("2")],
      ["C", "", photo("3")],
      [12345678901234568, "Rock", photo("4")],
    ];
    const { cat } = await worldWith("a.xlsx", workbookOf({ "My sheet": bad }));
    const ran = await cat("import a.xlsx --dry-run --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr.split("\n").slice(0, 6)).toEqual([
      "1 reference stored as a number: zeros that it may have had at the start are lost.",
      "a.xlsx: 'My sheet'!A5  reference  shown_differently  the sheet shows 2026-03-01 as another text: format the column as Text and type it again",
      "a.xlsx: 'My sheet'!B6  name  invalid_row  name is missing",
      "a.xlsx: 'My sheet'!A7  reference  too_many_digits  a spreadsheet keeps only 15 digits of this number: format the column as Text and type it again",
      "a.xlsx: 'My sheet'!A1  1 line above the header was not read.",
      "error: a.xlsx has 3 invalid rows out of 4; nothing was sent",
    ]);
    const json = JSON.parse((await cat("import a.xlsx --dry-run --json")).stdout);
    expect(json.problems[1]).toMatchObject({ line: 6, sheet: "My sheet", cell: "B6", param: "name" });
  });

  longTest(
    "and its failed rows are a workbook again, which stays rejected where a text is not known",
    async () => {
      const bad = [
        [...header, "own"],
        ["00123", "Kleid", photo("1"), "x"],
        ["B", "", photo("2"), "=kept"],
        [12345678901234568, "Rock", photo("4"), "y"],
      ];
      const { cat, folder } = await worldWith("a.xlsx", workbookOf({ Produkte: bad }));
      const ran = await cat("import a.xlsx --skip-invalid --no-progress --map own=ignore");
      expect(ran.exit, ran.stderr).toBe(8);
      expect(ran.stderr).toContain("  cat import a.failed.xlsx --map own=ignore");
      const failed = await cellsOf(join(folder, "a.failed.xlsx"));
      expect(failed).toEqual([
        [...header, "own", "error_code", "error_message"],
        ["B", photo("2"), "=kept", "invalid_row", "name is missing"],
        [
          expect.any(String),
          "Rock",
          photo("4"),
          "y",
          "too_many_digits",
          expect.stringContaining("15 digits"),
        ],
      ]);
      const again = await cat("import a.failed.xlsx --dry-run --map own=ignore --no-progress");
      expect(again.exit).toBe(3);
      expect(again.stderr).toContain("a.failed.xlsx: Produkte!E3  error_code  too_many_digits");
      const csv = await cat(
        "import a.xlsx --skip-invalid --no-progress --map own=ignore --failed f.csv --fresh",
      );
      expect(csv.stderr).toContain("cat import f.csv");
    },
  );
});

describe("a header in another language", () => {
  const german = ["Artikelnummer", "Bezeichnung", "Größe", "Bild vorne"];
  const maps = german.map(
    (name, at) => `--map "${name}=${["reference", "name", "ignore", "image_front"][at]}"`,
  );
  const sheets = {
    Notizen: [["Anna anrufen"]],
    "Frühjahr 2026": [["Kollektion Frühjahr"], [], german, ["KL-1", "Kleid", "S", photo("1")]],
  };

  longTest("tells the sheet and the row of the header", async () => {
    const { cat } = await worldWith("a.xlsx", workbookOf(sheets));
    const ran = await cat(`import a.xlsx --dry-run --no-progress ${maps.slice(2, 3)}`);
    expect(ran.stderr).toContain('Reading the sheet "Frühjahr 2026", whose columns fit');
    expect(ran.stderr).toContain("a.xlsx: 'Frühjahr 2026'!A1  1 line above the header was not read.");
    expect(ran.stderr).toContain(`a.xlsx: 'Frühjahr 2026'!A3  Artikelnummer  unknown_column`);
    expect((await cat(`import a.xlsx --dry-run ${maps.join(" ")}`)).exit).toBe(0);
    const named = await cat(`import a.xlsx --sheet "Frühjahr 2026" --dry-run --no-progress`);
    expect(named.stderr).toContain("'Frühjahr 2026'!A3  Artikelnummer  unknown_column");
  });

  test("comes after a sheet with known columns, however many it may have", async () => {
    const { cat } = await worldWith("a.xlsx", workbookOf({ ...sheets, Import: rows }));
    const ran = await cat("import a.xlsx --dry-run --no-progress");
    expect(ran.stderr).toContain('Reading the sheet "Import", whose columns fit');
    expect(ran.exit).toBe(0);
  });
});

test("a web page in place of rows is rejected, and so are workbooks of other formats", async () => {
  const { cat, write } = await createWorld();
  write("a.csv", "<!DOCTYPE html><title>Sign in</title>");
  expect((await cat("import a.csv --dry-run")).stderr).toBe(
    "error: a.csv is a web page, not rows\nThe page may ask to log in, or to be exported: download the file in a browser, and use that.\n",
  );
  for (const start of [
    '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">',
    '<meta charset="utf-8"><table>',
    "<!-- saved -->\n<html>",
    '\n<table border="1"><tr><td>reference',
  ]) {
    write("c.xls", start);
    const ran = await cat("import c.xls --dry-run");
    expect([ran.exit, ran.stderr], start).toEqual([
      3,
      "error: c.xls is a web page, not rows\nOpen it in Excel or LibreOffice, and save it as .xlsx.\n",
    ]);
  }
  for (const [start, what] of [
    ["%PDF-1.7\n", "a PDF file"],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), "an image"],
    ["GIF89a", "an image"],
  ] as const) {
    write("a.csv", start);
    expect((await cat("import a.csv --dry-run")).stderr, what).toBe(
      `error: a.csv is ${what}, not rows\nChoose a CSV or NDJSON file, a workbook, or a folder of photos.\n`,
    );
  }
  for (const start of [
    '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook/>',
    '<?xml version="1.0" encoding="UTF-8"?>\n<office:document office:version="1.3">',
  ]) {
    write("d.fods", start);
    expect((await cat("import d.fods --dry-run")).stderr, start).toBe(
      "error: d.fods is not a workbook (.xlsx or .ods)\nOpen it in Excel or LibreOffice, and save it as .xlsx.\n",
    );
  }
  write("b.xlsx", "reference,name\n");
  expect((await cat("import b.xlsx --dry-run --format xlsx")).stderr).toContain("b.xlsx is not a workbook");
});

test("a text that is not known keeps its row rejected, also beside a stray value or a duplicate", async () => {
  const big = 9.006381333931124e18;
  const bytes = workbookOf({
    S: [header, ["OK", "Kleid", photo("1")], [big, "Hose", photo("2"), "stray"], ["OK", big, photo("3")]],
  });
  const { cat, folder, products } = await worldWith("a.xlsx", bytes);
  const ran = await cat("import a.xlsx --dry-run --json");
  const found = JSON.parse(ran.stdout).problems.map(({ cell, code }: { cell: string; code: string }) => [
    cell,
    code,
  ]);
  expect(found).toEqual([
    ["A3", "too_many_digits"],
    ["D3", "invalid_row"],
    ["B4", "too_many_digits"],
    ["A4", "duplicate_reference_in_file"],
  ]);
  expect((await cat("import a.xlsx --skip-invalid --no-progress")).exit).toBe(8);
  const codes = (await cellsOf(join(folder, "a.failed.xlsx"))).slice(1).map((cells) => cells.at(-2));
  expect(codes).toEqual(["too_many_digits", "duplicate_reference_in_file too_many_digits"]);
  expect((await cat("import a.failed.xlsx --no-progress")).exit).toBe(3);
  expect(await products()).toEqual([["OK", "Kleid"]]);
});

test("a workbook on standard input that cannot be read leaves no copy of it", async () => {
  const bytes = workbookOf({ A: rows, B: rows });
  const { cat, folder } = await worldWith("unused", bytes);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    process.env.TMPDIR = before;
  });
  const ran = await cat("import - --dry-run", { stdin: bytes });
  expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
    3,
    'error: stdin has several sheets that may be meant: "A", "B"',
  ]);
  expect(readdirSync(folder).filter((name) => name.startsWith("catalogue-"))).toEqual([]);
});

test("the first reasons of failed rows name their cells", async () => {
  const sheet = [header, ["A", "Dress", photo("1")], ["B", "Coat", photo("fail-timeout")]];
  const { cat } = await worldWith("products.xlsx", workbookOf({ "My sheet": sheet }));
  const ran = await cat("import products.xlsx");
  expect(ran.exit).toBe(8);
  expect(ran.stderr).toContain("\n    products.xlsx: 'My sheet'!A3  B  1 of 1 images could not be attached;");
});
