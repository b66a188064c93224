import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { photo } from "../photos/photo-folder.ts";
import { fileOf, hour, once } from "./import-fixtures.ts";
import { beforeBatch, importWorld } from "./run-import.ts";

const many = (count: number) => Array.from({ length: count }, (_, at) => `R${String(at).padStart(4, "0")}`);

const anotherCatalogue = (products: string) =>
  `${products} of this file that were known are gone: importing into another catalogue, as for the first time.`;

/**
 * A test environment with one file per entry. It has no seed, so that new products do not reuse the IDs of
 * lost ones.
 */
async function worldOf(files: Record<string, string[]>) {
  const world = await importWorld({ seed: undefined });
  for (const [file, references] of Object.entries(files)) await world.write(file, fileOf(...references));
  return world;
}

/**
 * `old.csv` was imported, and `new.csv` twice, an hour apart. `state` is the service between the two files, `blank` before
 * both.
 */
async function importedInTurn(old: string[], later: string[]) {
  const world = await worldOf({ "old.csv": old, "new.csv": later });
  const blank = world.mock.state();
  await world.import("old.csv");
  const state = world.mock.state();
  for (const file of ["new.csv", "new.csv"]) {
    world.clock.advance(hour);
    await world.import(file);
  }
  return { world, state, blank };
}

