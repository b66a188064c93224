import { existsSync, renameSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { syncWorld } from "./sync-world.ts";

const [index, work] = ["images/catalogue.ndjson", "images/.catalogue-sync/all"];
const day = 24 * 3_600_000;

/** A mirror as earlier versions of the program leave it: with an index file, and without a table. */
async function mirrorOfEarlierVersion() {
  const world = await syncWorld();
  await world.cat("export sync images");
  rmSync(world.at(`${work}/index.db`));
  const before = world.tree("images");
  const lines = world.read(index).trimEnd().split("\n");
  /** What a killed run of an earlier version leaves: a journal, and no time from which changes are read. */
  const stopped = (steps: readonly string[]) => {
    const state = JSON.parse(world.read(`${work}/state.json`));
    world.write(`${work}/state.json`, JSON.stringify({ ...state, mark: null, full_read: null }));
    world.write(`${work}/journal.ndjson`, steps.join("\n"));
  };
  world.traffic();
  return { ...world, before, lines, stopped };
}

test("a mirror of an earlier version is resumed without a download", async () => {
  const world = await mirrorOfEarlierVersion();
  for (const flags of ["", "--full", "--verify"])
    expect((await world.sync(`images ${flags}`)).counts).toEqual({ total: 6, unchanged: 6 });
  expect(world.traffic().images).toBe(0);
  expect(world.tree("images")).toEqual(world.before);
});

test("a first run of an earlier version that was killed is resumed from its journal", async () => {
  const world = await mirrorOfEarlierVersion();
  const { lines, stopped } = world;
  rmSync(world.at(index));
  rmSync(world.at("images/DRESS-3_front.jpg"));
  // Two files were being written; the last line was cut short.
  const complete = lines.slice(0, 4).flatMap((line) => [`["put",${line}]`, `["entry",${line}]`]);
  stopped([...complete, ...lines.slice(4).map((line) => `["put",${line}]`), '["put",{"product_i']);
  expect((await world.sync("images --dry-run")).counts).toMatchObject({ added: 1, unchanged: 5 });
  expect((await world.sync("images")).counts).toEqual({ total: 6, added: 1, unchanged: 5 });
  expect(world.traffic().images).toBe(1);
  expect(world.tree("images")).toEqual(world.before);
  expect(existsSync(world.at(`${work}/journal.ndjson`))).toBe(false);
});

test("a later run of an earlier version that was killed is resumed from its journal", async () => {
  const world = await mirrorOfEarlierVersion();
  const entry = world.index(index).find(({ path }) => path === "DRESS-1_front.jpg")!;
  const dropped = world.index(index).find(({ path }) => path === "DRESS-2_back.jpg")!;
  renameSync(world.at("images/DRESS-1_front.jpg"), world.at("images/SHIRT.jpg"));
  rmSync(world.at("images/DRESS-2_back.jpg"));
  world.stopped([
    JSON.stringify(["move", entry.path, "SHIRT.jpg"]),
    JSON.stringify(["drop", dropped.product_id, dropped.asset_id]),
    "",
  ]);
  expect((await world.sync("images")).counts).toEqual({ total: 6, added: 1, renamed: 1, unchanged: 4 });
  expect(world.traffic().images).toBe(1);
  expect(world.tree("images")).toEqual(world.before);
});

test("an index file that was edited or restored is read again", async () => {
  const world = await syncWorld();
  await world.cat("export sync images");
  const older = world.read(index);
  world.clock.advance(day);
  await world.add("DRESS-1", ["side"]);
  await world.cat("export sync images");
  const complete = world.tree("images");
  world.write(index, older);
  rmSync(world.at("images/DRESS-1_side.jpg"));
  expect((await world.sync("images --full")).counts).toEqual({ total: 7, added: 1, unchanged: 6 });
  expect(world.tree("images")).toEqual(complete);
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
    /\nRemove this file, and run the command again: it is written again from the index\.\n$/,
  );
  rmSync(world.at(table));
  expect((await world.sync("images")).counts).toEqual({ total: 6, unchanged: 6 });
});
