import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { damageOf, type JudgedField, meantReference } from "../../src/flows/rows/damage.ts";
import { atTerminal } from "../support/at-terminal.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions, sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

const inputs = fileURLToPath(new URL("./inputs/damage", import.meta.url));
const photo = (at: number) => `https://cdn.example.com/${at}.jpg`;

async function worldWith(references: readonly string[] = []) {
  const world = await createWorld({ mock: { rateLimit: false } });
  cpSync(inputs, `${world.folder}/in`, { recursive: true });
  const write = (name: string, rows: readonly string[]) =>
    world.write(
      name,
      ["reference,name,image_front", ...rows.map((row, at) => `${row},${photo(at)}`)].join("\n"),
    );
  if (references.length > 0) {
    write(
      "known.csv",
      references.map((reference) => `${reference},Known ${reference}`),
    );
    expect((await world.cat("import known.csv --codes-as-written --no-progress")).exit).toBe(0);
  }
  const named = () => world.products().map(({ reference, name }) => `${reference} ${name}`);
  return { ...world, writeRows: write, named };
}

/** The code of what is found in a field; null if it is sound. */
const codeOf = (field: JudgedField, text: string): string | null => {
  const damage = damageOf(field, text);
  return damage?.problem?.code ?? damage?.note?.code ?? null;
};

