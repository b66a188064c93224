import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { importRowProblems, isLongerThan, referenceOfProduct } from "../../src/contract/import-row.ts";
import { ImportRow } from "../../src/contract/resources/imports.ts";
import { orientations, sexes } from "../../src/contract/value-sets.ts";
import { repetitions } from "../support/repetitions.ts";

const wild = fc.oneof(
  fc.constant(null),
  fc.constant(undefined),
  fc.boolean(),
  fc.integer(),
  fc.string(),
  fc.array(fc.string(), { maxLength: 2 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
);
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 60, arbitrary: right }, { weight: 1, arbitrary: wild });
/** Texts with a length near the limit, surrounding whitespace, and characters outside the basic plane. */
const around = (limit: number) =>
  fc
    .tuple(
      fc.constantFrom("", " ", "\t\n", "\u00a0"),
      fc.constantFrom("x", "ä", "🧥"),
      fc.oneof(
        { weight: 4, arbitrary: fc.integer({ min: 1, max: limit }) },
        { weight: 1, arbitrary: fc.constantFrom(0, 1, limit - 1, limit, limit + 1) },
      ),
      fc.constantFrom("", " ", "\u2003 "),
    )
    .map(([before, character, count, after]) => before + character.repeat(count) + after);
const url = fc.oneof(
  { weight: 20, arbitrary: fc.constant("https://cdn.example.com/1.jpg") },
  fc.constantFrom(
    "http://cdn.example.com/1.jpg",
    "https://localhost/1.jpg",
    "https://u:p@cdn.example.com/",
    "https://cdn.example.com:8080/",
    "https://10.0.0.1/",
    "photo.jpg",
    "",
  ),
  fc.webUrl(),
);
const imageId = fc.constantFrom(
  ...Array<string>(12).fill("01HN1H1W2BE2ZP0BXGX60T7K32"),
  "01hn1h1w2be2zp0bxgx60t7k32",
  "81HN1H1W2BE2ZP0BXGX60T7K32",
  "01HN1H1W2BE2ZP0BXGX60T7K3",
  "",
);
const orientation = fc.option(mostly(fc.constantFrom<string>(...orientations, ...orientations, "up")), {
  nil: undefined,
});
const image = mostly(
  fc.oneof(
    { weight: 9, arbitrary: fc.record({ url: mostly(url), orientation }, { requiredKeys: ["url"] }) },
    {
      weight: 9,
      arbitrary: fc.record({ image_id: mostly(imageId), orientation }, { requiredKeys: ["image_id"] }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ url, image_id: imageId, orientation, more: wild }, { requiredKeys: [] }),
    },
  ),
);
const images = fc.oneof(
  { weight: 9, arbitrary: fc.array(image, { minLength: 1, maxLength: 3 }) },
  fc.constant([]),
  fc.array(fc.constant({ url: "https://cdn.example.com/1.jpg" }), { minLength: 19, maxLength: 22 }),
);
const fields = {
  reference: mostly(around(100)),
  name: mostly(around(200)),
  description: mostly(around(2_000)),
  sex: mostly(fc.constantFrom<string>(...sexes, ...sexes, ...sexes, "Female")),
  images: mostly(images),
};
const row = mostly(
  fc.oneof(
    { weight: 9, arbitrary: fc.record(fields, { requiredKeys: ["reference", "name", "images"] }) },
    { weight: 1, arbitrary: fc.record({ ...fields, more: wild }, { requiredKeys: [] }) },
  ),
);

/** Removes undefined fields, because JSON has none. */
const json = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)));

test("the code and the schema accept the same rows", () => {
  let accepted = 0;
  fc.assert(
    fc.property(row, (value) => {
      const problems = importRowProblems(json(value));
      const isRight = ImportRow.safeParse(json(value)).success;
      if (isRight) accepted++;
      expect(problems.length === 0, JSON.stringify(problems)).toBe(isRight);
    }),
    { numRuns: repetitions(1_500, 30_000) },
  );
  // Both valid and invalid rows occur.
  expect(accepted).toBeGreaterThan(300);
});

describe("limits", () => {
  const right = { reference: "R", name: "N", images: [{ url: "https://cdn.example.com/1.jpg" }] };
  const image = right.images[0]!;
  test.each([
    ["reference", "r".repeat(100), "r".repeat(101)],
    ["reference", ` ${"r".repeat(100)} `, ` ${"r".repeat(101)} `],
    ["reference", "🧥".repeat(100), "🧥".repeat(101)],
    ["reference", "r", ""],
    ["name", "n".repeat(200), "n".repeat(201)],
    ["name", `${"n".repeat(199)} `, `${"n".repeat(200)} `],
    ["name", "n", " "],
    ["description", "", 1],
    ["description", "d".repeat(2_000), "d".repeat(2_001)],
    ["sex", "kid", "Kid"],
    ["sex", "other", null],
    ["images", Array(20).fill(image), Array(21).fill(image)],
    ["images", [image], []],
    ["images", [{ image_id: "01HN1H1W2BE2ZP0BXGX60T7K32" }], [{}]],
  ])("%s", (field, good, bad) => {
    expect(importRowProblems({ ...right, [field]: good })).toEqual([]);
    const [first] = importRowProblems({ ...right, [field]: bad });
    expect(first).toMatchObject({ code: "invalid_row", param: expect.stringMatching(`^${field}`) });
  });

  test("a value nested a million levels deep is reported like any other", () => {
    const deep = JSON.parse(`${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`);
    for (const field of ["reference", "name", "description", "sex", "images", "colour"]) {
      expect(importRowProblems({ ...right, [field]: deep })).not.toEqual([]);
    }
    for (const field of ["url", "image_id", "orientation"]) {
      expect(importRowProblems({ ...right, images: [{ ...image, [field]: deep }] })).not.toEqual([]);
    }
  });
});

