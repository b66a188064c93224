import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { check, checkPath, checkWhole } from "./check-support.ts";

const url = "https://cdn.example.com/a.jpg";
const head = "reference,name,images\n";
const row = (reference: string) => `${reference},Dress,${url}\n`;

describe("a valid file", () => {
  test.each([
    ["fixtures/products.csv", 24],
    ["fixtures/spreadsheet.csv", 12],
    ["fixtures/products.ndjson", 24],
    ["fixtures/some-fail.csv", 4],
  ])("%s has %i valid rows", async (file, total) => {
    expect(await checkPath(file)).toEqual({
      result: { total, valid: total, invalid: 0, unusable: false },
      problems: [],
    });
  });

  test("is read whatever the case, order and surrounding space of its headers", async () => {
    const text = ` Images , NAME,Reference \n${url},Dress,A-1\n`;
    expect(await check(text)).toMatchObject({ total: 1, valid: 1, problems: [] });
  });

  test.each([
    ["semicolon", ";"],
    ["tab", "\t"],
    ["pipe", "|"],
  ])("is read with the delimiter %s", async (_, delimiter) => {
    const text = `${["reference", "name", "image_1"].join(delimiter)}\n${["A-1", "Dress", url].join(delimiter)}`;
    expect(await check(text)).toMatchObject({ total: 1, valid: 1, problems: [] });
  });

  test.each([["sep=;"], ['"sep=;"']])(
    "may declare its delimiter in a %s line, which counts as a line",
    async (line) => {
      expect(await check(`${line}\nreference;name;images\nA-1;;${url}\n`)).toMatchObject({
        total: 1,
        problems: ["3 name invalid_row"],
      });
    },
  );

  test("is read with the real delimiter despite a comma in quoted header cells", async () => {
    expect(await check(`reference;"name";images\nA-1;"a, b, c";${url}\n`)).toMatchObject({
      valid: 1,
      problems: [],
    });
  });

  test.each(["utf-16le", "utf-16be"])("is read with a byte order mark: %s", async (encoding) => {
    const bytes = Buffer.from(`\uFEFF${head}A-1,Été,${url}\n`, "utf16le");
    if (encoding === "utf-16be") bytes.swap16();
    expect(await check(bytes)).toMatchObject({ total: 1, valid: 1, problems: [] });
  });

  test("is read as Windows-1252 with --encoding", async () => {
    const bytes = Buffer.from(`${head}A-1,Robe d'\xe9t\xe9,${url}\n`, "latin1");
    expect(await check(bytes, { encoding: "windows-1252" })).toMatchObject({ valid: 1, problems: [] });
  });

  test("is read with fields assigned by --map and columns ignored by it", async () => {
    const text = `SKU,Bezeichnung,Preis,images\nA-1,Kleid,12,${url}\n`;
    const map = { sku: "reference", Bezeichnung: "name", Preis: "ignore" };
    expect(await check(text, { map })).toMatchObject({ valid: 1, problems: [] });
  });

  test("may have space and empty parts in a cell of photos", async () => {
    const text = `${head}A-1,Dress," ${url} | https://cdn.example.com/b.jpg ||"\n`;
    expect(await check(text)).toMatchObject({ valid: 1, problems: [] });
  });

  test("may have the two columns of a failed file, which are ignored", async () => {
    const text = `reference,name,images,error_code,error_message\nA-1,Dress,${url},timeout,too slow\n`;
    expect(await check(text)).toMatchObject({ valid: 1, problems: [] });
    const line = JSON.stringify({
      reference: "A",
      name: "b",
      images: [{ url }],
      error_code: "x",
      error_message: "y",
    });
    expect(await check(line, { name: "a.ndjson" })).toMatchObject({ valid: 1, problems: [] });
  });

  test("may have blank lines and rows of empty cells, which are not rows", async () => {
    expect(await check(`${head}\n${row("A-1")}\n,,\n${row("A-2")}\n\n`)).toMatchObject({
      total: 2,
      valid: 2,
    });
  });
});

