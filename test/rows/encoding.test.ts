import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { deflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEncoder } from "../../src/flows/outputs/encoded-file.ts";
import { checkEncodingName } from "../../src/flows/rows/encoding.ts";
import { findEncodings } from "../../src/flows/rows/find-encodings.ts";
import { UnreadableInput } from "../../src/flows/rows/problem.ts";
import { utf8Chunks } from "../../src/flows/rows/text.ts";
import { atTerminal } from "../support/at-terminal.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

/** Names of products in code pages, as Python writes them (inputs/encoding/make.py). */
interface Written {
  readonly codepage: string;
  /** Null where no browser reads it. */
  readonly encoding: string | null;
  readonly language: string;
  readonly names: number;
  /** A CSV file, in base64. */
  readonly bytes: string;
}

const corpus = readFileSync(new URL("inputs/encoding/corpus.ndjson", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): Written => JSON.parse(line));
const lengths = [1, 2, 5, 15, 40];

async function problemOf(bytes: Uint8Array): Promise<UnreadableInput> {
  try {
    for await (const _ of utf8Chunks(Readable.from([Buffer.from(bytes)]), undefined));
  } catch (error) {
    if (error instanceof UnreadableInput) return error;
    throw error;
  }
  throw new Error("it is read");
}

const decoded = (encoding: string, bytes: Uint8Array) =>
  new TextDecoder(encoding).decode(bytes, { stream: true });

/** What the message of a file says: the right encoding, another one, or several to choose from. */
async function adviceAbout({ encoding, bytes }: Written) {
  const file = Buffer.from(bytes, "base64");
  const { problem, encodings } = await problemOf(file);
  const isRight = (name: string) => encoding !== null && decoded(name, file) === decoded(encoding, file);
  const names = [...problem.message.matchAll(/--encoding ([\w-]+)/g)].map(([, name]) => name!);
  if (names.length === 0) return "unknown";
  expect(encodings!.isSure).toBe(problem.message.includes("it looks like"));
  if (encodings!.isSure) return isRight(names[0]!) ? "sure" : "wrong";
  return names.some(isRight) ? "listed" : "not listed";
}

/** A file with its names in capitals; none in languages that have none. */
function inCapitals(file: Written): Written[] {
  if (file.encoding === null || /^(?:gbk|big5|shift_jis|euc)/.test(file.encoding)) return [];
  const text = decoded(file.encoding, Buffer.from(file.bytes, "base64"));
  const capitals = text.replace(/,[^,]*\P{ASCII}[^,]*,/gu, (cell) => cell.toUpperCase());
  if (capitals === text) return [];
  const bytes = createEncoder(file.encoding, () => "")(capitals);
  return bytes.every((byte) => byte < 128) ? [] : [{ ...file, bytes: bytes.toString("base64") }];
}

async function counts(files: readonly Written[]) {
  const count: Record<string, number> = {};
  for (const file of files) {
    const advice = await adviceAbout(file);
    count[advice] = (count[advice] ?? 0) + 1;
  }
  return count;
}

describe("in 31 code pages, a file that is not UTF-8", () => {
  test("is of at least 20 code pages and of 5 lengths each", () => {
    expect(new Set(corpus.map(({ codepage }) => codepage)).size).toBe(31);
    for (const names of lengths) expect(corpus.filter((file) => file.names === names)).toHaveLength(57);
  });

  test.each(
    sampled(
      [
        [1, { listed: 45 }],
        [2, { sure: 18, listed: 27 }],
        [5, { sure: 17, listed: 28 }],
        [15, { sure: 34, listed: 11 }],
        [40, { sure: 37, listed: 8 }],
      ],
      1,
    ),
  )(
    "of %d names gets its encoding alone, or among three, and never another one alone",
    async (names, expected) => {
      const files = corpus.filter((file) => file.names === names && file.encoding !== null);
      expect(await counts(files)).toEqual(expected);
    },
  );

  test.each(
    sampled(
      [
        [1, { listed: 35 }],
        [2, { sure: 9, listed: 27 }],
        [5, { sure: 8, listed: 28 }],
        [15, { sure: 20, listed: 16 }],
        [40, { sure: 26, listed: 10 }],
      ],
      1,
    ),
  )("of %d names in capitals does too", async (names, expected) => {
    const files = corpus.filter((file) => file.names === names).flatMap(inCapitals);
    expect(await counts(files)).toEqual(expected);
  });

  longTest("is never recommended an encoding if no browser reads its own", async () => {
    const count = await counts(corpus.filter(({ encoding }) => encoding === null));
    expect(count).not.toHaveProperty("wrong");
    expect(count.unknown).toBeGreaterThan(10);
  });
});

