import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { syncWorld } from "./sync-world.ts";

const [index, work] = ["images/catalogue.ndjson", "images/.catalogue-sync/all"];
const day = 24 * 3_600_000;

test("a mirror whose table is missing gets it from its index, without a download", async () => {
  const world = await syncWorld();
  await world.cat("export sync images");
  rmSync(world.at(`${work}/index.db`));
  const before = world.tree("images");
  world.traffic();
  for (const flags of ["", "--full", "--verify"])
    expect((await world.sync(`images ${flags}`)).counts).toEqual({ total: 6, unchanged: 6 });
  expect(world.traffic().images).toBe(0);
  expect(world.tree("images")).toEqual(before);
});

test("an index file that was cut, restored or removed is written again, and files are compared", async () => {
  const world = await syncWorld();
  await world.cat("export sync images");
  const older = world.read(index);
  world.clock.advance(day);
  await world.add("DRESS-1", ["side"]);
  await world.cat("export sync images");
  const complete = world.tree("images");
  world.write(index, older);
  rmSync(world.at("images/DRESS-1_side.jpg"));
  expect((await world.sync("images")).counts).toEqual({ total: 7, added: 1, unchanged: 6 });
  expect(world.tree("images")).toEqual(complete);
  for (const change of [() => world.write(index, ""), () => rmSync(world.at(index))]) {
    change();
    expect((await world.sync("images")).counts).toEqual({ total: 7, unchanged: 7 });
    expect(world.tree("images")).toEqual(complete);
  }
});

test("an index file that was cut while its table is missing makes the run read everything", async () => {
  const world = await syncWorld();
  await world.cat("export sync images");
  const complete = world.read(index);
  world.write(index, complete.slice(0, complete.indexOf("\n") + 1));
  rmSync(world.at(`${work}/index.db`));
  const { counts } = await world.sync("images");
  expect(counts).toEqual({ total: 6, added: 5, unchanged: 1 });
  expect(world.read(index).split("\n")).toHaveLength(7);
});

test("a damaged table is reported, and written again from the index once it was removed", async () => {
  const world = await syncWorld();
  await world.cat("export sync images");
  const table = `${work}/index.db`;
  world.write(table, "not a table ".repeat(1_000));
  const ran = await world.cat("export sync images");
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toMatch(/index\.db is damaged, or was not written by this program/);
  expect(ran.stderr).toMatch(
    /\nRemove this file, and run the command again: it is written again from catalogue\.ndjson\.\n$/,
  );
  rmSync(world.at(table));
  expect((await world.sync("images")).counts).toEqual({ total: 6, unchanged: 6 });
});