describe("the shape of a text alone says what a program has made of it", () => {
  test.each<[text: string, inReference: string | null, inName: string | null]>([
    ["4.01E+12", "lost_digits", "formatted_number"],
    ["1,23457E+12", "lost_digits", "formatted_number"],
    ["1E+06", "lost_digits", "formatted_number"],
    ["4.00638e+12", "lost_digits", "formatted_number"],
    ["4.006381333931E12", "lost_digits", "formatted_number"],
    ["1.5E-07", "lost_digits", "formatted_number"],
    ["Cafï¿½", "lost_characters", "lost_characters"],
    ["Hat \ud83d", "lost_characters", "lost_characters"],
    ["Hat 😀", null, null],
    ["01-ene", "date_like", "date_like"],
    ["dic-26", "date_like", "date_like"],
    ["3-lug", "date_like", "date_like"],
    ["12/fev", "date_like", "date_like"],
    ["1e6", null, null],
    ["1E5", null, null],
    ["4E-12", null, null],
    ["#N/A", "error_text", "error_text"],
    ["#NV", "error_text", "error_text"],
    ["#WERT!", "error_text", "error_text"],
    ["#¡VALOR!", "error_text", "error_text"],
    ["#ССЫЛКА!", "error_text", "error_text"],
    ["#DIV/0!", "error_text", "error_text"],
    ["Err:508", "error_text", "error_text"],
    [" #REF! ", "error_text", "error_text"],
    ["#LOVE!", null, null],
    ["#12", null, null],
    ["########", "narrow_column", "narrow_column"],
    ["##-1", null, null],
    ["Caf\ufffd", "lost_characters", "lost_characters"],
    ["01.Mrz", "date_like", "date_like"],
    ["1-Mar", "date_like", "date_like"],
    ["Mar-45", "date_like", "date_like"],
    ["12-déc-26", "date_like", "date_like"],
    ["01-MAR-2026", "date_like", "date_like"],
    ["2026-03-01 00:00:00", "date_like", "date_like"],
    ["3/1/26", "date_like", "date_like"],
    ["01.03.2026", "date_like", "date_like"],
    ["3月1日", "date_like", "date_like"],
    ["MAR-1", null, null],
    ["1-MAR", null, null],
    ["2-Set", null, null],
    ["10-12-24", null, null],
    ["32.03.2026", null, null],
    ["99.99.2026", null, null],
    ["2026-13-45", null, null],
    ["1,001", "formatted_number", null],
    ["4.006.381.333.931", "formatted_number", null],
    ["4\u202f006\u202f381", "formatted_number", null],
    ["1’001", "formatted_number", null],
    ["1.001", "decimal", null],
    ["12,34", "decimal", null],
    ["1001.0", "whole_decimal", null],
    ["1001,00", "whole_decimal", null],
    ["'1002", "leading_apostrophe", null],
    ["undefined", "empty_word", "empty_word"],
    ["(null)", "empty_word", "empty_word"],
    ["<NA>", "empty_word", "empty_word"],
    ["\\N", "empty_word", "empty_word"],
    ["[object Object]", "empty_word", "empty_word"],
    ["undefined-M", "empty_word", "empty_word"],
    ["null-42", "empty_word", null],
    ["NaN", "empty_word", "empty_word"],
    ["banana", null, null],
    ["Nan Goldin shirt", null, null],
    ["None of us", null, null],
    ["CafÃ© crÃ¨me", "double_encoded", "double_encoded"],
    ["itâ€™s", "double_encoded", "double_encoded"],
    ["Caf√© noir", "double_encoded", "double_encoded"],
    ["Gr├╝n", "double_encoded", "double_encoded"],
    ["ÐŸÐ»Ð°", "double_encoded", "double_encoded"],
    ["1,234.00", "formatted_number", null],
    ["1.234,00", "formatted_number", null],
    ["1\u00a0234,50", "formatted_number", null],
    ["1.234,5.6", null, null],
    ["#REF", "error_text", "error_text"],
    ["#VALUE", "error_text", "error_text"],
    ["#DIV/0", "error_text", "error_text"],
    ["#WERT", "error_text", "error_text"],
    ["#value", null, null],
    ...["#NEDOSTUPNÝ", "#DELENIENULOU!", "#NÁZOV?", "#N/V", "#VREDN!", "#SKLIC!", "#ΤΙΜΗ!", "#ΑΝΑΦ!"].map(
      (text): [string, string, string] => [text, "error_text", "error_text"],
    ),
    ...["#Δ/Υ", "#VRIJ!", "#ДІЛ/0!", "#PUUDUB", "#ЗНАЧЕННЯ/0!"].map((text): [string, string, string] => [
      text,
      "error_text",
      "error_text",
    ]),
    ["#Wow!", null, null],
    ["#A-1!", null, null],
    ["#NAME", null, null],
    ["1-Oca", "date_like", "date_like"],
    ["1-Şub", "date_like", "date_like"],
    ["03-paź", "date_like", "date_like"],
    ["1-sie", "date_like", "date_like"],
    ["3-říj", "date_like", "date_like"],
    ["Lip-45", "date_like", "date_like"],
    ["LIP-45", null, null],
    ["01. Mrz", "date_like", "date_like"],
    ["8 mars", "date_like", null],
    ["14 July", "date_like", null],
    ["May 68", "date_like", null],
    ["1. Mai", "date_like", null],
    ["3月", "date_like", null],
    ["Mai", null, null],
    ["undefined beauty", "empty_word", null],
    ["Undefined Beauty", null, null],
    ["Shirt undefined", "empty_word", "empty_word"],
    ["Sun Mar 01 2026 00:00:00 GMT+0000", "date_like", "date_like"],
    ["Váº£i lanh", "double_encoded", "double_encoded"],
    ["Giáº§y da", "double_encoded", "double_encoded"],
    ["áºž", "double_encoded", "double_encoded"],
    ["РџР»Р°С‚СЊРµ", "double_encoded", "double_encoded"],
    ["Ĺˇaty", "double_encoded", "double_encoded"],
    ["Ă©tĂ©", "double_encoded", "double_encoded"],
    ["cafГ©", "double_encoded", "double_encoded"],
    ["ï»¿S-3", "double_encoded", "double_encoded"],
    ["п»їS-3", "double_encoded", "double_encoded"],
    ["ðŸ‘—", "double_encoded", "double_encoded"],
    ["AIRÂ®", "double_encoded", "double_encoded"],
    ["Ã–sterreich", "double_encoded", "double_encoded"],
    ["√ñsterreich", "double_encoded", "double_encoded"],
    ["Citt\u00c3\u00a0", "double_encoded", "double_encoded"],
    ["Citt\u00c3", "double_encoded", "double_encoded"],
    ["Manteau de l\u00e3", null, null],
    ["Citt\u0102\u00a0", "double_encoded", "double_encoded"],
    ["Citt\u0413\u00a0", "double_encoded", "double_encoded"],
    ["Citt\u0393\u00a0", "double_encoded", "double_encoded"],
    ["Citt\u0106\u00a0 ", "double_encoded", "double_encoded"],
    ["Robe \u00c3\u00a0 fleurs", "double_encoded", "double_encoded"],
    ["\u00c3\u00a0 fleurs", "double_encoded", "double_encoded"],
    ["Robe \u0102\u00a0 fleurs", "double_encoded", "double_encoded"],
    ["Robe \u0106\u00a0 fleurs", "double_encoded", "double_encoded"],
    ["Taille 36 \u0413\u00a0 42", "double_encoded", "double_encoded"],
    ["Robe \u0393\u00a0 fleurs", "double_encoded", "double_encoded"],
    ["Robe \u00c2\u00a0rouge", "double_encoded", "double_encoded"],
    ["SACO DE L\u00c3\u00a0", null, null],
    ["L\u00c3\u00a0SEDA", null, null],
    ["L\u00c3\u00a0 SEDA", null, null],
    ["Schal\u00a0", null, null],
    ["Тип \u0413\u00a0", null, null],
    ["Тип \u0413\u00a0 XL", null, null],
    ["\u0412\u00a0клетку", null, null],
    ["BLÅ–HVIT genser", null, null],
    ["GRÅ–SVART", null, null],
    ["Saco LÃ–SEDA", null, null],
    ["“BLÅ”. Str. M", null, null],
    ["IRMÃ’S", null, null],
    ["Ä–Ü Alphabet", null, null],
    ["СІРІ ШТАНИ", null, null],
    ["Гёте", null, null],
    ["ПЛЕД Д№5", null, null],
    ["MĂŞTI", null, null],
    ["Ăştia", null, null],
    ["PAMÄŤOVÁ PENA", null, null],
    ["«no está»…", null, null],
    ["Schwarz–Öl", null, null],
    ["CASACO DE LÃ”", null, null],
    ["«CAFÉ»", null, null],
    ["SÃO PAULO", null, null],
    ["-", null, null],
    ["TRUE", null, null],
    ["__proto__", null, null],
    ["1000000-Red", null, null],
    ["Maxi dress 2", null, null],
    ["Caf? cr?me", null, null],
  ])("%j as a reference: %s, as a name: %s", (text, inReference, inName) => {
    expect([codeOf("reference", text), codeOf("name", text)]).toEqual([inReference, inName]);
  });

  test("codes and names of shops are sound", () => {
    const part = fc.stringMatching(/^[A-Z]{2,6}$/);
    const code = fc.oneof(
      fc.tuple(part, fc.integer({ min: 0, max: 99_999 })).map(([letters, number]) => `${letters}-${number}`),
      fc.stringMatching(/^\d{4,14}$/),
      fc.tuple(fc.integer({ min: 100, max: 99_999 }), part).map(([number, color]) => `${number}-${color}`),
    );
    const word = fc.constantFrom(
      "Kleid",
      "grün",
      "robe",
      "d’été",
      "Größe",
      "camisa",
      "años",
      "LÃ",
      "платье",
      "緑",
      "5",
      "–",
      "„Ö“",
    );
    const name = fc.array(word, { minLength: 2, maxLength: 5 }).map((words) => `Shop ${words.join(" ")}`);
    fc.assert(
      fc.property(code, name, (reference, title) => {
        expect([codeOf("reference", reference), codeOf("name", title), codeOf("description", title)]).toEqual(
          [null, null, null],
        );
      }),
      { numRuns: repetitions(300, 5_000) },
    );
  });

  test("digits that may be a code name the flag that reads it", () => {
    const lost =
      "a number without its other digits: import the original workbook itself, or save it as CSV again with the column as Number without decimals";
    expect(["4.7E3", "4.7E+3"].map((text) => damageOf("reference", text)?.problem?.message)).toEqual([
      `reference is 4.7E3, ${lost}; for codes like that, add --codes-as-written`,
      `reference is 4.7E+3, ${lost}`,
    ]);
  });

  test("letters that were encoded twice are found wherever they are, and never once", () => {
    const letter = fc.constantFrom(..."éèêàçñöüßåøłčşğ€–’");
    const text = fc.array(fc.oneof(letter, fc.constantFrom(..."abc de1-")), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, letter, (letters, one) => {
        const once = `x${letters.join("")}${one}x`;
        // Some programs take Windows-1252 for ISO 8859-1.
        const twice = new TextDecoder("windows-1252").decode(Buffer.from(once), { stream: true });
        const latin = Buffer.from(once).toString("latin1");
        expect([once, twice, latin].map((text) => codeOf("name", text))).toEqual([
          null,
          "double_encoded",
          "double_encoded",
        ]);
      }),
      { numRuns: repetitions(300, 5_000) },
    );
  });
});

