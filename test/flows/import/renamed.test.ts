import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { fileOf, once } from "./import-fixtures.ts";
import { type ImportWorld, importWorld } from "./run-import.ts";

type World = ImportWorld;

const idOf = (world: World, reference: string) => world.productOf(reference).id;
/** Changes products without changing anything that a file says of them. */
async function touch(world: World, references: readonly string[]): Promise<void> {
  const listed = new Set(references);
  for (const { id, reference } of world.allProducts().filter((one) => listed.has(one.reference!))) {
    world.clock.advance(1);
    await rename(world, id, reference!);
  }
}
const rename = (world: World, product_id: string, reference: string) =>
  world.client.products.update({ product_id, body: { reference } });
/** A file in which X is renamed to Y, with its photo. */
const followed = (...others: string[]) => fileOf("X", ...others).replace("X,", "Y,");
const many = (count: number) => Array.from({ length: count }, (_, at) => `R${String(at).padStart(4, "0")}`);

describe("a reference that changed at the service and then in the file adds no photo", () => {
  test.each([
    ["if the file has no other row", followed()],
    ["next to a known row", followed("Z")],
  ])("%s", async (_, text) => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("X", "Z"));
    await world.import("a.csv");
    await rename(world, idOf(world, "X"), "Y");
    await world.write("b.csv", text);
    const { summary } = await world.import("b.csv");
    expect(summary).toMatchObject({ submitted: 0, unchanged: summary!.total });
    expect((await world.products()).sort()).toEqual(once("Y", "Z"));
  });

  longTest.each([301, 1300])("if %i other products changed as well", async (count) => {
    const world = await importWorld({ isDirect: true });
    await world.write("a.csv", fileOf("X", "Z", ...many(count)));
    await world.import("a.csv");
    const x = idOf(world, "X");
    await rename(world, x, "Y");
    await touch(world, many(count));
    // The first change says that another product has the reference now.
    const [image] = (await world.client.products.get({ product_id: x })).images;
    const images = [{ image_id: image!.id, orientation: "back" as const }];
    await world.client.products.create({ body: { reference: "X", name: "Theirs", images } });
    await world.write("b.csv", followed("Z"));
    const before = world.mock.requests().length;
    expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 0, unchanged: 2 });
    // For two rows, only some changes are read.
    expect(world.mock.requests().length - before).toBeLessThan(20);
    // For a large file, all changes are read.
    await world.write("c.csv", followed("Z", ...many(count)));
    expect((await world.import("c.csv")).summary).toMatchObject({ submitted: 0, unchanged: count + 2 });
    expect((await world.products()).sort()).toEqual([...once("Y", "Z", ...many(count)), "X Theirs 1"].sort());
  });

  test.each(["renamed", "deleted"] as const)(
    "if it belonged to another product, which was %s",
    async (how) => {
      const world = await importWorld();
      await world.write("a.csv", fileOf("X", "Y", "Z", ...many(301)));
      await world.import("a.csv");
      const [x, y] = [idOf(world, "X"), idOf(world, "Y")];
      if (how === "renamed") await rename(world, x, "W");
      else await world.client.products.delete({ product_id: x });
      await rename(world, y, "X");
      // The product is X now, with the photo of X.
      await world.write("b.csv", fileOf("Y", "Z").replace("Y,", "X,"));
      expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 0, unchanged: 2 });
      const left = how === "renamed" ? ["W", "X", "Z"] : ["X", "Z"];
      expect((await world.products()).sort()).toEqual(once(...many(301), ...left).sort());
    },
  );

  longTest("if a search has too many results, so that the changes are read instead", async () => {
    const world = await importWorld();
    const like = Array.from({ length: 310 }, (_, at) => `Y-${at}`);
    await world.write("a.csv", fileOf("X", ...like));
    await world.import("a.csv");
    await rename(world, idOf(world, "X"), "Y");
    await touch(world, like);
    await world.write("b.csv", followed());
    expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
  });
});
