import { describe, expect, test } from "vitest";
import { openState } from "../../../src/state/open-state.ts";
import { fileOf, hour, once } from "./import-fixtures.ts";
import { importWorld } from "./run-import.ts";

type World = Awaited<ReturnType<typeof importWorld>>;

const many = (count: number) => Array.from({ length: count }, (_, at) => `R${String(at).padStart(4, "0")}`);
const twice = (...references: string[]) => references.map((one) => `${one} Dress 2`);
const hint =
  "Check a few products, then add --unknown imported (they have the photos of the file) or --unknown not-imported (add the photos).";

/** A test environment without a seed, so that new products do not reuse the IDs of lost ones. */
async function worldWith(...references: string[]) {
  const world = await importWorld({ seed: undefined });
  await world.write("a.csv", fileOf(...references));
  await world.import("a.csv");
  return world;
}

/** The service is restored to an earlier state, after the ledger recorded newer products. */
async function restored(references: readonly string[], passes: number) {
  const world = await worldWith(...references);
  const state = world.mock.state();
  world.mock.reset();
  world.clock.advance(passes);
  await world.import("a.csv");
  world.clock.advance(passes);
  await world.putBack(state);
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

const replacedText = (count: number) =>
  count === 1
    ? /^1 product of \S+a\.csv was replaced since it was imported: its reference now belongs to another product, which has photos$/
    : new RegExp(
        `^${count} products of \\S+a\\.csv were replaced since they were imported: their references`,
      );

describe("a service restored to products that the ledger forgot", () => {
  test.each([
    [3, 0],
    [3, hour],
    [310, 0],
    [310, hour],
  ])("gets nothing without a choice (%i rows, refreshed %i ms before)", async (count, passes) => {
    const references = many(count);
    const world = await restored(references, passes);
    const writes = world.writes().length;
    for (let time = 0; time < 2; time++) {
      await expect(world.import("a.csv")).rejects.toMatchObject({
        type: "conflict",
        code: "unknown_outcome",
        message: expect.stringMatching(replacedText(count)),
        hint,
      });
    }
    expect(world.writes()).toHaveLength(writes);
    expect((await world.products()).sort()).toEqual(once(...references));
  });

  test.each([3, 310])("gets no photo with --unknown imported (%i rows)", async (count) => {
    const references = many(count);
    const world = await restored(references, hour);
    const { summary } = await world.import("a.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ submitted: 0, unchanged: count });
    expect((await world.products()).sort()).toEqual(once(...references));
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: count });
  });

  test.each([3, 310])("gets the photos with --unknown not-imported, once (%i rows)", async (count) => {
    const references = many(count);
    const world = await restored(references, hour);
    const { summary } = await world.import("a.csv", { unknown: "not-imported" });
    expect(summary).toMatchObject({ updated: count });
    expect((await world.products()).sort()).toEqual(twice(...references));
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: count });
  });
});

describe("a product that another client deleted and re-created", () => {
  async function replaced(...others: string[]) {
    const world = await worldWith("A", ...others);
    await remove(world, "A");
    await world.write("theirs.csv", fileOf("A"));
    await importElsewhere(world, "theirs.csv");
    return world;
  }

  test.each([
    ["as the only row", []],
    ["next to a known row", ["B"]],
  ])("needs a choice %s", async (_, others) => {
    const world = await replaced(...others);
    const error = { code: "unknown_outcome", message: expect.stringMatching(replacedText(1)) };
    await expect(world.import("a.csv")).rejects.toMatchObject(error);
    await expect(world.import("a.csv", { unknown: "resend" })).rejects.toMatchObject(error);
    const { summary } = await world.import("a.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 + others.length });
    expect((await world.products()).sort()).toEqual(once("A", ...others));
  });

  test("needs a choice if another file was imported first", async () => {
    const world = await replaced("B");
    await world.write("b.csv", fileOf("B"));
    expect((await world.import("b.csv")).summary).toMatchObject({ unchanged: 1 });
    await expect(world.import("a.csv")).rejects.toMatchObject({ code: "unknown_outcome" });
  });

  test("is resolved by a prompt on a terminal", async () => {
    const world = await replaced();
    const asked: unknown[] = [];
    const ask = async (question: object) => {
      asked.push(question);
      return "imported" as const;
    };
    const { summary } = await world.import("a.csv", { machine: { ask } });
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(asked).toEqual([{ file: expect.stringMatching(/a\.csv$/), replaced: 1 }]);
  });

  test("gets the photos without a prompt if it has none", async () => {
    const world = await replaced();
    const bare = (client: typeof world.client): typeof world.client => ({
      ...client,
      paginate: (operation, ...rest) =>
        (async function* () {
          for await (const one of client.paginate(operation, ...rest)) {
            yield (
              operation.path === "/v1/products" ? { ...(one as object), images: [] } : one
            ) as typeof one;
          }
        })(),
    });
    expect((await world.import("a.csv", {}, bare)).summary).toMatchObject({ updated: 1 });
  });
});

test("a reference given to a new product after a rename needs a choice", async () => {
  const world = await worldWith("A", "B");
  const { id } = (await world.client.products.list({ q: "A" })).data[0]!;
  await world.client.products.update({ product_id: id, body: { reference: "OLD" } });
  await world.write("theirs.csv", fileOf("A"));
  await importElsewhere(world, "theirs.csv");
  await expect(world.import("a.csv")).rejects.toMatchObject({ code: "unknown_outcome" });
});
