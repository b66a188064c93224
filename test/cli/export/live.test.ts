import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

test("prints one product per line, newest first, with the service's fields", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  const ran = await world.cat("export");
  expect(ran).toMatchObject({ exit: 0, stderr: "Exported 3 products with 5 images in 0.0 s.\n" });
  const rows = ran.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const newestFirst = world
    .products()
    .map(({ id }) => id)
    .reverse();
  expect(rows.map(({ product }) => product.id)).toEqual(newestFirst);
});
