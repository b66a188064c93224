import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import XLSX from "@e965/xlsx";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listedCommands } from "../../support/listed-commands.ts";
import { repetitions } from "../../support/repetitions.ts";
import type { TestWorld } from "../../support/world.ts";
import { exportWorld } from "../export/export-world.ts";

/** A world with demo products, and files of rows to run. */
async function namesWorld() {
  const world = await exportWorld({ demo: 3 });
  const [{ reference = "", id = "", images = [] } = {}] = world.products();
  world.write("a.csv", "reference,name,image_front\nA,Dress,https://cdn.example.com/a.jpg\n");
  world.write("a.tsv", "reference\tname\timage_front\nA\tDress\thttps://cdn.example.com/fail-timeout.jpg\n");
  world.write("bad.csv", "reference,name,image_front\nA,Dress,https://cdn.example.com/fail-timeout.jpg\n");
  world.write(
    "bad.ndjson",
    '{"reference":"B","name":"Dress","images":[{"url":"https://c.example.com/fail-timeout.jpg"}]}\n',
  );
  world.write(
    "looks.csv",
    `product_reference,subtype,background,angle_shot\n${reference},clothing,white,front\n`,
  );
  return { ...world, productId: id, image: images[0]!.id };
}
type NamesWorld = Awaited<ReturnType<typeof namesWorld>>;