describe("names of countries, languages and currencies", () => {
  const locales =
    "de fr es pt it nl sv nb da fi is et lv lt pl cs sk hu ro hr sl tr az vi ru uk be bg sr mk el he ar fa ur ps hi bn pa gu ta te kn ml si th lo km am ja zh ko ka hy".split(
      " ",
    );
  const pairs = Array.from({ length: 676 }, (_, at) =>
    String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26)),
  );
  const namesIn = (locale: string, type: "region" | "language" | "currency"): string[] => {
    const names = new Intl.DisplayNames(locale, { type, fallback: "none" });
    const codes = type === "currency" ? Intl.supportedValuesOf("currency") : pairs;
    return codes.flatMap((code) => names.of(type === "language" ? code.toLowerCase() : code) ?? []);
  };
  const isDouble = (text: string) => codeOf("name", text) === "double_encoded";

  test.each(sampled(locales, 3))("are sound in %s, also in capitals and next to signs", (locale) => {
    const names = (["region", "language", "currency"] as const).flatMap((type) => namesIn(locale, type));
    expect(names.length).toBeGreaterThan(300);
    const written = (word: string) => [
      word,
      `“${word}”`,
      `»${word}«`,
      `„${word}“`,
      `${word}™`,
      `${word}…`,
      `${word}–${word}`,
      `${word}’S`,
    ];
    const words = [...names, ...names.flatMap((name) => name.split(" "))];
    const sound = words.flatMap((word) => [word, word.toLocaleUpperCase(locale)].flatMap(written));
    expect(sound.filter(isDouble)).toEqual([]);
  });

  test.each(
    sampled(
      [
        "windows-1252",
        "windows-1250",
        "windows-1251",
        "windows-1253",
        "windows-1254",
        "windows-1257",
      ].flatMap((codePage) =>
        "de fr cs pl ru uk sr mk el tr zh ur bn ta te gu kn ml pa si lo km am"
          .split(" ")
          .map((locale) => [codePage, locale] as const),
      ),
      6,
    ),
  )("are found if their UTF-8 was read as %s: %s", (codePage, locale) => {
    const names = namesIn(locale, "region").filter((name) => /[^\x00-\x7f]/.test(name));
    const twice = names
      .map((name) => new TextDecoder(codePage).decode(Buffer.from(name), { stream: true }))
      .filter((text) => !text.includes("\ufffd"));
    const found = twice.filter(isDouble).length;
    expect(found / twice.length, twice.filter((text) => !isDouble(text)).join()).toBeGreaterThan(0.97);
  });
});

