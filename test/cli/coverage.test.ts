import { describe, expect, test } from "vitest";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { generateWorld } from "./generate/generate-world.ts";
import { reviewWorld } from "./generate/review-world.ts";

describe("cat products coverage", () => {
  test("lists photos, beautified shots and try-ons of each product", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-1,Bastian,beach,full-back");
    await world.cat("tryon looks.csv --yes");
    const shots = "product_reference,subtype,background,angle_shot\nDRESS-2,clothing,#F4F1EA,front\n";
    world.write("shots.csv", shots);
    await world.cat("beautify shots.csv --yes");
    const csv = await world.cat("products coverage --format csv");
    expect(csv.exit).toBe(0);
    const ids = world.products().map(({ id }) => id);
    expect(csv.stdout.split("\n")).toEqual([
      "reference,name,photos,beautified,tryons,rejected,id",
      ...[6, 5, 4, 3].map((at) => `DRESS-${at},Dress ${at},unlabeled,,,0,${ids[at - 1]}`),
      `DRESS-2,Dress 2,unlabeled,#F4F1EA/front,,0,${ids[1]}`,
      `DRESS-1,Dress 1,unlabeled,,Amara/studio/full-front|Bastian/beach/full-back,0,${ids[0]}`,
      "",
    ]);
    expect(csv.stderr).toContain("4 products without a generated image.");
    const rows = (await world.cat("products coverage --json")).stdout.trim().split("\n");
    expect(JSON.parse(rows[5]!)).toMatchObject({
      reference: "DRESS-1",
      photos: ["unlabeled"],
      beautified: [],
      tryons: [
        { model_name: "Amara", background: "studio", angle_shot: "full-front" },
        { model_name: "Bastian", background: "beach", angle_shot: "full-back" },
      ],
      rejected: 0,
    });
    const table = await world.cat("products coverage --fields reference,photos", { tty: true });
    expect(table.stdout).toContain("DRESS-6    unlabeled\n");
  });

  longTest("lists a look once, however many of its images exist", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-1,Amara,#F4F1EA,full-front");
    await world.cat("tryon looks.csv --yes");
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-1,Amara,#f4f1ea,full-front");
    await world.cat("tryon looks.csv --yes --fresh");
    expect(world.tasks()).toHaveLength(4);
    const { stdout } = await world.cat("products coverage --json --fields reference,tryons");
    const row = JSON.parse(stdout.trim().split("\n").at(-1)!);
    expect(row.tryons.map(({ background }: { background: string }) => background).sort()).toEqual([
      "#f4f1ea",
      "studio",
    ]);
  });

  test.for(sampled(["out.xlsx", "out.csv"], 1))("writes its rows to the file of --out: %s", async (name) => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.cat("tryon looks.csv --yes");
    const ran = await world.cat(`products coverage --without tryon --out ${name}`);
    expect([ran.exit, ran.stdout]).toEqual([0, ""]);
    expect(ran.stderr).toContain(`Wrote 5 rows to ${name}.\n5 of 6 products without a try-on.\n`);
    // The file names its products.
    const listed = await world.cat(`products coverage ${name} --json`);
    expect(listed.stdout.trim().split("\n")).toHaveLength(5);
    const again = await world.cat(`products coverage --out ${name} --no-input`);
    expect([again.exit, again.stderr]).toEqual([2, expect.stringContaining(`${name} exists`)]);
    const both = await world.cat(`products coverage --looks a.csv --model Amara --out ${name}`);
    expect(both.stderr).toContain("--looks cannot be used with --out");
  });

  test("lists the products of a sheet of looks, and of its results", async () => {
    const world = await generateWorld();
    world.looks("DRESS-2,Amara,studio,full-front", "DRESS-1,Amara,studio,full-front");
    await world.cat("tryon looks.csv --yes --results results.csv");
    for (const file of ["looks.csv", "results.csv"]) {
      const { exit, stdout } = await world.cat(`products coverage ${file} --fields reference --format csv`);
      expect([exit, stdout.trim().split("\n").sort()]).toEqual([0, ["DRESS-1", "DRESS-2", "reference"]]);
    }
  });

  test("does not take the header of a table for a product", async () => {
    const world = await generateWorld();
    world.write("de.csv", "Artikelnummer;Name\nDRESS-1;Kleid\n");
    const { exit, stderr } = await world.cat("products coverage de.csv");
    expect([exit, stderr.split("\n")[0]]).toEqual([
      3,
      'de.csv:1  Artikelnummer  missing_column  missing column "reference", "product_id" or "id": rename "Artikelnummer", or use --map "Artikelnummer=reference"',
    ]);
  });

  test("counts a rejected image as --missing does: it does not exist", async () => {
    const world = await reviewWorld(2);
    world.review("decisions.csv", ["reject"], ["approve"]);
    expect((await world.cat("tasks review decisions.csv")).exit).toBe(0);
    const { stdout } = await world.cat("products coverage --json");
    const rows = stdout.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line)));
    const found = rows.filter(({ tryons, rejected }) => tryons.length + rejected > 0);
    expect(found.map(({ tryons, rejected }) => [tryons.length, rejected])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  longTest("tables begin several looks with their number, which a narrow terminal does not cut", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-1,Amara,white,full-back");
    await world.cat("tryon looks.csv --yes");
    expect((await world.cat("products coverage")).stdout).toContain(
      "  2: Amara/studio/full-front, Amara/white/full-back  ",
    );
  });

  longTest("shows the IDs of models with a key that cannot read their names", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.cat("tryon looks.csv --yes");
    await world.fault({ match: { method: "GET", path: "/v1/models" }, status: 403, times: 9 });
    const { exit, stdout } = await world.cat("products coverage --format csv");
    expect([exit, stdout.includes("/studio/full-front")]).toEqual([0, true]);
  });

  test("of an empty catalogue says so", async () => {
    const world = await generateWorld();
    const env = { CAT_API_KEY: "ak_mock_other" };
    expect(await world.cat("products coverage", { env })).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("No products yet."),
    });
  });
});
