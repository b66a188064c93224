import { expect, test } from "vitest";
import { importWorld, withoutExports, withoutProducts } from "./run-import.ts";

/** A product with a front photo that was created without an import, and a file with the ID of that photo. */
async function held() {
  const world = await importWorld({ demo: 1 });
  const product = (await world.client.products.list({})).data[0]!;
  const front = product.images.find(({ orientation }) => orientation === "front")!;
  const photos = async () => (await world.client.products.get({ product_id: product.id })).images;
  const row = (reference: string | null) =>
    JSON.stringify({ reference, name: product.name, images: [{ image_id: front.id }] });
  await world.write("a.ndjson", row(product.reference));
  return { ...world, front, row, photos, before: product.images };
}

test("an image ID needs products:read alone, without which nothing is sent", async () => {
  const world = await held();
  const writes = world.writes();
  const { stopped } = await world.import("a.ndjson", {}, withoutProducts);
  expect(stopped).toMatchObject({
    type: "forbidden",
    code: "insufficient_scope",
    message:
      "cannot compare the rows with their products: --photos new needs a key with the scope products:read. Use a key with it, or add --photos all to send all photos, including those already attached.",
  });
  expect(world.writes()).toEqual(writes);
  expect((await world.import("a.ndjson", {}, withoutExports)).summary).toMatchObject({ unchanged: 1 });
  expect(world.writes()).toEqual(writes);
  expect(await world.photos()).toEqual(world.before);
});

test("--photos all sends the row as it is, with its image ID", async () => {
  const world = await held();
  const { summary } = await world.import("a.ndjson", { photos: "all" }, withoutProducts);
  expect(summary).toMatchObject({ updated: 1 });
  expect(await world.photos()).toEqual(
    world.before.map((one) => (one.id === world.front.id ? { ...one, orientation: "unlabeled" } : one)),
  );
});

test("an image ID is attached to a product that does not have it", async () => {
  const world = await held();
  await world.write("a.ndjson", world.row("NEW"));
  expect((await world.import("a.ndjson")).summary).toMatchObject({ created: 1 });
  expect((await world.products()).at(-1)).toMatch(/^NEW .* 1$/);
});
