import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { cdn, mergeWorld, photo } from "./merge-world.ts";

const header = "reference,name,image_front,image_back";
const bad = `${cdn}/fail-timeout.jpg`;

/** A product with two photos, and its exported sheet. */
async function exported() {
  const world = await mergeWorld();
  for (const name of ["1", "2", "3", "4"]) world.write(`${name}.png`, photo(name));
  world.sheet("a.csv", header, "A,Dress,1.png,2.png");
  await world.all("import a.csv", "products export e.csv");
  return { world, own: world.images("A") };
}

describe.each(sampled(["home", "two"], 1))(
  "the failed file of an exported sheet, on machine %s",
  (machine) => {
    test("detaches no photo that is not in it because it is attached", async () => {
      const { world, own } = await exported();
      world.edit(
        "e.csv",
        ["image_back", "image_back,image_left,image_right"],
        [own[1]!, `${own[1]},3.png,${bad}`],
      );
      expect(await world.import("e.csv", machine)).toMatchObject([8, { partial: 1, photos: { added: 1 } }]);
      world.edit("e.failed.csv", [bad, "4.png"]);
      expect(await world.import("e.failed.csv", machine)).toMatchObject([
        0,
        { updated: 1, photos: { added: 1, removed: 0, replaced: 0 } },
      ]);
      expect(world.images("A")).toHaveLength(4);
      expect(world.images("A")).toEqual(expect.arrayContaining(own));
    });

    longTest("replaces the photo whose new one failed", async () => {
      const { world, own } = await exported();
      world.edit(
        "e.csv",
        [own[0]!, bad],
        ["image_back", "image_back,image_left"],
        [own[1]!, `${own[1]},3.png`],
      );
      expect(await world.import("e.csv", machine)).toMatchObject([8, { partial: 1 }]);
      world.edit("e.failed.csv", [bad, "4.png"]);
      expect(await world.import("e.failed.csv", machine)).toMatchObject([
        0,
        { updated: 1, photos: { replaced: 1, removed: 0 } },
      ]);
      expect(world.images("A")).toHaveLength(3);
      expect(world.images("A")).toContain(own[1]);
      expect(world.images("A")).not.toContain(own[0]);
    });
  },
);