/** What bytes are, by how they begin. */
function kindOf(bytes: Buffer): string {
  const start = bytes.toString("latin1", 0, 400);
  if (start.startsWith("PK")) return bytes.includes("xl/workbook.xml") ? "workbook" : "zip";
  if (/^(?:\xff\xd8\xff)/.test(start)) return "jpeg";
  if (start.startsWith("SQLite format 3")) return "database";
  if (start.startsWith("<!doctype html>")) return "page";
  if (start.startsWith("<?xml")) return "xml";
  if (start.startsWith("# Counters of catalogue")) return "metrics";
  if (/^[{[]/.test(start)) return "json";
  return start.includes("\t") ? "tabs" : "csv";
}

/** What programs take a file for, by its ending; a file of another kind is false. */
const kinds: Readonly<Record<string, string>> = {
  csv: "csv",
  CSV: "csv",
  tsv: "tabs",
  xlsx: "workbook",
  XLSX: "workbook",
  xls: "old workbook",
  xlsm: "workbook with macros",
  ods: "open workbook",
  numbers: "Apple's workbook",
  ndjson: "json",
  jsonl: "json",
  json: "json",
  zip: "zip",
  "csv.gz": "gzip",
  html: "page",
  xml: "xml",
  prom: "metrics",
  jpg: "jpeg",
  png: "png",
  pdf: "pdf",
};

/** Every output of a command: the line that writes it to NAME. `-` in a flag of the list below refers to these. */
const outputs: readonly (readonly [use: string, line: (name: string, world: NamesWorld) => string])[] = [
  ["export --out", (name) => `export --out ${name}`],
  ["export --out", (name) => `export --manifest --out ${name}`],
  ["export --out", (name) => `export --zip --out ${name}`],
  ["products list --out", (name) => `products list --out ${name}`],
  ["products coverage --out", (name) => `products coverage --out ${name}`],
  ["tasks list --out", (name) => `tasks list --out ${name}`],
  ["models list --out", (name) => `models list --out ${name}`],
  ["runs list --out", (name) => `runs list --out ${name}`],
  ["imports list --out", (name) => `imports list --out ${name}`],
  ["exports list --out", (name) => `exports list --out ${name}`],
  ["webhooks list --out", (name) => `webhooks list --out ${name}`],
  ["products export FILE", (name) => `products export ${name}`],
  ["import --template", (name) => `import --template ${name}`],
  ["tryon --template", (name) => `tryon --template ${name}`],
  ["beautify --template", (name) => `beautify --template ${name}`],
  ["import --results", (name) => `import a.csv --results ${name}`],
  ["import --failed", (name) => `import bad.csv --on-image-error fail_row --failed ${name}`],
  ["import --failed", (name) => `import a.tsv --on-image-error fail_row --failed ${name}`],
  ["import --failed", (name) => `import bad.ndjson --on-image-error fail_row --failed ${name}`],
  ["import --plan", (name) => `import a.csv --plan ${name}`],
  ["import --report", (name) => `import a.csv --report ${name}`],
  ["import --metrics", (name) => `import a.csv --metrics ${name}`],
  ["import --ledger", (name) => `import a.csv --ledger ${name}`],
  ["beautify --results", (name) => `beautify looks.csv --yes --fresh --allow-duplicates --results ${name}`],
  ["beautify --gallery", (name) => `beautify looks.csv --yes --fresh --allow-duplicates --gallery ${name}`],
  ["images get --save", (name, { image }) => `images get ${image} --no-label --save ${name}`],
  [
    "webhooks listen --log",
    (name) => `webhooks listen --port 0 --poll --timeout 1s --wait task.succeeded --log ${name}`,
  ],
  ["serve --save", (name) => `serve --mock --port 0 --save ${name} -- true`],
];

/** Runs the line; resolves to what was written, or to null if the name was rejected before anything was sent. */
async function written(world: NamesWorld, line: string, name: string): Promise<Buffer | null> {
  const sent = () => world.requests().filter(({ method }) => method !== "GET").length;
  const before = sent();
  const ran = await world.cat(line);
  const path = join(world.folder, name);
  if (ran.exit === 2) {
    expect(existsSync(path), line).toBe(false);
    expect(sent(), line).toBe(before);
    expect(ran.stderr, line).toMatch(/^error: cannot write .+: .+\n(?:Use|Choose) .+\.$/m);
    return null;
  }
  expect(existsSync(path), `${line}: ${ran.stderr}`).toBe(true);
  return readFileSync(path);
}

describe("a name says what the file is, or exits with 2 before anything is sent", () => {
  test("for every output and ending", async () => {
    let [files, rejected, count] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(outputs.map((_, at) => at)),
        fc.shuffledSubarray(Object.keys(kinds), { minLength: 3 }),
        async (lines, endings) => {
          const world = await namesWorld();
          for (const [at, index] of lines.slice(0, 12).entries()) {
            const ending = endings[at % endings.length]!;
            const name = `x${count++}.${ending}`;
            const bytes = await written(world, outputs[index]![1](name, world), name);
            if (bytes === null) rejected++;
            // A log without events has no content, nor has a list without entries.
            else if (bytes.length === 0)
              expect(outputs[index]![0]).toMatch(/^webhooks listen --log$| list --out$/);
            else {
              files++;
              const isLedger = outputs[index]![0] === "import --ledger";
              expect(isLedger ? "database" : kindOf(bytes), `${outputs[index]![0]} ${name}`).toBe(
                kinds[ending],
              );
            }
          }
        },
      ),
      { numRuns: repetitions(6, 80) },
    );
    // Neither is rare.
    expect(Math.min(files, rejected)).toBeGreaterThan(5);
  });

  test.for([
    ["export --out liste.ods", "it is written as .ndjson, .csv or .xlsx, not .ods", "--out liste.xlsx"],
    ["export --out liste.csv.gz", "it is written as .ndjson, .csv or .xlsx, not .gz", "--out liste.ndjson"],
    [
      "export --out a.xlsx --format csv",
      "it is written as .csv, not .xlsx",
      "--out a.csv, or leave the format to the name",
    ],
    [
      "export --out a.csv --format ndjson",
      "it is written as .ndjson, not .csv",
      "--out a.ndjson, or leave the format to the name",
    ],
    ["export --manifest --out m.xlsx", "it is written as .jsonl, not .xlsx", "--out m.jsonl"],
    ["export --zip --out s3://shop/z.xlsx", "it is written as .zip, not .xlsx", "--out s3://shop/z.zip"],
    [
      "exports download 01KE6W9ZJ8Q3V5X7B2D4F6H8JK --out z.xlsx",
      "it is written as .zip or .jsonl, not .xlsx",
      "--out z.zip",
    ],
    ["export --zip --extract images.zip", "it is a folder, not .zip", "--extract images"],
    ["export sync spiegel.ZIP", "it is a folder, not .zip", "spiegel"],
    ["beautify looks.csv --yes --save bilder.zip", "it is a folder, not .zip", "--save bilder"],
    [
      "products list --out a.html",
      "it is written as .csv, .xlsx, .json or .ndjson, not .html",
      "--out a.csv",
    ],
    ["import a.csv --results r.ods", "it is written as .ndjson, .csv or .xlsx, not .ods", "--results r.xlsx"],
    ["import a.csv --failed f.ndjson", "it is written as .csv or .xlsx, not .ndjson", "--failed f.csv"],
    ["import bad.ndjson --failed f.csv", "it is written as .ndjson, not .csv", "--failed f.ndjson"],
    ["import --template t.ods", "it is written as .xlsx or .csv, not .ods", "--template t.xlsx"],
    ["import a.csv --report r.html", "it is written as .json or .xml, not .html", "--report r.json"],
    ["products export alles.ods", "it is written as .csv, .xlsx or .ndjson, not .ods", "alles.xlsx"],
    [
      "products coverage --model Amara --looks l.ods",
      "it is written as .csv, .xlsx or .ndjson, not .ods",
      "--looks l.xlsx",
    ],
    ["tasks review a.csv --mirror m.zip", "it is a folder, not .zip", "--mirror m"],
    ["import a.csv --ledger ledger.xlsx", "it is written as .db, not .xlsx", "--ledger ledger.db"],
  ] as const)("%s", async ([line, why, right]) => {
    const world = await namesWorld();
    const ran = await world.cat(line);
    const named =
      /(?:--(?:out|results|failed|ledger|extract|save|template|report|looks|mirror) |(?<=sync |products export ))\S+/.exec(
        line,
      )![0];
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toBe(`error: cannot write ${named}: ${why}\nUse ${right}.\n`);
    expect(world.requests()).toEqual([]);
  });

  test("any other ending, or none, has the default format", async () => {
    const world = await namesWorld();
    await world.cat("export --out rows.out");
    await world.cat("products list --out products");
    expect([world.read("rows.out")[0], world.read("products").split(",")[0]]).toEqual(["{", "id"]);
  });

  test("a flag that writes a file is in the list of this test", async () => {
    const { commands } = await listedCommands();
    const reads =
      /^(?:config mapping|.* --(?:map-file|products-from|from|input|load|image|file|approved|apply|rerun|decisions))$/;
    const flags = commands.flatMap(({ name, flags }) =>
      flags.flatMap(({ flag, value }) => (value === "FILE" ? [`${name} ${flag}`] : [])),
    );
    const same = [
      "exports download --out",
      "webhooks replay --log",
      "imports undo --ledger",
      "imports list --ledger",
    ];
    const known = new Set([
      ...outputs.map(([use]) => use),
      ...same,
      "runs list --ledger",
      "runs get --ledger",
    ]);
    const ofTryons = (flag: string) =>
      flag
        .replace(/^tryon/, "beautify")
        .replace(/^(?:beautify|export|export sync) --(failed|report|metrics)/, "import --$1");
    const unknown = flags.filter(
      (flag) => !reads.test(flag) && !known.has(ofTryons(flag)) && !known.has(flag),
    );
    expect(unknown).toEqual(["imports rows --out"]);
  });
});