describe("the problems of a row are sentences:", () => {
  const images = [{ url: "https://cdn.example.com/1.jpg" }];
  const row = { reference: "A", name: "Dress", images };
  const photo = (image: unknown) => ({ ...row, images: [image] });
  test.each<[string, unknown, string[]]>([
    ["none", { ...row, description: "long", sex: "kid" }, []],
    ["a text", "A", ["a row must be a JSON object, not text"]],
    ["null", null, ["a row must be a JSON object, not null"]],
    ["a list", [row], ["a row must be a JSON object, not a list"]],
    ["another field", { ...row, color: 1 }, ["color is not a field of an import row"]],
    [
      "no fields",
      {},
      ["reference is missing", "name is missing", "images is missing: a row needs 1 to 20 photos"],
    ],
    ["empty texts", { reference: " ", name: "\t", images }, ["reference is empty", "name is empty"]],
    ["a number", { ...row, name: 7 }, ["name must be text, not a number"]],
    [
      "lists and objects",
      { ...row, name: [], description: {} },
      ["name must be text, not a list", "description must be text, not an object"],
    ],
    ["spaces around a reference, which do not count", { ...row, reference: ` ${"x".repeat(100)} ` }, []],
    [
      "a long reference",
      { ...row, reference: "x".repeat(101) },
      ["reference has 101 characters; at most 100 are allowed"],
    ],
    [
      "spaces around a name, which count",
      { ...row, name: ` ${"x".repeat(199)} ` },
      ["name has 201 characters; at most 200 are allowed"],
    ],
    ["emojis, which count once", { ...row, name: "🧥".repeat(200) }, []],
    [
      "a long description",
      { ...row, description: "x".repeat(2001) },
      ["description has 2001 characters; at most 2000 are allowed"],
    ],
    [
      "another sex",
      { ...row, sex: "women" },
      ['sex must be one of male, female, other, kid, not "women": did you mean "female"?'],
    ],
    [
      "a sex that is a list",
      { ...row, sex: ["kid"] },
      ["sex must be one of male, female, other, kid, not a list"],
    ],
    ["images that are no list", { ...row, images: {} }, ["images must be a list, not an object"]],
    ["no images", { ...row, images: [] }, ["images is empty: a row needs 1 to 20 photos"]],
    [
      "21 images",
      { ...row, images: Array(21).fill(images[0]) },
      ["images has 21 entries; at most 20 are allowed"],
    ],
    [
      "an image that is a text",
      photo("a.jpg"),
      ["images[0] must be an object with a url or an image_id, not text"],
    ],
    [
      "an image that is true",
      photo(true),
      ["images[0] must be an object with a url or an image_id, not true"],
    ],
    [
      "an image that is a list",
      photo([]),
      ["images[0] must be an object with a url or an image_id, not a list"],
    ],
    ["an image without a source", photo({}), ["images[0] must have exactly one of url and image_id"]],
    [
      "an image with two sources",
      photo({ ...images[0], image_id: "01JGZZ0000000000000000000A" }),
      ["images[0] must have exactly one of url and image_id"],
    ],
    [
      "another field of an image",
      photo({ ...images[0], path: "a" }),
      ["images[0].path is not a field of an image"],
    ],
    ["an image ID", photo({ image_id: "01JGZZ0000000000000000000A", orientation: "front" }), []],
    [
      "a false image ID",
      photo({ image_id: "x" }),
      ['images[0].image_id is not an image ID (26 characters): "x"'],
    ],
    [
      "an image ID that is a number",
      photo({ image_id: 7 }),
      ['images[0].image_id is not an image ID (26 characters): "7"'],
    ],
  ])("%s", (_, value, expected) => {
    const problems = importRowProblems(value);
    expect(problems.map(({ message }) => message)).toEqual(expected);
    const isOfRow = (message: string) => message.startsWith("a row ");
    expect(problems.map(({ param }) => param)).toEqual(
      expected.map((message) => (isOfRow(message) ? undefined : message.split(" ")[0])),
    );
    expect(problems.filter(({ code }) => code !== "invalid_row")).toEqual([]);
  });

  test("a URL is quoted without its password", () => {
    const [problem] = importRowProblems(photo({ url: "https://me:secret@cdn.example.com/1.jpg" }));
    expect(problem!.param).toBe("images[0].url");
    expect(problem!.message).toContain('"https://***@cdn.example.com/1.jpg"');
    expect(problem!.message).not.toContain("secret");
  });

  test("an orientation is one of the list", () => {
    const [problem] = importRowProblems(photo({ ...images[0], orientation: "frnt" }));
    expect(problem).toMatchObject({ param: "images[0].orientation", code: "invalid_row" });
    expect(problem!.message).toContain('not "frnt": did you mean "front"?');
  });
});

test("a text is longer than a limit by its code points", () => {
  expect([
    isLongerThan("🧥🧥", 2),
    isLongerThan("🧥🧥", 1),
    isLongerThan("ab", 2),
    isLongerThan("abc", 2),
  ]).toEqual([false, true, false, true]);
});

test("the reference of a product is trimmed, and null for one of the dashboard", () => {
  expect([{ reference: " A " }, { reference: null }].map(referenceOfProduct)).toEqual(["A", null]);
});
