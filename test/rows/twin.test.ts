// What looks equal is not two references: texts as people copy them from web pages, PDFs, chats and other systems.

import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { lookOf, withoutUnseenEnds } from "../../src/text.ts";
import { repetitions, sampled } from "../support/repetitions.ts";
import { createWorld, type TestWorld } from "../support/world.ts";
import { workbookOf } from "../support/write-workbook.ts";

const url = "https://cdn.example.com/1.jpg";
const csv = (...rows: readonly (readonly string[])[]): string =>
  [
    "reference,name,image_front",
    ...rows.map((row) => [...row, url].map((cell) => `"${cell}"`).join(",")),
  ].join("\n");
const ndjson = (...rows: readonly (readonly string[])[]): string =>
  rows.map(([reference, name]) => JSON.stringify({ reference, name, images: [{ url }] })).join("\n");

interface Found {
  problems: { line: number; code: string; message: string }[];
  notes?: { code: string; count: number; line: number; message: string }[];
}

/** The result of a dry run. */
async function checked(file: string, content: string | Uint8Array, within?: TestWorld): Promise<Found> {
  const world = within ?? (await createWorld());
  world.write(file, content);
  return JSON.parse((await world.cat(`import ${file} --dry-run --json`)).stdout);
}

const cut = "characters that cannot be seen were removed at the ends of 1 value, such as";

describe("one text is the reference of the row, or a problem of it", () => {
  test.for<[text: string, reference: string | null, said: string | null]>(
    sampled(
      [
        ["P-1", "P-1", null],
        [" P-1\u00a0", "P-1", null],
        ["P-1\u200b", "P-1", `${cut} "P-1\\u200b"`],
        ["\ufeffP-1", "P-1", `${cut} "\\ufeffP-1"`],
        ["\u200e\u202aP-1\u202c", "P-1", `${cut} "\\u200e\\u202aP-1\\u202c"`],
        ["P-1\u2060 \u00ad", "P-1", `${cut} "P-1\\u2060 \\xad"`],
        ["P-1\u0007", "P-1", `${cut} "P-1\\x07"`],
        ["P\u20111", "P\u20111", null],
        ["❤\ufe0f", "❤\ufe0f", null],
        ["کتاب\u200cها", "کتاب\u200cها", null],
        [
          "P\u00ad-1",
          null,
          'reference "P\\xad-1" has a character that cannot be seen: type it again without that',
        ],
        [
          "P\u200b-1",
          null,
          'reference "P\\u200b-1" has a character that cannot be seen: type it again without that',
        ],
        ["P\u0000-1", null, null],
        [
          "P\u200d-1",
          null,
          'reference "P\\u200d-1" has a character that cannot be seen: type it again without that',
        ],
        ["\u200b", null, "reference is missing"],
        ["\u3164\u2800 \u00ad", null, "reference is missing"],
      ],
      5,
    ),
  )("%j", async ([text, reference, said]) => {
    const world = await createWorld();
    world.write("a.csv", csv([text, "Dress"]));
    const ran = await world.cat("import a.csv --json");
    expect(ran.exit).toBe(reference === null ? 3 : 0);
    expect(world.products().map((product) => product.reference)).toEqual(
      reference === null ? [] : [reference],
    );
    if (said === null) return;
    const { problems = [], notes = [] } = JSON.parse(ran.stdout) as Partial<Found>;
    expect([...problems, ...notes].map(({ message }) => message)).toContain(said);
  });
});

const twins: readonly [string, string, string][] = [
  ["P-2", "Ｐ-2", 'reference "Ｐ-2" (\\uff30-2) looks like "P-2", first used on line 2'],
  [
    "Cafe\u0301",
    "Café",
    'reference "Café" (Caf\\xe9) looks like "Cafe\u0301" (Cafe\\u0301), first used on line 2',
  ],
  [
    "Café",
    "Cafe\u0301",
    'reference "Cafe\u0301" (Cafe\\u0301) looks like "Café" (Caf\\xe9), first used on line 2',
  ],
  ["A\u00a01", "A 1", 'reference "A 1" looks like "A\u00a01" (A\\xa01), first used on line 2'],
  ["ﬁn", "fin", 'reference "fin" looks like "ﬁn" (\\ufb01n), first used on line 2'],
  ["❤", "❤\ufe0f", 'reference "❤\ufe0f" (\\u2764\\ufe0f) looks like "❤" (\\u2764), first used on line 2'],
];
const changeOne = ": change one, or write both alike";