/** The rows of the only sheet of a workbook, read by another library. */
function sheetOf(world: Pick<TestWorld, "folder">, name: string): string[][] {
  const book = XLSX.read(readFileSync(join(world.folder, name)));
  return XLSX.utils.sheet_to_json(book.Sheets[book.SheetNames[0]!]!, { header: 1, defval: "" });
}

const csvOf = (text: string): string[][] => parse(text, { bom: true }) as string[][];

describe("a workbook has the cells of the CSV, as texts", () => {
  test.for([
    ["export", "--out"],
    ["products list", "--out"],
    ["models list", "--out"],
  ] as const)("of cat %s", async ([line, flag]) => {
    const world = await namesWorld();
    expect(await world.cat(`${line} ${flag} a.xlsx`)).toMatchObject({ exit: 0, stdout: "" });
    const csv = csvOf((await world.cat(`${line} --format csv`)).stdout);
    const width = Math.max(...csv.map((row) => row.length));
    const shown = (rows: string[][]) =>
      rows.map((row) => row.map((cell) => cell.replace(/(?<=token=|expires=).*|(?<=T).*Z/, "")));
    const padded = sheetOf(world, "a.xlsx").map((row) => [...row, ...Array(width - row.length).fill("")]);
    expect(shown(padded)).toEqual(shown(csv));
  });

  test("also with quotes, line ends, formulas and separators in a name", async () => {
    const world = await namesWorld();
    const name = '=1+1 "Größe", "x";\n\tzweite\u001f Zeile';
    world.write(
      "odd.ndjson",
      `${JSON.stringify({ reference: "00123", name, images: [{ url: "https://c.example.com/1.jpg" }] })}\n`,
    );
    await world.cat("import odd.ndjson");
    await world.cat("export --out a.xlsx");
    await world.cat("products list --out b.xlsx");
    const [header, ...rows] = sheetOf(world, "a.xlsx");
    const row = rows.find((row) => row[header!.indexOf("reference")] === "00123")!;
    const listed = sheetOf(world, "b.xlsx").find((row) => row.includes("00123"))!;
    const guarded = `'=1+1 "Größe", "x";\n\tzweite\\x1f Zeile`;
    expect([row[header!.indexOf("name")], listed.find((cell) => cell.includes("Größe"))]).toEqual([
      guarded,
      guarded,
    ]);
    await world.cat("export --out c.xlsx --no-formula-guard");
    expect(JSON.stringify(sheetOf(world, "c.xlsx"))).toContain(JSON.stringify(guarded.slice(1)).slice(1, -1));
  });

  test("results, of an import and of generated images", async () => {
    const world = await namesWorld();
    await world.cat("import a.csv --results r.xlsx");
    await world.cat("import a.csv --fresh --results r.csv");
    expect(sheetOf(world, "r.xlsx")[0]).toEqual(csvOf(world.read("r.csv"))[0]);
    expect(sheetOf(world, "r.xlsx")).toHaveLength(2);
    expect((await world.cat("beautify looks.csv --yes --results l.xlsx")).exit).toBe(0);
    const [header, row] = sheetOf(world, "l.xlsx");
    expect([header![0], row![header!.indexOf("status")]]).toEqual(["line", "succeeded"]);
  });

  test("--format xlsx without a file is the same workbook, and exits with 2 on a terminal", async () => {
    const world = await namesWorld();
    for (const line of ["export", "products list"]) {
      const ran = await world.cat(`${line} --format xlsx`, { tty: { stdout: true } });
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).toContain("error: cannot write a workbook to the terminal\n");
    }
    await world.cat("products list --out a.xlsx");
    await world.cat("products list --format xlsx --out - > b.xlsx".split(" > ")[0]!);
    expect(sheetOf(world, "a.xlsx")).toHaveLength(4);
  });
});

