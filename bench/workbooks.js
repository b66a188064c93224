import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";
import { median, root, withPeak } from "./pairs.js";

const runs = 3;
const memoryGoal = 250;

/** The check of a workbook against that of the same rows as CSV, in time of the processor: other work may go on. */
export async function measure() {
  return [
    ...(await checkOf({ rows: 100_000, columns: 8, goal: 4 })),
    ...(await checkOf({ rows: 1_000_000, columns: 6, goal: 4 })),
  ];
}

async function checkOf({ rows, columns, goal }) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const [csv, xlsx] = ["products.csv", "products.xlsx"].map((name) => join(folder, name));
  const ignored = headers.slice(6, columns).flatMap((header) => ["--map", `${header}=ignore`]);
  const check = (file) =>
    withPeak([join(root, "bin/cat.js"), "import", "--dry-run", "--quiet", ...ignored, file]);
  try {
    await writeCsv(csv, rows, columns);
    await writeXlsx(xlsx, rows, columns);
    const [ratios, peaks, seconds] = [[], [], []];
    for (let run = 0; run < runs; run++) {
      const plain = await check(csv);
      const workbook = await check(xlsx);
      ratios.push(workbook.cpuMs / plain.cpuMs);
      peaks.push(workbook.peak);
      seconds.push(workbook.cpuMs / 1000);
    }
    const peak = median(peaks);
    return [
      {
        what: `check of a workbook of ${rows.toLocaleString("en")} x ${columns}, processor time against CSV`,
        ratio: median(ratios),
        goal,
        atMost: true,
        note: `${median(seconds).toFixed(1)} s, peak memory ${peak} MB, ${peak < memoryGoal ? "under" : "NOT under"} ${memoryGoal} MB`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const headers = ["reference", "name", "description", "sex", "image_front", "image_back", "price", "stock"];

const cellsOf = (row) => [
  `SKU-${row}`,
  `Linen dress number ${row}`,
  "A light dress for summer days",
  "female",
  `https://cdn.example.com/photos/2026/${row}-front.jpg`,
  `https://cdn.example.com/photos/2026/${row}-back.jpg`,
  row / 100,
  row,
];

async function writeCsv(file, rows, columns) {
  const out = createWriteStream(file);
  for (let row = 0; row <= rows; row++) {
    const cells = (row === 0 ? headers : cellsOf(row)).slice(0, columns);
    if (!out.write(`${cells.join(",")}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

/** As Excel writes it: each text once, in a list that cells name. */
async function writeXlsx(file, rows, columns) {
  const zip = new ZipFile();
  const out = zip.outputStream.pipe(createWriteStream(file));
  const office = "http://schemas.openxmlformats.org";
  const main = `xmlns="${office}/spreadsheetml/2006/main"`;
  const relations = `${office}/officeDocument/2006/relationships`;
  const relation = (id, type, target) =>
    `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`;
  const add = (path, xml) => zip.addBuffer(Buffer.from(xml), path);
  add("[Content_Types].xml", "<Types/>");
  add("_rels/.rels", `<Relationships>${relation("a", "officeDocument", "xl/workbook.xml")}</Relationships>`);
  add(
    "xl/workbook.xml",
    `<workbook ${main} xmlns:r="${relations}"><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>`,
  );
  add(
    "xl/_rels/workbook.xml.rels",
    `<Relationships>${relation("a", "worksheet", "sheet.xml")}${relation("b", "sharedStrings", "texts.xml")}</Relationships>`,
  );
  zip.addReadStream(Readable.from(sheetXml(main, rows, columns)), "xl/sheet.xml");
  zip.addReadStream(Readable.from(textsXml(main, rows, columns)), "xl/texts.xml");
  zip.end();
  await finished(out);
}

const first = headers.length;
/** Texts that every row has follow the headers, then each row's own. */
const common = [2, 3];
const own = [0, 1, 4, 5];

function* sheetXml(main, rows, columns) {
  yield `<worksheet ${main}><sheetData>`;
  let xml = "";
  for (let row = 0; row <= rows; row++) {
    xml += `<row r="${row + 1}">`;
    cellsOf(row)
      .slice(0, columns)
      .forEach((cell, column) => {
        const at = `r="${"ABCDEFGH"[column]}${row + 1}"`;
        const text =
          row === 0
            ? column
            : common.includes(column)
              ? first + common.indexOf(column)
              : first + common.length + (row - 1) * own.length + own.indexOf(column);
        xml +=
          row > 0 && typeof cell === "number"
            ? `<c ${at}><v>${cell}</v></c>`
            : `<c ${at} t="s"><v>${text}</v></c>`;
      });
    xml += "</row>";
    if (xml.length < 65_536) continue;
    yield xml;
    xml = "";
  }
  yield `${xml}</sheetData></worksheet>`;
}

function* textsXml(main, rows) {
  const item = (text) => `<si><t>${text}</t></si>`;
  yield `<sst ${main}>${headers.map(item).join("")}${common.map((column) => item(cellsOf(1)[column])).join("")}`;
  for (let row = 1; row <= rows; row++) {
    const cells = cellsOf(row);
    yield own.map((column) => item(cells[column])).join("");
  }
  yield "</sst>";
}
