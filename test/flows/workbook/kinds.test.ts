import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rawZip } from "../../support/raw-zip.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { parts, readAll, written } from "./raw-workbook.ts";

const header = ["reference", "name", "image_front"];
const product = ["00123", "Kleid", "https://cdn.example.com/1.jpg"];
const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const rows = [header, product].map((texts) => `<row>${texts.map(text).join("")}</row>`).join("");
const transitional = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

test.each(["xlsx", "xlsm", "xltx", "xltm"])("a .%s file is a workbook", async (ending) => {
  const { cat, folder } = await createWorld();
  writeFileSync(join(folder, `a.${ending}`), workbookOf({ S: [header, product] }));
  expect(await cat(`import a.${ending} --dry-run --no-progress`)).toMatchObject({
    exit: 0,
    stderr: `a.${ending}: 1 row, all valid. Nothing was sent (--dry-run).\n`,
  });
});

test("a workbook in the strict form of the standard is read, with its dates in ISO 8601", async () => {
  const strict = "http://purl.oclc.org/ooxml";
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${strict}/officeDocument/relationships/${type}" Target="${target}"/>`;
  const main = `xmlns="${strict}/spreadsheetml/main" conformance="strict"`;
  const strictParts = parts("", {
    "_rels/.rels": `<Relationships>${relation("r", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml": `<workbook ${main} xmlns:r="${strict}/officeDocument/relationships"><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${relation("rId1", "worksheet", "worksheets/sheet1.xml")}</Relationships>`,
    "xl/worksheets/sheet1.xml": `<worksheet ${main}><sheetData><row>${text("00123")}<c t="d"><v>2026-01-31T00:00:00</v></c></row></sheetData></worksheet>`,
  });
  expect((await readAll(written(strictParts))).cells).toEqual(['1: 0 "00123"', '1: 1 "2026-01-31" date']);
});

test.each([
  ["on every element", `xmlns:x="${transitional}"`, "x:", "x:"],
  ["on some elements", `xmlns="${transitional}" xmlns:x="${transitional}"`, "", "x:"],
  ["on the root alone", `xmlns="${transitional}" xmlns:x="${transitional}"`, "x:", ""],
])("a prefix of the namespace %s changes nothing", async (_, namespaces, root, inner) => {
  const prefixed = rows.replace(/<(\/?)(?=\w)/g, `<$1${inner}`);
  const sheet = `<${root}worksheet ${namespaces}><${inner}sheetData>${prefixed}</${inner}sheetData></${root}worksheet>`;
  const { cells } = await readAll(written(parts("", { "xl/worksheets/sheet1.xml": sheet })));
  expect(cells).toEqual((await readAll(written(parts(rows)))).cells);
  expect(cells).toHaveLength(6);
});

test("a picture of WPS in a cell is said once; in a photo column its row is invalid", async () => {
  const image = '<c t="str"><f>_xlfn.DISPIMG("ID_1",1)</f><v>=DISPIMG("ID_1",1)</v></c>';
  const of = (column: string) =>
    rawZip(
      parts(
        `<row>${["reference", "name", "image_front", column].map(text).join("")}</row><row>${product.map(text).join("")}${image}</row>`,
      ),
    );
  const { cat, folder } = await createWorld();
  writeFileSync(join(folder, "own.xlsx"), of("own"));
  writeFileSync(join(folder, "photo.xlsx"), of("image_back"));
  const own = await cat("import own.xlsx --map own=ignore --dry-run --no-progress");
  expect(own.stderr.split("\n")[0]).toBe("1 picture in the sheet not read: photos are files and URLs.");
  expect(own.exit).toBe(0);
  const photo = await cat("import photo.xlsx --dry-run --no-progress");
  expect(photo.stderr).toContain("photo.xlsx: Sheet1!D2  image_back  image_in_cell  ");
  expect(photo.exit).toBe(3);
});

test.each(["xlsx", "ods"] as const)(
  "the sheet with a header below its title is found in .%s",
  async (kind) => {
    const { cat, folder } = await createWorld();
    const sheets = {
      Notes: [["to do"]],
      Produkte: [["Katalog 2026"], [], header, product],
      Alt: [["x"], ["y"]],
    };
    writeFileSync(join(folder, `a.${kind}`), workbookOf(sheets, kind));
    expect(await cat(`import a.${kind} --dry-run --no-progress`)).toMatchObject({
      exit: 0,
      stderr: `Reading the sheet "Produkte", whose columns fit; choose another one with --sheet.
a.${kind}: Produkte!A1  1 line above the header was not read.
a.${kind}: 1 row, all valid. Nothing was sent (--dry-run).
`,
    });
  },
);