interface Expected {
  /** The problems as `LINE FIELD CODE`. */
  readonly problems?: readonly string[];
  /** The notes as `CODE COUNT@FIRST`. */
  readonly notes?: readonly string[];
  /** What is imported, where nothing is a problem. */
  readonly products?: readonly string[];
}

describe("files of other programs", () => {
  test.each<[file: string, expected: Expected]>(
    sampled(
      [
        ["gap.csv", { notes: ["whole_decimal 2@2"], products: ["1001.0 Item 1", "1003.0 Item 3"] }],
        [
          "mixed.csv",
          { notes: ["whole_decimal 2@2"], products: ["1001.0 Item 1", "A-12 Item 2", "1003.0 Item 3"] },
        ],
        ["versions.csv", { products: ["1.0 First", "1.1 Second", "2.0 Third", "2.1 Fourth"] }],
        ["eans.csv", { problems: ["2 reference lost_digits", "3 reference lost_digits"] }],
        [
          "missing.csv",
          { notes: ["empty_word 4@2"], products: ["V-1 nan", "V-2 None", "V-3 <NA>", "V-4 NaT"] },
        ],
        ["dates.csv", { notes: ["date_like 2@2"], products: ["2026-03-01 Item 1", "2026-12-05 Item 2"] }],
        ["formula-texts.csv", { products: ["00123 Belt", '4006381333931 5" heel', "=00124 Hat"] }],
        ["formula-texts-bare.csv", { products: ["00123 Belt", '4006381333931 5" heel'] }],
        ["replaced.csv", { problems: ["2 name lost_characters"] }],
        [
          "encoded-twice.csv",
          {
            notes: ["double_encoded 4@2"],
            products: [
              "M-1 CafÃ© crÃ¨me",
              "M-2 Caf√© cr√®me",
              "M-3 Caf├® cr├¿me",
              "M-4 ÐŸÐ»Ð°Ñ‚ÑŒÐµ Ð»ÐµÑ‚Ð½ÐµÐµ",
              "M-5 Café crème",
              "M-6 Платье летнее",
            ],
          },
        ],
        [
          "script.ndjson",
          { problems: ["7 reference lost_digits"], notes: ["empty_word 6@1", "date_like 1@6"] },
        ],
        [
          "cells.xlsx",
          {
            problems: [
              "2 reference lost_digits",
              "3 reference error_text",
              "4 reference narrow_column",
              "9 name error_text",
              "9 reference shown_differently",
            ],
            notes: ["date_like 1@5", "whole_decimal 1@6", "formatted_number 1@7"],
          },
        ],
      ],
      3,
    ),
  )("%s", async (file, { problems = [], notes = [], products }) => {
    const world = await worldWith();
    const report = JSON.parse((await world.cat(`import in/${file} --dry-run --json`)).stdout);
    type Found = { line: number; param: string; code: string; count: number };
    expect({
      problems: report.problems.map(({ line, param, code }: Found) => `${line} ${param} ${code}`),
      notes: (report.notes ?? []).map(({ code, count, line }: Found) => `${code} ${count}@${line}`),
    }).toEqual({ problems, notes });
    const ran = await world.cat(`import in/${file} --no-progress`);
    expect([ran.exit, world.named()]).toEqual(products === undefined ? [3, []] : [0, products]);
  });
});

