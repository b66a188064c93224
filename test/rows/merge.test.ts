import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeContents } from "../../src/flows/import/merge-contents.ts";
import { atTerminal } from "../support/at-terminal.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions, sampled } from "../support/repetitions.ts";
import { createWorld, type TestWorld } from "../support/world.ts";

// Lists with several rows per product, made by other software (inputs/merge/make.py), and `--merge-rows`.

const inputs = fileURLToPath(new URL("inputs/merge", import.meta.url));
const cdn = "https://cdn.example.com";

async function worldOf() {
  const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
  cpSync(inputs, world.folder, { recursive: true });
  return world;
}

/** The products by reference: name, sex and description, then each photo as the end of its URL, with its side. */
function shown({ mock, products }: Pick<TestWorld, "mock" | "products">): Record<string, string> {
  const { images: all } = mock.state().organizations.main;
  const urls = new Map(all.map(({ id, seed }) => [id, seed]));
  return Object.fromEntries(
    products().map(({ reference, name, sex, description, images }) => {
      const photos = images.map(({ id, orientation }) =>
        [/(\w+)\.jpg$/.exec(urls.get(id)!)![1], orientation === "unlabeled" ? [] : orientation]
          .flat()
          .join(" "),
      );
      return [reference, [name, sex ?? [], description ?? [], photos].flat().join(", ")];
    }),
  );
}

const dress = "Linen dress, female, Soft, light, 01, 03, 06";
const coat = "Wool coat, male, 02, 05";

