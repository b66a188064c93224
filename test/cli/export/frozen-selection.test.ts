import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { frozenWorld, idsOf } from "./frozen-world.ts";

type World = Awaited<ReturnType<typeof frozenWorld>>;

/** The demo products by place, oldest first. */
const product = (world: World, at: number) => world.products()[at]!;
const exported = (world: World) => idsOf(world.read("catalogue.jsonl"));

describe("--product", () => {
  test("takes IDs and references, each product once, in the order of the catalogue", async () => {
    const world = await frozenWorld();
    const [first, second, third] = [0, 1, 2].map((at) => product(world, at));
    const { exit } = await world.cat([
      ...["export", "--manifest", "--product", first!.id, "--product", ` ${third!.reference} `],
      ...["--product", first!.reference!, "--product", second!.id],
    ]);
    expect([exit, exported(world)]).toEqual([0, [third!.id, second!.id, first!.id]]);
  });

  test("that the service does not have exits with 5, and the nearest reference is proposed", async () => {
    const world = await frozenWorld();
    const { reference } = product(world, 2);
    const typo = `${reference!.slice(0, 2)}${reference!.slice(3)}`.replace("-", "");
    expect(await world.cat(["export", "--manifest", "--product", typo])).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        `error: no product has the ID or reference "${typo}"\n` +
        `Did you mean "${reference}"? Use the complete reference, or search: cat products list --q TEXT\n`,
    });
    const several = ["A", "B", "C", "D", "E", "F", "G"].flatMap((name) => ["--product", name]);
    expect((await world.cat(["export", "--zip", ...several])).stderr).toBe(
      'error: no product has the ID or reference "A", "B", "C", "D", "E" or 2 others\n' +
        "Use the complete reference, or search: cat products list --q TEXT\n",
    );
    expect(world.created()).toEqual([]);
  });

  test("with an ID needs no permission to read products", async () => {
    const world = await frozenWorld();
    const { id } = product(world, 0);
    await world.fault({ match: { path: "/v1/products" }, status: 403 });
    expect((await world.cat(["export", "--manifest", "--product", id])).exit).toBe(0);
    expect(exported(world)).toEqual([id]);
    const named = await world.cat(["export", "--manifest", "--yes", "--product", "A-1"]);
    expect([named.exit, world.created()]).toEqual([4, [202]]);
  });
});

describe("--products-from reads", () => {
  const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
  type Content = (ids: string[], references: string[]) => string | Uint8Array;
  const contents: [string, Content][] = [
    ["a list of references with CRLF", (_, [a, b]) => `${a}\r\n\r\n  ${b}\r\n`],
    ["a list of IDs and references without a last line end", ([a], [, b]) => `${a}\n${b}`],
    [
      "a list with a byte order mark, quotes and repetitions",
      ([a, b], [c]) => `\ufeff"${a}"\n${b}\n${c}\n${a}\n`,
    ],
    ["a list in UTF-16", (_, [a, b]) => utf16(`${a}\n${b}\n`)],
    ["a CSV with a column reference", (_, [a, b]) => `name,Reference\nx,${a}\ny,${b}\n`],
    ["a CSV with semicolons and a column product_id", ([a, b]) => `product_id;price\n${a};1,5\n${b};2,5\n`],
    [
      "a CSV in which the ID decides, else the reference",
      ([a], [, b]) => `id,reference\n${a},other\n,${b}\n`,
    ],
    ["a CSV in UTF-16 with tabs", ([a, b]) => utf16(`id\tname\n${a}\tx\n${b}\ty\n`)],
    ["NDJSON", ([a], [, b]) => `{"id":"${a}"}\n{"reference":"${b}"}\n`],
    ["rows of another export", ([a, b]) => `{"product":{"id":"${a}"}}\n{"product":{"id":"${b}"}}\n`],
  ];
  test.each(sampled(contents, 4))("%s", async (title, content) => {
    const world = await frozenWorld();
    const [one, other] = [product(world, 1), product(world, 4)];
    const file = title.startsWith("a ") ? "some.txt" : "some.jsonl";
    world.write(file, content([one.id, other.id], [one.reference!, other.reference!]));
    const { exit, stderr } = await world.cat(`export --manifest --products-from ${file}`);
    expect([stderr.split("\n")[0], exit]).toEqual([expect.stringContaining("Exported 2 products"), 0]);
    expect(exported(world)).toEqual([other.id, one.id]);
  });

  test("a workbook with a title above its only column", async () => {
    const world = await frozenWorld();
    const { id, reference } = product(world, 2);
    world.write("a.xlsx", workbookOf({ S: [["Our picks"], [], ["Reference"], [reference], [""]] }));
    const { exit, stderr } = await world.cat("export --manifest --products-from a.xlsx");
    expect(stderr.split("\n")[0]).toBe("a.xlsx: S!A1  1 line above the header was not read.");
    expect([exit, exported(world)]).toEqual([0, [id]]);
  });

  test("standard input, and a file in another encoding with --encoding", async () => {
    const world = await frozenWorld();
    const { id, reference } = product(world, 3);
    const ran = await world.cat("export --manifest --products-from -", { stdin: `${reference}\n` });
    expect([ran.exit, exported(world)]).toEqual([0, [id]]);
    world.write("a.csv", Buffer.from(`Größe,reference\n1,${reference}\n`, "latin1"));
    const line = "export --manifest --products-from a.csv --encoding windows-1252 --yes";
    expect((await world.cat(line)).exit).toBe(0);
  });
});

