import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { generateWorld } from "./generate/generate-world.ts";
import { reviewWorld } from "./generate/review-world.ts";

const tryons = "--model amara --background studio --angle full-front";

/** DRESS-1 with a try-on in the studio, DRESS-2 with one on the beach and a shot, the other four without any. */
async function shop() {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,beach,full-front");
  await world.cat("tryon looks.csv --yes");
  world.write("shots.csv", "product_reference,subtype,background,angle_shot\nDRESS-2,clothing,white,front\n");
  await world.cat("beautify shots.csv --yes");
  return world;
}

const references = (stdout: string): string[] =>
  stdout.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line).reference));

describe("cat products coverage", () => {
  test("lists the products that have no image of a kind, with their number", async () => {
    const world = await shop();
    const list = (flags: string) => world.cat(`products coverage ${flags}`);
    const withoutTryon = await list("--without tryon --format csv --fields reference");
    expect(withoutTryon).toMatchObject({
      exit: 0,
      stdout: "reference\nDRESS-6\nDRESS-5\nDRESS-4\nDRESS-3\n",
      stderr: expect.stringContaining("4 of 6 products without a try-on.\n"),
    });
    const shots = await list("--without beautifier --json");
    expect(references(shots.stdout)).toEqual(["DRESS-6", "DRESS-5", "DRESS-4", "DRESS-3", "DRESS-1"]);
    const neither = await list("--without beautifier --without tryon");
    expect(neither.stderr).toContain("4 of 6 products without a beautified shot or a try-on.\n");
    expect(await list("--without other")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("use beautifier or tryon"),
    });
  });

  longTest("is limited to the products of a file and of a search", async () => {
    const world = await shop();
    world.write("some.csv", "Artikelnummer,note\nDRESS-1,a\nDRESS-3,b\nDRESS-1,again\n");
    const ofFile = await world.cat("products coverage some.csv --map Artikelnummer=reference --json");
    expect(references(ofFile.stdout)).toEqual(["DRESS-1", "DRESS-3"]);
    const found = await world.cat("products coverage --q dress-3 --json");
    expect(references(found.stdout)).toEqual(["DRESS-3"]);
    world.write("list.txt", "DRESS-2\nDRESS-3\n");
    const both = await world.cat("products coverage list.txt --q dress-3 --without tryon");
    expect(both).toMatchObject({ exit: 0, stdout: expect.stringContaining("DRESS-3") });
    expect(both.stderr).toContain("1 of 1 product without a try-on.");
    const none = await world.cat("products coverage --q trousers");
    expect(none).toMatchObject({ exit: 0, stderr: expect.stringContaining("No products found.\n") });
  });

  longTest("notes values of --looks that are not known: every product lacks them", async () => {
    const world = await shop();
    const looks = "products coverage --looks looks.csv --yes --model Amara";
    const ran = await world.cat(`${looks} --background Strand --background custom --angle full-frnt`);
    expect(ran.exit).toBe(0);
    expect(ran.stderr.split("\n").slice(1)).toEqual([
      '--background "Strand" is not a known value: did you mean "beach"?',
      expect.stringMatching(/^--background "custom" is not a known value; known: white, .*, beach$/),
      '--angle "full-frnt" is not a known value: did you mean "full-front"?',
      "",
    ]);
    const known = await world.cat(`${looks} --background #f4f1ea --angle custom-a`);
    expect(known.stderr).not.toContain("known value");
  });

  longTest("shows values of other computers, which are known from then on", async () => {
    const world = await generateWorld({ mock: { strictSlugs: false } });
    world.looks("DRESS-1,Amara,terrace,full-front");
    await world.cat("tryon looks.csv --yes");
    const elsewhere = { env: { CAT_HOME: join(world.folder, "other") } };
    world.looks("DRESS-2,Amara,terrace,full-front");
    const check = async () => (await world.cat("tryon looks.csv --dry-run", elsewhere)).stderr;
    expect(await check()).toContain('"terrace" is not a known value');
    expect((await world.cat("products coverage", elsewhere)).exit).toBe(0);
    expect(await check()).not.toContain("known value");
  });

  test("lists nothing for a file that names an unknown product", async () => {
    const world = await shop();
    world.write("some.csv", "reference\nDRESS-1\nDRES-2\n");
    expect(await world.cat("products coverage some.csv --looks looks.xlsx --without tryon")).toMatchObject({
      exit: 3,
      stdout: "",
      stderr: `some.csv:3  reference  product_not_found  no product "DRES-2": did you mean "DRESS-2"?
error: some.csv names 1 unknown product out of 2; nothing was listed
Fix these lines and run the command again.
`,
    });
    expect(existsSync(join(world.folder, "looks.xlsx"))).toBe(false);
  });
});

