import { describe, expect, test } from "vitest";
import { CsvCells } from "../../../src/flows/import/cells.ts";
import { nearestColumns, parseColumn, readColumns } from "../../../src/flows/import/columns.ts";
import { importForm } from "../../../src/flows/import/import-form.ts";
import { recogniseDialect } from "../../../src/flows/rows/dialect.ts";
import type { InputProblem } from "../../../src/flows/rows/problem.ts";
import { emptyColumns, photoColumns } from "../../../src/flows/rows/row-form.ts";

describe("an unknown column", () => {
  test.each([
    ["refrence", "reference"],
    ["SKU", "reference"],
    ["Artikel-Nr.", "reference"],
    ["Artikelnummer *", "reference"],
    ["ref", "reference"],
    ["nmae", "name"],
    ["Product name", "name"],
    ["Titre", "name"],
    ["Beschreibung", "description"],
    ["desc", "description"],
    ["Gender", "sex"],
    ["image", "images"],
    ["Bilder", "images"],
    ["Image URL", "images"],
    ["Bild 1", "image_1"],
    ["photo_12", "image_12"],
    ["Image 2 URL", "image_2"],
    ["image_21", null],
    ["image_fornt", "image_front"],
    ["Bild, vorne", "image_front"],
    ["photo back", "image_back"],
    ["Nome prodotto", "name"],
    ["Immagine retro", "image_back"],
    ["Foto delantera", "image_front"],
    ["Afbeelding voorkant", "image_front"],
    ["Geslacht", "sex"],
    ["商品コード", "reference"],
    ["商品名", "name"],
    ["性別", "sex"],
    ["画像2", "image_2"],
    ["画像（背面）", "image_back"],
    ["価格", null],
    ["image_1_orientaton", "image_1_orientation"],
    ["Preis", null],
    ["Price", null],
    ["Farbe", null],
    ["S", null],
    ["", null],
    ["__proto__", null],
    ["constructor", null],
  ])("suggests a name: for %j it is %j", (header, column) => {
    expect(nearestColumns(header)).toEqual(column === null ? [] : [column]);
  });
});

test("the import of a row keeps a description as is, and counts one that is only spaces as empty", () => {
  const cells = new CsvCells([parseColumn("description")], ["description"]);
  const none = { images: [], [photoColumns]: [], [emptyColumns]: [] };
  expect(cells.toRow([" linen \n"])).toEqual({ ...none, description: " linen \n" });
  expect(cells.toRow([" \n"])).toEqual({ ...none, [emptyColumns]: ["description"] });
});

const read = (headers: string[], map: [string, string][] = []) => {
  const problems: InputProblem[] = [];
  const columns = readColumns(headers, new Map(map), 1, (problem) => problems.push(problem));
  return { columns, problems: problems.map(({ param, code }) => `${param} ${code}`) };
};

describe("a header", () => {
  test("is read without its invisible characters", () => {
    expect(
      read(["\ufeffReference", "\u00a0NAME\u00a0", "image\u200b_front", "Gro\u0308ße"], [["größe", "ignore"]])
        .problems,
    ).toEqual([]);
  });

  test("is rejected if --map assigns it the field of another header", () => {
    const { problems } = read(["reference", "name", "images", "SKU"], [["sku", "reference"]]);
    expect(problems).toEqual(["SKU duplicate_header"]);
  });

  test("is suggested if --map misspells it", () => {
    const problems: InputProblem[] = [];
    readColumns(
      ["reference", "name", "images", "Farbe"],
      new Map([
        ["frabe", "ignore"],
        ["farbe", "ignore"],
      ]),
      1,
      (problem) => problems.push(problem),
    );
    expect(problems.map(({ message }) => message)).toEqual([
      'unknown column "frabe" in --map: the file does not have it; did you mean "farbe"?',
    ]);
  });

  test("gets two similar names as suggestions, or only the one that the file lacks", () => {
    const messages = (...others: string[]) => {
      const problems: InputProblem[] = [];
      const header = ["reference", "name", "images", "image_three-quarter-leght", ...others];
      readColumns(header, new Map([["imagos", "ignore"]]), 1, (problem) => problems.push(problem));
      return problems.map(({ message, mapsTo }) => [message, mapsTo]);
    };
    const [left, right] = ["image_three-quarter-left", "image_three-quarter-right"];
    const isNone = 'unknown column "image_three-quarter-leght"';
    const noMap = [
      'unknown column "imagos" in --map: the file does not have it; did you mean "images"?',
      undefined,
    ];
    expect(messages()).toEqual([
      [`${isNone}; did you mean ${right} or ${left}? Rename it`, ["FIELD", "ignore"]],
      noMap,
    ]);
    expect(messages(left)).toEqual([
      [`${isNone}; did you mean ${right}? Rename it`, [right, "ignore"]],
      noMap,
    ]);
    expect(messages(left, right)).toEqual([
      [`${isNone} (the file already has ${right}): rename it`, ["ignore"]],
      noMap,
    ]);
  });

  test("with 1,000 unknown columns gets a problem for each, with more of them one", () => {
    const unknown = Array.from({ length: 10_000 }, (_, index) => `Column ${index}`);
    const problemsOf = (count: number) =>
      read(["reference", "name", "images", ...unknown.slice(0, count)]).problems;
    expect(problemsOf(1_000)).toEqual(unknown.slice(0, 1_000).map((header) => `${header} unknown_column`));
    expect(problemsOf(10_000)).toEqual(["Column 0 unknown_column"]);
  });
});

describe("the delimiter", () => {
  const photo = "https://cdn.example.com/a.jpg";
  test.each([
    [";", "in a file with decimal commas", `reference;name;Preis;images\r\nA;Hemd;12,50;${photo}\r\n`],
    [
      ";",
      "in a file with custom headers that contain commas",
      `Nummer;Bezeichnung, lang;Preis, netto;Bild, vorne\nA;Hemd, blau;12,50;${photo}\n`,
    ],
    [
      ";",
      "in a file with quoted headers that contain commas",
      `"Nummer, intern";"Bezeichnung, lang, neu"\n"A";"Hemd"\n`,
    ],
    ["\t", "in a file with commas in every cell", `Nummer\tName, lang\tBild\nA,1\tHemd, blau\t${photo}\n`],
    [
      ",",
      "in a file whose cells contain semicolons",
      `Nummer,Titel,Text\nA,Hemd,a;b;c;d\nB,Hose,"x;y;z, w"\n`,
    ],
    ["|", "in a file with bars", `reference|name|images\nA|b|${photo}\n`],
    [",", "in a file with only a header", "reference,name,images\n"],
    [",", "in an empty file", ""],
    [";", "in a file whose header has an unclosed quote", 'reference;name;images;"Preis\nA;b;c;d\n'],
    [";", "in a file with blank lines before the header", "\r\n\r\nNummer;Titel, lang\r\nA;b\r\n"],
  ])("is %j %s", (delimiter, _, head) => {
    expect(recogniseDialect(head, undefined, importForm(new Map()))).toEqual({
      delimiter,
      isDeclared: false,
      recordsAbove: 0,
    });
  });

  test("is the one after sep=", () => {
    expect(recogniseDialect("sep=;\r\na,b;c\r\n", undefined, importForm(new Map()))).toEqual({
      delimiter: ";",
      isDeclared: true,
      recordsAbove: 0,
    });
  });
});