const photo = "https://cdn.example.com/a.jpg";
const latin1 = (text: string) => Buffer.from(text, "latin1");
const row = (name: string | Buffer) =>
  Buffer.concat([
    latin1(`reference,name,image_front\r\nA,`),
    Buffer.from(name as string),
    latin1(`,${photo}\r\n`),
  ]);
const written = (codepage: string, language: string, names = 2) =>
  Buffer.from(
    corpus.find((file) => file.codepage === codepage && file.language === language && file.names === names)!
      .bytes,
    "base64",
  );
const rightText = "add the encoding whose text is right";

describe("says what to do about", () => {
  test.each<[string, Buffer, number, string]>([
    [
      "Polish",
      row(latin1("Sukienka \xbf\xf3\xb3ta d\xb3uga")),
      2,
      `${rightText}: --encoding windows-1250 ("Sukienka żółta długa"), --encoding windows-1252 ("Sukienka ¿ó³ta d³uga"), --encoding windows-1257 ("Sukienka æó³ta d³uga"); or save it as UTF-8`,
    ],
    [
      "Turkish",
      row(latin1("\xddpek g\xf6mlek \xfe\xfdk")),
      2,
      `${rightText}: --encoding windows-1254 ("İpek gömlek şık"), --encoding windows-1252 ("Ýpek gömlek þýk"), --encoding windows-1250 ("Ýpek gömlek ţýk"); or save it as UTF-8`,
    ],
    [
      "one French name",
      row(latin1("Robe d\x92\xe9t\xe9")),
      2,
      'add the encoding if its text is right: --encoding windows-1252 ("Robe d’été"); or save it as UTF-8',
    ],
    ["Korean", written("cp949", "ko"), 2, 'it looks like EUC-KR ("'],
    ["Japanese", written("shift_jis", "ja"), 2, 'it looks like Shift_JIS ("'],
    ["German lists", written("cp1252", "de", 40), 2, 'it looks like Windows-1252 ("'],
    ["lists of MS-DOS", written("cp850", "de", 40), 2, "its encoding is unknown"],
    [
      "Swedish capitals of MS-DOS",
      row(latin1("\x8fS\x99 SV\x8eRD TR\x99JA, GR\x99N H\x99ST")),
      2,
      "its encoding is unknown",
    ],
    ["Spanish of MS-DOS", row(latin1("Algod\xa2n espa\xa4ol camis\xa2n")), 2, "its encoding is unknown"],
    [
      "Korean with a syllable of Windows alone",
      row(latin1("\x8cc\xb9\xe6\xb0\xa2\xc7\xcf \xbf\xa9\xb8\xa7 \xbf\xf8\xc7\xc7\xbd\xba")),
      2,
      "its encoding is unknown",
    ],
    ["Greek of a Mac", written("mac_greek", "el", 40), 2, "its encoding is unknown"],
    [
      "Japanese of seven bits",
      row(latin1("\x1b$B%7%k%/\x1b(B T-Shirt")),
      2,
      'it looks like ISO-2022-JP ("シルク T-Shirt"): add --encoding iso-2022-jp, or save it as UTF-8',
    ],
    ["Korean of seven bits", row(latin1("\x1b$)C\x0e=GE)\x0f")), 2, "its encoding is unknown"],
    [
      "lines that end as on old Macs",
      latin1("a,b\rc,d\rA,Gr\x9an\r"),
      3,
      `${rightText}: --encoding macintosh ("Grön")`,
    ],
  ])("%s", async (_, file, line, advice) => {
    const { problem } = await problemOf(file);
    expect([problem.line, problem.code]).toEqual([line, "wrong_encoding"]);
    expect(problem.message).toContain(`the file is not UTF-8; ${advice}`);
  });

  test.each<[string, Buffer, number]>([
    ["UTF-8, then Windows-1252", Buffer.concat([Buffer.from("a\nÉté\n"), latin1("\xc9t\xe9\n")]), 3],
    ["Windows-1252, then UTF-8", Buffer.concat([latin1("a\n\xc9t\xe9\n"), Buffer.from("Été\n")]), 2],
    ["both in one line", Buffer.concat([latin1("a\n\xc9t\xe9,"), Buffer.from("Été\n")]), 2],
    ["UTF-8, then Windows-1251", Buffer.concat([Buffer.from("a\nЮбка\n"), latin1("\xde\xe1\xea\xe0\n")]), 3],
    ["GBK, then UTF-8", Buffer.concat([written("gbk", "zh"), Buffer.from("连衣裙\n")]), 2],
  ])("files of two programs, with no encoding: %s", async (_, file, line) => {
    const { problem } = await problemOf(file);
    expect([problem.line, problem.code]).toEqual([line, "wrong_encoding"]);
    expect(problem.message).toMatch(
      /^text is not UTF-8 here \(".*"\), but in other places: save the complete file as UTF-8$/,
    );
  });
});

