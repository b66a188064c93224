import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { dress, reviewedWorld } from "./reviewed-world.ts";

describe("cat export sync --not-rejected", () => {
  test("mirrors all images without a rejection, and gives the decisions in the index", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    expect(await world.sync("m --not-rejected")).toMatchObject({ exit: 0, counts: { total: 8, added: 8 } });
    expect(world.files()).toEqual([dress(1), dress(3)]);
    expect(world.tryons()).toEqual([
      ["DRESS-1", "approve", false],
      ["DRESS-3", null, false],
    ]);
    expect(world.index("m/catalogue.ndjson").filter(({ role }) => role === "source")).toHaveLength(6);
  });

  longTest(
    "removes what is rejected later as it removes other images, and takes it back without a download",
    async () => {
      const world = await reviewedWorld();
      await world.sync("m --not-rejected");
      await world.review("reject", "approve");
      world.traffic();
      expect((await world.sync("m --not-rejected")).counts).toEqual({
        total: 8,
        removed: 1,
        unchanged: 8,
        rejected: 1,
      });
      expect(world.traffic()).toEqual({ pages: 1, images: 0 });
      expect(world.tryons()[0]).toEqual(["DRESS-1", "reject", true]);
      // The file is kept without --delete.
      expect(world.files()).toEqual([dress(1), dress(2), dress(3)]);
      // A rejection casts no doubt on the list of the service: the next run reads changes only.
      expect((await world.sync("m --not-rejected")).counts).toEqual({ total: 8, unchanged: 8, rejected: 1 });
      expect(world.requests().at(-1)!.path).toContain("since=");
      await world.review("approve", "approve");
      expect((await world.sync("m --not-rejected")).counts).toEqual({ total: 9, added: 1, unchanged: 8 });
      expect(world.traffic().images).toBe(0);
      expect(world.tryons()[0]).toEqual(["DRESS-1", "approve", false]);
    },
  );

  test("deletes rejected images with --delete, never more than usual", async () => {
    const world = await reviewedWorld();
    await world.sync("m --not-rejected --role tryon");
    await world.review("reject", "reject", "approve");
    const refused = await world.sync("m --not-rejected --role tryon --delete");
    expect(refused).toMatchObject({
      exit: 8,
      stderr: expect.stringContaining(
        "2 of 3 files are rejected or no longer in the catalogue; none was deleted. Check the review, the API key and the catalogue.",
      ),
    });
    expect(world.files()).toEqual([dress(1), dress(2), dress(3)]);
    const allowed = await world.sync("m --not-rejected --role tryon --delete --max-delete 2");
    expect(allowed).toMatchObject({ exit: 0, counts: { total: 1, removed: 2, unchanged: 1 } });
    expect(world.files()).toEqual([dress(3)]);
    await world.review("approve", "reject", "approve");
    expect((await world.sync("m --not-rejected --role tryon")).counts).toMatchObject({ total: 2, added: 1 });
    expect(world.files()).toEqual([dress(1), dress(3)]);
  });

  test("belongs to the run: without it rejected images come back, with their decision", async () => {
    const world = await reviewedWorld();
    await world.review("reject");
    await world.sync("m --not-rejected");
    expect(world.files()).toEqual([dress(2), dress(3)]);
    expect((await world.sync("m")).counts).toEqual({ total: 9, added: 1, unchanged: 8 });
    expect(world.tryons()[0]).toEqual(["DRESS-1", "reject", false]);
  });

  longTest("a decision is in the index of the next run, although no product has changed", async () => {
    const world = await reviewedWorld();
    await world.sync("m");
    await world.review("reject", "approve");
    expect((await world.sync("m")).counts).toEqual({ total: 9, unchanged: 9 });
    expect(world.tryons()).toEqual([
      ["DRESS-1", "reject", false],
      ["DRESS-2", "approve", false],
      ["DRESS-3", null, false],
    ]);
  });

  longTest("writes nothing in a dry run", async () => {
    const world = await reviewedWorld();
    await world.sync("m --not-rejected");
    const before = world.tree("m");
    await world.review("reject");
    expect((await world.sync("m --not-rejected --dry-run")).counts).toMatchObject({ total: 8, removed: 1 });
    expect(world.tree("m")).toEqual(before);
  });
});

