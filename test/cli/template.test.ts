import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import XLSX from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../support/at-terminal.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

type WithFiles = XLSX.WorkBook & { files: Record<string, { content: Uint8Array }> };

const backgrounds = "white,light-grey,beige,black";
const kinds = [
  ["import", "products", "", [["D", true, "male,female,other,kid"]]],
  [
    "tryon",
    "looks",
    "--yes",
    [
      ["C", false, `${backgrounds},studio,loft,street,garden,beach`],
      ["D", false, "full-front,full-back,full-side,half-front,half-back,close-up"],
      ["F", true, "true,false"],
    ],
  ],
  [
    "beautify",
    "shots",
    "--yes",
    [
      ["B", true, "clothing,shoes,headwear"],
      ["C", false, `${backgrounds},floor`],
      ["D", false, "front,back,three-quarter-left,three-quarter-right,detail,side,top,pair"],
      ["E", true, "ghost,flatlay"],
    ],
  ],
] as const;

describe.each(sampled(kinds))("cat %s --template", (kind, stem, yes, choices) => {
  test.each(sampled(["xlsx", "csv"], 1))("writes a sheet that it reads as is: .%s", async (ending) => {
    // The products of --mock.
    const world = await createWorld({ mock: { demo: 24, rateLimit: false } });
    const name = `${stem}.${ending}`;
    const { exit, stdout, stderr } = await world.cat(`${kind} --template ${name}`);
    expect([exit, stdout, stderr]).toEqual([
      0,
      "",
      `Wrote ${name} with an example row. Replace it with your rows, then run: cat ${kind} ${name} --dry-run\n`,
    ]);
    const checked = await world.cat(`${kind} ${name} --dry-run --json`);
    expect(checked.exit, checked.stderr).toBe(0);
    expect(JSON.parse(checked.stdout)).toMatchObject({ total: 1, valid: 1, invalid: 0, problems: [] });
    expect(world.requests().filter(({ method }) => method !== "GET")).toEqual([]);
    const ran = await world.cat(`${kind} ${name} ${yes} --json --no-progress`);
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ total: 1, succeeded: 1, failed: 0 });
    const mocked = await world.cat(`${kind} ${name} ${yes} --mock --json --no-progress`);
    expect(JSON.parse(mocked.stdout)).toMatchObject({ total: 1, succeeded: 1 });
  });

  test("is a workbook with a default name, notes and lists that another library reads", async () => {
    const world = await createWorld();
    const { stdout, stderr } = await world.cat(`${kind} --template --json`);
    const { file, columns } = JSON.parse(stdout) as { file: string; columns: string[] };
    expect([file, stderr]).toEqual([`${stem}.xlsx`, ""]);
    const book = XLSX.read(readFileSync(join(world.folder, file)), { bookFiles: true }) as WithFiles;
    const [header, ...rows] = XLSX.utils.sheet_to_json<string[]>(book.Sheets[book.SheetNames[0]!]!, {
      header: 1,
    });
    expect([header, rows.length]).toEqual([columns, 1]);
    const xml = String(book.files["xl/worksheets/sheet1.xml"]!.content);
    const notes = [...xml.matchAll(/ promptTitle="([^"]*)" prompt="([^"]*)" sqref="[A-Z]1"/g)];
    expect(notes.map(([, title]) => title)).toEqual(columns);
    expect(notes.filter(([, , note]) => note!.length > 255)).toEqual([]);
    const lists = [
      ...xml.matchAll(/type="list" allowBlank="1"(.*?) sqref="([A-Z])2:.*?<formula1>"([^"]*)"/g),
    ].map(([, closed, column, list]) => [column, closed !== "", list]);
    expect(lists).toEqual(choices);
    expect(lists.filter(([, , list]) => String(list).length > 255)).toEqual([]);
  });
});

describe("--template", () => {
  test("replaces a file only with --yes or after a question", async () => {
    const world = await createWorld();
    world.write("products.xlsx", "mine");
    const kept = await world.cat("import --template");
    expect([kept.exit, kept.stderr]).toEqual([
      2,
      "error: products.xlsx exists; nothing was written\nAdd --yes to replace it, or choose another file with --template.\n",
    ]);
    const no = atTerminal(world, "import --template");
    await no.type("Replace products.xlsx?", "n\r");
    expect((await no.ran).exit).toBe(0);
    expect(world.read("products.xlsx")).toBe("mine");
    expect((await world.cat("import --template --yes")).exit).toBe(0);
    expect(world.read("products.xlsx").slice(0, 2)).toBe("PK");
    expect(readdirSync(world.folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("writes to standard output, but no workbook to a terminal", async () => {
    const world = await createWorld();
    const csv = await world.cat("tryon --template - --format csv");
    expect([csv.exit, csv.stdout]).toEqual([
      0,
      "product_reference,model_id,background,angle_shot,styling_product_ids,look_at_camera\nDRESS-0001,mdl_001,white,full-front,,true\n",
    ]);
    const excel = await world.cat("tryon --template - --format csv --excel", { env: { LANG: "de_DE" } });
    expect(excel.stdout).toMatch(/^\ufeffproduct_reference;.*\r\nDRESS-0001;/);
    const ran = await world.cat("import --template - --no-color", { tty: true });
    expect([ran.exit, ran.stdout, ran.stderr.split("\n")[0]]).toEqual([
      2,
      "",
      "error: cannot write a workbook to the terminal",
    ]);
    expect((await world.cat("import --template -")).stdout.slice(0, 2)).toBe("PK");
  });

  test.each([
    ["import --template a.ods", "cannot write --template a.ods: it is written as .xlsx or .csv, not .ods"],
    ["import --template a", "cannot write --template a: a template is an .xlsx or a .csv file"],
    ["import --template=", "--template is empty"],
    ["import --template --format ndjson", "cannot write --template: a template is an .xlsx or a .csv file"],
    [
      "import --template a.csv --format xlsx",
      "cannot write --template a.csv: it is written as .xlsx, not .csv",
    ],
    ["tryon b.csv --template a.csv", "--template cannot be combined with a file to read"],
    ["import --template no/a.csv", "cannot write --template no/a.csv: its folder does not exist"],
  ])("%s is a wrong command line", async (line, message) => {
    const { exit, stdout, stderr } = await (await createWorld()).cat(line);
    expect([exit, stdout, stderr.split("\n")[0]]).toEqual([2, "", `error: ${message}`]);
  });
});
