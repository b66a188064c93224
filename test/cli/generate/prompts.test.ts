import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { generateWorld } from "./generate-world.ts";

test("a terminal asks for each value that no flag names, then for the cost", async () => {
  const world = await generateWorld();
  const { ran, type } = atTerminal(world, "tryon --background studio");
  await type("Product (type to search)", "DRESS-3");
  await type("❯ DRESS-3  Dress 3", "\r");
  await type("? Model", "\r");
  await type("? Angle", "\r");
  await type("Generate 1 image of 1 product?", "y\r");
  await type("Save the images in", "-\r");
  expect((await ran).exit).toBe(0);
  expect(world.tasks()).toMatchObject([
    { product_id: world.products()[2]!.id, scene: { background: "studio", angle_shot: "full-front" } },
  ]);
});

test("the time of a run is without that of the question", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  const { ran, type, shows } = atTerminal(world, "tryon looks.csv --no-wait");
  await shows("Generate 1 image of 1 product?");
  world.clock.advance(600_000);
  await type("Generate 1 image of 1 product?", "y\r");
  expect((await ran).stderr).toContain("Queued 1 image of looks.csv in 0 s.");
});

test("who declines the cost gets nothing queued, in one line that is no error", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  const { ran, type } = atTerminal(world, "tryon looks.csv");
  await type("Generate 1 image of 1 product?", "n\r");
  const { exit, stderr } = await ran;
  expect(exit).toBe(0);
  expect(stripVTControlCharacters(stderr).split("\n").slice(-2)).toEqual(["Nothing was queued.", ""]);
  expect(world.tasks()).toEqual([]);
});

test("--yes answers the question, --no-input names it", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  expect(await world.cat("tryon looks.csv --no-input", { tty: true })).toMatchObject({ exit: 2 });
  expect(world.tasks()).toEqual([]);
  expect(await world.cat("tryon looks.csv --yes", { tty: true })).toMatchObject({ exit: 0 });
  expect(world.tasks()).toHaveLength(1);
});
