import { describe, expect, test } from "vitest";
import { CsvCells } from "../../../../src/flows/import/columns/csv-cells.ts";
import { readColumns } from "../../../../src/flows/import/columns/csv-columns.ts";
import { importForm } from "../../../../src/flows/import/columns/import-form.ts";
import { nearestColumns } from "../../../../src/flows/import/columns/nearest-column.ts";
import { recogniseDialect } from "../../../../src/flows/rows/csv-dialect.ts";
import type { Problem } from "../../../../src/flows/rows/problem.ts";

describe("a column that nobody knows", () => {
  test.each([
    ["refrence", "reference"],
    ["SKU", "reference"],
    ["Artikel-Nr.", "reference"],
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
    ["image_1_orientaton", "image_1_orientation"],
    ["Preis", null],
    ["Price", null],
    ["Farbe", null],
    ["S", null],
    ["", null],
    ["__proto__", null],
    ["constructor", null],
  ])("%j is perhaps %j", (header, column) => {
    expect(nearestColumns(header)).toEqual(column === null ? [] : [column]);
  });
});

test("a description is as it stands, and one of spaces only is none", () => {
  const cells = new CsvCells([{ kind: "field", field: "description" }], ["description"]);
  expect(cells.toRow([" linen \n"])).toEqual({ description: " linen \n", images: [] });
  expect(cells.toRow([" \n"])).toEqual({ images: [] });
});

const read = (headers: string[], map: [string, string][] = []) => {
  const problems: Problem[] = [];
  const columns = readColumns(headers, new Map(map), 1, (problem) => problems.push(problem));
  return { columns, problems: problems.map(({ param, code }) => `${param} ${code}`) };
};

describe("a header", () => {
  test("is what it says, whatever cannot be seen stands in it", () => {
    expect(
      read(["\ufeffReference", "\u00a0NAME\u00a0", "image\u200b_front", "Gro\u0308ße"], [["größe", "ignore"]])
        .problems,
    ).toEqual([]);
  });

  test("that means the same as another by --map is refused", () => {
    const { problems } = read(["reference", "name", "images", "SKU"], [["sku", "reference"]]);
    expect(problems).toEqual(["SKU duplicate_header"]);
  });

  test("that --map misspells is proposed", () => {
    const problems: Problem[] = [];
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
      '--map names a column "frabe" that the file does not have: did you mean "farbe"?',
    ]);
  });

  test("that is as near to two columns has both proposed, and one alone where the other is there", () => {
    const messages = (...others: string[]) => {
      const problems: Problem[] = [];
      const header = ["reference", "name", "images", "image_three-quarter-leght", ...others];
      readColumns(header, new Map([["imagos", "ignore"]]), 1, (problem) => problems.push(problem));
      return problems.map(({ message, mapsTo }) => [message, mapsTo]);
    };
    const [left, right] = ["image_three-quarter-left", "image_three-quarter-right"];
    const isNone = '"image_three-quarter-leght" is not a column of an import';
    const noMap = [
      '--map names a column "imagos" that the file does not have: did you mean "images"?',
      undefined,
    ];
    expect(messages()).toEqual([
      [`${isNone}: did you mean ${right} or ${left}? Rename it`, ["FIELD", "ignore"]],
      noMap,
    ]);
    expect(messages(left)).toEqual([
      [`${isNone}: did you mean ${right}? Rename it`, [right, "ignore"]],
      noMap,
    ]);
    expect(messages(left, right)).toEqual([
      [`${isNone}, and ${right} is there: rename it`, ["ignore"]],
      noMap,
    ]);
  });

  test("of 10,000 columns that nobody knows has each of them told", () => {
    const unknown = Array.from({ length: 10_000 }, (_, index) => `Column ${index}`);
    expect(read(["reference", "name", "images", ...unknown]).problems).toEqual(
      unknown.map((header) => `${header} unknown_column`),
    );
  });
});

describe("the delimiter is", () => {
  const photo = "https://cdn.example.com/a.jpg";
  test.each([
    [";", "of a file with decimal commas", `reference;name;Preis;images\r\nA;Hemd;12,50;${photo}\r\n`],
    [
      ";",
      "of headers of a shop's own, with commas in them",
      `Nummer;Bezeichnung, lang;Preis, netto;Bild, vorne\nA;Hemd, blau;12,50;${photo}\n`,
    ],
    [";", "of quoted headers with commas", `"Nummer, intern";"Bezeichnung, lang, neu"\n"A";"Hemd"\n`],
    ["\t", "of a file with commas in every cell", `Nummer\tName, lang\tBild\nA,1\tHemd, blau\t${photo}\n`],
    [",", "of a file whose cells have semicolons", `Nummer,Titel,Text\nA,Hemd,a;b;c;d\nB,Hose,"x;y;z, w"\n`],
    ["|", "of bars", `reference|name|images\nA|b|${photo}\n`],
    [",", "of a header alone", "reference,name,images\n"],
    [",", "of nothing", ""],
    [";", "of a header with a quote that is not closed", 'reference;name;images;"Preis\nA;b;c;d\n'],
    [";", "of a header after blank lines", "\r\n\r\nNummer;Titel, lang\r\nA;b\r\n"],
  ])("%j %s", (delimiter, _, head) => {
    expect(recogniseDialect(head, undefined, importForm(new Map()))).toEqual({
      delimiter,
      linesBeforeHeader: 0,
    });
  });

  test("what sep= says", () => {
    expect(recogniseDialect("sep=;\r\na,b;c\r\n", undefined, importForm(new Map()))).toEqual({
      delimiter: ";",
      linesBeforeHeader: 1,
    });
  });
});