describe("rows of one reference with --merge-rows", () => {
  test.each<[file: string, flags: string, products: Record<string, string>]>(
    sampled([
      ["library.csv", "", { "D-1": dress, "C-2": coat, "H-3": "Hat, 04" }],
      ["library-utf16.csv", "", { "D-1": dress, "C-2": coat, "H-3": "Hat, 04" }],
      ["library.ndjson", "", { "D-1": dress, "C-2": coat, "H-3": "Hat, 04" }],
      ["positions.csv", "", { "D-1": dress.replace("01, 03", "03, 01"), "C-2": coat, "H-3": "Hat, 04" }],
      ["positions.csv", "--map position=ignore", { "D-1": dress, "C-2": coat, "H-3": "Hat, 04" }],
      ["library.xlsx", "", { "D-1": "Linen dress, female, 03, 01, 06", "C-2": coat, "H-3": "Hat, 04" }],
      [
        "sides.csv",
        "",
        {
          "H-3": "Hat, 04 front",
          "D-1": "Linen dress, 06 detail, 01 front, 03 back",
          "C-2": "Wool coat, 02 front, 05 detail",
        },
      ],
      [
        "sizes.csv",
        "--map size=ignore --map stock=ignore",
        { "D-1": "Linen dress, female, 01, 03, 06", "C-2": coat },
      ],
      ["shop.csv", "", { "C-2": "Wool coat, 02, 05", "D-1": "Linen dress, 01, 03, 06", "H-3": "Hat, 04" }],
    ]),
  )("%s %s: each product has the photos of all its rows, in their order", async (file, flags, products) => {
    const world = await worldOf();
    const ran = await world.cat(`import ${file} ${flags} --merge-rows --json`);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    const total = Object.keys(products).length;
    expect(JSON.parse(ran.stdout)).toMatchObject({ total, created: total, invalid: 0 });
    expect(shown(world)).toEqual(products);
    // The same again: nothing was edited.
    const again = await world.cat(`import ${file} ${flags} --merge-rows --json`);
    expect([again.exit, JSON.parse(again.stdout)]).toMatchObject([
      0,
      { total, unchanged: total, submitted: 0 },
    ]);
  });

  test.each<[file: string, problems: readonly string[]]>([
    ["names.csv", ['7 name contradicting_rows name "Linen dress II" contradicts "Linen dress" on line 2']],
    ["sexes.xlsx", ['4 sex contradicting_rows sex "male" contradicts "female" in Photos!C2']],
    ["burst.csv", ["2 images invalid_row images has 21 entries; at most 20 are allowed"]],
    [
      "unquoted.csv",
      [
        '4 - ragged_row row has 4 cells, but the header has 3: check for a missing or extra ",", or put quotes (") around a cell that contains one',
      ],
    ],
  ])("%s is refused at the line of the row", async (file, problems) => {
    const world = await worldOf();
    const { exit, stdout } = await world.cat(`import ${file} --merge-rows --dry-run --json`);
    const found = JSON.parse(stdout).problems.map(
      ({ line, param = "-", code, message }: Record<string, string>) => `${line} ${param} ${code} ${message}`,
    );
    expect([exit, found]).toEqual([3, problems]);
  });

  test("a product whose rows contradict each other is in the failed file with all its rows, and is imported once they agree", async () => {
    const world = await worldOf();
    const ran = await world.cat("import names.csv --merge-rows --skip-invalid");
    expect([ran.exit, shown(world)]).toEqual([8, { "C-2": "Wool coat, 02, 05", "H-3": "Hat, 04" }]);
    const reason = 'contradicting_rows,"name ""Linen dress II"" contradicts ""Linen dress"" on line 2"';
    expect(world.read("names.failed.csv").split("\n")).toEqual([
      "reference,name,image_1,error_code,error_message",
      ...["Linen dress,IMG/01", "Linen dress,IMG/03", "Linen dress II,IMG/06"].map(
        (row) => `D-1,${row.replace("IMG", cdn)}.jpg,${reason}`,
      ),
      "",
    ]);
    expect(ran.stderr).toContain("  cat import names.failed.csv --merge-rows\n");
    world.write("names.failed.csv", world.read("names.failed.csv").replace("dress II,", "dress,"));
    expect((await world.cat("import names.failed.csv --merge-rows")).exit).toBe(0);
    expect(shown(world)["D-1"]).toBe("Linen dress, 01, 03, 06");
  });

  test("a product whose photo failed is in the failed file with all its rows, without the photos that it has", async () => {
    const world = await worldOf();
    world.write("a.csv", world.read("library.csv").replace("/03.jpg", "/fail-timeout.jpg"));
    expect((await world.cat("import a.csv --merge-rows")).exit).toBe(8);
    const rows = world.read("a.failed.csv").split("\n").slice(1, -1);
    expect(rows.map((row) => row.split(",").slice(0, 6).join(","))).toEqual([
      'D-1,Linen dress,"Soft, light",female,',
      `D-1,Linen dress,"Soft, light",female,${cdn}/fail-timeout.jpg`,
      'D-1,Linen dress,"Soft, light",female,',
    ]);
    world.write("a.failed.csv", world.read("a.failed.csv").replaceAll("fail-timeout", "03"));
    expect((await world.cat("import a.failed.csv --merge-rows")).exit).toBe(0);
    expect(world.products().map(({ reference, images }) => [reference, images.length])).toEqual([
      ["D-1", 3],
      ["C-2", 2],
      ["H-3", 1],
    ]);
  });

  longTest(
    "a row that is edited, added or removed changes its product alone, as an entry of images does",
    async () => {
      const world = await worldOf();
      await world.cat("import library.csv --merge-rows");
      const edit = (from: string, to: string) =>
        world.write("library.csv", world.read("library.csv").replaceAll(from, to));
      edit("Wool coat", "Coat");
      edit(`H-3,Hat,,,${cdn}/04.jpg\n`, `H-3,Hat,,,${cdn}/04.jpg\nH-3,,,,${cdn}/07.jpg\n`);
      edit(`D-1,Linen dress,"Soft, light",female,${cdn}/03.jpg\n`, "");
      const plan = JSON.parse(
        (await world.cat("import library.csv --merge-rows --plan p.ndjson --json")).stdout,
      );
      expect(plan).toMatchObject({ total: 3, change: 1, add_photos: 1, not_applied: { removed: 1 } });
      const ran = JSON.parse((await world.cat("import --apply p.ndjson --json")).stdout);
      expect(ran).toMatchObject({
        updated: 2,
        photos: { added: 1, removed: 0 },
        not_applied: { removed: 1 },
      });
      expect(world.products().map(({ name, images }) => [name, images.length])).toEqual([
        ["Linen dress", 3],
        ["Coat", 2],
        ["Hat", 2],
      ]);
      const exact = JSON.parse((await world.cat("import library.csv --merge-rows --exact --json")).stdout);
      expect(exact).toMatchObject({ photos: { removed: 1 } });
      await world.cat("imports undo last --yes");
      expect(world.products()[0]!.images).toHaveLength(3);
    },
  );

  test.each<[column: string, flag: string]>(
    sampled([
      ["image_1", ""],
      ["image_1", " --merge-rows"],
      ["image_front", ""],
      ["images", ""],
    ]),
  )("a photo whose row is removed is said, if one row is left: %s%s", async (column, flag) => {
    const world = await worldOf();
    const head = `reference,name,${column}\nA,Hat,${cdn}/1.jpg\n`;
    world.write("a.csv", `${head}A,,${cdn}/2.jpg\n`);
    await world.cat("import a.csv --merge-rows");
    world.write("a.csv", head);
    const { stdout } = await world.cat(`import a.csv${flag} --json`);
    expect(JSON.parse(stdout)).toMatchObject({ unchanged: 0, kept: 1, not_applied: { removed: 1 } });
    expect(world.products()[0]!.images).toHaveLength(2);
    const exact = await world.cat(`import a.csv${flag} --exact --json`);
    expect(JSON.parse(exact.stdout)).toMatchObject({ updated: 1 });
    expect(world.products()[0]!.images).toHaveLength(1);
  });

  test.each<[one: string, other: string]>(
    sampled([
      ["Café", "Cafe\u0301"],
      ["Hemd rot", "Hemd\u00a0rot"],
      ["Hemd rot", "Hemd\u202frot"],
      ["Handtasche", "Hand\u00adtasche"],
      ["AB", "A\u200bB"],
      ["A-1", "Ａ-１"],
      ["fin", "ﬁn"],
      ["❤ Ring", "❤\ufe0f Ring"],
      ["Ring", "Ring\u200e"],
      ["Kette", "K\u2060ette"],
    ]),
  )("texts that look equal agree, and the first one counts: %j, %j", async (one, other) => {
    for (const [first, last] of [
      [one, other],
      [other, one],
    ]) {
      const { content, faults } = mergeContents([
        { reference: "A", name: first, description: first, images: [] },
        { reference: "A", name: last, description: last, images: [] },
      ]);
      expect([content, faults]).toMatchObject([{ name: first, description: first }, []]);
    }
  });

  test("references that only look equal contradict each other, with their characters", () => {
    const { faults } = mergeContents([{ reference: "CAFÉ-1" }, { reference: "CAFE\u0301-1" }]);
    expect(faults.map(({ param, message }) => [param, message])).toEqual([
      ["reference", 'reference "CAFE\u0301-1" (CAFE\\u0301-1) contradicts "CAFÉ-1" (CAF\\xc9-1)'],
    ]);
  });

  test("--limit counts products, and results name the first row of each", async () => {
    const world = await worldOf();
    await world.cat("import library.csv --merge-rows --limit 2 --results r.csv");
    expect(Object.keys(shown(world))).toEqual(["D-1", "C-2"]);
    const lines = world.read("r.csv").trimEnd().split("\n").slice(1);
    expect(lines.map((line) => line.split(",").slice(0, 3).join(" "))).toEqual(["2 1 D-1", "3 2 C-2"]);
  });

  test("a position that is no number is a problem of its row", async () => {
    const world = await worldOf();
    world.write("a.csv", `reference,name,images,position\nA,Hat,${cdn}/1.jpg,1\nA,Hat,${cdn}/2.jpg,first\n`);
    const { stdout } = await world.cat("import a.csv --merge-rows --dry-run --json");
    expect(JSON.parse(stdout).problems).toMatchObject([
      { line: 3, param: "position", message: 'position must be a number: "first"' },
    ]);
  });
});