describe("a service that was restarted or restored", () => {
  test.each(["restarted", "restored"] as const)(
    "(%s) gets all rows again if it has no product of the file, and otherwise none",
    async (how) => {
      const { world, state, blank } = await importedInTurn(["A", "B"], ["A", "C", "D"]);
      await world.putBack(how === "restarted" ? blank : state);
      const lines = await world.lines("new.csv");
      const isOther = how === "restarted";
      expect(lines[0]).toMatch(
        isOther
          ? anotherCatalogue("All 3 products")
          : /^Nothing to do: all 3 rows of new.csv are not edited\.$/,
      );
      expect((await world.products()).sort()).toEqual(isOther ? once("A", "C", "D") : once("A", "B"));
      expect((await world.import("new.csv")).summary).toMatchObject(
        isOther ? { submitted: 0, unchanged: 3 } : { submitted: 0, unchanged: 1, deleted: 2 },
      );
    },
  );

  longTest("is not detected by a delta, for over 100 rows: --photos all sends them again", async () => {
    const { world, state } = await importedInTurn(["A"], many(101));
    await world.putBack(state);
    expect((await world.import("new.csv")).summary).toMatchObject({ submitted: 0, unchanged: 101 });
    const { summary } = await world.import("new.csv", { photos: "all" });
    expect(summary).toMatchObject({ created: 101 });
    expect((await world.products()).sort()).toEqual(once("A", ...many(101)).sort());
  });

  test.each(sampled(["all", "create", "skip_existing"] as const, 1))(
    "lacks products after a file without a refresh, too: %s",
    async (how) => {
      const { world, state } = await importedInTurn(["A"], ["A", "B", "C"]);
      await world.write("other.csv", fileOf("D"));
      await world.putBack(state);
      world.clock.advance(hour);
      const flags = how === "all" ? { photos: how } : { mode: how };
      expect((await world.import("other.csv", flags)).summary).toMatchObject({ created: 1 });
      const { summary } = await world.import("new.csv");
      expect(summary).toMatchObject({ created: 0, unchanged: 1, deleted: 2 });
      expect((await world.products()).sort()).toEqual(once("A", "D"));
      const { summary: exact } = await world.import("new.csv", { exact: true });
      expect(exact).toMatchObject({ created: 2, unchanged: 1, deleted: 0 });
      expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
    },
  );

  longTest("is detected by product if it was restarted before the first refresh", async () => {
    const world = await worldOf({ "old.csv": ["A"], "new.csv": ["B", "C"], "other.csv": ["D"] });
    await world.import("old.csv");
    const state = world.mock.state();
    await world.import("new.csv", { photos: "all" });
    await world.putBack(state);
    await world.import("other.csv", { photos: "all" });
    expect(await world.lines("new.csv")).toEqual([
      anotherCatalogue("All 2 products"),
      expect.stringMatching(/^Imported 2 rows from new\.csv in \S+ s: 2 created\.$/),
    ]);
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
  });

  longTest("is detected by the next import if it was restarted during one", async () => {
    const world = await worldOf({ "old.csv": ["A"], "lost.csv": ["B", "C"], "new.csv": ["D"] });
    await world.import("old.csv");
    const state = world.mock.state();
    world.clock.advance(60_000);
    await world.import("lost.csv");
    world.clock.advance(60_000);
    const meanwhile = beforeBatch(1, () => world.putBack(state));
    expect((await world.import("new.csv", {}, meanwhile)).summary).toMatchObject({ created: 1 });
    expect((await world.import("lost.csv")).summary).toMatchObject({ created: 2, unchanged: 0 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
  });

  test("has its references checked as well: a rename may be undone", async () => {
    const world = await worldOf({ "a.csv": ["X", "Z"], "c.csv": ["X", "Z", "Q"] });
    await world.import("a.csv");
    const state = world.mock.state();
    const product_id = world.productOf("X").id;
    await world.client.products.update({ product_id, body: { reference: "Y" } });
    await world.write("b.csv", fileOf("X", "Z", "Q").replace("X,", "Y,"));
    await world.import("b.csv");
    world.clock.advance(hour);
    await world.import("b.csv");
    await world.putBack(state);
    expect((await world.import("c.csv")).summary).toMatchObject({ created: 1, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("Q", "X", "Z"));
  });

  longTest("needs a choice for rows that were in progress", async () => {
    const world = await worldOf({ "a.csv": ["A"], "b.csv": ["B"] });
    const blank = world.mock.state();
    await world.import("b.csv");
    await world.import("a.csv", { wait: false });
    await world.putBack(blank);
    const { stopped } = await world.import("a.csv");
    expect(stopped).toMatchObject({ type: "conflict", code: "unknown_outcome" });
    expect((await world.import("a.csv", { unknown: "not-imported" })).summary).toMatchObject({ created: 1 });
    expect((await world.import("b.csv")).summary).toMatchObject({ created: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  longTest(
    "gets local photos uploaded again by the second import: the first one finds their images missing",
    async () => {
      const world = await worldOf({ "old.csv": ["A"] });
      await world.import("old.csv");
      const state = world.mock.state();
      writeFileSync(join(world.folder, "b.png"), photo("b"));
      await world.write("b.csv", "reference,name,images\nB,Dress,b.png\n");
      await world.import("b.csv");
      await world.putBack(state);
      expect((await world.import("b.csv")).summary).toMatchObject({ failed: 1 });
      expect(await world.failed()).toMatch(/^B,Dress,b\.png,image_failed,/m);
      expect((await world.import("b.csv")).summary).toMatchObject({ created: 1, failed: 0 });
      expect((await world.products()).sort()).toEqual(once("A", "B"));
      const uploads = world.writes().filter((write) => write.startsWith("POST /v1/images"));
      expect(uploads).toEqual(["POST /v1/images 201", "POST /v1/images 201"]);
    },
  );
});

test("uploads no photo again for a product that another client deleted, if --exact creates it again", async () => {
  const world = await worldOf({});
  for (const name of ["a", "b"]) writeFileSync(join(world.folder, `${name}.png`), photo(name));
  await world.write("a.csv", "reference,name,images\nA,Dress,a.png\nB,Dress,b.png\n");
  await world.import("a.csv");
  world.clock.advance(hour);
  await world.client.products.delete({ product_id: world.productOf("A").id });
  expect((await world.import("a.csv")).summary).toMatchObject({ deleted: 1, unchanged: 1 });
  expect((await world.import("a.csv", { exact: true })).summary).toMatchObject({ created: 1, unchanged: 1 });
  const uploads = world.writes().filter((write) => write.startsWith("POST /v1/images"));
  expect(uploads).toHaveLength(2);
});