describe("two references of a file that look equal are a problem that names both", () => {
  test.for(twins)("%j and %j in CSV", async ([one, other, message]) => {
    const { problems } = await checked("a.csv", csv([one, "x"], [other, "y"]));
    expect(problems.map(({ line, code, message }) => [line, code, message])).toEqual([
      [3, "lookalike_reference", message + changeOne],
    ]);
  });

  test("in NDJSON, whose spaces at the ends count as little", async () => {
    const { problems, notes } = await checked(
      "a.ndjson",
      ndjson(["P-2", "x"], ["Ｐ-2", "y"], ["P-2\u200b", "z"], [" P-2", "z\u200b"]),
    );
    expect(problems.map(({ line, code, message }) => [line, code, message])).toEqual([
      [
        2,
        "lookalike_reference",
        `reference "Ｐ-2" (\\uff30-2) looks like "P-2", first used on line 1${changeOne}`,
      ],
      [3, "duplicate_reference_in_file", 'duplicate reference "P-2\\u200b", first used on line 1 as "P-2"'],
      [4, "duplicate_reference_in_file", 'duplicate reference "P-2", first used on line 1'],
    ]);
    expect(notes).toMatchObject([{ code: "unseen_ends", count: 2, line: 3, param: "reference" }]);
  });

  test("in a workbook, with its cells", async () => {
    const { problems, notes } = await checked(
      "a.xlsx",
      workbookOf({
        Sheet1: [
          ["reference", "name", "image_front"],
          ["P-2\u200b", "x", url],
          ["Ｐ-2", "y", url],
        ],
      }),
    );
    expect(problems).toMatchObject([
      {
        cell: "A3",
        code: "lookalike_reference",
        message: `reference "Ｐ-2" (\\uff30-2) looks like "P-2\\u200b", first used in Sheet1!A2${changeOne}`,
      },
    ]);
    expect(notes).toMatchObject([{ code: "unseen_ends", cell: "A2", count: 1 }]);
  });

  test("in two files of one command", async () => {
    const world = await createWorld();
    world.write("a.csv", csv(["Ｐ-2", "x"]));
    world.write("b.csv", csv(["P-2", "y"]));
    const { exit, stderr } = await world.cat("import a.csv b.csv");
    expect(exit).toBe(3);
    expect(stderr).toContain('reference "P-2" looks like "Ｐ-2" (\\uff30-2), first used on line 2 of a.csv');
    expect(world.products()).toEqual([]);
  });

  test.for([
    ["P-2", "p-2"],
    ["P-1", "P\u20111"],
    ["P-1", "P 1"],
    ["A1", "А1"],
    ["01", "1"],
  ])("%j and %j do not", async ([one, other]) => {
    expect((await checked("a.csv", csv([one!, "x"], [other!, "y"]))).problems).toEqual([]);
  });

  test("whatever the texts are: each reference that is imported has a look of its own", async () => {
    const odd = fc
      .array(fc.constantFrom(..."AＡ1-é\u0301\u200b\u00ad \u00a0\u2060"), { minLength: 1, maxLength: 5 })
      .map((characters) => characters.join(""));
    const world = await createWorld();
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { minLength: 2, maxLength: 6 }), async (texts) => {
        const { problems } = await checked("a.ndjson", ndjson(...texts.map((text) => [text, "x"])), world);
        const lines = new Set(problems.map(({ line }) => line));
        const kept = texts.filter((_, index) => !lines.has(index + 1)).map(withoutUnseenEnds);
        expect(new Set(kept.map(lookOf)).size).toBe(kept.length);
        expect(kept.filter((text) => /[\u200b\u00ad\u2060]/.test(text))).toEqual([]);
        // Of texts with one look, the first that has no problem of its own is kept.
        const sound = texts
          .map(withoutUnseenEnds)
          .filter((text) => text !== "" && !/[\u200b\u00ad\u2060]/.test(text));
        expect(new Set(kept.map(lookOf))).toEqual(new Set(sound.map(lookOf)));
      }),
      { numRuns: repetitions(10, 1000) },
    );
  });
});