describe("cat products coverage --looks", () => {
  test("answers which products have no picture yet with a sheet that cat tryon generates, after which none is missing", async () => {
    const world = await shop();
    const write = `products coverage --looks new.xlsx ${tryons} --angle full-back`;
    const written = await world.cat(`${write} --without tryon`);
    expect(written).toMatchObject({
      exit: 0,
      stdout: "",
      stderr: expect.stringContaining(
        "Wrote 8 missing images of 4 products to new.xlsx. To generate them, run: cat tryon new.xlsx\n4 of 6 products without a try-on.\n",
      ),
    });
    expect(await world.cat("tryon new.xlsx --yes")).toMatchObject({ exit: 0 });
    expect(world.tasks()).toHaveLength(11);
    const rest = await world.cat(`${write} --json --yes`);
    // DRESS-1 lacks its back, DRESS-2 has the beach only.
    expect(JSON.parse(rest.stdout)).toEqual({ file: "new.xlsx", kind: "tryon", products: 2, looks: 3 });
    expect(await world.cat("tryon new.xlsx --yes")).toMatchObject({ exit: 0 });
    expect((await world.cat(`${write} --yes`)).stderr).toContain(
      "No image is missing: new.xlsx has a header only.\n",
    );
  });

  test.each(sampled(["shots.xlsx", "shots-2.csv", "shots.ndjson"], 1))(
    "writes shots that cat beautify generates: %s",
    async (file) => {
      const world = await shop();
      const write = `products coverage --looks ${file} --subtype clothing --background WHITE|#f4f1ea --background #F4F1EA --angle front --style ghost`;
      const { exit, stderr } = await world.cat(write.replace("WHITE", "white"));
      expect({ exit, stderr }).toMatchObject({
        exit: 0,
        stderr: expect.stringContaining(`Wrote 11 missing images of 6 products to ${file}.`),
      });
      expect(await world.cat(`beautify ${file} --yes`)).toMatchObject({ exit: 0 });
      const again = await world.cat(`${write} --json --yes`);
      expect(JSON.parse(again.stdout)).toMatchObject({ looks: 0 });
    },
  );

  test("has rejected images, and those that show the product with others only", async () => {
    const world = await reviewWorld(1);
    world.write(
      "styled.csv",
      "product_reference,model_id,background,angle_shot,styling_product_ids\nDRESS-2,Amara,studio,full-front,DRESS-3\n",
    );
    await world.cat("tryon styled.csv --yes");
    world.review("decisions.csv", ["reject"]);
    await world.cat("tasks review decisions.csv");
    const written = await world.cat(`products coverage --looks looks.ndjson ${tryons}`);
    expect(written.stderr).toContain("Wrote 6 missing images of 6 products");
    expect((await world.cat("products coverage --without tryon")).stderr).toContain("5 of 6 products");
  });

  longTest("leaves the cells to fill in that no flag gives, of products without any such image", async () => {
    const world = await shop();
    const { exit, stderr } = await world.cat("products coverage --without tryon --looks looks-2.csv");
    expect({ exit, stderr }).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(
        "Wrote 4 missing images of 4 products to looks-2.csv. Fill in model_id, background and angle_shot, then run: cat tryon looks-2.csv\n",
      ),
    });
    expect(world.read("looks-2.csv")).toBe(
      `product_reference,model_id,background,angle_shot\n${["DRESS-6,,,", "DRESS-5,,,", "DRESS-4,,,", "DRESS-3,,,", ""].join("\n")}`,
    );
    await world.cat("products coverage --looks looks-3.csv --model mdl_001 --angle full-front");
    expect(world.read("looks-3.csv").split("\n").slice(0, 2)).toEqual([
      "product_reference,model_id,background,angle_shot",
      "DRESS-6,Amara,,full-front",
    ]);
  });

  longTest("round trip: every reference comes back from CSV and workbooks as the same product", async () => {
    const world = await generateWorld();
    const names = [
      "=SUM(A1)",
      "-x",
      "+1",
      "@a",
      "'=b",
      "''=c",
      "007",
      "a|b",
      "ä;b",
      ' "q"',
      "1e5",
      "x,y",
      "'",
    ];
    const random = fc.sample(fc.string({ minLength: 1, maxLength: 12, unit: "grapheme-ascii" }), 20);
    const all = [...new Set([...names, ...random].map((name) => name.trim()))].filter((name) => name !== "");
    const images = [{ url: "https://cdn.example.com/1.jpg" }];
    const rows = all.map((reference) => JSON.stringify({ reference, name: "x", images }));
    world.write("odd.ndjson", `${rows.join("\n")}\n`);
    expect((await world.cat("import odd.ndjson")).exit).toBe(0);
    for (const file of ["odd.xlsx", "odd.csv", "odd-2.ndjson"]) {
      const write = `products coverage --looks ${file} --background beach --model Amara --angle close-up --yes`;
      expect((await world.cat(write)).exit).toBe(0);
      const checked = await world.cat(`tryon ${file} --dry-run --json`);
      expect(JSON.parse(checked.stdout)).toMatchObject({ problems: [], generations: all.length + 6 });
    }
    expect((await world.cat("tryon odd.xlsx --yes")).exit).toBe(0);
    const shown = new Set(world.tasks().map(({ product_id }) => product_id));
    expect(shown.size).toBe(all.length + 6);
  });

  test.each(
    sampled(
      [
        ["--looks a.xlsx", "--looks needs --model or --subtype"],
        ["--looks a.xlsx --without tryon --without beautifier", "--looks needs --model or --subtype"],
        [
          "--looks a.pdf --model Amara",
          "cannot write --looks a.pdf: it is written as .csv, .xlsx or .ndjson, not .pdf",
        ],
        ["--looks a.xlsx --model Amara --subtype shoes", "--model cannot be used with --subtype"],
        ["--looks a.xlsx --model Amara --format csv", "--looks cannot be used with --format"],
        ["--looks a.csv --subtype hats", 'invalid --subtype "hats": use clothing, shoes or headwear'],
        [
          "--looks a.csv --subtype clothing --style ghost|flat",
          'invalid --style "flat": use ghost or flatlay',
        ],
        ["--model Amara", "--model needs --looks"],
        ["--sheet Looks", "--sheet needs FILE"],
      ],
      3,
    ),
  )("exits with 2: %s", async (flags, message) => {
    const world = await generateWorld();
    expect(await world.cat(`products coverage ${flags}`)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`error: ${message}`),
    });
  });

  longTest("exits with 5 for an unknown model, and asks before a file is replaced", async () => {
    const world = await generateWorld();
    expect(await world.cat("products coverage --looks a.xlsx --model Nobody")).toMatchObject({
      exit: 5,
      stderr: 'error: no model "Nobody"\nTo see all models: cat models list\n',
    });
    expect(existsSync(join(world.folder, "a.xlsx"))).toBe(false);
    world.write("a.xlsx", "mine");
    const taken = await world.cat("products coverage --looks a.xlsx --model Amara");
    expect(taken).toMatchObject({ exit: 2, stderr: expect.stringContaining("a.xlsx") });
    expect(world.read("a.xlsx")).toBe("mine");
  });
});
