import { describe, expect, test } from "vitest";
import { openState } from "../../../src/state/state.ts";
import { fileOf, once } from "./import-fixtures.ts";
import { importWorld } from "./run-import.ts";

type World = Awaited<ReturnType<typeof importWorld>>;

const twice = (...references: string[]) => references.map((one) => `${one} Dress 2`);
/** A test environment without a seed, so that new products do not reuse the IDs of lost ones. */
async function worldWith(...references: string[]) {
  const world = await importWorld({ seed: undefined });
  await world.write("a.csv", fileOf(...references));
  await world.import("a.csv");
  return world;
}

/** Another client imports a file. */
async function importElsewhere(world: World, file: string) {
  const state = await openState(null, { clock: world.clock });
  await world.import(file, { machine: { state } });
  state.close();
}

async function remove(world: World, reference: string) {
  const { data } = await world.client.products.list({ q: reference });
  await world.client.products.delete({ product_id: data[0]!.id });
}

describe("a reference that belongs to another product now", () => {
  test("after its product was deleted and re-created by others, has all its photos sent, without a question", async () => {
    const world = await worldWith("A", "B");
    await remove(world, "A");
    await world.write("theirs.csv", fileOf("A"));
    await importElsewhere(world, "theirs.csv");
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 1, updated: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual([...twice("A"), ...once("B")]);
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: 2 });
  });

  test("after a rename, has all its photos sent, and the renamed product keeps its own", async () => {
    const world = await worldWith("A", "B");
    const { id } = (await world.client.products.list({ q: "A" })).data[0]!;
    await world.client.products.update({ product_id: id, body: { reference: "OLD" } });
    await world.write("theirs.csv", fileOf("A"));
    await importElsewhere(world, "theirs.csv");
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 1, updated: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual([...twice("A"), ...once("B"), ...once("OLD")]);
  });

  test("after the service was restored, has all its photos sent", async () => {
    const world = await worldWith("A");
    const state = world.mock.state();
    world.mock.reset();
    await world.import("a.csv");
    await world.putBack(state);
    expect((await world.import("a.csv")).summary).toMatchObject({ updated: 1 });
    expect(await world.products()).toEqual(twice("A"));
  });

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
