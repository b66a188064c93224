import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../support/at-terminal.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";
import { workbookOf } from "../support/write-workbook.ts";

const input = (name: string) => readFileSync(new URL(`inputs/sheet/${name}.xlsx`, import.meta.url));
const german = "--map Artikel-Nr.=reference --map Titel=name --map Foto=image_front --map Preis=ignore";
const polish = "--map Kod=reference --map Opis=name --map Link=images";
const photo = "https://cdn.example.com/1.jpg";

async function worldWith(name: string, options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld(options);
  world.write("a.xlsx", input(name));
  const names = () => world.products().map(({ reference, name }) => `${reference} ${name}`);
  return { ...world, names };
}

describe("the sheet with all columns is read, whatever the other sheets have", () => {
  test.each(
    sampled(
      [
        ["articles-first", "Artikel"],
        ["suppliers-first", "Artikel"],
        ["customers", "Artikel"],
        ["pandas", "Artikel"],
        ["english", "Items"],
        ["french", "Articles"],
        ["prices", "Products"],
        ["instructions", "Products"],
        ["groups", "Products"],
      ],
      3,
    ),
  )("%s: the sheet %s, by what its columns probably mean", async (name, sheet) => {
    const { cat } = await worldWith(name);
    const { stderr, stdout } = await cat("import a.xlsx --dry-run --no-progress");
    expect(stderr.split("\n")[0]).toBe(
      `Reading the sheet "${sheet}", whose columns fit; choose another one with --sheet.`,
    );
    const json = JSON.parse((await cat("import a.xlsx --dry-run --json")).stdout);
    expect(new Set(json.problems.map(({ sheet }: { sheet: string }) => sheet)).size, stdout).toBeLessThan(2);
    expect(JSON.stringify(json.problems)).not.toMatch(/Lieferanten|Kunden|Suppliers|Fournisseurs|Prices/);
  });

  test.each(
    sampled(
      [
        ["--map", "articles-first", german, {}],
        ["--map, for columns of no known word", "unknown", polish, {}],
        [
          "catalogue.map.json",
          "unknown",
          "",
          { "catalogue.map.json": { columns: { Kod: "reference", Opis: "name", Link: "images" } } },
        ],
        [
          "the answers that an earlier version has kept",
          "unknown",
          "",
          {
            ".home/config.json": {
              profiles: { default: { columns: { kod: "reference", opis: "name", link: "images" } } },
            },
          },
        ],
      ],
      1,
    ),
  )("with %s it is imported", async (_, name, flags, files) => {
    const { cat, write, names } = await worldWith(name);
    for (const [path, content] of Object.entries(files)) write(path, JSON.stringify(content));
    const { exit, stderr } = await cat(`import a.xlsx --no-progress ${flags}`);
    expect(exit, stderr).toBe(0);
    expect(names()).toEqual(name === "unknown" ? ["K-1 Sukienka"] : ["K-1 Kleid", "K-2 Hose"]);
  });

  longTest("and --map tells which of two complete sheets is meant", async () => {
    const { cat, write, products } = await createWorld();
    const sheets = {
      Import: [
        ["reference", "name", "images"],
        ["A", "Dress", photo],
      ],
      Artikel: [
        ["Nummer X", "Titel", "Foto"],
        ["B", "Hose", photo],
      ],
    };
    write("a.xlsx", workbookOf(sheets));
    const flags = '--map "Nummer X=reference" --map Titel=name --map Foto=images';
    expect((await cat(`import a.xlsx --no-progress ${flags}`)).exit).toBe(0);
    expect(products().map(({ reference }) => reference)).toEqual(["B"]);
  });

  test("a sheet that can be imported as it is comes before one with photos by guesses", async () => {
    const { cat, write } = await createWorld();
    const sheets = {
      Update: [
        ["reference", "name", "description"],
        ["A", "Dress", "long"],
      ],
      Media: [
        ["SKU", "Title", "Photo"],
        ["A", "Dress", photo],
      ],
    };
    write("a.xlsx", workbookOf(sheets));
    const { exit, stderr } = await cat("import a.xlsx --dry-run --no-progress");
    expect({ exit, sheet: stderr.split("\n")[0] }).toEqual({
      exit: 0,
      sheet: 'Reading the sheet "Update", whose columns fit; choose another one with --sheet.',
    });
  });

  test("also in a workbook of looks", async () => {
    const { cat } = await worldWith("looks");
    expect((await cat("tryon a.xlsx --dry-run")).stderr).toContain(
      'Reading the sheet "Looks", whose columns fit',
    );
  });
});

