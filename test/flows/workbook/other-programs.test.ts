import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import XLSX from "@e965/xlsx";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { Cell } from "../../../src/flows/workbook/cell.ts";
import { openWorkbook } from "../../../src/flows/workbook/open-workbook.ts";
import { noExtras } from "../../../src/flows/workbook/sheet.ts";
import { isLong } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Workbooks of each kind: by Python, by LibreOffice as .ods and from that as .xlsx, and by SheetJS. */
const workbooks = 60;
const kindNames = ["xlsx", "ods", "back", "sheetjs"];
// Debian's own Python packages, also for another interpreter.
const env = { ...process.env, PYTHONPATH: "/usr/lib/python3/dist-packages" };
const run = (program: string, ...args: string[]) => execFileSync(program, args, { env, stdio: "pipe" });

/** What this test needs and is not installed; null with all of it. */
function missing(): string | null {
  if (!isLong) return "npm run test:long";
  const needed: [what: string, program: string, ...args: string[]][] = [
    ["LibreOffice (soffice)", "soffice", "--version"],
    ["Python with openpyxl and XlsxWriter", "/usr/bin/python3", "-c", "import openpyxl, xlsxwriter"],
  ];
  for (const [what, ...command] of needed) {
    try {
      run(...(command as [string, ...string[]]));
    } catch {
      return what;
    }
  }
  return null;
}

/** Converts all files of a folder into another one, by LibreOffice. */
function convert(to: string, from: string, into: string): void {
  const files = readdirSync(from).map((name) => join(from, name));
  const profile = `-env:UserInstallation=file://${join(into, "..", "profile")}`;
  run("soffice", profile, "--headless", "--convert-to", to, "--outdir", into, ...files);
}

// All cells as shown, in UTF-8, each sheet as a file.
const asCsv = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1";

async function cellsOf(path: string): Promise<Map<string, Cell>> {
  const book = await openWorkbook(path, path);
  const cells = new Map<string, Cell>();
  for await (const rows of book.rows(0, noExtras()))
    for (const { row, cells: some } of rows)
      for (const cell of some) cells.set(`${row} ${cell.column}`, cell);
  book.close();
  return cells;
}

/** Whether two texts are the same number; LibreOffice groups digits, and rounds to what a cell shows. */
const isSameNumber = (one: string, other: string) => Number(one) === Number(other.replace(/[, ]/g, ""));

/** Cells whose text is another one than that of LibreOffice, and not in doubt. */
async function differences(path: string, csv: string): Promise<{ compared: number; found: string[] }> {
  const cells = await cellsOf(path);
  const records = parse(readFileSync(csv, "utf8"), { relax_column_count: true, skip_empty_lines: false });
  const found: string[] = [];
  let compared = 0;
  for (const [row, record] of (records as string[][]).entries())
    for (const [column, expected] of record.entries()) {
      const cell = cells.get(`${row + 1} ${column}`);
      cells.delete(`${row + 1} ${column}`);
      compared++;
      const text = cell?.text ?? "";
      if (text === expected || cell?.doubt !== undefined) continue;
      if (cell?.isNumber && isSameNumber(text, expected)) continue;
      // LibreOffice itself loses the tabs of .ods.
      if (path.endsWith(".ods") && text.replaceAll("\t", "") === expected) continue;
      found.push(
        `${basename(path)} ${row + 1} ${column}: ${JSON.stringify(text)} for ${JSON.stringify(expected)}`,
      );
    }
  for (const [place, { text }] of cells)
    found.push(`${basename(path)} ${place}: ${JSON.stringify(text)} for nothing`);
  return { compared, found };
}

const why = missing();

test.skipIf(why !== null)(
  `cells of ${kindNames.length * workbooks} workbooks by other programs are those of LibreOffice's CSV${why === null ? "" : `: needs ${why}`}`,
  async () => {
    const folder = temporaryFolder();
    const kinds = kindNames.map((name) => join(folder, name, "in"));
    const [xlsx, ods, back, sheetJs] = kinds as [string, string, string, string];
    for (const kind of kinds) mkdirSync(kind, { recursive: true });
    run("/usr/bin/python3", join(import.meta.dirname, "workbooks.py"), xlsx, String(workbooks));
    convert("ods", xlsx, ods);
    convert("xlsx", ods, back);
    for (const name of readdirSync(xlsx)) {
      const book = XLSX.read(readFileSync(join(xlsx, name)), { cellNF: true });
      writeFileSync(join(sheetJs, name), XLSX.write(book, { type: "buffer", bookType: "xlsx" }));
    }
    const found: string[] = [];
    let compared = 0;
    for (const kind of kinds) {
      const texts = join(kind, "../csv");
      mkdirSync(texts);
      convert(asCsv, kind, texts);
      const files = readdirSync(kind);
      expect(files).toHaveLength(workbooks);
      for (const file of files) {
        const start = `${file.replace(/\.\w+$/, "")}-`;
        const csv = readdirSync(texts).filter((name) => name.startsWith(start));
        expect(csv).toHaveLength(1);
        const result = await differences(join(kind, file), join(texts, csv[0]!));
        compared += result.compared;
        found.push(...result.found);
      }
    }
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThan(10_000);
  },
);