describe("names and descriptions", () => {
  const advice = "Correct them.";

  test("get no advice for references, and no question", async () => {
    const world = await worldWith();
    world.writeRows("a.csv", ["A-1,1-Mar", "A-2,None"]);
    const terminal = atTerminal(world, "import a.csv --quiet");
    expect((await terminal.ran).exit).toBe(0);
    const { notes } = JSON.parse((await world.cat("import a.csv --dry-run --json")).stdout);
    expect(notes.map(({ message }: { message: string }) => message)).toEqual([
      `1 value looks like a date ("1-Mar"): a spreadsheet may have changed what was typed, such as MAR-1. ${advice}`,
      `1 value is what programs write for a missing value ("None"). ${advice}`,
    ]);
  });

  test("share the note and its question with a reference", async () => {
    const world = await worldWith();
    world.writeRows("a.csv", ["A-1,1-Mar", "2-Mar,Hat"]);
    const { notes } = JSON.parse((await world.cat("import a.csv --dry-run --json")).stdout);
    expect(notes).toMatchObject([
      { code: "date_like", count: 2, message: expect.stringContaining("--codes-as-written") },
    ]);
    const written = await world.cat("import a.csv --dry-run --codes-as-written --json");
    expect(JSON.parse(written.stdout).notes).toMatchObject([
      { code: "date_like", count: 1, message: expect.stringMatching(/Correct them\.$/) },
    ]);
  });
});

test.each([
  ["1001.0", "1001"],
  ["1.000", null],
  ["12,000", "12000"],
  ["1,234.00", "1234"],
  ["1.234,00", "1234"],
  ["1,234.50", null],
  ["4.006.381", "4006381"],
  ["'1003", "1003"],
  ["A-1", null],
])("%s probably means %s", (reference, meant) => {
  expect(meantReference(reference)).toBe(meant);
});

