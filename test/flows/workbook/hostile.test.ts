import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rawZip } from "../../support/raw-zip.ts";
import { odsParts, parts, readAll, written } from "./raw-workbook.ts";

const row = (cells: string) => `<row r="1">${cells}</row>`;
const cell = (text: string) => row(`<c r="A1" t="inlineStr"><is><t>${text}</t></is></c>`);
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const sheet = (xml: string) => parts("", { "xl/worksheets/sheet1.xml": xml });
const compound = (name: string) => {
  const bytes = Buffer.alloc(8192);
  Buffer.from("d0cf11e0a1b11ae1", "hex").copy(bytes);
  bytes.writeUInt16LE(9, 30);
  bytes.write(name, 512, "utf16le");
  return bytes;
};

const ods = (text: string, attributes = "") =>
  odsParts(
    `<table:table><table:table-row><table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell></table:table-row></table:table>`,
  );

/** What each file is, and the message that it gets. */
const files: [what: string, content: () => Parameters<typeof written>[0], message: RegExp, name?: string][] =
  [
    [
      "an .ods cell of spaces that are one element",
      () => ods('<text:s text:c="1000000"/>'),
      /too many spaces/,
    ],
    [
      "an .ods cell repeated over a row",
      () => ods("x", 'table:number-columns-repeated="16384"'),
      /row 1 has too many cells/,
    ],
    ["an empty file", () => Buffer.alloc(0), /cut off or damaged/],
    ["random bytes", () => randomBytes(4096), /cut off or damaged/],
    [
      "a workbook cut in half",
      () => {
        const whole = rawZip(parts(cell("x")));
        return whole.subarray(0, whole.length / 2);
      },
      /cut off or damaged/,
    ],
    ["a ZIP of other files", () => rawZip([{ name: "a.jpg", data: "x" }]), /is a ZIP file, not a workbook/],
    [
      "a text document",
      () =>
        rawZip([
          { name: "[Content_Types].xml", data: "x" },
          { name: "word/document.xml", data: "x" },
        ]),
      /another kind of Office file/,
    ],
    [
      "a binary workbook",
      () =>
        rawZip([
          { name: "[Content_Types].xml", data: "x" },
          { name: "xl/workbook.bin", data: "x" },
        ]),
      /\(\.xlsb\)/,
    ],
    ["a file of Numbers", () => rawZip([{ name: "Index/Document.iwa", data: "x" }]), /is a file of Numbers/],
    ["a workbook of Excel 2003", () => compound("Workbook"), /before 2007 \(\.xls\)/],
    ["a workbook with a password", () => compound("EncryptedPackage"), /protected with a password/],
    ["a lock file", () => Buffer.from("\x05Anna "), /is a lock file of Excel/, "~$products.xlsx"],
    ["a DOCTYPE", () => sheet(`<!DOCTYPE x [<!ENTITY a "b">]><worksheet ${main}/>`), /has a DOCTYPE/],
    [
      "an external entity",
      () => sheet(`<!DOCTYPE x SYSTEM "file:///etc/passwd"><worksheet ${main}/>`),
      /has a DOCTYPE/,
    ],
    ["an unknown entity", () => parts(cell("&lol;")), /not valid XML/],
    ["an unclosed sheet", () => sheet(`<worksheet ${main}><sheetData>${cell("x")}`), /not valid XML/],
    [
      "crossed elements",
      () => sheet(`<worksheet ${main}><sheetData><row></sheetData></row></worksheet>`),
      /not valid XML/,
    ],
    [
      "bytes that are no text",
      () => parts("", { "xl/worksheets/sheet1.xml": randomBytes(2000) }),
      /not valid XML/,
    ],
    [
      "deep elements",
      () => sheet(`<worksheet ${main}>${"<a>".repeat(300)}${"</a>".repeat(300)}</worksheet>`),
      /elements within 256 others/,
    ],
    ["one endless text", () => parts(cell("x".repeat(6_000_000))), /more than 4 MiB of text in one place/],
    [
      "one endless element",
      () => sheet(`<worksheet ${main}><sheetData a="${"x".repeat(6_000_000)}"/></worksheet>`),
      /more than 4 MiB of text in one place/,
    ],
    [
      "styles of 17 MiB",
      () => parts(cell("x"), { "xl/styles.xml": Buffer.alloc(17 << 20, " ") }),
      /has more than 16 MiB/,
    ],
    [
      "a missing sheet",
      () => parts("", { "xl/worksheets/sheet1.xml": null }),
      /xl\/worksheets\/sheet1\.xml is missing/,
    ],
    ["no workbook", () => parts("", { "xl/workbook.xml": null }), /not a workbook/],
    [
      "no relations",
      () => parts("", { "xl/_rels/workbook.xml.rels": null }),
      /the sheet "Sheet1" is missing/,
    ],
    [
      "no sheets",
      () => parts("", { "xl/workbook.xml": `<workbook ${main}><sheets/></workbook>` }),
      /has no sheet with cells/,
    ],
    [
      "two files with one name",
      () => [...parts(cell("x")), ...parts(cell("y"))],
      /two files named "\[Content_Types\]\.xml"/,
    ],
    [
      "20,001 files",
      () => [
        ...parts(cell("x")),
        ...Array.from({ length: 20_001 }, (_, at) => ({ name: `m/${at}`, data: "", deflate: false })),
      ],
      /more than 20,000 files/,
    ],
    [
      "a row far below",
      () => parts(`<row r="1048577"><c r="A1048577"><v>1</v></c></row>`),
      /row "1048577" follows row 0/,
    ],
    ["rows in another order", () => parts(`<row r="2"/><row r="1"/>`), /row "1" follows row 2/],
    ["a row without a number", () => parts(`<row r="x"/>`), /row "x" follows row 0/],
    ["a cell of another row", () => parts(row('<c r="A2"><v>1</v></c>')), /row 1 has a cell "A2"/],
    ["a column beyond the last", () => parts(row('<c r="XFE1"><v>1</v></c>')), /row 1 has a cell "XFE1"/],
    [
      "a column named by a property",
      () => parts(row('<c r="__proto__"><v>1</v></c>')),
      /row 1 has a cell "__proto__"/,
    ],
    [
      "two cells in one place",
      () => parts(row('<c r="A1"><v>1</v></c><c r="A1"><v>2</v></c>')),
      /two cells in one column/,
    ],
    [
      "a text beyond the list",
      () => parts(row('<c r="A1" t="s"><v>7</v></c>')),
      /names a text that does not exist/,
    ],
    [
      "a text before the list",
      () => parts(row('<c r="A1" t="s"><v>-1</v></c>')),
      /names a text that does not exist/,
    ],
    ["an unknown type", () => parts(row('<c r="A1" t="zz"><v>7</v></c>')), /unknown type "zz"/],
    [
      "a relation to the outside",
      () =>
        parts("", {
          "xl/_rels/workbook.xml.rels":
            '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="../../../../etc/passwd"/></Relationships>',
        }),
      /etc\/passwd is missing/,
    ],
    [
      "a relation to itself",
      () =>
        parts("", {
          "xl/_rels/workbook.xml.rels":
            '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="workbook.xml"/></Relationships>',
        }),
      /^$/,
    ],
    [
      "a merged range without a place",
      () =>
        sheet(
          `<worksheet ${main}><sheetData>${cell("x")}</sheetData><mergeCells><mergeCell ref="ZZZZ1"/></mergeCells></worksheet>`,
        ),
      /merged cells "ZZZZ1"/,
    ],
  ];