describe("rows of one reference without the flag", () => {
  const offered = /6 rows|5 rows are of 2 products|--merge-rows/;

  test.each(sampled(["library.csv", "library.ndjson", "library.xlsx", "sides.csv", "shop.csv"]))(
    "%s is not imported; the flag is offered",
    async (file) => {
      const world = await worldOf();
      const ran = await world.cat(`import ${file} --no-progress`);
      expect(ran.exit).toBe(3);
      expect(ran.stderr).toMatch(offered);
      expect(ran.stderr).toContain(
        "To import the rows of each reference as one product, add --merge-rows. Otherwise, fix the file",
      );
      expect(ran.stderr).not.toContain("keep one");
      expect(world.products()).toEqual([]);
      const json = await world.cat(`import ${file} --dry-run --json`);
      expect(json.stderr).toContain("add --merge-rows");
    },
  );

  test("rows that contradict each other get no offer, and a note with both values", async () => {
    const world = await worldOf();
    const rows = `A,Hat,${cdn}/1.jpg\nB,Sock,${cdn}/3.jpg\nA,Cap,${cdn}/2.jpg\nA,Cap,${cdn}/4.jpg\n`;
    world.write("a.csv", `reference,name,images\n${rows}B,Shoe,\n`);
    const ran = await world.cat("import a.csv --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).not.toContain("--merge-rows");
    expect(ran.stderr).not.toContain("keep one");
    const { notes, invalid, problems } = JSON.parse(
      (await world.cat("import a.csv --dry-run --json")).stdout,
    );
    const message = '2 products have rows that contradict each other: name "Cap" contradicts "Hat" on line 2';
    expect([notes, invalid, problems.length]).toMatchObject([
      [{ code: "contradicting_rows", count: 2, line: 4, param: "name", message }],
      3,
      4,
    ]);
  });

  const manyPhotos = Array.from({ length: 21 }, (_, at) => `A,Hat,${cdn}/${at}.jpg,`);
  const badPositions = [`A,Hat,${cdn}/1.jpg,"2,0"`, `A,Hat,${cdn}/2.jpg,"1,0"`];

  test.each<[rows: readonly string[], reason: string, param: string, correct: (text: string) => string]>([
    [manyPhotos, "21 photos; at most 20 are allowed", "images", (text) => text.replace(/^A,.*\n/m, "")],
    [badPositions, 'position must be a number: "2,0"', "position", (text) => text.replace(/"(\d),0"/g, "$1")],
  ])(
    "rows that agree but cannot be merged are skipped all, with the reason: %#",
    async (rows, reason, param, correct) => {
      const world = await worldOf();
      world.write("a.csv", `reference,name,images,position\n${rows.join("\n")}\nB,Sock,${cdn}/b.jpg,\n`);
      const message = `1 product has several rows that cannot be merged: ${reason}. Correct that, and add --merge-rows`;
      const { notes } = JSON.parse((await world.cat("import a.csv --dry-run --json")).stdout);
      expect(notes).toEqual([{ code: "unmergeable_rows", count: 1, line: 2, param, value: reason, message }]);
      const ran = await world.cat("import a.csv --skip-invalid --no-progress");
      expect([ran.exit, shown(world)]).toEqual([8, { B: "Sock, b" }]);
      expect(ran.stderr).toContain(`a.csv:2  ${message}.\n`);
      expect(ran.stderr).not.toContain("not of the same product");
      world.write("a.failed.csv", correct(world.read("a.failed.csv")));
      expect((await world.cat("import a.failed.csv --merge-rows")).exit).toBe(0);
      expect(world.products().find(({ reference }) => reference === "A")!.images).toHaveLength(
        Math.min(rows.length, 20),
      );
    },
  );

  test("--skip-invalid imports no part of a product: all its rows are in the failed file, which the flag imports", async () => {
    const world = await worldOf();
    const ran = await world.cat("import library.csv --skip-invalid --no-progress");
    expect([ran.exit, shown(world)]).toEqual([8, { "H-3": "Hat, 04" }]);
    expect(ran.stderr).toContain("  cat import library.failed.csv --merge-rows\n");
    expect(world.read("library.failed.csv").trimEnd().split("\n")).toHaveLength(6);
    // As it is, it stays refused.
    expect((await world.cat("import library.failed.csv")).exit).toBe(3);
    expect((await world.cat("import library.failed.csv --merge-rows")).exit).toBe(0);
    expect(shown(world)).toEqual({ "D-1": dress, "C-2": coat, "H-3": "Hat, 04" });
  });

  const pair = ["B,Cap,,3", "B,Cap,,4"];

  test.each<[name: string, other: readonly string[], rows: readonly string[]]>(
    sampled([
      ["two names", [], ["A,Ring,female,1", "A,Hat,male,2", ...pair]],
      ["three rows, of which two agree", [], ["A,Ring,female,1", "A,Hat,,2", ...pair, "A,Hat,,5"]],
      ["two sexes", [], ["A,Ring,female,1", ...pair, "A,Ring,male,2"]],
      ["a row in another file", ["A,Ring,female,1"], ["A,Hat,male,2", ...pair]],
      ["rows in another file that agree", ["A,Ring,female,1"], ["A,Ring,,2", ...pair, "A,Ring,,5"]],
    ]),
  )("the product of a first row is kept, whatever the failed file has: %s", async (_, other, rows) => {
    const world = await worldOf();
    const write = (file: string, of: readonly string[]) =>
      world.write(
        file,
        ["reference,name,sex,images", ...of.map((row) => row.replace(/\d$/, `${cdn}/$&.jpg`)), ""].join("\n"),
      );
    write("a.csv", other);
    write("b.csv", [...rows, "C,Sock,,6"]);
    const files = other.length === 0 ? "b.csv" : "a.csv b.csv";
    const [ring, sock] = [{ A: "Ring, female, 1" }, { C: "Sock, 6" }];
    expect((await world.cat(`import ${files} --skip-invalid`)).exit).toBe(8);
    expect(shown(world)).toEqual({ ...ring, ...sock });
    expect((await world.cat("import b.failed.csv --merge-rows")).exit).toBe(3);
    const skipped = await world.cat("import b.failed.csv --merge-rows --skip-invalid");
    expect([skipped.exit, shown(world)]).toEqual([8, { ...ring, ...sock, B: "Cap, 3, 4" }]);
    for (const flags of ["--merge-rows", "--skip-invalid", "--merge-rows --skip-invalid"])
      expect((await world.cat(`import b.failed-2.csv ${flags}`)).exit, flags).toBe(3);
    expect(shown(world)).toEqual({ ...ring, ...sock, B: "Cap, 3, 4" });
  });

  test("a row that repeats all of an imported one is unchanged in the failed file with the flag", async () => {
    const world = await worldOf();
    const rows = ["A,Hat,1", "A,Hat,1", "B,Cap,2", "B,Cap,3", "A,,1"];
    const text = rows.map((row) => row.replace(/\d$/, `${cdn}/$&.jpg`)).join("\n");
    world.write("a.csv", `reference,name,images\n${text}\n`);
    await world.cat("import a.csv --skip-invalid");
    expect(shown(world)).toEqual({ A: "Hat, 1" });
    const ran = await world.cat("import a.failed.csv --merge-rows --json");
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([0, { created: 1, unchanged: 1 }]);
    expect(shown(world)).toEqual({ A: "Hat, 1", B: "Cap, 2, 3" });
  });

  test("a photo of two products is noted at its row, whatever the rows are merged to", async () => {
    const world = await worldOf();
    world.write(
      "a.csv",
      `reference,name,image_1\nC,Cap,${cdn}/a.jpg\nA,Hat,${cdn}/h.jpg\nA,Hat,${cdn}/a.jpg\n`,
    );
    const { exit, stdout } = await world.cat("import a.csv --merge-rows --dry-run --json");
    expect([exit, JSON.parse(stdout).notes]).toMatchObject([
      0,
      [{ code: "same_photo", count: 1, line: 4, param: "image_1", value: `${cdn}/a.jpg` }],
    ]);
  });

  test("--skip-invalid imports the first of rows that are the same", async () => {
    const world = await worldOf();
    world.write("a.csv", `reference,name,images\n${`A,Hat,${cdn}/1.jpg\n`.repeat(2)}`);
    expect((await world.cat("import a.csv --skip-invalid")).exit).toBe(8);
    expect(shown(world)).toEqual({ A: "Hat, 1" });
  });

  test("on a terminal it is asked about, with the counts", async () => {
    const world = await worldOf();
    const screen = atTerminal(world, "import library.csv");
    await screen.type("How are the rows of one reference imported?", "\r");
    expect((await screen.ran).exit).toBe(0);
    expect(screen.screen()).toContain(
      "library.csv: 5 rows are of 2 products, such as one row per photo or size.",
    );
    expect(shown(world)).toEqual({ "D-1": dress, "C-2": coat, "H-3": "Hat, 04" });
  });

  test("on a terminal they are listed as problems if the user says so", async () => {
    const world = await worldOf();
    const screen = atTerminal(world, "import library.csv");
    await screen.type("How are the rows of one reference imported?", "\u001b[B\r");
    expect((await screen.ran).exit).toBe(3);
    expect(world.products()).toEqual([]);
  });

  test("on a terminal nothing is asked about a file without such rows", async () => {
    const world = await worldOf();
    world.write("a.csv", `reference,name,images\nA,Hat,${cdn}/1.jpg\n`);
    expect((await atTerminal(world, "import a.csv").ran).exit).toBe(0);
  });
});

describe("a product of several rows", () => {
  test("has every photo once, and each field of the first row that has it: whatever the rows are", () => {
    const text = fc.constantFrom("", "x");
    const row = fc.record({
      name: text,
      description: text,
      images: fc.array(fc.record({ url: fc.constantFrom("a", "b", "c", "d") }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (rows) => {
        const { content, images, faults } = mergeContents(rows);
        const { images: all, ...fields } = content as (typeof rows)[number];
        expect(faults).toEqual([]);
        expect(all).toEqual(
          [...new Set(rows.flatMap((one) => one.images.map(({ url }) => url)))].map((url) => ({ url })),
        );
        for (const [index, one] of rows.entries())
          expect(images[index]!.map((at) => all[at])).toEqual(one.images);
        for (const field of ["name", "description"] as const)
          expect(fields[field]).toBe(rows.some((one) => one[field] === "x") ? "x" : "");
      }),
      { numRuns: repetitions(200, 5000) },
    );
  });
});

describe("merged rows and everything else", () => {
  test("a stopped import goes on with the same products, and doubles no photo", async () => {
    const world = await worldOf();
    const fault = { match: { method: "POST", path: "/v1/imports" }, drop: "after" as const };
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(fault) });
    expect((await world.cat("import library.csv --merge-rows")).exit).toBe(7);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    const ran = await world.cat("import library.csv --merge-rows");
    expect([ran.exit, ran.stderr]).toEqual([
      0,
      expect.stringContaining("Resuming the import of library.csv"),
    ]);
    expect(shown(world)).toEqual({ "D-1": dress, "C-2": coat, "H-3": "Hat, 04" });
  });

  test("local photos are found and uploaded, each once; one that is missing is a problem of its row", async () => {
    const world = await worldOf();
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    world.write("p/1.png", png);
    world.write("p/2.png", Buffer.concat([png, Buffer.from("2")]));
    const rows = ["A,Hat,p/1.png", "B,Cap,p/1.png", "A,Hat,p/2.png", "A,,p/1.png"];
    world.write("a.csv", ["reference,name,image_1", ...rows, ""].join("\n"));
    expect((await world.cat("import a.csv --merge-rows")).exit).toBe(0);
    expect(world.products().map(({ images }) => images.length)).toEqual([2, 1]);
    world.write("a.csv", ["reference,name,image_1", ...rows, "A,Hat,p/3.png", ""].join("\n"));
    const { stdout } = await world.cat("import a.csv --merge-rows --dry-run --json");
    expect(JSON.parse(stdout).problems).toMatchObject([
      { line: 6, reference: "A", param: "image_1", code: "photo_not_found" },
    ]);
  });

  test("a reference of another file stays a problem, with both places", async () => {
    const world = await worldOf();
    const { exit, stderr } = await world.cat("import library.csv positions.csv --merge-rows --no-progress");
    expect(exit).toBe(3);
    expect(stderr).toContain(
      'positions.csv:2  reference  duplicate_reference_in_file  duplicate reference "D-1", first used on line 2 of library.csv\n',
    );
    expect(stderr).not.toContain("To import the rows of each reference");
  });

  test("another reading of the same file is another run, and a rejected header is reported once", async () => {
    const world = await worldOf();
    world.write("a.csv", `sku,name,images\nA,Hat,${cdn}/1.jpg\nA,Hat,${cdn}/2.jpg\n`);
    const { stdout } = await world.cat("import a.csv --merge-rows --dry-run --json");
    const codes = JSON.parse(stdout).problems.map(
      ({ code, line }: Record<string, string>) => `${code} ${line}`,
    );
    expect(codes).toEqual(["unknown_column 1", "missing_column 1"]);
  });

  test("unknown fields of NDJSON, and lines that are no objects, are reported at their lines", async () => {
    const world = await worldOf();
    const row = (more: object) => JSON.stringify({ reference: "A", name: "Hat", images: [], ...more });
    world.write("a.ndjson", [row({}), "[1]", row({ color: "red" }), ""].join("\n"));
    const { stdout } = await world.cat("import a.ndjson --merge-rows --dry-run --json");
    expect(JSON.parse(stdout).problems[0]).toMatchObject({ line: 3, param: "color", code: "unknown_column" });
  });

  longTest("standard input, and a file whose end cannot be read", async () => {
    const world = await worldOf();
    const piped = await world.cat("import - --merge-rows", { stdin: world.read("library.csv") });
    expect([piped.exit, shown(world)]).toEqual([0, { "D-1": dress, "C-2": coat, "H-3": "Hat, 04" }]);
    world.write("a.csv", `${world.read("library.csv")}D-1,"Linen\n`);
    const { exit, stdout } = await world.cat("import a.csv --merge-rows --dry-run --json");
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      3,
      { total: 3, problems: [{ line: 8, code: "unclosed_quote" }] },
    ]);
  });

  test("more rows than a product can have are problems, in memory that does not grow with them", async () => {
    const world = await worldOf();
    world.write("a.csv", `reference,name,images\n${`A,Hat,${cdn}/1.jpg\n`.repeat(1_002)}`);
    const { stdout } = await world.cat("import a.csv --merge-rows --dry-run --json");
    const { total, valid, problems } = JSON.parse(stdout);
    expect([total, valid, problems.length, problems[0].line]).toEqual([3, 1, 2, 1_002]);
  });

  test("rows in any order make the products that the same rows in order make", async () => {
    const row = fc.record({
      reference: fc.constantFrom("A", "B", "C"),
      position: fc.integer({ min: 1, max: 6 }),
      image: fc.constantFrom(..."abcdefgh"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, {
          minLength: 1,
          maxLength: 12,
          selector: ({ reference, position }) => reference + position,
        }),
        async (rows) => {
          const world = await createWorld({ mock: { demo: 0, rateLimit: false } });
          const lines = rows.map(
            ({ reference, position, image }) => `${reference},${reference},${cdn}/${image}.jpg,${position}`,
          );
          world.write("a.csv", ["reference,name,image_1,position", ...lines, ""].join("\n"));
          expect((await world.cat("import a.csv --merge-rows --json")).exit).toBe(0);
          const expected: Record<string, string> = {};
          for (const { reference } of rows) {
            const own = rows
              .filter((one) => one.reference === reference)
              .sort((a, b) => a.position - b.position);
            expected[reference] = [reference, ...new Set(own.map(({ image }) => image))].join(", ");
          }
          expect(shown(world)).toEqual(expected);
        },
      ),
      { numRuns: repetitions(2, 200) },
    );
  });
});
