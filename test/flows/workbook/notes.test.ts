import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rawZip } from "../../support/raw-zip.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { parts } from "./raw-workbook.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const header = ["reference", "name", "image_front"];
const rows = [header, ["A", "Kleid", photo("1")]];
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

async function worldWith(bytes: Buffer, name = "a.xlsx") {
  const world = await createWorld();
  const path = join(world.folder, name);
  writeFileSync(path, bytes);
  return { ...world, path };
}

test("a workbook that is saved during its import is imported as it was, and a note says so", async () => {
  const { cat, path } = await worldWith(workbookOf({ S: rows }));
  const saved = workbookOf({ S: [...rows, ["B", "Hose", photo("2")]] });
  const keepHeapSmall = () => writeFileSync(path, saved);
  const ran = await cat("import a.xlsx --no-progress", { context: { keepHeapSmall } });
  expect(ran.exit, ran.stderr).toBe(0);
  expect(ran.stderr.trim().split("\n").at(-1)).toBe(
    "a.xlsx was saved meanwhile: the rows are those from before. For its changes, run the command again.",
  );
  expect((await cat("import a.xlsx --no-progress --json")).stdout).toContain('"total":2');
});

test("hidden rows and columns are read, and counted where they have a header", async () => {
  const text = (place: string, value: string) => `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const row = (number: number, values: readonly string[], isHidden = false) =>
    `<row r="${number}"${isHidden ? ' hidden="1"' : ""}>${values.map((value, at) => text(`${"ABC"[at]}${number}`, value)).join("")}</row>`;
  const sheet = `<worksheet ${main}><cols><col min="2" max="2" hidden="1"/><col min="4" max="16384" hidden="true"/></cols><sheetData>${row(1, header)}${row(2, rows[1]!)}${row(3, ["B", "Hose", photo("2")], true)}</sheetData></worksheet>`;
  const { cat } = await worldWith(rawZip(parts("", { "xl/worksheets/sheet1.xml": sheet })));
  const dry = "import a.xlsx --dry-run --no-progress";
  expect((await cat(dry)).stderr.split("\n").slice(0, 3)).toEqual([
    "1 hidden row read like the others; leave hidden rows out with --hidden skip.",
    "1 hidden column read like the others.",
    "a.xlsx: 2 rows, all valid. Nothing was sent (--dry-run).",
  ]);
  expect((await cat(`${dry} --hidden skip`)).stderr).toContain("1 row, all valid");
});

test("a sheet is found by its exact name before another case, and an empty name is none", async () => {
  const sheets = `<sheets><sheet name="Data" r:id="rId1"/><sheet name="DATA" r:id="rId2"/></sheets>`;
  const sheet = (reference: string) =>
    `<worksheet ${main}><sheetData>${[header, [reference, "", ""]].map((texts) => `<row>${texts.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join("")}</row>`).join("")}</sheetData></worksheet>`;
  const { cat } = await worldWith(
    rawZip(
      parts("", {
        "xl/workbook.xml": `<workbook ${main} xmlns:r="r">${sheets}</workbook>`,
        "xl/_rels/workbook.xml.rels":
          '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/SHEET1.xml"/><Relationship Id="rId2" Type="x/worksheet" Target="worksheets/sheet2.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": sheet("first"),
        "xl/worksheets/sheet2.xml": sheet("second"),
      }),
    ),
  );
  const problemsOf = async (name: string) =>
    JSON.parse((await cat(["import", "a.xlsx", "--dry-run", "--json", "--sheet", name])).stdout).problems[0];
  expect(await problemsOf("DATA")).toMatchObject({ reference: "second", sheet: "DATA" });
  expect(await problemsOf("data")).toMatchObject({ reference: "first", sheet: "Data" });
  const none = await cat(["import", "a.xlsx", "--dry-run", "--sheet", ""]);
  expect(none).toMatchObject({ exit: 3 });
  expect(none.stderr).toBe('error: a.xlsx has no sheet ""\nIts sheets: "Data", "DATA".\n');
});