test("two references whose digits are lost are no duplicates, and no row is given up for them", async () => {
  const world = await worldWith();
  world.writeRows("a.csv", ["4.01E+12,Belt", "4.01E+12,Hat", "1-Mar,Scarf", "1-Mar,Shoe"]);
  const { stderr } = await world.cat("import a.csv --no-progress");
  const lost =
    "reference is 4.01E+12, a number without its other digits: import the original workbook itself, or save it as CSV again with the column as Number without decimals";
  expect(stderr.split("\n").slice(0, 5)).toEqual([
    `a.csv:2  reference  lost_digits  ${lost}`,
    `a.csv:3  reference  lost_digits  ${lost}`,
    'a.csv:5  reference  duplicate_reference_in_file  duplicate reference "1-Mar", first used on line 4',
    "A damaged reference may belong to several products: correct it before you remove a row.",
    'a.csv:4  2 values look like dates ("1-Mar"): a spreadsheet may have changed what was typed, such as MAR-1. Correct them. If the references of your shop are like that, add --codes-as-written.',
  ]);
});

describe("rows of one reference with --merge-rows", () => {
  test("have the notes of each of them", async () => {
    const world = await worldWith();
    world.writeRows("a.csv", ["1-Mar,CafÃ©", "null,Hat", "1-Mar,CafÃ©", "A-1,Scarf"]);
    const [head, ...rows] = world.read("a.csv").split("\n");
    const link = "A-1,Scarf,https://cdn.example.com/{{sku}}.jpg";
    world.write("a.csv", [head, ...rows.filter((row) => row !== ""), link].join("\n"));
    const ran = await world.cat("import a.csv --merge-rows --dry-run --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({
      valid: 3,
      notes: [
        { code: "date_like", count: 2, line: 2 },
        { code: "double_encoded", count: 2, line: 2 },
        { code: "empty_word", count: 1, line: 3 },
        { code: "url_placeholder", count: 1, line: 6 },
      ],
    });
  });

  test("are not one product if that is lost, and none is offered", async () => {
    const world = await worldWith();
    world.writeRows("a.csv", ["4.01E+12,Hat", "4.01E+12,Hat", "#N/A,Cap", "#N/A,Cap"]);
    for (const flag of ["", "--merge-rows", "--skip-invalid"]) {
      const ran = await world.cat(`import a.csv ${flag} --no-progress`);
      expect(ran.stderr, flag).not.toMatch(/(?:are|run) of|add --merge-rows/);
      for (const line of [2, 3]) expect(ran.stderr, flag).toContain(`a.csv:${line}  reference  lost_digits`);
      for (const line of [4, 5]) expect(ran.stderr, flag).toContain(`a.csv:${line}  reference  error_text`);
    }
    expect(world.products()).toEqual([]);
  });
});

describe("rows of one damaged reference", () => {
  const doubtful = [
    "undefined",
    "null",
    "N/A",
    "[object Object]",
    "SKU-NaN",
    "1-Mar",
    "01.Mrz",
    '"1,001"',
    "4.006.381",
    "'1002",
    "CafÃ©",
  ];

  test.each(sampled(doubtful))("are not one product, and none is offered: %s", async (reference) => {
    const world = await worldWith();
    world.writeRows("a.csv", [`${reference},Hat`, `${reference},Hat`]);
    const duplicate = [{ line: 3, param: "reference", code: "duplicate_reference_in_file" }];
    for (const flag of ["", " --merge-rows"]) {
      const ran = await world.cat(`import a.csv${flag} --dry-run --json`);
      const { problems, mergeable, notes } = JSON.parse(ran.stdout);
      expect([ran.exit, problems, mergeable, notes], flag).toMatchObject([
        3,
        duplicate,
        undefined,
        [{ count: 2, line: 2, message: expect.stringMatching(/add --codes-as-written|as UTF-8/) }],
      ]);
    }
    const ran = await world.cat("import a.csv --merge-rows --codes-as-written");
    expect([ran.exit, world.products().map(({ images }) => images.length)]).toEqual([0, [2]]);
  });

  test.each(sampled(["1001.0", "2.1", "1e6", "MAR-1", "TRUE"]))(
    "are one if nothing is lost: %s",
    async (code) => {
      const world = await worldWith();
      world.writeRows("a.csv", [`${code},Hat`, `${code},Hat`]);
      const ran = await world.cat("import a.csv --merge-rows");
      expect([ran.exit, world.products().map(({ images }) => images.length)]).toEqual([0, [2]]);
    },
  );
});