describe("a plain sheet that is edited after its import was stopped", () => {
  /** The front photo and the name are edited; the service stops the import before the photo that is replaced is detached. */
  async function stopped(flags = "") {
    const world = await mergeWorld();
    for (const name of ["1", "2", "3"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", header, "A,Dress,1.png,2.png");
    await world.all("import a.csv");
    const [front, back] = world.images("A");
    world.edit("a.csv", ["Dress,1.png", "Gown,3.png"]);
    await world.fault({ match: { method: "DELETE" }, status: 503, times: 50 });
    expect((await world.import(`a.csv${flags}`))[0]).toBe(flags === "" ? 7 : 0);
    await world.fault();
    return { world, front, back };
  }

  test.each(sampled(["", " --no-wait"], 1))("and set back has what it says: %s", async (flags) => {
    const { world, front, back } = await stopped(flags);
    world.edit("a.csv", ["Gown,3.png", "Dress,1.png"]);
    expect(await world.import("a.csv")).toMatchObject([
      0,
      { updated: 1, kept: 0, conflicts: 0, photos: { replaced: 1 } },
    ]);
    expect(world.images("A").sort()).toEqual([front, back].sort());
    expect(world.shown()[0]).toMatch(/^A Dress /);
  });

  longTest.each(["", " --no-wait"])("and edited once more has what it says: %s", async (flags) => {
    const { world, front, back } = await stopped(flags);
    world.write("4.png", photo("4"));
    world.edit("a.csv", ["Gown,3.png", "Coat,4.png"]);
    expect(await world.import("a.csv")).toMatchObject([0, { updated: 1, kept: 0, conflicts: 0 }]);
    expect(world.images("A")).toHaveLength(2);
    expect(world.images("A")).toContain(back);
    expect(world.images("A")).not.toContain(front);
    expect(world.shown()[0]).toMatch(/^A Coat /);
  });
});

describe("the failed file of a plain sheet has the before of its sheet", () => {
  /** A is imported; then its front photo is replaced by one that fails. */
  async function failed() {
    const world = await mergeWorld();
    for (const name of ["1", "2", "3", "4"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", header, "A,Dress,1.png,2.png");
    await world.all("import a.csv");
    return world;
  }

  test("so a photo that failed and is corrected replaces the one of its place", async () => {
    const world = await failed();
    const [front, back] = world.images("A");
    world.edit("a.csv", ["1.png", bad]);
    expect((await world.import("a.csv"))[0]).toBe(8);
    world.edit("a.failed.csv", [bad, "3.png"]);
    expect(await world.import("a.failed.csv")).toMatchObject([0, { updated: 1, photos: { replaced: 1 } }]);
    expect(world.images("A")).toHaveLength(2);
    expect(world.images("A")).toContain(back);
    expect(world.images("A")).not.toContain(front);
  });

  longTest(
    "so --conflicts service keeps theirs, and the other edits of the row are carried out",
    async () => {
      const world = await failed();
      await world.all("products update A --name Theirs");
      world.edit("a.csv", ["Dress,1.png,2.png", "Gown,1.png,4.png"]);
      expect(await world.import("a.csv")).toMatchObject([8, { conflicts: 1 }]);
      expect(await world.import("a.failed.csv --conflicts service")).toMatchObject([
        0,
        { updated: 1, conflicts: 0, photos: { replaced: 1 } },
      ]);
      expect(world.shown()).toEqual(["A Theirs - - front+back"]);
    },
  );

  test("so a product that others renamed is not created again", async () => {
    const world = await failed();
    await world.all("products update A --reference AA");
    world.edit("a.csv", ["Dress", "Gown"]);
    expect((await world.import("a.csv"))[0]).toBe(8);
    expect(await world.import("a.failed.csv --conflicts sheet")).toMatchObject([
      8,
      { created: 0, conflicts: 1 },
    ]);
    world.edit("a.failed.csv", ["reference_changed", ""]);
    expect(await world.import("a.failed.csv")).toMatchObject([8, { created: 0, conflicts: 1 }]);
    expect(world.shown()).toEqual(["AA Dress - - front+back"]);
  });
});

describe("--exact with a failed file", () => {
  test("detaches no photo that a partial row lacks, also in the next failed file", async () => {
    const world = await mergeWorld();
    for (const name of ["1", "2"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", header, `A,Dress,1.png,${bad}`);
    expect(await world.import("a.csv")).toMatchObject([8, { partial: 1 }]);
    world.edit("a.failed.csv", [`${bad},timeout`, "2.png,timeout"]);
    for (const file of ["a.failed.csv", "a.failed-2.csv"])
      expect(await world.import(`${file} --exact`)).toMatchObject([8, { conflicts: 1, submitted: 0 }]);
    expect(world.read("a.failed-2.csv").split("\n")[1]).toBe(
      'A,Dress,,2.png,partial_row,"the row may lack photos that are attached: import it without --exact, or the corrected original file with --exact"',
    );
    expect(world.images("A")).toHaveLength(1);
    expect(await world.import("a.failed-2.csv")).toMatchObject([0, { updated: 1, photos: { added: 1 } }]);
    world.edit("a.csv", [bad, "2.png"]);
    expect(await world.import("a.csv --exact")).toMatchObject([0, { unchanged: 1 }]);
    expect(world.shown()).toEqual(["A Dress - - front+back"]);
  });

  longTest("replaces the photos of a row that is there for a conflict", async () => {
    const world = await mergeWorld();
    for (const name of ["1", "2"]) world.write(`${name}.png`, photo(name));
    world.sheet("a.csv", "reference,name,image_front", "A,Dress,1.png");
    await world.all("import a.csv");
    const [old] = world.images("A");
    world.sheet("b.csv", "reference,name,image_front", "A,Dress,2.png");
    expect(await world.import("b.csv", "two")).toMatchObject([8, { conflicts: 1 }]);
    expect(await world.import("b.failed.csv --exact", "two")).toMatchObject([
      0,
      { updated: 1, photos: { replaced: 1 } },
    ]);
    expect(world.images("A")).not.toContain(old);
    expect(world.shown()).toEqual(["A Dress - - front"]);
  });
});
