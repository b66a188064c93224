import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encoderOf } from "../../../src/flows/outputs/encode.ts";
import { splitWords } from "../../support/split-words.ts";
import { createWorld } from "../../support/world.ts";

const good = "https://cdn.example.com/good.jpg";
const bad = "https://cdn.example.com/fail-timeout.jpg";

describe("a spreadsheet as a shop saves it", () => {
  test.each([
    [";", '--delimiter ";"'],
    ["\t", "--delimiter tab"],
  ])("whose sep= line does not fit is told what parts its cells: %j", async (delimiter, flag) => {
    const world = await createWorld();
    const table = [
      ["reference", "name", "image_1"],
      ["A", "Dress", "https://cdn.example.com/1.jpg"],
    ];
    world.write("a.csv", `sep=,\n${table.map((cells) => cells.join(delimiter)).join("\n")}\n`);
    const ran = await world.cat("import a.csv --dry-run --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr.split("\n")[0]).toBe(
      `a.csv:1  -  wrong_format  the first line says that "," parts the cells (sep=), but ${JSON.stringify(delimiter)} seems to: take that line out, or give ${flag}`,
    );
    const again = await world.cat(["import", "a.csv", "--dry-run", "--delimiter", delimiter]);
    expect(again.exit).toBe(0);
    world.write("a.csv", "sep=,\nreference\nA\n");
    const one = await world.cat("import a.csv --dry-run --no-progress");
    expect(one.stderr).not.toContain("sep=");
  });

  test.each([
    [";", ",", "", '";"', '","', "leave --delimiter out, or "],
    [",", ";", "", '","', '";"', "leave --delimiter out, or "],
    ["tab", "|", "", "tab", '"|"', "leave --delimiter out, or "],
    ["#", "\t", "", '"#"', "tab", "leave --delimiter out, or "],
    [",", ";", "sep=,\n", '","', '";"', ""],
  ])(
    "whose --delimiter %j does not fit is told what parts its cells: %j",
    async (given, delimiter, before, said, other, leaveOut) => {
      const world = await createWorld();
      const table = [
        ["reference", "name", "image_1"],
        ["A", "Dress", "https://cdn.example.com/1.jpg"],
      ];
      world.write("a.csv", `${before}${table.map((cells) => cells.join(delimiter)).join("\n")}\n`);
      const ran = await world.cat(["import", "a.csv", "--dry-run", "--no-progress", "--delimiter", given]);
      expect(ran.exit).toBe(3);
      expect(ran.stderr.split("\n").filter((line) => line.startsWith("a.csv:"))).toEqual([
        `a.csv:${before === "" ? 1 : 2}  -  wrong_format  --delimiter ${said} does not part the cells, but ${JSON.stringify(delimiter)} seems to: ${leaveOut}give --delimiter ${other}`,
      ]);
      const named = other.replaceAll('"', "");
      expect(await world.cat(["import", "a.csv", "--dry-run", "--delimiter", named])).toMatchObject({
        exit: 0,
      });
      if (leaveOut !== "") expect(await world.cat("import a.csv --dry-run")).toMatchObject({ exit: 0 });
    },
  );

  test("whose --delimiter stands within a header alone is told what parts its cells", async () => {
    const world = await createWorld();
    world.write("a.csv", "reference;name;Foto, vorne\nA;Dress;https://cdn.example.com/1.jpg\n");
    const line = "import a.csv --dry-run --no-progress --delimiter";
    const wrong = await world.cat(`${line} ,`);
    expect(wrong.stderr.split("\n")[0]).toBe(
      'a.csv:1  -  wrong_format  --delimiter "," does not part the cells, but ";" seems to: leave --delimiter out, or give --delimiter ";"',
    );
    // What the right one leaves unknown is told as such.
    world.write("a.csv", "Artikel;Preis, netto\nA;1\n");
    expect((await world.cat([...line.split(" "), ";"])).stderr).not.toContain("wrong_format");
    world.write("a.csv", "reference\nA\n");
    expect((await world.cat([...line.split(" "), ";"])).stderr).not.toContain("wrong_format");
  });

  test.each([
    ["windows-1252", "--encoding windows-1252", ""],
    ["macintosh", "--encoding macroman", ""],
    ["shift_jis", "--encoding shift-jis", ""],
    ["utf-16le", "", "\ufeff"],
    ["utf-16be", "--encoding utf-16", "\ufeff"],
  ])(
    "in %s: what failed comes back in its form, and the printed command imports it",
    async (encoding, flag, mark) => {
      const world = await createWorld();
      const price = encoding === "shift_jis" ? "価格" : "Preis in €";
      const name = encoding === "shift_jis" ? "女性の靴" : "Größe “42”";
      const header = `reference;name;${price};image_front`;
      const text = `${mark}sep=;\r\n${header}\r\nOK;x;12,50;${good}\r\nBAD;${name};"9,95\r\nnetto";${bad}\r\n`;
      world.write("shop.csv", encoderOf(encoding, () => "?")(text));
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

  test("with decimal commas is told where they are one cell too many", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,Preis,images\r\nA1,Hemd,12,50,${good}\r\n`);
    expect(await world.cat("import a.csv --dry-run --no-progress --map Preis=ignore")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining(
        'a.csv:2  -  ragged_row  has 5 cells, the header has 4: look for a missing or an extra ",", or a cell that needs quotes, as "12,50" does if it is one number\n',
      ),
    });
  });
});

describe("bounds of a file", () => {
  test("100,000 columns that are left out are read", async () => {
    const world = await createWorld();
    const columns = 100_000;
    const row = (first: string, cell: string) => `${first}${`,${cell}`.repeat(columns)}\n`;
    world.write("a.csv", row("reference,name,images", "ignore") + row(`A,n,${good}`, "x"));
    expect((await world.cat("import a.csv --dry-run --no-progress")).exit).toBe(0);
  });

  test("of 1,500 unknown columns people see 1,000 and programs all", async () => {
    const world = await createWorld();
    const headers = Array.from({ length: 1500 }, (_, index) => `c-${index}`).join(",");
    world.write("a.csv", `reference,name,images,${headers}\n`);
    const listed = await world.cat("import a.csv --dry-run --no-progress");
    expect(listed.stderr.match(/unknown_column/g)).toHaveLength(1000);
    expect(listed.stderr).toContain("and 500 more: --dry-run --json lists all of them\n");
    const told = await world.cat("import a.csv --dry-run --no-progress --json");
    expect(JSON.parse(told.stdout).problems).toHaveLength(1500);
  });

  test("a row with a stray quote is left out with --skip-invalid, and comes back with its cells as they stand", async () => {
    const world = await createWorld();
    const rows = `A,5" heel,${good}\n,Coat,${good}\nC,Dress,${good}\nD,"Red" top,${good}\n`;
    world.write("a.csv", `reference,name,images\n${rows}`);
    const checked = await world.cat("import a.csv --dry-run --no-progress");
    const says =
      'a quote (") stands within a cell: put the cell in quotes and double the quote inside it ("")';
    expect([checked.exit, checked.stderr]).toEqual([
      3,
      `a.csv:2  name  stray_quote  ${says}\na.csv:3  reference  invalid_row  reference is missing\na.csv:5  name  stray_quote  ${says}\n` +
        "error: 3 of 4 rows of a.csv do not validate; nothing was sent\n" +
        "Mend them and run the command again, or import only the others with --skip-invalid.\n",
    ]);
    const ran = await world.cat("import a.csv --skip-invalid --json --no-progress");
    expect(ran.exit).toBe(8);
    expect(JSON.parse(ran.stdout)).toMatchObject({ total: 4, invalid: 3, succeeded: 1, failed: 0 });
    const reason = `stray_quote,"${says.replaceAll('"', '""')}"`;
    expect(world.read("a.failed.csv")).toBe(
      "reference,name,images,error_code,error_message\n" +
        `A,5" heel,${good},${reason}\n` +
        `,Coat,${good},invalid_row,reference is missing\n` +
        `D,"Red" top,${good},${reason}\n`,
    );
    // As it is, it is refused again, and gets no longer.
    const again = await world.cat("import a.failed.csv --no-progress");
    expect([again.exit, again.stderr.split("\n").filter((line) => line.includes("stray_quote"))]).toEqual([
      3,
      [2, 4].map((line) => `a.failed.csv:${line}  name  stray_quote  ${says}`),
    ]);
    world.write("b.csv", `reference,name,images\nA,"open,${good}\nB,"Dress",${good}\n`);
    await world.cat("import b.csv --skip-invalid");
    const once = world.read("b.failed.csv");
    expect(once.split("\n")[1]).toBe(`A,"open,${good},${reason}`);
    world.write("again.csv", `${once}C,Dress,${good},,\n`);
    await world.cat("import again.csv --skip-invalid --failed twice.csv");
    expect(world.read("twice.csv")).toBe(once);
    world.write("c.csv", once.replace('"open', "open"));
    expect(await world.cat("import c.csv --dry-run")).toMatchObject({ exit: 0 });
  });

  test("an NDJSON line that is too long is left out with --skip-invalid, and its place told in the failed file", async () => {
    const world = await createWorld();
    const line = (reference: string) =>
      `${JSON.stringify({ reference, name: "Dress", images: [{ url: good }] })}\n`;
    world.write(
      "a.ndjson",
      `${line("A")}{"reference":"B","name":"${"x".repeat(5 * 2 ** 20)}"}\n${line("C")}`,
    );
    const ran = await world.cat("import a.ndjson --skip-invalid --json --no-progress");
    expect(ran.exit).toBe(8);
    expect(JSON.parse(ran.stdout)).toMatchObject({ total: 3, invalid: 1, succeeded: 2 });
    expect(world.read("a.failed.ndjson")).toBe(
      '{"error_code":"record_too_long","error_message":"this line (2) is longer than 1 MiB: no row needs as much"}\n',
    );
  });

  test("a cell of 20 MB is one plain problem, in CSV and in NDJSON", async () => {
    const world = await createWorld();
    const long = "x".repeat(20 * 1024 * 1024);
    world.write("a.csv", `reference,name,images\nA,n,${good}\nB,"${long}",${good}\n`);
    world.write("a.ndjson", `{"reference":"A","name":"${long}"}\n`);
    for (const [file, line] of [
      ["a.csv", 3],
      ["a.ndjson", 1],
    ] as const) {
      const ran = await world.cat(`import ${file} --dry-run --no-progress`);
      expect(ran.exit).toBe(3);
      expect(ran.stderr.split("\n")[0]).toMatch(`${file}:${line}  -  record_too_long  this`);
    }
  });

  test("control characters in headers and in names of images are made visible", async () => {
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