describe("--codes-as-written", () => {
  test.each(sampled(["#N/A", "#WERT!", "####", "A\ufffd1"], 1))(
    "is not for %s, which is a code nowhere",
    async (reference) => {
      const world = await worldWith();
      world.writeRows("a.csv", [`${reference},Belt`]);
      const ran = await world.cat("import a.csv --codes-as-written --no-progress");
      expect([ran.exit, world.products()]).toEqual([3, []]);
    },
  );

  test("imports references as they are, and still finds lost names", async () => {
    const world = await worldWith();
    world.writeRows("a.csv", ["1E+06,Belt", "1-Mar,Hat", "1001.0,Scarf", '"=""00123""",Shoe']);
    const ran = await world.cat("import a.csv --codes-as-written --json");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout).notes).toBeUndefined();
    expect(world.named()).toEqual(["1E+06 Belt", "1-Mar Hat", "1001.0 Scarf", "00123 Shoe"]);
    world.writeRows("b.csv", ["1E+07,#N/A"]);
    const failed = await world.cat("import b.csv --codes-as-written --dry-run --json");
    expect(JSON.parse(failed.stdout).problems).toMatchObject([
      { line: 2, param: "name", code: "error_text" },
    ]);
  });

  test("is repeated in the command for failed rows", async () => {
    const world = await worldWith();
    world.writeRows("a.csv", ["1E+06,Belt", "1E+07,#N/A"]);
    const ran = await world.cat("import a.csv --codes-as-written --skip-invalid --no-progress");
    expect(ran.stderr).toContain("  cat import a.failed.csv --codes-as-written\n");
    expect(world.named()).toEqual(["1E+06 Belt"]);
  });

  longTest(
    "of a stopped run decides with --skip-invalid which rows are sent, so it is another run",
    async () => {
      const world = await worldWith();
      world.writeRows("a.csv", ["1E+06,Belt", "A-1,Hat"]);
      expect((await world.cat("import a.csv --skip-invalid --no-progress")).exit).toBe(8);
      const again = await world.cat("import a.csv --skip-invalid --codes-as-written --json");
      expect(JSON.parse(again.stdout)).toMatchObject({ total: 2, created: 1, unchanged: 1 });
    },
  );
});

