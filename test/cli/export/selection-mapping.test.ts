import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { frozenWorld, idsOf } from "./frozen-world.ts";

async function shop() {
  const world = await frozenWorld({ env: { NO_COLOR: "1" } });
  const [one, other] = [world.products()[1]!, world.products()[4]!];
  const a = one.reference;
  world.write("shop.csv", `Artikelnummer;Titel\n${a};x\n${other.reference};y\n`);
  return { ...world, a, ids: [other.id, one.id], exported: () => idsOf(world.read("catalogue.jsonl")) };
}

const line = "export --manifest --products-from shop.csv --no-progress";

test("--map names the column of --products-from", async () => {
  const world = await shop();
  const { exit, stderr } = await world.cat(`${line} --map Artikelnummer=reference`);
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  expect(world.exported()).toEqual(world.ids);
});

test("--map-value replaces references of --products-from", async () => {
  const world = await shop();
  world.write("shop.csv", "reference\nOLD\n");
  const { exit } = await world.cat([...line.split(" "), "--map-value", `reference:old=${world.a}`]);
  expect({ exit, exported: world.exported() }).toEqual({ exit: 0, exported: [world.ids[1]] });
});

test("a likely column of --products-from is asked about once, and saved", async () => {
  const world = await shop();
  const first = atTerminal(world, line, { stdin: true, stderr: true });
  await first.type("Read 1 column of shop.csv like this?", "\r");
  expect((await first.ran).exit).toBe(0);
  expect(first.screen()).toContain("Artikelnummer = reference (example: ");
  expect(world.exported()).toEqual(world.ids);
  const again = await world.cat(`${line} --yes`);
  expect(again.stderr.split("\n")[0]).toBe("Columns from catalogue.map.json: Artikelnummer = reference.");
  expect({ exit: again.exit, exported: world.exported() }).toEqual({ exit: 0, exported: world.ids });
});

test("a file with the column of --products-from is asked about its encoding alone", async () => {
  const world = await shop();
  writeFileSync(join(world.folder, "shop.csv"), `reference;Artikel\n${world.a};grün\n`, "latin1");
  const ran = atTerminal(world, line, { stdin: true, stderr: true });
  await ran.type("Read the encoding of shop.csv like this?", "\r");
  expect((await ran.ran).exit).toBe(0);
  expect(world.exported()).toEqual([world.ids[1]]);
});

test("a list is not asked about", async () => {
  const world = await shop();
  world.write("shop.csv", `${world.a}\n`);
  const ran = atTerminal(world, line, { stdin: true, stderr: true });
  expect((await ran.ran).exit).toBe(0);
  expect(ran.screen()).not.toContain("like this?");
});

test("the lines of a list are read by --map-value, then by catalogue.map.json", async () => {
  const world = await shop();
  world.write("shop.csv", `"OLD"\nother\nskip me\n`);
  const other = world.products()[4]!.reference;
  world.write(
    "catalogue.map.json",
    JSON.stringify({ values: { reference: { old: "none", Other: other, "Skip me": "" } } }),
  );
  const { exit, stderr } = await world.cat([...line.split(" "), "--map-value", `reference:old=${world.a}`]);
  expect({ exit, first: stderr.split("\n")[0] }).toEqual({
    exit: 0,
    first: `Values from catalogue.map.json: Other = ${other}, Skip me = no value.`,
  });
  expect(world.exported()).toEqual(world.ids);
});

test("a list has no column for --map-value", async () => {
  const world = await shop();
  world.write("shop.csv", `${world.a}\n`);
  const { exit, stderr } = await world.cat(`${line} --map-value sku:a=b`);
  expect({ exit, stderr }).toEqual({
    exit: 3,
    stderr: expect.stringContaining('unknown column "sku" in --map-value: the file does not have it'),
  });
});

test("a column that the file lacks is rejected, also for a list", async () => {
  const world = await shop();
  world.write("shop.csv", `${world.a}\n`);
  const { exit, stderr } = await world.cat(`${line} --map SKU=reference`);
  expect({ exit, first: stderr.split("\n")[0] }).toEqual({
    exit: 3,
    first: 'shop.csv:1  sku  unknown_column  unknown column "sku" in --map: the file does not have it',
  });
  expect(world.created()).toEqual([]);
});

test.each([
  ["export --manifest --map a=reference", "error: --map needs --products-from\n"],
  ["export --map a=reference", "error: --map needs --manifest or --zip\n"],
  [`${line} --map a=name`, 'error: invalid --map "a=name": unknown field "name"\n'],
])("cat export exits with 2 for %s", async (args, message) => {
  const world = await shop();
  const { exit, stderr } = await world.cat(args);
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(message) });
});