describe("where no sheet, or more than one, has all columns, none is taken", () => {
  test.each(
    sampled(
      [
        ["import a.xlsx", "twice", 'a.xlsx has several sheets that may be meant: "Summer", "Winter"'],
        [
          "products delete --from a.xlsx --dry-run",
          "to-delete",
          'a.xlsx has several sheets that may be meant: "All", "Delete"',
        ],
        [
          "import a.xlsx",
          "unknown",
          'no sheet of a.xlsx has all columns: "Artykuly" lacks reference and name, "Dostawcy" lacks reference',
        ],
      ],
      1,
    ),
  )("%s of %s", async (line, name, message) => {
    const { cat, requests } = await worldWith(name);
    const { exit, stderr } = await cat(line);
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: `error: ${message}\nChoose one with --sheet.\n` });
    expect(requests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  const products = (header: string[]) => [header, ...[1, 2].map((at) => [`A-${at}`, `Kleid ${at}`, photo])];
  const staff = (...header: string[]) => [header, ["1", "Anna", photo].slice(0, header.length)];

  test.each(
    sampled(
      [
        [{ Mitarbeiter: staff("ID", "Name", "Bild") }, ["Artikelnr.", "Produktname", "Produktbild"]],
        [{ Clienti: staff("Codice", "Nome") }, ["Codice", "Descrizione", "Foto"]],
        [{ Kunden: staff("Nr", "Name", "Foto") }, ["Artikelnummer", "Bezeichnung", "Bild"]],
        [{ Lieferanten: staff("ID", "Name") }, ["Kolli", "Wasja", "Fotki"]],
      ] as const,
      2,
    ),
  )("nor one by guesses while another has photos: %j", async (other, header) => {
    const { cat, write } = await createWorld();
    for (const kind of ["xlsx", "ods"] as const) {
      write(`a.${kind}`, workbookOf({ ...other, Waren: products([...header]) }, kind));
      expect(await cat(`import a.${kind} --dry-run`)).toMatchObject({
        exit: 3,
        stderr: `error: a.${kind} has several sheets that may be meant: "${Object.keys(other)[0]}", "Waren"\nChoose one with --sheet.\n`,
      });
    }
  });

  test("the address of a page is no photo", async () => {
    const { cat, write } = await createWorld();
    const shops = [
      ["Nr", "Name", "Website"],
      ["1", "Meier", "https://meier.example"],
    ];
    const header = ["Artikelnummer", "Bezeichnung", "Bild", "Preis"];
    write("a.xlsx", workbookOf({ Artikel: products(header), Lieferanten: shops }, "xlsx"));
    expect((await cat("import a.xlsx --dry-run")).stderr).toContain(
      'Reading the sheet "Artikel", whose columns fit',
    );
  });

  test("a person is asked, and the sheet of this workbook is saved", async () => {
    const world = await worldWith("unknown", { env: { NO_COLOR: "1" }, mock: {} });
    const tty = { stdin: true, stderr: true };
    const first = atTerminal(world, "import a.xlsx --no-progress", tty);
    await first.type("Which sheet of a.xlsx?", "\r");
    await first.type("like this?", "\x03");
    await first.ran;
    expect(first.screen()).toContain("Artykuly (Kod, Opis, Link)");
    expect(JSON.parse(world.read("catalogue.map.json"))).toEqual({ sheets: { "a.xlsx": "Artykuly" } });
    const second = await world.cat("import a.xlsx --dry-run --no-progress");
    expect(second.stderr.split("\n").slice(0, 2)).toEqual([
      'Reading the sheet "Artykuly", as you chose for a.xlsx before; choose another one with --sheet.',
      expect.stringContaining("a.xlsx: Artykuly!A1  Kod  unknown_column"),
    ]);
    world.write("b.xlsx", input("unknown"));
    expect((await world.cat("import b.xlsx --dry-run")).stderr).toContain(
      "no sheet of b.xlsx has all columns",
    );
    world.write("catalogue.map.json", "{}");
    expect((await world.cat("import a.xlsx --dry-run")).stderr).toContain(
      "no sheet of a.xlsx has all columns",
    );
  });

  test("a saved sheet gives way to the only one that has all columns", async () => {
    const { cat, write } = await worldWith("suppliers-first");
    write("catalogue.map.json", JSON.stringify({ sheets: { "a.xlsx": "Lieferanten" } }));
    expect((await cat("import a.xlsx --dry-run --no-progress")).stderr).toContain(
      'Reading the sheet "Artikel", whose columns fit',
    );
  });

  test("--sheet reads the one that is named, with the header below its title", async () => {
    const { cat } = await worldWith("groups");
    const { exit, stderr } = await cat("import a.xlsx --sheet products --dry-run --no-progress");
    expect([exit, stderr.split("\n")[0]]).toEqual([
      0,
      "a.xlsx: Products!A1  2 lines above the header were not read.",
    ]);
  });
});