describe("a sheet of Windows-1252 with one foreign letter or signs alone", () => {
  /** The encodings to choose from, for a name and for 40 of it. */
  const choices = (name: string) =>
    [1, 40].map((count) => {
      const { names, isSure, shownAs } = findEncodings(latin1(`${name}\n`.repeat(count)));
      return isSure ? "sure" : names.map((encoding) => `${encoding} ${shownAs(encoding)}`);
    });

  test.each([
    ["Women\x92s tee", "Women’s tee"],
    ["Tee 20 \x80", "Tee 20 €"],
    ["30\xb0 wash", "30° wash"],
    ["\xa7 5", "§ 5"],
    ["Coolmax\x99 tee", "Coolmax™ tee"],
    ["Tee \x96 red", "Tee – red"],
    ["Gore-Tex\xae Jacket", "Gore-Tex® Jacket"],
    ["\xa9 Disney tee", "© Disney tee"],
    ["\xa9Disney tee", "©Disney tee"],
    ["\x95Cotton", "•Cotton"],
    ["At 30 \xb0C", "At 30 °C"],
    ["5 \xb5m", "5 µm"],
    ["10cm\xd720cm", "10cm×20cm"],
    ["N\xba 5", "Nº 5"],
    ["Chino \xbd price", "Chino ½ price"],
    ["Women\x92s Coolmax\x99 30\xb0 5\x80 \xa7 5", "Women’s Coolmax™ 30°"],
    ["Women\x92s Coolmax\x99", "Women’s Coolmax™"],
    ["R\xd6CKE", "RÖCKE"],
    ["BA\xd1ADOR", "BAÑADOR"],
    ["\xd6KO", "ÖKO"],
    ["Stra\xdfe", "Straße"],
    ["Ma\xdf: 2\xd73 m", "Maß: 2×3 m"],
    ["Pok\xe9mon\x99 tee", "Pokémon™ tee"],
  ])("%j: Windows-1252 is the first of the candidates", (name, text) => {
    for (const candidates of choices(name)) expect(candidates[0]).toBe(`windows-1252 ${text}`);
  });

  test.each([
    ["NI\xd1O", "NIÑO"],
    ["\xd8 5 cm", "Ø 5 cm"],
  ])("%j: Windows-1252 is one of the candidates", (name, text) => {
    for (const candidates of choices(name)) expect(candidates).toContain(`windows-1252 ${text}`);
  });

  test.each(["caf\xe9", "caf\xe9 na\xefve"])("many signs, and %j: no other encoding is sure", (letters) => {
    const signs = "Women\x92s Coolmax\x99 tee 5\x80\n".repeat(20);
    const { names, isSure } = findEncodings(latin1(signs + letters));
    expect([isSure && names[0] !== "windows-1252", names.includes("windows-1252")]).toEqual([false, true]);
  });

  /** Of its letters, Windows-1250 has all but ñ. */
  test("of Spanish names no other encoding is sure", () => {
    const names =
      "Ángela Tobías Sofía Óscar Isaías Concepción Verónica Raúl Simón Iván Julián Álvaro Begoña Inés Héctor Íñigo Asunción César Martín Benjamín Belén Andrés Germán Lucía";
    const found = findEncodings(latin1(names.replaceAll(" ", "\n")));
    expect([found.isSure, found.names.includes("windows-1252")]).toEqual([false, true]);
  });

  test("two letters make it sure", () => {
    expect(choices("Stra\xdfe in M\xfcnchen, 5\x80")).toEqual([
      ["windows-1252 Straße in München", "windows-1256 Straكe in München"],
      "sure",
    ]);
  });
});