describe("products that exist in another writing", () => {
  const note = '3 new references probably mean existing products ("1001.0 for 1001")';

  test("are named before anything is sent, by an import and by a plan", async () => {
    const world = await worldWith(["1001", "1002", "1003"]);
    world.writeRows("a.csv", ["1001.0,Belt", '"1,002",Hat', "'1003,Scarf", "1004.0,Shoe"]);
    const planned = await world.cat("import a.csv --plan --json");
    const last = JSON.parse(planned.stdout.trimEnd().split("\n").at(-1)!);
    expect(last).toMatchObject({ create: 4 });
    expect(last.notes.at(-1)).toEqual({
      code: "like_existing",
      count: 3,
      line: 2,
      param: "reference",
      value: "1001.0 for 1001",
      message: note,
    });
    const ran = await world.cat("import a.csv --no-progress");
    expect([ran.exit, ran.stderr.includes(`a.csv:2  ${note}.\n`)]).toEqual([0, true]);
    const again = await world.cat("import a.csv --json");
    expect(JSON.parse(again.stdout).notes.map(({ code }: { code: string }) => code)).not.toContain(
      "like_existing",
    );
  });

  test.each(sampled(["create", "skip_existing"], 1))("are named in mode %s", async (mode) => {
    const world = await worldWith(["1001"]);
    world.writeRows("a.csv", ["1001.0,Belt", "A-1,Hat"]);
    const ran = await world.cat(`import a.csv --mode ${mode} --no-progress`);
    expect(ran.stderr).toContain(
      'a.csv:2  1 new reference probably means an existing product ("1001.0 for 1001")',
    );
  });

  longTest("are found though other references have decimals as well", async () => {
    const world = await worldWith(["1001"]);
    world.writeRows("a.csv", ["1001.0,Belt", "2.1,Hat", "2.2,Scarf"]);
    const { notes } = JSON.parse((await world.cat("import a.csv --json")).stdout);
    expect(notes).toMatchObject([{ code: "like_existing", count: 1, line: 2 }]);
  });

  longTest("are not looked for with --codes-as-written, or where the reference exists itself", async () => {
    const world = await worldWith(["1001", "1001.0"]);
    world.writeRows("a.csv", ["1001.0,Other"]);
    expect((await world.cat("import a.csv --no-progress --yes")).stderr).not.toContain("probably");
    world.writeRows("b.csv", ["1001.00,Belt"]);
    expect((await world.cat("import b.csv --codes-as-written --no-progress")).stderr).not.toContain(
      "probably",
    );
  });

  test("are asked about on a terminal", async () => {
    const world = await worldWith(["1001"]);
    world.writeRows("a.csv", ["1001.0,Belt"]);
    const terminal = atTerminal(world, "import a.csv --quiet");
    await terminal.type('Import 1 doubtful value of a.csv as it is ("1001.0")?', "y\r");
    await terminal.type("Create a new product in addition to the existing one (1001.0 for 1001)?", "n\r");
    expect((await terminal.ran).exit).toBe(2);
    expect(world.named()).toEqual(["1001 Known 1001"]);
  });
});

test("an exported sheet keeps what the service has, whatever its shape, and shows what a spreadsheet made of it", async () => {
  const world = await worldWith(["1E+06", "MAR-1"]);
  expect((await world.cat("products export all.csv")).exit).toBe(0);
  expect((await world.cat("import all.csv --dry-run --no-progress")).stderr).toBe(
    "all.csv: 2 rows, all valid. Nothing was sent (--dry-run).\n",
  );
  world.write("all.csv", world.read("all.csv").replace("MAR-1,", "1-Mar,"));
  expect((await world.cat("import all.csv --dry-run --no-progress")).stderr).toContain("looks like a date");
});

longTest("a mirror is restored with the references that the service had", async () => {
  const world = await worldWith(["1E+06", "1-Mar"]);
  expect((await world.cat("export sync mirror --role source --no-progress")).exit).toBe(0);
  expect((await world.cat("products delete 1E+06 1-Mar --yes")).exit).toBe(0);
  const ran = await world.cat("import mirror --json");
  expect(ran.exit, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout).notes).toBeUndefined();
  expect(world.named()).toEqual(["1E+06 Known 1E+06", "1-Mar Known 1-Mar"]);
});

test("a failed file with corrected texts is imported", async () => {
  const world = await worldWith();
  world.writeRows("a.csv", ["A-1,#N/A", "4.01E+12,Hat", "A-3,Scarf"]);
  expect((await world.cat("import a.csv --skip-invalid --no-progress")).exit).toBe(8);
  const failed = world.read("a.failed.csv");
  expect(failed).toContain("A-1,#N/A,");
  expect((await world.cat("import a.failed.csv --dry-run --no-progress")).exit).toBe(3);
  world.write("a.failed.csv", failed.replace("#N/A", "Belt").replace("4.01E+12", "4006381333931"));
  expect((await world.cat("import a.failed.csv --no-progress")).exit).toBe(0);
  expect(world.named()).toEqual(["A-3 Scarf", "A-1 Belt", "4006381333931 Hat"]);
});

test('an NDJSON file keeps texts from spreadsheets in the same way: ="00123"', async () => {
  const world = await worldWith();
  const row = { reference: '="00123"', name: '="Belt ""x"""', images: [{ url: photo(1) }] };
  world.write("a.ndjson", JSON.stringify(row));
  expect((await world.cat("import a.ndjson --no-progress")).exit).toBe(0);
  expect(world.named()).toEqual(['00123 Belt "x"']);
});
