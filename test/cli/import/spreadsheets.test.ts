import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEncoder } from "../../../src/flows/outputs/encoded-file.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { splitWords } from "../../support/split-words.ts";
import { createWorld } from "../../support/world.ts";

const good = "https://cdn.example.com/good.jpg";
const bad = "https://cdn.example.com/fail-timeout.jpg";

describe("a spreadsheet saved by a shop", () => {
  test.each([
    [";", '--delimiter ";"'],
    ["\t", "--delimiter tab"],
  ])("is rejected for a wrong sep= line, with the likely delimiter: %j", async (delimiter, flag) => {
    const world = await createWorld();
    const table = [
      ["reference", "name", "image_1"],
      ["A", "Dress", "https://cdn.example.com/1.jpg"],
    ];
    world.write("a.csv", `sep=,\n${table.map((cells) => cells.join(delimiter)).join("\n")}\n`);
    const ran = await world.cat("import a.csv --dry-run --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr.split("\n")[0]).toBe(
      `a.csv:2  -  wrong_format  the delimiter "," does not fit the header, which seems to use ${JSON.stringify(delimiter)}: use ${flag}`,
    );
    const again = await world.cat(["import", "a.csv", "--dry-run", "--delimiter", delimiter]);
    expect(again.exit).toBe(0);
    world.write("a.csv", "sep=,\nreference\nA\n");
    const one = await world.cat("import a.csv --dry-run --no-progress");
    expect(one.stderr).not.toContain("wrong_format");
  });

  test.each(
    sampled([
      [";", ",", "", '";"', '","'],
      [",", ";", "", '","', '";"'],
      ["tab", "|", "", '"\\t"', '"|"'],
      ["#", "\t", "", '"#"', "tab"],
      [",", ";", "sep=,\n", '","', '";"'],
    ]),
  )(
    "is rejected for a wrong --delimiter %j, with the likely one: %j",
    async (given, delimiter, before, said, other) => {
      const world = await createWorld();
      const table = [
        ["reference", "name", "image_1"],
        ["A", "Dress", "https://cdn.example.com/1.jpg"],
      ];
      world.write("a.csv", `${before}${table.map((cells) => cells.join(delimiter)).join("\n")}\n`);
      const ran = await world.cat(["import", "a.csv", "--dry-run", "--no-progress", "--delimiter", given]);
      expect(ran.exit).toBe(3);
      expect(ran.stderr.split("\n").filter((line) => line.startsWith("a.csv:"))).toEqual([
        `a.csv:${before === "" ? 1 : 2}  -  wrong_format  the delimiter ${said} does not fit the header, which seems to use ${JSON.stringify(delimiter)}: use --delimiter ${other}`,
      ]);
      const named = other.replaceAll('"', "");
      expect(await world.cat(["import", "a.csv", "--dry-run", "--delimiter", named])).toMatchObject({
        exit: 0,
      });
      if (before === "") expect(await world.cat("import a.csv --dry-run")).toMatchObject({ exit: 0 });
    },
  );

  test("is rejected for a --delimiter that only appears within a header", async () => {
    const world = await createWorld();
    world.write("a.csv", "reference;name;Foto, vorne\nA;Dress;https://cdn.example.com/1.jpg\n");
    const line = "import a.csv --dry-run --no-progress --delimiter";
    const wrong = await world.cat(`${line} ,`);
    expect(wrong.stderr.split("\n")[0]).toBe(
      'a.csv:1  -  wrong_format  the delimiter "," does not fit the header, which seems to use ";": use --delimiter ";"',
    );
    // With the right delimiter, unknown columns are reported as such.
    world.write("a.csv", "Artikel;Preis, netto\nA;1\n");
    expect((await world.cat([...line.split(" "), ";"])).stderr).not.toContain("wrong_format");
    world.write("a.csv", "reference\nA\n");
    expect((await world.cat([...line.split(" "), ";"])).stderr).not.toContain("wrong_format");
  });

  test.each(
    sampled([
      ["windows-1252", "--encoding windows-1252", ""],
      ["macintosh", "--encoding macroman", ""],
      ["shift_jis", "--encoding shift-jis", ""],
      ["utf-16le", "", "\ufeff"],
      ["utf-16be", "--encoding utf-16", "\ufeff"],
    ]),
  )(
    "in %s has a failed file of the same form, which the suggested command imports",
    async (encoding, flag, mark) => {
      const world = await createWorld();
      const price = encoding === "shift_jis" ? "価格" : "Preis in €";
      const name = encoding === "shift_jis" ? "女性の靴" : "Größe “42”";
      const header = `reference;name;${price};image_front`;
      const text = `${mark}sep=;\r\n${header}\r\nOK;x;12,50;${good}\r\nBAD;${name};"9,95\r\nnetto";${bad}\r\n`;
      world.write("shop.csv", createEncoder(encoding, () => "?")(text));
      const command = splitWords(`import shop.csv ${flag} --no-progress`).concat("--map", `${price}=ignore`);

      const first = await world.cat(command);
      expect(first.exit).toBe(8);
      const failed = readFileSync(join(world.folder, "shop.failed.csv"));
      expect(new TextDecoder(encoding, { ignoreBOM: true }).decode(failed, { stream: true })).toContain(
        `${mark}sep=;\r\n${header};error_code;error_message\r\nBAD;${name};"9,95\r\nnetto";${bad};`,
      );

      const printed = first.stderr.split("\n").find((line) => line.startsWith("  cat import"))!;
      const again = await world.cat([...splitWords(printed.trim()).slice(1), "--no-progress"]);
      expect({ exit: again.exit, fault: /error|problem/.exec(again.stderr) }).toEqual({
        exit: 8,
        fault: null,
      });
      expect(again.stderr).toContain("shop.failed-2.csv");
    },
  );

  test("with decimal commas is rejected with the line of the extra cell", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,Preis,images\r\nA1,Hemd,12,50,${good}\r\n`);
    expect(await world.cat("import a.csv --dry-run --no-progress --map Preis=ignore")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining(
        'a.csv:2  -  ragged_row  row has 5 cells, but the header has 4: check for a missing or extra ",", or put quotes (") around a cell that contains one\n',
      ),
    });
  });
});

test.each(sampled(["images", "image_1", "image_front"], 1))(
  "a row that ends before the column %s is listed, and skipped with --skip-invalid",
  async (column) => {
    const world = await createWorld();
    const rows = `A,Dress\nB\nD,Coat,kid,${good}\n`;
    world.write("a.csv", `reference,name,sex,${column}\n${rows}`);
    const checked = await world.cat("import a.csv --no-progress");
    expect(checked.exit).toBe(3);
    expect(checked.stderr.split("\n").map((line) => line.split("  ").slice(0, 3).join(" "))).toEqual([
      "a.csv:2 - ragged_row",
      "a.csv:3 - ragged_row",
      "error: a.csv has 2 invalid rows out of 3; nothing was sent",
      "Fix the file and run the command again, or add --skip-invalid to import the valid rows.",
      "",
    ]);
    expect((await world.cat("import a.csv --no-progress --skip-invalid")).exit).toBe(8);
    expect((await world.cat("import a.failed.csv --no-progress")).exit).toBe(3);
  },
);

describe("the limits of a file", () => {
  longTest.each([100_000])("allow %i ignored columns", async (columns) => {
    const world = await createWorld();
    const row = (first: string, cell: string) => `${first}${`,${cell}`.repeat(columns)}\n`;
    world.write("a.csv", row("reference,name,images", "ignore") + row(`A,n,${good}`, "x"));
    expect((await world.cat("import a.csv --dry-run --no-progress")).exit).toBe(0);
  });

  test("a stray quote ends the check, even with --skip-invalid", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\nA,Coat,${good}\nB,5" heel,${good}\nC,Dress,${good}\n`);
    const says =
      'stray quote ("): a cell with a quote needs quotes around it, and each quote in it twice ("5"" heel"): save the sheet as CSV again, or as .xlsx';
    const ran = await world.cat("import a.csv --skip-invalid --no-progress");
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([3, `a.csv:3  -  stray_quote  ${says}`]);
    expect(() => world.read("a.failed.csv")).toThrow("ENOENT");
    expect((await world.cat("products list --json")).stdout).toBe("");
  });

  test("an NDJSON line that is too long ends the check, even with --skip-invalid", async () => {
    const world = await createWorld();
    const line = (reference: string) =>
      `${JSON.stringify({ reference, name: "Dress", images: [{ url: good }] })}\n`;
    world.write("a.ndjson", `${line("A")}{"reference":"B","name":"${"x".repeat(2 ** 20)}"}\n${line("C")}`);
    const ran = await world.cat("import a.ndjson --skip-invalid --no-progress");
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      3,
      "a.ndjson:2  -  record_too_long  line 2 is longer than 1 MiB",
    ]);
  });

  longTest("report a cell of 2 MB as one problem, in CSV and NDJSON", async () => {
    const world = await createWorld();
    const long = "x".repeat(2 * 1024 * 1024);
    world.write("a.csv", `reference,name,images\nA,n,${good}\nB,"${long}",${good}\n`);
    world.write("a.ndjson", `{"reference":"A","name":"${long}"}\n`);
    for (const [file, line] of [
      ["a.csv", 3],
      ["a.ndjson", 1],
    ] as const) {
      const ran = await world.cat(`import ${file} --dry-run --no-progress`);
      expect(ran.exit).toBe(3);
      expect(ran.stderr.split("\n")[0]).toMatch(
        new RegExp(`^${file}:${line}  -  record_too_long  (record|line ${line}) is longer than 1 MiB`),
      );
    }
  });

  test("show control characters in headers and image names as escapes", async () => {
    const world = await createWorld();
    world.write("a.csv", 'reference,name,"ima\x1b[2Jge",images\nA,n,x,"\x1b]0;evil\x07.jpg"\n');
    const ran = await world.cat([
      "import",
      "a.csv",
      "--dry-run",
      "--no-progress",
      "--map",
      "ima\x1b[2Jge=ignore",
    ]);
    expect(ran.exit).toBe(3);
    const unmapped = await world.cat("import a.csv --dry-run --no-progress");
    expect(unmapped.stderr).toContain("a.csv:1  ima\\x1b[2Jge  unknown_column  ");
    expect(ran.stderr + unmapped.stderr).not.toMatch(/[\x1b\x07]/);
  });
});