describe("a problem names line, column and code", () => {
  test.each([
    ["unclosed-quote.csv", ["3 unclosed_quote"]],
    ["stray-quotes.csv", ["2 stray_quote"]],
    ["ragged-row.csv", ["3 ragged_row"]],
    ["duplicate-header.csv", ["1 Name duplicate_header"]],
    ["unknown-column.csv", ["1 colour unknown_column"]],
    ["missing-column.csv", ["1 reference missing_column"]],
    ["windows-1252.csv", ["3 wrong_encoding"]],
    ["nul-byte.csv", ["2 nul_byte"]],
    ["empty.csv", ["1 empty_file"]],
    ["only-header.csv", ["1 empty_file"]],
    ["duplicate-reference.csv", ["3 reference duplicate_reference_in_file"]],
    ["long-name.csv", ["2 name invalid_row"]],
    ["wrong-sex.csv", ["2 sex invalid_row"]],
    ["no-images.csv", ["2 images invalid_row"]],
    ["multi-line.csv", ["5 name invalid_row"]],
    [
      "url-policy.csv",
      [...[2, 3, 4, 5, 6].map((line) => `${line} images invalid_row`), "7 images photo_not_found"],
    ],
    ["null-line.ndjson", ["2 invalid_row"]],
    ["not-objects.ndjson", ["1 invalid_row", "2 invalid_row", "3 invalid_row", "4 invalid_json"]],
  ])("%s", async (file, expected) => {
    const { problems } = await checkPath(`fixtures/faults/${file}`);
    const told = problems.map(({ line, param, code }) =>
      [line, param, code].filter((part) => part !== undefined).join(" "),
    );
    expect(told).toEqual(expected);
  });

  test("every problem of every row is reported in file order", async () => {
    const text = `${head}A-1,,http://x.example.com/1.jpg\nA-2,Dress,${url}\nA-1,Dress,\n`;
    expect(await check(text)).toEqual({
      total: 3,
      valid: 1,
      invalid: 2,
      unusable: false,
      mergeable: { products: 1, rows: 2 },
      problems: [
        "2 name invalid_row",
        "2 images invalid_row",
        "4 images invalid_row",
        "4 reference duplicate_reference_in_file",
      ],
    });
  });

  test("references are compared trimmed and case-sensitively", async () => {
    expect(await check(`${head}${row("A-1")}${row("  A-1  ")}${row("a-1")}`)).toMatchObject({
      problems: ["3 reference duplicate_reference_in_file"],
    });
  });

  test("a problem names the column of the invalid image, not its index", async () => {
    const text = `reference,name,image_2,image_2_orientation,image_front\nA-1,Dress,${url},upside-down,ftp://x.example.com/b.jpg\n`;
    const { problems } = await checkWhole(text);
    expect(problems).toEqual([
      {
        line: 2,
        reference: "A-1",
        param: "image_2_orientation",
        code: "invalid_row",
        message:
          'image_2_orientation must be one of front, back, left, right, top, bottom, three-quarter-left, three-quarter-right, detail, unlabeled, side, not "upside-down"',
        valueFix: { field: "orientation", from: "upside-down", to: undefined },
      },
      {
        line: 2,
        reference: "A-1",
        param: "image_front",
        code: "invalid_row",
        message: 'image_front must start with https://: "ftp://x.example.com/b.jpg"',
      },
    ]);
  });

  test("several images in a single-image cell are rejected: only `images` is split at the bar", async () => {
    const other = "https://cdn.example.com/b.jpg";
    const header = "reference,name,images,image_2,image_front\n";
    const rows = [
      `A-1,Dress,,,${url}|${other}`,
      `A-2,,,${url} | HTTP://x.example.com/c.jpg |01M811H8Q55N35W1YQXB85HY6C,${other}`,
      `A-3,Dress,${url}|${other},${url}|,${url}?sizes=1|2`,
    ];
    const advice = 'but takes one: use the column "images", or one column per photo (image_1, image_2)';
    const { result, problems } = await checkWhole(`${header}${rows.join("\n")}\n`);
    expect(result).toMatchObject({ valid: 1, invalid: 2 });
    expect(problems.map(({ line, reference, code, message }) => [line, reference, code, message])).toEqual([
      [2, "A-1", "invalid_row", `image_front has 2 photos, ${advice}`],
      [3, "A-2", "invalid_row", "name is missing"],
      [3, "A-2", "invalid_row", `image_2 has 3 photos, ${advice}`],
    ]);
  });

  test("several URLs in `images` need a bar between them", async () => {
    const other = "https://cdn.example.com/b.jpg";
    const cells = [`${url}, ${other}`, `${url}\n${other}`, `${url} | ${other}`, `${url},${other}`];
    cells.push(`${url};${other}`, "https://cdn.example.com/w_9,h_9;q/a.jpg?from=https://a.example.com");
    const rows = cells.map((cell, at) => `A-${at},Dress,"${cell}"\n`);
    const { problems } = await checkWhole(`reference,name,images\n${rows.join("")}`);
    expect(problems.map(({ line, message }) => [line, message])).toEqual([
      [2, "images has several URLs: put | between them"],
      [3, "images has several URLs: put | between them"],
      [6, "images has several URLs: put | between them"],
      [7, "images has several URLs: put | between them"],
    ]);
  });

  test("lines count from the start of the record, also after cells with line ends of any kind and blank lines", async () => {
    const cell = '"one\r\ntwo\nthree\rfour"';
    const text = `reference,name,description,images\r\nA-1,Dress,${cell},${url}\r\n\r\n\nA-2,,${cell},${url}\rA-3,,x,${url}`;
    expect((await check(text)).problems).toEqual(["8 name invalid_row", "12 name invalid_row"]);
  });

  test("a value that no row can keep is a problem: without a header, or an orientation without its image", async () => {
    const stray = `reference,name,images,,\nA,Dress,${url},,\nB,Dress,${url},${url},\n`;
    expect((await check(stray)).problems).toEqual(["3 invalid_row"]);
    const orphan = `reference,name,image_1,image_1_orientation,image_2\nA,Dress,,front,${url}\n`;
    expect((await check(orphan)).problems).toEqual(["2 image_1_orientation invalid_row"]);
  });

  test("--map of a missing column is a problem", async () => {
    expect((await check(head + row("A-1"), { map: { SKU: "name" } })).problems).toEqual([
      "1 sku unknown_column",
    ]);
  });

  test("a password in a URL is not repeated", async () => {
    const { problems } = await checkWhole(`${head}A,Dress,https://me:secret@cdn.example.com/a.jpg\n`);
    expect(problems.map(({ message }) => message)).toEqual([
      'images must not contain a user name or password: "https://***@cdn.example.com/a.jpg"',
    ]);
  });

  test("a byte that is not UTF-8 is found on its line, across chunks", async () => {
    const rows = Array.from({ length: 2000 }, (_, index) => row(`A-${index}`)).join("");
    const bytes = Buffer.concat([Buffer.from(head + rows), Buffer.from([0x43, 0x61, 0x66, 0xe9, 0x2c])]);
    const { problems } = await checkWhole(bytes);
    expect(problems).toEqual([
      {
        line: 2002,
        code: "wrong_encoding",
        message:
          'the file is not UTF-8; add the encoding if its text is right: --encoding windows-1252 ("Café"); or save it as UTF-8',
      },
    ]);
  });

  test("two-, three- and four-byte characters at every chunk border are read", async () => {
    for (const pad of sampled([0, 1, 2, 3], 1)) {
      const name = `${"x".repeat(pad)}${"é€😀".repeat(20)}`;
      const rows = Array.from({ length: 2000 }, (_, index) => `A-${index},${name},${url}\n`).join("");
      expect(await check(head + rows)).toMatchObject({ total: 2000, valid: 2000, problems: [] });
    }
  });
});