describe("--out of a list", () => {
  test("says what was written, and asks before a file is replaced", async () => {
    const world = await namesWorld();
    expect(await world.cat("products list --out p.csv")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "Wrote 3 rows to p.csv.\n",
    });
    expect(await world.cat("products list --out p.csv")).toMatchObject({ exit: 2, stdout: "" });
    expect(await world.cat("products list --out p.csv --yes --json")).toEqual({
      exit: 0,
      stdout: '{"file":"p.csv","rows":3}\n',
      stderr: "",
    });
    expect(JSON.parse((await world.cat("products list --out b.json")) && world.read("b.json"))).toHaveLength(
      3,
    );
  });

  test("leaves no file when the list fails", async () => {
    const world = await namesWorld();
    await world.fault({ match: { path: "/v1/products" }, status: 403, times: 50 });
    expect((await world.cat("products list --out a.xlsx")).exit).toBe(4);
    expect(readdirSync(world.folder).filter((name) => name.includes("xlsx"))).toEqual([]);
  });

  test("--for-import names the command that writes the sheet", async () => {
    const world = await namesWorld();
    const ran = await world.cat("products list --for-import --out p.xlsx");
    expect(ran).toMatchObject({ exit: 2 });
    expect(ran.stderr).toContain("Use: cat products export p.xlsx\n");
  });
});
