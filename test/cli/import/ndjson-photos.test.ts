import { expect, test } from "vitest";
import { mergeWorld, photo } from "./merge-world.ts";

async function two() {
  const world = await mergeWorld();
  for (const name of ["1", "2"]) world.write(`${name}.png`, photo(name));
  world.write("a.ndjson", '{"reference":"A","name":"Dress","images":[{"path":"1.png"},{"path":"2.png"}]}\n');
  await world.all("import a.ndjson");
  return world;
}

test.each(["", " --exact"])(
  "an object without images changes the fields of its product: %s",
  async (flag) => {
    const world = await two();
    world.write("a.ndjson", '{"reference":"A","name":"Gown"}\n');
    expect((await world.cat(`import a.ndjson --plan --no-progress${flag}`)).exit).toBe(0);
    expect(await world.import(`a.ndjson${flag}`)).toMatchObject([0, { updated: 1 }]);
    expect(world.shown()).toEqual(["A Gown - - unlabeled+unlabeled"]);
  },
);

test("an object with an empty list of images is invalid: a product keeps a photo", async () => {
  const world = await two();
  world.write("a.ndjson", '{"reference":"A","name":"Dress","images":[]}\n');
  expect(await world.cat("import a.ndjson --no-progress")).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining("images is empty: a row needs 1 to 20 photos"),
  });
});