describe("limits of a row", () => {
  const images = (count: number) =>
    Array.from({ length: count }, (_, index) => `https://cdn.example.com/${index}.jpg`).join("|");
  test.each([
    ["reference of 100", `${"r".repeat(100)},Dress,${url}`, []],
    ["reference of 101", `${"r".repeat(101)},Dress,${url}`, ["2 reference invalid_row"]],
    ["name of 200", `A,${"n".repeat(200)},${url}`, []],
    ["name of 200 emoji", `A,${"😀".repeat(200)},${url}`, []],
    ["name of 201", `A,${"n".repeat(201)},${url}`, ["2 name invalid_row"]],
    ["20 images", `A,Dress,${images(20)}`, []],
    ["21 images", `A,Dress,${images(21)}`, ["2 images invalid_row"]],
  ])("%s", async (_, line, problems) => {
    expect((await check(`${head}${line}\n`)).problems).toEqual(problems);
  });

  longTest("a field of 70 MB is rejected early", async () => {
    const text = Buffer.concat([Buffer.from(`${head}A-1,"`), Buffer.alloc(70_000_000, "x")]);
    const before = process.memoryUsage().rss;
    const { problems } = await check(text);
    expect(problems).toEqual(["2 record_too_long"]);
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
  });

  longTest("an NDJSON line of 70 MB is one problem, takes no memory, and ends the check", async () => {
    const good = `{"reference":"A","name":"Dress","images":[{"url":"${url}"}]}\n`;
    const long = [Buffer.from('{"reference":"'), Buffer.alloc(70_000_000, "é"), Buffer.from('"}\r\n')];
    const text = Buffer.concat([Buffer.from(good), ...long, Buffer.from(`\n${good}`)]);
    const before = process.memoryUsage().rss;
    const { result, problems } = await checkWhole(text, { name: "a.ndjson" });
    expect(result).toEqual({ total: 1, valid: 1, invalid: 0, unusable: true });
    expect(problems).toEqual([
      {
        line: 2,
        code: "record_too_long",
        message: "line 2 is longer than 1 MiB",
      },
    ]);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  const lengths: readonly [string, string, number, boolean][] = [
    ["1 MiB of letters", "x", 2 ** 20, true],
    ["1 MiB of letters and one more", "x", 2 ** 20 + 1, false],
    ["1 MiB of characters of three bytes", "女", 2 ** 20, true],
    ["one more than 1 MiB of characters of three bytes", "女", 2 ** 20 + 1, false],
  ];
  test.each(repetitions(lengths.slice(0, 2), lengths))(
    "an NDJSON line of %s, including quotes and braces",
    async (_, character, length, isShort) => {
      const own = '{"name":""}'.length;
      const { problems } = await check(`{"name":"${character.repeat(length - own)}"}\n{}\n`, {
        name: "a.ndjson",
      });
      const tooLong = problems.includes("1 record_too_long");
      expect([tooLong, problems.some((problem) => problem.startsWith("2 "))]).toEqual([!isShort, isShort]);
    },
  );
});

describe("NDJSON", () => {
  test("compares references trimmed, as the service keeps them", async () => {
    const row = (reference: string) => line({ reference, name: "Dress", images: [{ url }] });
    expect((await check(row("A-1") + row(" A-1\t"), { name: "a.ndjson" })).problems).toEqual([
      "2 reference duplicate_reference_in_file",
    ]);
  });

  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  test("skips and counts blank lines, and accepts CRLF", async () => {
    const good = JSON.stringify({ reference: "A", name: "Dress", images: [{ url }] });
    expect(await check(`${good}\r\n\r\n{"reference":"B"}\r\n`, { name: "a.jsonl" })).toMatchObject({
      total: 2,
      problems: ["3 name invalid_row", "3 images invalid_row"],
    });
  });

  test("names fields and images by their path", async () => {
    const text = line({
      reference: "A",
      name: "b",
      images: [{ url }, { url, image_id: "x" }, { orientation: "up" }],
    });
    expect((await check(text, { name: "a.ndjson" })).problems).toEqual([
      "1 images[1] invalid_row",
      "1 images[1].image_id invalid_row",
      "1 images[2] invalid_row",
      "1 images[2].orientation invalid_row",
    ]);
  });

  test("reports a field that is unknown once, like a column", async () => {
    const row = { reference: "A", name: "b", nmae: 1, images: [{ url }] };
    expect((await check(line(row) + line(row), { name: "a.ndjson" })).problems).toEqual([
      "1 nmae unknown_column",
    ]);
  });

  const good = JSON.stringify({ reference: "A", name: "Dress", images: [{ url }] });
  test.each([
    ["a list over several lines", `[\n  {\n    "reference": "A"\n  }\n]\n`, 1],
    ["a list of one row", `[\n${good}\n]\n`, 1],
    ["a list with a row a line", `[\n${good},\n${good}\n]\n`, 1],
    ["a list with its first row on its first line", `[${good},\n${good}]`, 1],
    ["a list on one line, without a line end", `[${good},${good}]`, 1],
    ["an object over several lines", `\n{\n  "reference": "A",\n  "name": "Dress"\n}\n`, 2],
    ["a list of rows above rows", `[${good}]\n${good}\n`, 1],
  ])("reports %s as one problem that says how rows are written", async (_, text, line) => {
    const message =
      "the file is a single JSON document: write one object per line (NDJSON), without brackets or commas between them";
    expect(await checkWhole(text, { name: "a.ndjson" })).toEqual({
      result: { total: 0, valid: 0, invalid: 0, unusable: true },
      problems: [{ line, code: "wrong_format", message }],
    });
  });

  test.each([
    ["a first line that is cut", `{"reference":"A",\n${good}\n`, ["1 invalid_json"]],
    ["rows with a comma behind them", `${good},\n${good},\n`, ["1 invalid_json", "2 invalid_json"]],
    ["a list among rows", `${good}\n[${good}]\n`, ["2 invalid_row"]],
  ])("does not treat %s as a document, and reports its lines", async (_, text, problems) => {
    expect(await check(text, { name: "a.ndjson" })).toMatchObject({ unusable: false, problems });
  });

  test.each([
    ["rows", `${good}\n${good}\n`],
    ["a row, pretty", `{\n  "reference": "A"\n}\n`],
    ["a list", ` [\n ${good} ]\n`],
    ["empty rows", "{}\n"],
  ])("JSON under another extension is recognized: %s", async (_, text) => {
    expect(await checkWhole(text, { name: "a.txt" })).toEqual({
      result: { total: 0, valid: 0, invalid: 0, unusable: true },
      problems: [
        {
          line: 1,
          code: "wrong_format",
          message: "looks like JSON, not CSV: if each line is an object (NDJSON), add --format ndjson",
        },
      ],
    });
  });

  test("a header that starts with a brace is not JSON", async () => {
    const text = `{id},name,images\nA,Dress,${url}\n`;
    expect(await check(text, { map: { "{id}": "reference" } })).toMatchObject({ valid: 1, problems: [] });
  });
});
