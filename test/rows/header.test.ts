import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { importForm } from "../../src/flows/import/import-form.ts";
import { recogniseDialect } from "../../src/flows/rows/dialect.ts";
import { oddLine } from "../../src/flows/rows/odd-lines.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

const input = (name: string) => readFileSync(new URL(`inputs/header/${name}`, import.meta.url));
const photo = "https://cdn.example.com/1.jpg";
const both = ["A-1 Dress, red", "A-2 Hat"];

async function imported(name: string, bytes: Buffer | string, flags = "") {
  const world = await createWorld();
  world.write(name, bytes);
  const { exit, stderr } = await world.cat(`import ${name} --no-progress ${flags}`);
  const products = world.products().map(({ reference, name }) => `${reference} ${name}`);
  return { exit, products, lines: stderr.trim().split("\n") };
}

describe("titles, comments and groups above the header are not read, with a note", () => {
  test.each(
    sampled(
      [
        ["pandas-comment.csv", 1, both],
        ["title-quotes.csv", 1, both],
        ["title-padded.csv", 2, both],
        ["numbers-utf16.csv", 1, both],
        ["quoted-all.csv", 1, both],
        ["groups.csv", 1, both],
        ["pandas-groups.csv", 1, both],
        ["php-title.csv", 1, both],
        ["declared.csv", 1, both],
      ] as const,
      3,
    ),
  )("%s", async (name, above, expected) => {
    const { exit, products, lines } = await imported(name, input(name));
    const were = above === 1 ? "line above the header was" : "lines above the header were";
    const line = name === "declared.csv" ? 2 : 1;
    expect(lines[0]).toBe(`${name}:${line}  ${above} ${were} not read.`);
    expect({ exit, products }).toEqual({ exit: 0, products: expected });
  });

  test.each(
    sampled(
      [
        ["a.csv", (text: string) => text],
        ["a.csv.gz", (text: string) => gzipSync(text)],
      ],
      1,
    ),
  )("unless they are rows, as in a sheet that was sorted with its header: %s", async (name, toBytes) => {
    const rows = `A-1,Dress,${photo}\nB-2,Hat,x.jpg\nreference,name,image_front\nS-3,Sock,${photo}\n`;
    const { exit, lines, products } = await imported(name, toBytes(rows));
    expect([exit, products]).toEqual([3, []]);
    expect(lines.slice(0, 2)).toEqual([
      `${name}:1  -  wrong_format  this row is above the header: move the header to the first line`,
      `${name}:1  2 lines above the header were not read.`,
    ]);
  });

  const [id, other] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"];

  test.each<[line: number, rows: string]>([
    [1, `S-1,Scarf,${id}\nS-2,Belt,${id}\nreference,name,image_1\nA-1,Bag,${other}\n`],
    [1, "A-1,Bag\nB-1,Hat\nreference,name\nS-1,Scarf\n"],
    [2, "Our list,\nA-1,Bag\nreference,name\nS-1,Scarf\n"],
  ])("also with IDs of images, and without photos: line %d of %j", async (line, rows) => {
    const { exit, lines, products } = await imported("a.csv", rows);
    expect([exit, products]).toEqual([3, []]);
    expect(lines[0]).toBe(
      `a.csv:${line}  -  wrong_format  this row is above the header: move the header to the first line`,
    );
  });

  test.each([
    "Column1,Column2,Column3",
    "1,2,3",
    "TemplateType=shop,Version=2021.0111,",
    "Vorunúmer,Heiti,Mynd 1",
    "Stand 2026,Katalog,Fotos",
  ])("titles of as many columns are not: %s", async (title) => {
    const text = `${title}\nreference,name,images\nA,Dress,${photo}\n`;
    expect(await imported("a.csv", text)).toMatchObject({ exit: 0, products: ["A Dress"] });
  });

  test.each([
    `A-1,Bag,${photo}\nA-2,Hat,${photo}\n`,
    `A-1,Bag,${id}\n`,
    "A-1,Bag,IMG/bag.jpg\nA-2,Hat,IMG/hat.jpg\n",
  ])("a file without a header is named as that: %j", async (rows) => {
    const { exit, lines, products } = await imported("a.csv", rows);
    expect([exit, products]).toEqual([3, []]);
    expect(lines[0]).toBe(
      "a.csv:1  -  wrong_format  this line is a row, not a header: add a line with the names of the columns above it",
    );
  });

  test.each([1_000, 1_001])(
    "%d unknown columns: a problem each, with suggestions for 100, or one of all",
    async (count) => {
      const { cat, write } = await createWorld();
      const unknown = Array.from({ length: count }, (_, at) =>
        `descripton ${at}`.replace(/ \d+$/, (end) => (at % 2 ? end : "")),
      );
      write("a.csv", `reference,name,images,${unknown.join(",")}\n`);
      const { problems } = JSON.parse((await cat("import a.csv --dry-run --json")).stdout);
      const messages: string[] = problems.map(({ message }: { message: string }) => message);
      const ofColumns = messages.filter((message) => message.includes("unknown column"));
      expect([
        ofColumns.length,
        ofColumns.filter((message) => message.includes("did you mean")).length,
      ]).toEqual(count === 1_000 ? [1_000, 50] : [1, 0]);
      if (count > 1_000)
        expect(ofColumns).toEqual(['1,001 unknown columns, such as "descripton": remove those not needed']);
    },
  );

  test("also many comments, as a program writes them", async () => {
    const comments = Array.from({ length: 40 }, (_, at) => `# comment ${at}`).join("\n");
    const { exit, lines } = await imported("a.csv", `${comments}\nreference,name,images\nA,Dress,${photo}\n`);
    expect([exit, lines[0]]).toEqual([0, "a.csv:1  40 lines above the header were not read."]);
  });

  test("a line about the export with the address of the shop is not a row", async () => {
    const text = `Products,2026-03-01,https://shop.example.com/\nreference,name,images\nA,Dress,${photo}\n`;
    expect(await imported("a.csv", text)).toMatchObject({ exit: 0, products: ["A Dress"] });
  });

  test("and the note is in --json, with the first line as its value", async () => {
    const { cat, write } = await createWorld();
    write("a.csv", `Our "autumn" list\nreference,name,images\nA,Dress,${photo}\n`);
    const { notes } = JSON.parse((await cat("import a.csv --dry-run --json")).stdout);
    expect(notes).toEqual([
      {
        code: "lines_above_header",
        count: 1,
        line: 1,
        value: 'Our "autumn" list',
        message: "1 line above the header was not read",
      },
    ]);
  });

  longTest("also with --map, with columns of an earlier version, and in a sheet of looks", async () => {
    const text = `Our list\nKod;Opis;Link\nK-1;Sukienka;${photo}\n`;
    const flags = "--map Kod=reference --map Opis=name --map Link=images";
    expect(await imported("a.csv", text, flags)).toMatchObject({ exit: 0, products: ["K-1 Sukienka"] });
    const { cat, write, products } = await createWorld();
    const columns = { Kod: "reference", Opis: "name", Link: "images" };
    const saved = Object.fromEntries(Object.entries(columns).map(([key, to]) => [key.toLowerCase(), to]));
    write(".home/config.json", JSON.stringify({ profiles: { default: { columns: saved } } }));
    write("a.csv", `"Our list, with a comma",,\nKod,Opis,Link\nK-1,Sukienka,${photo}\n`);
    const ran = await cat("import a.csv --no-progress");
    expect([ran.exit, products().length], ran.stderr).toEqual([0, 1]);
    write(
      "looks.csv",
      "Looks of May\nproduct_reference,model_id,background,angle_shot\nA,Amara,white,full-front\n",
    );
    const looks = JSON.parse((await cat("tryon looks.csv --dry-run --json")).stdout);
    expect([looks.total, looks.notes[0].code]).toEqual([1, "lines_above_header"]);
    write("list.csv", "To export\nreference\nK-1\n");
    const selected = await cat("export --manifest --products-from list.csv --out out.json");
    expect(selected.stderr).toContain("list.csv:1  1 line above the header was not read.");
  });

  test.each(sampled(["K-1\nsku\nK-2\n", "K-1\nreference\nK-2\n"], 1))(
    "no reference of a plain list is taken for a title: %j",
    async (text) => {
      const { cat, write } = await createWorld();
      const rows = text.split("\n").map((reference) => `${reference},Dress,${photo}`);
      write("a.csv", `reference,name,images\n${rows.slice(0, 3).join("\n")}\n`);
      expect((await cat("import a.csv --no-progress")).exit).toBe(0);
      write("list.txt", text);
      const { exit, stderr } = await cat("products delete --from list.txt --dry-run");
      expect(exit, stderr).toBe(0);
      expect(stderr).toContain("Would delete 3 of 3 products");
    },
  );

  test("a table below any titles is read as it is without them", () => {
    const form = importForm(new Map());
    const title = fc
      .string({ minLength: 1, maxLength: 40 })
      .filter((text) => text.trim() !== "" && !/["\r\n,;\t|]|^sep=/i.test(text) && !form.isColumn(text));
    const headers = fc.constantFrom(
      ["reference", "name", "image_front"],
      ["Artikelnummer", "Bezeichnung", "Bild vorne", "Preis"],
      ["SKU", "Title", "Image 1", "Price", "Stock"],
    );
    fc.assert(
      fc.property(
        fc.array(title, { maxLength: 8 }),
        headers,
        fc.constantFrom(",", ";", "\t", "|"),
        (titles, header, delimiter) => {
          const row = header.map((_, column) => (column === 2 ? photo : `${column}-x`));
          const table = [header, row, row].map((cells) => cells.join(delimiter));
          const text = [...titles, ...table].join("\n");
          expect(recogniseDialect(text, undefined, form)).toEqual({
            delimiter,
            isDeclared: false,
            recordsAbove: titles.length,
          });
        },
      ),
    );
  });

  test.each([
    [
      "a misspelled header above a correct one",
      `refrence,name,images\nA,Dress,${photo}\nreference,name,images\n`,
    ],
    ["rows below names that are not known", `Kod,name,images\nA,Dress,${photo}\nreference,name,images\n`],
    ["a table without any known column", `Kod,Opis,Link\nA,Dress,${photo}\n`],
  ])("%s stays the header: no row is taken for a title", (_, text) => {
    expect(recogniseDialect(text, undefined, importForm(new Map())).recordsAbove).toBe(0);
  });
});

describe("lines that are no rows are named as what they are", () => {
  test.each(
    sampled(
      [
        ["sqlite-count.csv", [[4, "the count of a database or a report"]]],
        ["sqlite-markdown.txt", [[2, "a line of dashes"]]],
        [
          "sqlite-box.txt",
          [
            [3, "a line of dashes"],
            [6, "a line of dashes"],
          ],
        ],
        ["header-again.csv", [[4, "this line repeats the header: remove it"]]],
        ["pandas-total.csv", [[4, "a total"]]],
        [
          "footer.csv",
          [
            [4, "a remark of a program"],
            [5, "the number of a page"],
          ],
        ],
        ["total.xlsx", [[7, "a total"]]],
      ] as const,
      4,
    ),
  )("%s", async (name, expected) => {
    const { cat, write, products } = await createWorld();
    write(name, input(name));
    const ran = await cat(`import ${name} --dry-run --json --map price=ignore`);
    const { problems } = JSON.parse(
      ran.stdout.includes("--map: the file")
        ? (await cat(`import ${name} --dry-run --json`)).stdout
        : ran.stdout,
    );
    expect(problems).toEqual(
      expected.map(([line, what]) =>
        expect.objectContaining({ line, code: "not_a_row", message: expect.stringContaining(what) }),
      ),
    );
    expect([ran.exit, ran.stdout.includes("--map "), products()]).toEqual([3, false, []]);
  });

  test("without them the other rows are imported, and the failed file stays rejected", async () => {
    const world = await createWorld();
    world.write(
      "a.csv",
      `reference,name,images\nA,Dress,${photo}\nreference,name,images\n(2 rows affected)\nTotal:,2,\n`,
    );
    expect((await world.cat("import a.csv --skip-invalid --no-progress")).exit).toBe(8);
    const again = JSON.parse((await world.cat("import a.failed.csv --dry-run --json")).stdout);
    expect(again.problems.map(({ code }: { code: string }) => code)).toEqual([
      "not_a_row",
      "not_a_row",
      "not_a_row",
    ]);
  });

  test.each([
    ["Total"],
    ["Total", "2"],
    ["TOTAL:", "", "68.50 €"],
    ["Grand total: 12"],
    ["Gesamtsumme", "3 Artikel"],
    ["", "Summe", "12"],
    ["合計", "3"],
    ["(2 rows affected)"],
    ["2 rows in set (0.00 sec)"],
    ["3 Zeilen"],
    ["2 row(s) returned"],
    ["Total products: 2"],
    ["Number of rows = 12"],
    ["Anzahl Artikel: 1.200"],
    ["Count: 2"],
    ["Completion time: 2026-03-01T10:00:00.0000000+01:00"],
    ["[2 rows x 3 columns]"],
    ["Fetched 2 rows"],
    ["Query OK, 2 rows affected (0.01 sec)"],
    ["Query OK", " 2 rows affected (0.01 sec)"],
    ["Seite 1 von 2"],
    ["-----", "----", "---"],
    ["=========="],
    ["*** End of report ***"],
    ["Reference", "NAME ", "images"],
    ["reference", "name", "images", ""],
  ])("%j is no row", (...cells) => {
    const record = Array.from({ length: Math.max(3, cells.length) }, (_, column) => cells[column] ?? "");
    expect(oddLine(record, ["reference", "name", "images"])).toMatch(/remove/);
  });

  test.each([
    ["Total Look", "Dress", photo],
    ["Total look 2", "Dress", photo],
    ["Count 2", "Dress", photo],
    ["Records: 2", "12", ""],
    ["Total", "Dress", photo],
    ["Sum-1", "12", photo],
    ["Summer", "12", photo],
    ["A", "Total", "12"],
    ["2 rows", "Necklace with 2 rows", photo],
    ["---", "", ""],
    ["reference", "Dress", photo],
    ["reference", "name", "images", "x"],
    ["1001", "Page 1 of 2", photo],
    ["Exported", "Dress", photo],
  ])("%j is a row", (...record) => {
    expect(oddLine(record, ["reference", "name", "images"])).toBeNull();
  });

  test("a list of references may have one that is a word for totals", () => {
    expect(oddLine(["Total"], ["reference"])).toBeNull();
    expect(oddLine(["Total: 2"], ["reference"])).not.toBeNull();
  });
});

describe("a table that another program saved again gets a sentence about it, and no --map", () => {
  const quoted = /one quoted cell with all columns in it/;
  test.each(
    sampled([
      ["one-column.csv", 1, "wrong_format", /each line is one quoted cell/],
      ["one-column-semicolons.csv", 1, "wrong_format", /the lines end with ";;"/],
      ["semicolons-and-commas.csv", 1, "wrong_format", /the lines end with ",,"/],
      ["commas-and-semicolons.csv", 1, "wrong_format", /the lines end with ";;"/],
      ["header-not-quoted.csv", 2, "ragged_row", quoted],
    ] as const),
  )("%s", async (name, line, code, message) => {
    const { cat, write, products } = await createWorld();
    write(name, input(name));
    const { problems } = JSON.parse((await cat(`import ${name} --dry-run --json`)).stdout);
    expect(problems[0]).toMatchObject({ line, code, message: expect.stringMatching(message) });
    const { exit, stderr } = await cat(`import ${name} --no-progress`);
    expect([exit, stderr.includes("--map"), products()]).toEqual([3, false, []]);
  });

  const removed = 'remove the quotes around each line and write each "" in it as "';
  test.each(
    sampled(
      [
        [
          `reference;name;image_front;;,,\nA-1;Shirt;${photo};;\n`,
          'a.csv:1  -  wrong_format  the lines end with ",,", because the file was saved again with another separator: save the original file again as CSV, or remove ",," from the end of each line',
        ],
        [
          `Products\n\n"reference;name;image_front"\n"A-1;Shirt;${photo}"\n`,
          `a.csv:3  -  wrong_format  each line is one quoted cell with all columns in it: save the file again as CSV from the program that made it, or ${removed}`,
        ],
        [
          `ï»¿reference,name,image_front\nA-1,Shirt,${photo}\n`,
          "a.csv:1  -  wrong_format  the header starts with ï»¿, a byte order mark that was read as text: save the file again from its original, as UTF-8, or remove these characters",
        ],
        [
          `ï»¿"reference","name","image_front"\n"A-1","Shirt","${photo}"\n`,
          "a.csv:1  -  wrong_format  the header starts with ï»¿, a byte order mark that was read as text: save the file again from its original, as UTF-8, or remove these characters",
        ],
        [
          `п»їArtikel,name,image_front\nA-1,Shirt,${photo}\n`,
          "a.csv:1  -  wrong_format  the header starts with п»ї, a byte order mark that was read as text: save the file again from its original, as UTF-8, or remove these characters",
        ],
      ],
      5,
    ),
  )("%j", async (text, line) => {
    const { exit, lines, products } = await imported("a.csv", text);
    expect([exit, lines[0], lines.join().includes("--map"), products]).toEqual([3, line, false, []]);
  });

  test("and its lines have the same advice, which leads to the original cells", async () => {
    const text = `reference,name,image_front\n"A-1,""5"""" heel"",${photo}"\n`;
    const { lines } = await imported("a.csv", text);
    expect(lines[0]).toContain(
      `this line is one quoted cell with all columns in it: ${removed.replace(" each line and", " it, and")}`,
    );
    expect(await imported("a.csv", `reference,name,image_front\nA-1,"5"" heel",${photo}\n`)).toMatchObject({
      products: ['A-1 5" heel'],
    });
  });

  test("also if its headers are not known, and were not quoted", async () => {
    const { exit, lines } = await imported("a.csv", `SKU;Title;Photo,,\nA;Dress;${photo},,\n`);
    expect([exit, lines[0]]).toEqual([
      3,
      "a.csv:1  -  wrong_format  each line is one cell with all columns in it, because the file was saved again with another separator: save the original file again as CSV",
    ]);
  });

  test("also with a frame, as by sqlite3 in its mode box", async () => {
    const text = `┌───────────┬──────┐\n│ reference │ name │\n├───────────┼──────┤\n│ A-1       │ Bag  │\n└───────────┴──────┘\n`;
    const { exit, lines } = await imported("a.csv", text);
    expect([exit, lines[0]]).toEqual([
      3,
      "a.csv:1  -  wrong_format  this is a table with a frame, as programs show it on a screen: save it as CSV from the program",
    ]);
  });

  test("unless the header is mapped as it is", async () => {
    const text = `reference,name,images;;\nA,Dress,${photo}\n`;
    expect(await imported("a.csv", text, '--map "images;;=images"')).toMatchObject({
      exit: 0,
      products: ["A Dress"],
    });
  });

  test.each(
    sampled(
      [
        ['--map "ï»¿reference=reference"', `ï»¿reference,name,images\nA,Dress,${photo}\n`],
        ['--map "ï»¿id=ignore"', `ï»¿id,reference,name,images\n1,A,Dress,${photo}\n`],
      ],
      2,
    ),
  )("also with a byte order mark that was read as text: %s", async (flags, text) => {
    expect(await imported("a.csv", text, flags)).toMatchObject({ exit: 0, products: ["A Dress"] });
  });

  test("in a workbook with all columns in one cell", async () => {
    const { workbookOf } = await import("../support/write-workbook.ts");
    const { cat, write } = await createWorld();
    write("a.xlsx", workbookOf({ S: [["reference,name,images"], [`A,Dress,${photo}`]] }));
    expect((await cat("import a.xlsx --dry-run --no-progress")).stderr).toContain(
      "a.xlsx: S!A1  -  wrong_format  all columns are in one cell: split them (in Excel: Data, Text to Columns)",
    );
  });
});
