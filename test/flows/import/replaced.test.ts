import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { photo } from "../photos/photo-folder.ts";
import { fileOf, once } from "./import-fixtures.ts";
import { type ImportWorld, importWorld } from "./run-import.ts";

type World = ImportWorld;

/** A test environment without a seed, so that new products do not reuse the IDs of lost ones. */
async function worldWith(...references: string[]) {
  const world = await importWorld({ seed: undefined });
  await world.write("a.csv", fileOf(...references));
  await world.import("a.csv");
  return world;
}

/** Another client imports a file. */
const importElsewhere = (world: World, file: string) => world.import(file, {}, { machine: "theirs" });

async function remove(world: World, reference: string) {
  const { data } = await world.client.products.list({ q: reference });
  await world.client.products.delete({ product_id: data[0]!.id });
}

describe("a reference that belongs to another product now", () => {
  test("after its product was deleted and re-created by others, adopts photos with the same bytes", async () => {
    const world = await worldWith();
    for (const name of ["a", "b"]) writeFileSync(join(world.folder, `${name}.png`), photo(name));
    await world.write("a.csv", "reference,name,images\nA,Dress,a.png\nB,Dress,b.png\n");
    await world.import("a.csv");
    await remove(world, "A");
    await world.write("theirs.csv", "reference,name,images\nA,Dress,a.png\n");
    await importElsewhere(world, "theirs.csv");
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 0, unchanged: 2, conflicts: 0, photos: { adopted: 1 } });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
    const { summary: next } = await world.import("a.csv");
    expect(next).toMatchObject({ submitted: 0, unchanged: 2, photos: { adopted: 0 } });
  });

  longTest(
    "after its product was deleted and re-created by others, is a conflict if its photos cannot be compared",
    async () => {
      const world = await worldWith("A", "B");
      await remove(world, "A");
      await world.write("theirs.csv", fileOf("A"));
      await importElsewhere(world, "theirs.csv");
      for (let times = 0; times < 2; times++) {
        const { summary } = await world.import("a.csv");
        expect(summary).toMatchObject({ submitted: 0, unchanged: 1, conflicts: 1 });
      }
      expect((await world.products()).sort()).toEqual(once("A", "B"));
    },
  );

  test("after a rename, is a conflict if its photos cannot be compared, and the renamed product keeps its own", async () => {
    const world = await worldWith("A", "B");
    const { id } = (await world.client.products.list({ q: "A" })).data[0]!;
    await world.client.products.update({ product_id: id, body: { reference: "OLD" } });
    await world.write("theirs.csv", fileOf("A"));
    await importElsewhere(world, "theirs.csv");
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1, conflicts: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "OLD"));
  });

  longTest(
    "after the service was restored, is a conflict if its photos cannot be compared, unless --exact replaces them",
    async () => {
      const world = await worldWith("A");
      const state = world.mock.state();
      world.mock.reset();
      await world.import("a.csv");
      await world.putBack(state);
      expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, conflicts: 1 });
      expect(await world.products()).toEqual(once("A"));
      const before = (await world.client.products.list()).data[0]!.images[0]!.id;
      const { summary } = await world.import("a.csv", { exact: true });
      expect(summary).toMatchObject({
        updated: 1,
        conflicts: 0,
        photos: { added: 1, replaced: 0, removed: 1 },
      });
      expect(await world.products()).toEqual(once("A"));
      expect((await world.client.products.list()).data[0]!.images[0]!.id).not.toBe(before);
    },
  );

  test("has no photo attached again that is named by its image ID", async () => {
    const world = await worldWith("A");
    await remove(world, "A");
    await world.write("theirs.csv", fileOf("A"));
    await importElsewhere(world, "theirs.csv");
    const image = (await world.client.products.list({ q: "A" })).data[0]!.images[0]!.id;
    await world.write("a.csv", `reference,name,images\nA,Dress,${image}\n`);
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
  });
});

longTest(
  "a product that is deleted after its new photo was attached is created again from its failed row",
  async () => {
    const world = await importWorld({ seed: undefined });
    for (const name of ["old", "new"]) writeFileSync(join(world.folder, `${name}.png`), photo(name));
    const sheet = (name: string) => `reference,name,image_front\nA,Dress,${name}.png\nB,Hat,old.png\n`;
    await world.write("a.csv", sheet("old"));
    await world.import("a.csv");
    await world.write("a.csv", sheet("new"));
    const { summary } = await world.import(
      "a.csv",
      {},
      {
        async judge({ method }) {
          const product_id = world.productOf("A")?.id;
          if (method === "DELETE" && product_id !== undefined)
            await world.client.products.delete({ product_id });
          return null;
        },
      },
    );
    expect(summary).toMatchObject({ failed: 1, unchanged: 1, failed_file: "a.failed.csv" });
    expect(await world.failed()).toMatch(
      /^reference,name,image_front,error_code,error_message\nA,Dress,new\.png,product_not_found,/,
    );
    expect((await world.import("a.failed.csv")).summary).toMatchObject({
      created: 1,
      failed: 0,
      conflicts: 0,
    });
    expect(await world.products()).toEqual(["B Hat 1", "A Dress 1"]);
  },
);
