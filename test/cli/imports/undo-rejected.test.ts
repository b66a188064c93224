import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const row = (name: string, title: string) => `${name},${title},https://cdn.example.com/${name}.jpg\n`;
const head = "reference,name,images\n";

/** Two products whose names an import has changed. */
async function changed() {
  const world = await createWorld({ mock: { rateLimit: false } });
  for (const title of ["Dress", "Robe"]) {
    world.write("a.csv", head + row("A", title) + row("B", title));
    await world.cat("import a.csv");
  }
  return world;
}

test("an undo goes on after the service rejected one product, and stops at an error that affects all", async () => {
  const world = await changed();
  const [first] = world.products();
  const match = { method: "PATCH", path: `/v1/products/${first!.id}` } as const;
  world.mock.faults.add({ match, times: 1, status: 422 });
  const ran = await world.cat("imports undo last --yes --json");
  expect(ran.exit).toBe(8);
  expect(JSON.parse(ran.stdout)).toMatchObject({ undone: 1, kept: 0, failed: 1 });
  expect(world.products().map(({ name }) => name)).toEqual(["Robe", "Dress"]);
  world.mock.faults.add({ match, times: 1, status: 403 });
  expect((await world.cat("imports undo last --yes")).exit).toBe(4);
  expect((await world.cat("imports undo last --yes")).exit).toBe(0);
  expect(world.products().map(({ name }) => name)).toEqual(["Dress", "Dress"]);
});

test("with --json, an unknown run has the code run_not_found", async () => {
  const world = await createWorld();
  const { exit, stderr } = await world.cat("imports undo run_x --yes --json");
  expect([exit, JSON.parse(stderr).error.code]).toEqual([5, "run_not_found"]);
});