describe("cat export --not-rejected", () => {
  const exported = (stdout: string) =>
    stdout
      .trim()
      .split("\n")
      .map(
        (line) => JSON.parse(line) as { product: { reference: string }; assets: Record<string, unknown>[] },
      )
      .map(({ product, assets }) => [
        product.reference,
        assets.filter(({ role }) => role === "source").length,
        assets.filter(({ role }) => role === "tryon").map(({ decision }) => decision ?? null),
      ]);

  test("skips rejected images, and gives the decisions of the others", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    const ran = await world.cat("export --not-rejected");
    expect(exported(ran.stdout)).toEqual([
      ["DRESS-3", 2, [null]],
      ["DRESS-2", 2, []],
      ["DRESS-1", 2, ["approve"]],
    ]);
    expect(ran.stderr).toBe("Exported 3 products with 8 images in 0.0 s.\n  1 rejected: skipped\n");
    const { stdout } = await world.cat("export --not-rejected --format csv");
    const rows = parse(stdout, { columns: true }) as Record<string, string>[];
    expect(rows.filter(({ role }) => role === "tryon").map(({ decision }) => decision)).toEqual([
      "",
      "approve",
    ]);
    expect((await world.cat("export --format csv")).stdout.split("\n")[0]).toMatch(/,suggested_filename$/);
    const summary = JSON.parse((await world.cat("export --not-rejected --out a.ndjson --json")).stdout);
    expect(summary).toMatchObject({ products: 3, assets: 8, rejected: 1 });
  });

  longTest("with --since last exports everything again after images were reviewed", async () => {
    const world = await reviewedWorld();
    await world.review("reject");
    const line = "export --not-rejected --since last";
    expect((await world.cat(line)).stderr).toContain("No earlier export with --since last");
    expect((await world.cat(line)).stdout).toBe("");
    await world.review("approve");
    const again = await world.cat(line);
    expect(again.stderr).toContain(
      "Images were reviewed since the last export with --since last: exporting everything.\n",
    );
    expect(exported(again.stdout)).toHaveLength(3);
    expect((await world.cat(line)).stdout).toBe("");
  });
});

describe("cat export --zip --extract --not-rejected", () => {
  test("extracts all images without a rejection", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    const ran = await world.cat("export --zip --extract out --not-rejected");
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toMatch(
      /^Exported 3 products with 8 images to out \(8 files, .*\n {2}1 rejected: skipped\n$/,
    );
    expect(world.files("out")).toEqual([dress(1), dress(3)]);
    expect(world.names("out")).toHaveLength(8);
    const { stdout } = await world.cat("export --zip --extract json --not-rejected --json");
    expect(JSON.parse(stdout)).toMatchObject({ products: 3, assets: 8, rejected: 1 });
    expect((await world.cat("export --zip --extract all")).stderr).toContain("with 9 images");
    expect(world.files("all")).toHaveLength(3);
  });

  longTest("extracts everything of a catalogue without a rejection", async () => {
    const world = await reviewedWorld();
    await world.review("approve");
    expect(await world.cat("export --zip --extract out --not-rejected")).toMatchObject({ exit: 0 });
    expect(world.names("out")).toHaveLength(9);
  });

  longTest("extracts nothing where names do not tell which image is rejected", async () => {
    const world = await reviewedWorld();
    await world.review("reject");
    // Two products whose references differ only in case: their files are numbered in a ZIP.
    await world.add("dress-1", ["front"]);
    const ran = await world.cat("export --zip --extract out --not-rejected");
    expect(ran.exit).toBe(7);
    expect(ran.stderr).toMatch(
      /error: cannot determine which files of export \w+ are rejected: its names are not those of the manifest\nUse cat export sync DIR --not-rejected, which knows each image by its ID\.\n$/,
    );
    expect(world.names("out")).toEqual([]);
  });
});