describe("a file of --products-from exits with 3, and nothing is exported, if it", () => {
  test.each(
    sampled(
      [
        ["is empty", "", "a.csv:1  -  empty_file  the file names no products"],
        ["has only a header", "reference\n", "a.csv:1  -  empty_file  the file names no products"],
        ["has only blank lines", "\n \n", "a.csv:1  -  empty_file  the file names no products"],
        [
          "has a row without a product",
          "reference,name\nA,x\n,y\n",
          "a.csv:3  -  invalid_row  names no product: fill in the ID or the reference, or remove the row",
        ],
        [
          "has a column twice",
          "name,Reference,reference\nx,A,B\n",
          'a.csv:1  reference  duplicate_header  duplicate column "reference": rename or remove one of them',
        ],
        [
          "has own codes in a column of IDs",
          "id\n4711\n",
          'a.csv:2  id  invalid_row  "4711" is not a product ID: for your own product codes, name the column reference',
        ],
        [
          "has a row of another length",
          "reference,name\nA,x,y\n",
          expect.stringMatching(/^a\.csv:2 {2}- {2}ragged_row {2}row has 3 cells/),
        ],
      ],
      3,
    ),
  )("%s", async (_, content, problem) => {
    const world = await frozenWorld();
    world.write("a.csv", content);
    const { exit, stderr } = await world.cat("export --manifest --products-from a.csv");
    expect([exit, stderr.split("\n")]).toEqual([
      3,
      [
        problem,
        "error: a.csv has 1 problem; nothing was exported",
        "Fix the file and run the command again.",
        "",
      ],
    ]);
    expect(world.requests()).toEqual([]);
  });

  test.each(
    sampled(
      [
        ["lacks a header", [["A"], ["B"]]],
        ["lacks a header and has one row", [["A"]]],
        ["has a header without the column", [["Farbe"], ["A"]]],
      ],
      1,
    ),
  )("is a workbook that %s", async (_, rows) => {
    const world = await frozenWorld();
    world.write("a.xlsx", workbookOf({ S: rows }));
    expect(await world.cat("export --manifest --products-from a.xlsx")).toMatchObject({
      exit: 3,
      stderr:
        'a.xlsx: S!A1  reference  missing_column  missing column "reference", "product_id" or "id": add one of them as a header above the products\nerror: a.xlsx has 1 problem; nothing was exported\nFix the file and run the command again.\n',
    });
    expect(world.requests()).toEqual([]);
  });

  longTest("is a workbook whose header is below a title, in another language", async () => {
    const world = await frozenWorld();
    const rows = [["Auswahl"], [], ["Nr", "Artikelnummer", "Farbe"], ["1", "NONE", "rot"]];
    world.write("a.xlsx", workbookOf({ Notizen: [["Anna"], ["Bea"]], "Auswahl 1": rows }));
    const ran = await world.cat("export --manifest --products-from a.xlsx");
    expect(ran.stderr).toContain(
      'a.xlsx: \'Auswahl 1\'!B3  Artikelnummer  missing_column  missing column "reference", "product_id" or "id": rename "Artikelnummer", or use --map "Artikelnummer=reference"\n',
    );
    const mapped = await world.cat("export --manifest --products-from a.xlsx --map Artikelnummer=reference");
    expect(mapped.exit).toBe(3);
    expect(mapped.stderr).toContain("a.xlsx: 'Auswahl 1'!B4  reference  product_not_found");
  });

  test("has lines of NDJSON that are no objects, which are listed", async () => {
    const world = await frozenWorld();
    world.write("a.ndjson", `{"reference":"A"}\nnull\n["A"]\n4711\n{"product":null}\n`);
    const { exit, stderr } = await world.cat("export --manifest --products-from a.ndjson");
    expect([exit, stderr.split("\n")]).toEqual([
      3,
      [
        ...[2, 3, 4].map((line) => `a.ndjson:${line}  -  invalid_row  a row must be a JSON object`),
        "a.ndjson:5  -  invalid_row  names no product: fill in the ID or the reference, or remove the row",
        "error: a.ndjson has 4 problems; nothing was exported",
        "Fix the file and run the command again.",
        "",
      ],
    ]);
    expect(world.requests()).toEqual([]);
  });

  test("names products that the service does not have, which are listed by line", async () => {
    const world = await frozenWorld();
    const { reference } = product(world, 0);
    const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    world.write("a.txt", `${reference}\nnothing like it\n${reference!.toLowerCase()}\n${unknown}\n`);
    expect(await world.cat("export --zip --products-from a.txt")).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        'a.txt:2  -  product_not_found  no product "nothing like it" in this organization\n' +
        `a.txt:3  -  product_not_found  no product "${reference!.toLowerCase()}": did you mean "${reference}"?\n` +
        `a.txt:4  -  product_not_found  no product "${unknown}" in this organization\n` +
        "error: a.txt names 3 unknown products out of 4; nothing was exported\n" +
        "Fix these lines and run the command again.\n",
    });
    const { stdout } = await world.cat("export --zip --products-from a.txt --json");
    expect(JSON.parse(stdout)).toMatchObject({ file: "a.txt", total: 4, valid: 1, invalid: 3 });
    expect(world.created()).toEqual([]);
  });

  test("is missing, with exit 2", async () => {
    const world = await frozenWorld();
    const { exit, stderr } = await world.cat("export --zip --products-from none.csv");
    expect([exit, stderr.split("\n")[0]]).toEqual([2, "error: none.csv does not exist"]);
  });
});
