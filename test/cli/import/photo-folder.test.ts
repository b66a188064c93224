import { rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";

/** A photo like no other: the service has each content once. */
let width = 0;
const photo = () =>
  sharp({ create: { width: ++width, height: 2, channels: 3, background: "red" } })
    .png()
    .toBuffer();

async function worldWith(names: readonly string[], options: WorldOptions = {}) {
  const world = await createWorld(options);
  for (const name of names) world.write(name, await photo());
  return world;
}

const uploads = (world: TestWorld) =>
  world.requests().filter(({ method, path }) => `${method} ${path}` === "POST /v1/images").length;
const photosOf = (world: TestWorld) =>
  Object.fromEntries(
    world
      .products()
      .map(({ reference, images }) => [reference, images.map(({ orientation }) => orientation)]),
  );
const dresses = ["photos/DRESS-1_front.png", "photos/DRESS-1_back.png", "photos/DRESS-10_front_2.png"];
const sheet = "reference,name\nDRESS-1,Dress\nDRESS-10,Gown\n";

describe("--images-from", () => {
  test("adds the photos of a folder to the rows of a sheet, and uploads only new ones later", async () => {
    const world = await worldWith([
      ...dresses,
      "photos/new/dress-10.png",
      "photos/banner.png",
      "photos/.x.png",
    ]);
    world.write("photos/Thumbs.db", "");
    world.write("photos/notes.txt", "");
    world.write("photos/catalogue.map.json", "{}");
    world.write("p.csv", sheet);
    const ran = await world.cat("import p.csv --images-from photos");
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "1 other file in photos skipped, such as notes.txt.\n" +
        "4 photos of 2 products found in photos.\n" +
        "1 photo belongs to no row, such as banner.png. For other names than REFERENCE_front, add --pattern.\n" +
        "Imported 2 rows from p.csv in 5.0 s: 2 created.\n",
    });
    expect(photosOf(world)).toEqual({ "DRESS-1": ["front", "back"], "DRESS-10": ["unlabeled", "front"] });
    const again = await world.cat("import p.csv --images-from photos");
    expect([again.stderr.split("\n")[3], uploads(world)]).toEqual([
      "Nothing to do: both rows of p.csv are unchanged.",
      4,
    ]);
    world.write("photos/DRESS-1_left.png", await photo());
    const more = await world.cat("import p.csv --images-from photos");
    expect([more.stderr.split("\n")[3], uploads(world)]).toEqual([
      "Imported 2 rows from p.csv in 5.0 s: 1 updated, 1 unchanged.",
      5,
    ]);
    expect(photosOf(world)["DRESS-1"]).toEqual(["front", "back", "left"]);
  });

  test("does not add a file that a row names, whatever its side there", async () => {
    const world = await worldWith(dresses);
    world.write(
      "p.csv",
      "reference,name,image_1,image_1_orientation\nDRESS-1,Dress,photos/DRESS-1_back.png,detail\n",
    );
    expect((await world.cat("import p.csv --images-from photos")).exit).toBe(0);
    expect(photosOf(world)).toEqual({ "DRESS-1": ["detail", "front"] });
  });

  longTest("takes any rest of a name with --pattern, and never splits a longer reference", async () => {
    const world = await worldWith(["f/AB_hero.png", "f/AB_1_hero.png", "f/AB_2_hero.png"]);
    world.write("p.csv", "reference,name\nAB,Bag\nAB_1,Belt\n");
    const ran = await world.cat(["import", "p.csv", "--images-from", "f", "--pattern", "{reference}_*"]);
    expect(ran.stderr.split("\n")[0]).toBe("3 photos of 2 products found in f.");
    expect(photosOf(world)).toEqual({ AB: ["unlabeled", "unlabeled"], AB_1: ["unlabeled"] });
  });

  longTest("adds photos to rows of NDJSON, and to a sheet from standard input", async () => {
    const world = await worldWith(dresses);
    world.write("p.ndjson", '{"reference":"DRESS-1","name":"Dress"}\n');
    expect((await world.cat("import p.ndjson --images-from photos")).exit).toBe(0);
    const stdin = "reference;name\nDRESS-10;Gown\n";
    expect((await world.cat("import - --images-from photos", { stdin })).exit).toBe(0);
    expect(photosOf(world)).toEqual({ "DRESS-1": ["front", "back"], "DRESS-10": ["front"] });
  });

  longTest(
    "writes rejected rows as they are in the file, and repeats the folder in the next command",
    async () => {
      const world = await worldWith(["shop/p.png", ...dresses]);
      world.write("photos/DRESS-10_back.png", "no image");
      world.write("shop/p.csv", `${sheet}DRESS-2,Too,many\n`);
      const ran = await world.cat("import shop/p.csv --images-from photos --skip-invalid");
      expect(ran.exit).toBe(8);
      expect(world.read("shop/p.failed.csv").split("\n").slice(0, 3)).toEqual([
        "reference,name,image_1,image_1_orientation,image_2,image_2_orientation,error_code,error_message",
        expect.stringMatching(
          /^DRESS-10,Gown,,,,,not_an_image,"""\.\.\/photos\/DRESS-10_back\.png"" does not/,
        ),
        // It stays a row with too many cells.
        expect.stringMatching(/^DRESS-2,Too,many,,,,,ragged_row,"row has 3 cells, but the header has 2/),
      ]);
      expect(ran.stderr).toContain("  cat import shop/p.failed.csv --images-from photos --images-outside\n");
      world.write("photos/DRESS-10_back.png", await photo());
      world.write(
        "shop/p.failed.csv",
        `${world.read("shop/p.failed.csv").split("\n").slice(0, 2).join("\n")}\n`,
      );
      const next = "import shop/p.failed.csv --images-from photos --images-outside";
      expect((await world.cat(next)).exit).toBe(0);
      expect(photosOf(world)).toEqual({ "DRESS-1": ["front", "back"], "DRESS-10": ["back", "front"] });
    },
  );

  longTest("uses the number columns that a sheet does not have", async () => {
    const world = await worldWith(dresses);
    world.write("p.csv", "reference,name,image_1,image_3_orientation,image_3\nDRESS-1,Dress,,,\n");
    world.write("photos/DRESS-1_front.png", "no image");
    const ran = await world.cat("import p.csv --images-from photos");
    expect([ran.exit, ran.stderr]).toEqual([
      3,
      expect.stringContaining('p.csv:2  image_2  not_an_image  "photos/DRESS-1_front.png" does not contain'),
    ]);
  });

  longTest(
    "a row that repeats a reference gets the photos of the reference that it is given later",
    async () => {
      const world = await worldWith(["photos/A-1_front.png", "photos/A-2_front.png"]);
      world.write("p.csv", "reference,name\nA-1,Coat\nA-1,Dress\n");
      const ran = await world.cat("import p.csv --images-from photos --skip-invalid");
      const [header, row] = world.read("p.failed.csv").split("\n");
      expect([ran.exit, row]).toEqual([
        8,
        expect.stringMatching(/^A-1,Dress,,,duplicate_reference_in_file,/),
      ]);
      world.write("p.failed.csv", `${header}\n${row!.replace("A-1", "A-2")}\n`);
      expect((await world.cat("import p.failed.csv --images-from photos")).exit).toBe(0);
      const names = world.products().map(({ reference, name }) => `${reference} ${name}`);
      expect([names.sort(), photosOf(world)]).toEqual([
        ["A-1 Coat", "A-2 Dress"],
        { "A-1": ["front"], "A-2": ["front"] },
      ]);
      const images = world.products().map((product) => product.images[0]!.id);
      expect(new Set(images).size).toBe(2);
    },
  );

  test("files that differ only in case are two photos; a cell names one of them", async () => {
    const world = await worldWith(["photos/A-1_front.png", "photos/A-1_FRONT.png"]);
    world.write("p.csv", "reference,name,image_1\nA-1,Coat,photos/A-1_front.png\n");
    const ran = await world.cat("import p.csv --images-from photos");
    expect([ran.exit, photosOf(world)]).toEqual([0, { "A-1": ["front", "front"] }]);
  });

  test("a row without a photo says so, and names a photo with a similar reference", async () => {
    const world = await worldWith(["photos/A-10_front.png", "photos/DRESS-1_front.png"]);
    world.write("p.csv", "reference,name\nA-1O,Coat\nDRESS-1,Dress\n");
    const ran = await world.cat("import p.csv --images-from photos");
    expect([ran.exit, ran.stderr.split("\n")[2]]).toEqual([
      3,
      'p.csv:2  images  invalid_row  images is empty: a row needs 1 to 20 photos; no photo in photos is named after "A-1O": did you mean "A-10_front.png"?',
    ]);
    world.write("q.csv", "reference,name\nX,Coat\n");
    expect(await world.cat("import q.csv --images-from photos")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining(
        "error: no photo in photos is named after a reference of the file, such as A-10_front.png\nPhotos are found by names such as REFERENCE_front.jpg. For other names, add --pattern.",
      ),
    });
  });

  test("a sheet without a column of references is rejected for its columns, not for its photos", async () => {
    const world = await worldWith(["photos/A-1_front.png"]);
    world.write("p.csv", "Artikelnummer,name\nA-1,Coat\n");
    const ran = await world.cat("import p.csv --images-from photos");
    expect([ran.exit, ran.stderr.split("\n").slice(2, 5)]).toEqual([
      3,
      [
        'p.csv:1  Artikelnummer  unknown_column  unknown column "Artikelnummer"; did you mean reference? Rename it, or use --map "Artikelnummer=reference" or --map "Artikelnummer=ignore"',
        'p.csv:1  reference  missing_column  missing column "reference" (required): add it, or use --map "COLUMN=reference"',
        "error: cannot import p.csv; nothing was sent",
      ],
    ]);
  });

  longTest("adds photos to a workbook, whose failed rows are a workbook with them", async () => {
    const world = await worldWith(dresses);
    world.write("photos/DRESS-10_back.png", "no image");
    const rows = [
      ["reference", "name", ""],
      ["DRESS-1", "Dress"],
      ["DRESS-10", "Gown"],
      ["X", "Shirt", "note"],
    ];
    world.write("p.xlsx", workbookOf({ Sheet1: rows }));
    const ran = await world.cat("import p.xlsx --images-from photos --skip-invalid");
    expect(ran.stderr.split("\n").slice(1, 4)).toEqual([
      'p.xlsx: Sheet1!A3  image_1  not_an_image  "photos/DRESS-10_back.png" does not contain a JPEG, PNG or WebP image',
      "p.xlsx: Sheet1!C4  -  invalid_row  this value is in a column without a header: name or remove the column",
      "Imported 1 of 3 rows from p.xlsx in 5.0 s: 1 created.",
    ]);
    world.write("photos/DRESS-10_back.png", await photo());
    const fixed = await world.cat("import p.failed.xlsx --images-from photos --skip-invalid");
    expect([fixed.exit, photosOf(world)]).toEqual([
      8,
      { "DRESS-1": ["front", "back"], "DRESS-10": ["back", "front"] },
    ]);
  });

  test("rejects a product with over 20 photos, by its reference", async () => {
    const names = Array.from({ length: 21 }, (_, index) => `photos/DRESS-1_${index}.png`);
    const world = await worldWith([]);
    for (const name of names) world.write(name, "");
    world.write("p.csv", sheet);
    for (const line of ["import p.csv --images-from photos", "import photos --pattern {reference}_{n}"]) {
      const ran = await world.cat(line);
      expect([ran.exit, ran.stderr]).toEqual([
        3,
        `error: "DRESS-1" has 21 photos in ${world.folder}/photos; a product has at most 20\nMove some of them out of the folder, and run the command again.\n`,
      ]);
    }
  });

  test("skips links that leave the folder, and follows others", async () => {
    const world = await worldWith(["outside/DRESS-1_front.png", "photos/DRESS-1_back.png"]);
    symlinkSync("../outside/DRESS-1_front.png", join(world.folder, "photos/DRESS-1_front.png"));
    symlinkSync("../outside", join(world.folder, "photos/DRESS-1"));
    symlinkSync("DRESS-1_back.png", join(world.folder, "photos/DRESS-10_left.png"));
    world.write("p.csv", sheet);
    const ran = await world.cat("import p.csv --images-from photos");
    expect(ran.stderr.split("\n").slice(0, 2)).toEqual([
      "2 other files in photos skipped, such as DRESS-1.",
      "2 photos of 2 products found in photos.",
    ]);
    expect(photosOf(world)).toEqual({ "DRESS-1": ["back"], "DRESS-10": ["left"] });
  });

  test.each(
    sampled(
      [
        ["import p.csv --pattern x", "--pattern needs the photos of a folder"],
        ["import p.csv --images-from nowhere", "--images-from nowhere does not exist"],
        ["import p.csv --images-from p.csv", "--images-from p.csv is not a folder"],
        ["import photos --images-from photos", "--images-from cannot be combined with a folder to import"],
        ["import photos --delimiter ;", "cannot use --delimiter: photos is a folder without a sheet"],
        ["import photos --pattern {side}", 'invalid --pattern "{side}": it needs {reference} once'],
        [
          "import photos --pattern {reference}[_{side}",
          'invalid --pattern "{reference}[_{side}": its brackets [ ] do not pair up',
        ],
        [
          "import photos --pattern {reference}_{color}",
          'invalid --pattern "{reference}_{color}": {color} is not {reference}, {side} or {n}',
        ],
      ],
      3,
    ),
  )("%s exits with 2", async (line, message) => {
    const world = await worldWith(dresses);
    world.write("p.csv", sheet);
    const ran = await world.cat(line);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([2, `error: ${message}`]);
    expect(world.requests()).toEqual([]);
  });
});

describe("a folder", () => {
  const pattern = ["--pattern", "{reference}_{side}"];

  test("without a sheet needs a pattern where it cannot be asked for", async () => {
    const world = await worldWith([...dresses.slice(0, 2), "photos/banner.png"]);
    for (const flags of ["", " --json", " --yes", " --dry-run"]) {
      const ran = await world.cat(`import photos/${flags}`);
      expect([ran.exit, world.requests()]).toEqual([3, []]);
    }
    expect(await world.cat("import photos/")).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: photos has no sheet: the names of its photos do not show which part is the reference\n" +
        "Add the pattern of the names, for example --pattern '{reference}_{side}' (1 product, 2 of 3 photos).\n",
    });
  });

  test.each([
    [["A-1/01.png", "A-1/02.png", "B-1/01.png"], "'{reference}/{n}' (2 products, 3 photos)"],
    [["s/A-1/front.png", "s/B-1/front.png"], "'*/{reference}/*' (2 products, 2 photos)"],
  ])("has no references in names that are in several folders: %j", async (names, proposed) => {
    const world = await worldWith(names.map((name) => `t/${name}`));
    expect((await world.cat("import t --dry-run")).stderr).toContain(`--pattern ${proposed}`);
  });

  test("without a sheet becomes products that are named by their references; later only new photos go", async () => {
    const world = await worldWith([...dresses.slice(0, 2), "photos/SHIRT_2_vorne.png", "photos/banner.png"]);
    const ran = await world.cat(["import", "photos/", ...pattern]);
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "3 photos of 2 products found in photos.\n" +
        "1 photo skipped: not like the pattern, such as banner.png.\n" +
        "Imported 2 rows from photos in 5.0 s: 2 created.\n",
    });
    expect(photosOf(world)).toEqual({ "DRESS-1": ["front", "back"], SHIRT_2: ["front"] });
    expect(world.products().map(({ name }) => name)).toEqual(["DRESS-1", "SHIRT_2"]);
    world.write("photos/DRESS-1_left.png", await photo());
    const more = await world.cat(["import", "photos", ...pattern]);
    expect([more.exit, uploads(world)]).toEqual([0, 4]);
    expect(photosOf(world)["DRESS-1"]).toEqual(["front", "back", "left"]);
  });

  longTest("without a sheet gives no name to a product that exists", async () => {
    const world = await worldWith(["belts/B-1_front.png", "belts/B-2_front.png"]);
    const line = "import belts --pattern {reference}_{side}";
    await world.cat(line);
    const [product] = world.products().filter(({ reference }) => reference === "B-1");
    await world.cat(`products update ${product!.id} --name Woven`);
    const names = () => Object.fromEntries(world.products().map(({ reference, name }) => [reference, name]));
    expect((await world.cat(line)).stderr).toContain("Nothing to do: both rows of belts are unchanged.");
    world.write("belts/B-1_back.png", await photo());
    for (const more of ["", " --photos all", " --ledger other.db"]) {
      expect((await world.cat(`${line}${more}`)).exit).toBe(0);
      expect(names()).toEqual({ "B-1": "Woven", "B-2": "B-2" });
    }
  });

  longTest("reads a pattern with folders from the start of the path", async () => {
    const world = await worldWith(["t/A-1/x.png", "t/A-1/old/y.png"]);
    const notes = async (name: string) =>
      (await world.cat(["import", "t", "--pattern", name, "--dry-run"])).stderr.split("\n").slice(0, 2);
    expect(await notes("{reference}/*")).toEqual([
      "1 photo of 1 product found in t.",
      "1 photo skipped: not like the pattern, such as A-1/old/y.png.",
    ]);
    expect((await notes("*/{reference}/*"))[1]).toContain("such as A-1/x.png");
  });

  longTest("has problems at photos, not at rows that nobody sees", async () => {
    const long = "x".repeat(101);
    const world = await worldWith(["p/A-1_front.png", `p/${long}_front.png`, "p/B-1_front.png"]);
    for (const name of ["p/A-1_back.png", "p/B-1_left.png", "p/C-1_front.png"]) world.write(name, "no image");
    const what = "does not contain a JPEG, PNG or WebP image";
    expect(await world.cat(["import", "p/", ...pattern])).toEqual({
      exit: 3,
      stdout: "",
      stderr: `6 photos of 4 products found in p.
p/A-1_back.png  image_2  not_an_image  "p/A-1_back.png" ${what}
p/B-1_left.png  image_2  not_an_image  "p/B-1_left.png" ${what}
p/C-1_front.png  image_1  not_an_image  "p/C-1_front.png" ${what}
p/${long}_front.png  reference  invalid_row  reference has 101 characters; at most 100 are allowed
error: p has 4 invalid products out of 4; nothing was sent
Rename or replace the photos and run the command again.
`,
    });
    const { stdout } = await world.cat(["import", "p/", ...pattern, "--dry-run", "--json"]);
    const photos = JSON.parse(stdout).problems.map(({ photo }: { photo: string }) => photo);
    expect(photos).toEqual(["p/A-1_back.png", "p/B-1_left.png", "p/C-1_front.png", `p/${long}_front.png`]);
    const terminal = atTerminal(world, `import p ${pattern.join(" ")}`, { stdin: true, stderr: true });
    expect((await terminal.ran).exit).toBe(3);
    expect(terminal.screen()).toContain(`${" ".repeat(11)}p/A-1_back.png`);
    expect(terminal.screen()).not.toContain("line");
  });

  test("with problems of one kind names the first photo and how many more", async () => {
    const names = Array.from({ length: 7 }, (_, index) => `p/A-${index}_front.png`);
    const world = await worldWith(["p/B-1_front.png"]);
    for (const name of names) world.write(name, "no image");
    const terminal = atTerminal(world, `import p ${pattern.join(" ")}`, { stdin: true, stderr: true });
    expect((await terminal.ran).exit).toBe(3);
    expect(terminal.screen()).toContain("p/A-0_front.png and 6 more");
  });

  test("that is the current folder has its own name in messages", async () => {
    const world = await worldWith(["A-1_front.png"]);
    const name = basename(world.folder);
    const ran = await world.cat(["import", ".", ...pattern, "--dry-run"]);
    expect(ran.stderr).toBe(
      `1 photo of 1 product found in ${name}.\n${name}: 1 row, all valid. Nothing was sent (--dry-run).\n`,
    );
    world.write("B-1_front.png", "no image");
    const failed = await world.cat(["import", ".", ...pattern]);
    expect(failed.exit).toBe(3);
    expect(failed.stderr.split("\n")[1]).toMatch(/^B-1_front\.png {2}image_1 {2}not_an_image {2}/);
    world.write("p/B-2_front.png", "no image");
    world.write("p/B-3_front.png", await photo());
    const skipped = await world.cat(["import", "p/.", ...pattern, "--skip-invalid"]);
    expect(skipped.stderr).toContain("Imported 1 of 2 rows from p in ");
    expect(skipped.stderr).toContain("  cat import p.failed.csv\n");
  });

  test("does not take an output in it, which would be its sheet", async () => {
    const world = await worldWith(["belts/B-1_front.png"]);
    const ran = await world.cat("import belts --pattern {reference}_{side} --results belts/r.csv");
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      2,
      "error: --results belts/r.csv is in the folder to import",
    ]);
  });

  test("takes a pattern with * twice, and no more", async () => {
    const world = await worldWith(["belts/x-B-1-y_front.png"]);
    expect((await world.cat("import belts --dry-run --pattern *-{reference}-*_{side}")).exit).toBe(0);
    const ran = await world.cat("import belts --dry-run --pattern *-{reference}*-*_{side}");
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      2,
      'error: invalid --pattern "*-{reference}*-*_{side}": it can have * twice',
    ]);
  });

  test("asks on a terminal, with what each pattern would read", async () => {
    const world = await worldWith([...dresses.slice(0, 2), "photos/banner.png"], { env: { NO_COLOR: "1" } });
    const call = atTerminal(world, "import photos --dry-run --no-progress", { stdin: true, stderr: true });
    await call.type("such as", "\r");
    expect(await call.ran).toMatchObject({ exit: 0, stdout: "" });
    const screen = call.screen().replace(/\s+/g, " ");
    for (const text of [
      "How are the 3 photos in photos named, such as DRESS-1_back.png?",
      "{reference}_{side}: DRESS-1 has front, back; 1 product, 2 of 3 photos",
      "another pattern",
      "To skip this question, add --pattern '{reference}_{side}'.",
      "photos: 1 row, all valid. Nothing was sent (--dry-run).",
    ])
      expect(screen).toContain(text);
  });

  test("takes another pattern that is typed, and says what is wrong with it", async () => {
    const world = await worldWith(["photos/DRESS-1=front.png"], { env: { NO_COLOR: "1" } });
    const call = atTerminal(world, "import photos --no-progress", { stdin: true, stderr: true });
    await call.type("such as", "\x1b[B", "\x1b[B", "\r");
    await call.type("Pattern of", "{side}\r");
    await call.type("it needs {reference} once", "\x7f".repeat(6), "{reference}={side}\r");
    expect((await call.ran).exit).toBe(0);
    expect(photosOf(world)).toEqual({ "DRESS-1": ["front"] });
  });

  test("is not imported after Ctrl-C at the question", async () => {
    const world = await worldWith(dresses);
    const call = atTerminal(world, "import photos --no-progress", { stdin: true, stderr: true });
    await call.type("such as", "\x03");
    expect([(await call.ran).exit, world.requests()]).toEqual([130, []]);
  });

  test("with a sheet is that sheet with the photos of the folder", async () => {
    const world = await worldWith(dresses);
    world.write("photos/p.csv", sheet);
    world.write("photos/p.failed.csv", sheet);
    const ran = await world.cat("import photos");
    expect([ran.exit, ran.stderr.split("\n").slice(0, 2)]).toEqual([
      0,
      ["Reading photos/p.csv, with the photos of its folder.", "3 photos of 2 products found in photos."],
    ]);
    expect(world.products().map(({ name }) => name)).toEqual(["Dress", "Gown"]);
    world.write("photos/q.xlsx", "");
    const two = await world.cat("import photos");
    expect([two.exit, two.stderr]).toEqual([
      3,
      "error: photos has 2 files of rows: p.csv, q.xlsx\nChoose one, for example: cat import photos/p.csv --images-from photos\n",
    ]);
    world.write("sheets/p.csv", sheet);
    world.write("sheets/q.csv", sheet);
    const none = await world.cat("import sheets");
    expect(none.stderr).toContain("Choose one, for example: cat import sheets/p.csv\n");
  });

  longTest("has its failed file next to it, which imports as it is", async () => {
    const world = await worldWith(dresses.slice(0, 2));
    world.write("photos/SHIRT_front.png", "no image");
    const ran = await world.cat(["import", "photos", ...pattern, "--skip-invalid", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([
      8,
      { file: "photos", total: 2, invalid: 1, created: 1, failed_file: "photos.failed.csv" },
    ]);
    expect(world.read("photos.failed.csv")).toBe(
      "reference,name,image_1,image_1_orientation,image_2,image_2_orientation,error_code,error_message\n" +
        'SHIRT,SHIRT,photos/SHIRT_front.png,front,,,not_an_image,"""photos/SHIRT_front.png"" does not contain a JPEG, PNG or WebP image"\n',
    );
    world.write("photos/SHIRT_front.png", await photo());
    expect((await world.cat("import photos.failed.csv")).exit).toBe(0);
    expect(photosOf(world)).toEqual({ "DRESS-1": ["front", "back"], SHIRT: ["front"] });
  });

  longTest("converts photos with --convert, and the summary has their number", async () => {
    const world = await worldWith(dresses.slice(0, 1));
    world.write(
      "photos/DRESS-1_back.tif",
      await sharp(await photo())
        .tiff()
        .toBuffer(),
    );
    const dry = await world.cat(["import", "photos", ...pattern, "--convert", "--dry-run", "--json"]);
    expect(JSON.parse(dry.stdout)).toEqual({
      file: "photos",
      problems: [],
      total: 1,
      valid: 1,
      invalid: 0,
      converted: 1,
    });
    const ran = await world.cat(["import", "photos", ...pattern, "--convert", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([0, { created: 1, converted: 1 }]);
    world.write("p.csv", sheet.slice(0, -14));
    const sheetRan = await world.cat("import p.csv --images-from photos --convert");
    expect(sheetRan.stderr).toContain(
      ": 1 updated.\n  1 photo converted to JPEG; the originals are unchanged\n",
    );
    expect(uploads(world)).toBe(2);
  });

  longTest("that was stopped is resumed by the same command, and nothing is sent twice", async () => {
    const world = await worldWith(dresses);
    const args = ["import", "photos", "--pattern", "{reference}[_{side}][_{n}]"];
    const first = await world.cat([...args, "--timeout", "1s"]);
    expect(first.exit).toBe(7);
    const second = await world.cat(args);
    expect([second.exit, second.stderr]).toEqual([
      0,
      expect.stringContaining("Resuming the import of photos"),
    ]);
    expect([photosOf(world), uploads(world)]).toEqual([
      { "DRESS-1": ["front", "back"], "DRESS-10": ["front"] },
      3,
    ]);
  });

  const removals = (stdout: string) => {
    const { unchanged, photos, not_applied } = JSON.parse(stdout);
    return { unchanged, removed: photos.removed, left: not_applied.removed };
  };

  test("says that a removed photo of its fullest product is not detached, and --exact detaches it", async () => {
    const world = await worldWith(["photos/A_1.png", "photos/A_2.png", "photos/A_3.png"]);
    const args = ["import", "photos", "--pattern", "{reference}_{n}", "--json"];
    expect((await world.cat(args)).exit).toBe(0);
    rmSync(join(world.folder, "photos/A_3.png"));
    const kept = { unchanged: 0, removed: 0, left: 1 };
    for (const _ of [1, 2]) expect(removals((await world.cat(args)).stdout)).toEqual(kept);
    expect(photosOf(world)).toEqual({ A: ["unlabeled", "unlabeled", "unlabeled"] });
    const gone = { unchanged: 0, removed: 1, left: 0 };
    expect(removals((await world.cat([...args, "--exact"])).stdout)).toEqual(gone);
    expect(removals((await world.cat(args)).stdout)).toEqual({ unchanged: 1, removed: 0, left: 0 });
    expect(photosOf(world)).toEqual({ A: ["unlabeled", "unlabeled"] });
  });

  longTest("the same next to an exported sheet, where a column that is absent detaches nothing", async () => {
    const world = await worldWith(["photos/DRESS-1_1.png", "photos/DRESS-1_2.png"]);
    world.write("p.csv", "reference,name\nDRESS-1,Dress\n");
    expect((await world.cat("import p.csv --images-from photos")).exit).toBe(0);
    expect((await world.cat("products export e.csv")).exit).toBe(0);
    const args = ["import", "e.csv", "--images-from", "photos", "--json"];
    world.write("photos/DRESS-1_3.png", await photo());
    expect((await world.cat(args)).exit).toBe(0);
    rmSync(join(world.folder, "photos/DRESS-1_3.png"));
    expect(removals((await world.cat(args)).stdout)).toEqual({ unchanged: 0, removed: 0, left: 1 });
    expect(photosOf(world)["DRESS-1"]).toHaveLength(3);
  });
});