describe("a hostile or broken file gets one clear line, or its right rows:", () => {
  test.each(files)("%s", async (_, content, message, name) => {
    const path = written(content(), name);
    const said = await readAll(path).then(
      () => "",
      (error) => {
        expect(error).toMatchObject({ name: "WorkbookError", type: "input", hint: expect.any(String) });
        return error.message as string;
      },
    );
    expect(said).toMatch(message);
    expect(said).not.toContain("\n");
  });

  test("files that share bytes, also beside bytes that no file has", async () => {
    const [first, ...others] = parts(cell("x"));
    const media = { name: "media/1", data: Buffer.alloc(4096) };
    const at = { ...media, name: "media/2", at: 0, local: "none" as const };
    for (const padding of [0, 100_000]) {
      const whole = [media, at, first!, ...others, { name: "media/3", data: Buffer.alloc(padding) }];
      await expect(readAll(written(rawZip(whole)))).rejects.toThrow(/its files overlap/);
    }
  });

  test("a file whose checksum is wrong", async () => {
    const whole = rawZip(parts(cell("genuine")));
    const at = whole.indexOf(deflateRawSync(`<?xml`).subarray(0, 2));
    expect(at).toBeGreaterThan(0);
    // The CRC-32 in each entry of the list of files, which follows the files.
    let entry = whole.indexOf("PK\x01\x02");
    while (entry !== -1) {
      whole.writeUInt32LE(0x12345678, entry + 16);
      entry = whole.indexOf("PK\x01\x02", entry + 4);
    }
    await expect(readAll(written(whole))).rejects.toThrow(/is damaged/);
  });
});