describe("a file that is not text gets no encoding as advice", () => {
  const notText = "the file is not text: choose a CSV or NDJSON file, or a workbook";

  test.each<[string, Uint8Array]>([
    ["compressed rows", deflateSync("reference,name\n".repeat(40))],
    ["a picture after a line of text", Buffer.concat([latin1("a,b\n\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01")])],
    ["a database", latin1(`SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20\0\xff`)],
  ])("%s", async (_, bytes) => {
    expect((await problemOf(bytes)).problem).toMatchObject({ code: "invalid_file", message: notText });
  });

  test("random bytes", async () => {
    const bytes = fc.uint8Array({ minLength: 256, maxLength: 4096 });
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        const random = Buffer.from(content);
        const { problem, encodings } = await problemOf(Buffer.concat([latin1("\xff\x80"), random]));
        expect([problem.message, encodings]).toEqual([notText, undefined]);
      }),
    );
  });

  test.each<[string, Buffer, string]>([
    ["a NUL byte in a text", latin1("a,b\nc\0,d\n"), "save it as UTF-8"],
    ["UTF-32", Buffer.from("fffe00006100000062000000", "hex"), "save it as UTF-8"],
    [
      "Cyrillic UTF-16",
      Buffer.from("Артикул;Название\nА;Юбка\n", "utf16le"),
      "for UTF-16, use --encoding utf-16le",
    ],
  ])("%s is named", async (_, file, advice) => {
    const { problem } = await problemOf(file);
    expect(problem.message).toBe(`contains a NUL byte, so it is not plain text: ${advice}`);
  });
});

test("no encoding of MS-DOS is known by a name", () => {
  for (const name of ["cp437", "cp850", "cp852"])
    expect(() => checkEncodingName(name)).toThrow("unknown encoding");
});

describe("on a terminal", () => {
  const polish = row(latin1("Sukienka \xbf\xf3\xb3ta"));

  test("the text is chosen among the candidates before anything else is asked", async () => {
    const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
    world.write("shop.csv", polish);
    const run = atTerminal(world, "import shop.csv --no-progress", { stdin: true, stderr: true });
    await run.type("Which text of shop.csv is right?", "\r");
    await run.type('The file as Windows-1250 ("Sukienka żółta")', "\r");
    expect((await run.ran).exit, run.screen()).toBe(0);
    expect(world.products().map(({ name }) => name)).toEqual(["Sukienka żółta"]);
  });

  test("a file whose text is right in none of them is refused with its line", async () => {
    const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
    world.write("shop.csv", polish);
    const run = atTerminal(world, "import shop.csv --no-progress", { stdin: true, stderr: true });
    await run.type("Which text of shop.csv is right?", "\x1b[B", "\x1b[B", "\x1b[B", "\r");
    expect((await run.ran).exit, run.screen()).toBe(3);
    expect(run.screen()).toContain("the file is not UTF-8; add the encoding whose text is right");
    expect(world.products()).toEqual([]);
  });
});

test("a file that old Macs saved is imported with its encoding", async () => {
  const world = await createWorld({ mock: {} });
  world.write("mac.csv", latin1(`reference,name,images\rA,Gr\x9fn,${photo}\rB,Caf\x8e,${photo}\r`));
  expect((await world.cat("import mac.csv --encoding macintosh")).exit).toBe(0);
  expect(world.products().map(({ name }) => name)).toEqual(["Grün", "Café"]);
});

test("the encoding of earlier files is not that of a file that is clearly in another one", async () => {
  const world = await createWorld({ mock: {} });
  world.write(".home/config.json", JSON.stringify({ profiles: { default: { encoding: "windows-1252" } } }));
  world.write("lists.csv", written("cp1251", "uk", 40));
  const ran = await world.cat("import lists.csv --dry-run");
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain("it looks like Windows-1251");
  world.write("lists.csv", written("cp1252", "de", 40));
  expect((await world.cat("import lists.csv --dry-run")).stderr).toContain("read as Windows-1252");
});