describe("a reference that looks like that of another product of the service is a problem that names both", () => {
  /** A world whose service has products of these references, as other programs made them. */
  async function worldWith(...references: readonly string[]) {
    const world = await createWorld();
    for (const reference of references)
      await fetch(`${world.mock.baseUrl}/v1/imports`, {
        method: "POST",
        headers: { authorization: `Bearer ${world.mock.apiKey}`, "content-type": "application/x-ndjson" },
        body: JSON.stringify({ reference, name: "Dress", images: [{ url }] }),
      });
    await world.clock.sleep(60_000);
    expect(world.products().map((product) => product.reference)).toEqual(references);
    return world;
  }

  test.for(
    sampled(
      [
        ["P-1\u200b", "P-1"],
        ["Café", "Cafe\u0301"],
        ["P-2", "Ｐ-2"],
        ["Ｐ-2", "P-2"],
        ["P\u00ad-1", "P-1"],
      ],
      1,
    ),
  )("%j at the service, %j in the file", async ([there, here]) => {
    const world = await worldWith(there!);
    world.write("a.csv", csv([here!, "Dress"], ["New-1", "Hat"], ["New-2", "Cap"], ["New-3", "Belt"]));
    const id = world.products()[0]!.id;
    const { exit, stderr } = await world.cat("import a.csv");
    expect(exit).toBe(3);
    expect(stderr).toContain(`of the product ${id}; nothing was sent`);
    expect(stderr).toMatch(
      /^error: a\.csv:2: the reference ".*" (?:\(.*\) )?looks like ".*" (?:\(.*\) )?of/m,
    );
    expect(world.products()).toHaveLength(1);
    expect(await world.cat("import a.csv --skip-invalid")).toMatchObject({ exit: 8 });
    expect(world.products().map(({ reference }) => reference)).toEqual([there, "New-1", "New-2", "New-3"]);
    expect(world.read("a.failed.csv")).toContain("lookalike_reference");
  });

  test.for(
    sampled(
      [
        ["P-2", "Ｐ-2"],
        ["Ｐ-2", "P-2"],
        ["P\u200b-1", "P-1"],
        ["Cafe\u0301", "Café"],
      ],
      1,
    ),
  )("%j at the service, %j as the only row, in every mode", async ([there, here]) => {
    const world = await worldWith("Old-1", there!);
    world.write("a.csv", csv([here!, "Dress"]));
    for (const flags of ["", "--mode create", "--mode skip_existing", "--photos all", "--exact"]) {
      const { exit, stderr } = await world.cat(`import a.csv ${flags}`);
      expect([exit, stderr], flags).toEqual([3, expect.stringContaining("; nothing was sent")]);
    }
    expect(world.products()).toHaveLength(2);
  });

  test.each(sampled(["csv", "xlsx", "ndjson"], 1))(
    "a sheet that was exported (%s) imports back as it is",
    async (format) => {
      const world = await worldWith("P-1", "P-1\u200b", "P\u00ad-1", "Ｐ-1", '="7"');
      await world.cat(["api", "PATCH", `/products/${world.products()[0]!.id}`, "-F", "name=Dress\u200b"]);
      await world.cat(`products export a.${format}`);
      expect(await world.cat(`import a.${format} --json`)).toMatchObject({ exit: 0, stderr: "" });
      const ran = await world.cat(`import a.${format} --plan --json`);
      expect(JSON.parse(ran.stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({ unchanged: 5 });
      expect(world.products().map(({ name }) => name)).toContain("Dress\u200b");
      if (format !== "csv") return;
      // Another row is not one of them.
      world.write("b.csv", `${world.read("a.csv")}Ｐ-1\u200b,Hat,,,${url},\n`);
      const { problems } = JSON.parse((await world.cat("import b.csv --dry-run --json")).stdout);
      expect(problems).toMatchObject([{ line: 7, code: "duplicate_reference_in_file" }]);
    },
  );

  test("a key that cannot read products imports in modes that need no read", async () => {
    const world = await worldWith("P-2");
    world.mock.faults.add({ match: { path: "/v1/products" }, status: 403 });
    world.write("a.csv", csv(["Ｐ-2", "Dress"], ["1001.0", "Hat"]));
    expect(await world.cat("import a.csv --mode create --json")).toMatchObject({ exit: 0 });
    expect(world.products()).toHaveLength(3);
  });

  test("the command in the message leads out where the product has a character that cannot be seen", async () => {
    const world = await worldWith("RAW\u200b-1");
    world.write("a.csv", "reference,name\nRAW-1,Dress\n");
    const { id } = world.products()[0]!;
    const command = `cat products update ${id} --reference RAW-1`;
    const { exit, stderr } = await world.cat("import a.csv");
    expect([exit, stderr]).toEqual([
      3,
      expect.stringContaining(
        `To correct the reference of the product, run ${command}, or add --skip-invalid to import the other rows.`,
      ),
    ]);
    expect((await world.cat(command.slice("cat ".length))).exit).toBe(0);
    expect((await world.cat("import a.csv")).exit).toBe(0);
    expect(world.products().map(({ reference }) => reference)).toEqual(["RAW-1"]);
  });

  test("a reference that exists is imported, whatever looks like it", async () => {
    const world = await worldWith("P-1\u200b", "P-1");
    world.write("a.csv", "reference,name\nP-1,Dress\n");
    const ran = await world.cat("import a.csv --json");
    expect(ran).toMatchObject({ exit: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ unchanged: 1, created: 0 });
  });
});

describe("a folder of photos", () => {
  const photo = (width: number) =>
    sharp({ create: { width, height: 2, channels: 3, background: "red" } })
      .png()
      .toBuffer();

  test("has one product for names that differ in ends that cannot be seen", async () => {
    const world = await createWorld();
    world.write("photos/P-1\u200b_back.png", await photo(1));
    world.write("photos/P-1\u2060_front.png", await photo(2));
    const ran = await world.cat(["import", "photos", "--pattern", "{reference}_{side}"]);
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain('removed at the ends of 2 values, such as "P-1\\u200b".');
    expect(world.products().map(({ reference, images }) => [reference, images.length])).toEqual([["P-1", 2]]);
  });

  test("is rejected with both names of references that look equal, and with one that has a soft hyphen", async () => {
    const world = await createWorld();
    for (const [at, name] of ["P-2_front", "Ｐ-2_front", "P\u00ad-3_front"].entries())
      world.write(`photos/${name}.png`, await photo(at + 1));
    const ran = await world.cat(["import", "photos", "--pattern", "{reference}_{side}"]);
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toMatch(/"Ｐ-2" \(\\uff30-2\)/);
    expect(ran.stderr).toContain('reference "P\\xad-3" has a character that cannot be seen');
    expect(world.products()).toEqual([]);
  });
});
