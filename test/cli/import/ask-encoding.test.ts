import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";
const check = "import shop.csv --dry-run --no-progress";
const latin1 = (text: string) => Buffer.from(text, "latin1");

async function shop() {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  world.write("shop.csv", latin1(`reference;Titel;sex;images\nA1;Hemd grün;Männer;${photo}\n`));
  return world;
}

test("cat import asks about the encoding on the screen of columns and values, and saves it", async () => {
  const world = await shop();
  const first = atTerminal(world, "import shop.csv --no-progress", { stdin: true, stderr: true });
  await first.type("Read the encoding, 1 column and 1 value of shop.csv like this?", "\r");
  expect((await first.ran).exit).toBe(0);
  for (const line of [
    'The file as Windows-1252 ("Hemd grün")',
    "Titel = name (example: Hemd grün)",
    "Männer = male (sex, 1 row)",
  ])
    expect(first.screen()).toContain(line);
  expect(world.products().map(({ name, sex }) => [name, sex])).toEqual([["Hemd grün", "male"]]);
  expect(JSON.parse(world.read("catalogue.map.json")).encoding).toBe("windows-1252");
  const again = await world.cat(check);
  expect(again.stderr.split("\n")[0]).toBe(
    'The file is not UTF-8: read as Windows-1252 ("Hemd grün"), from catalogue.map.json.',
  );
  expect(again.exit).toBe(0);
  // A file in UTF-8 is never read otherwise.
  world.write("shop.csv", `reference,name,images\nA1,grün,${photo}\n`);
  expect((await world.cat(check)).stderr).toBe("shop.csv: 1 row, all valid. Nothing was sent (--dry-run).\n");
  world.write("catalogue.map.json", "{}");
  world.write("shop.csv", latin1(`reference,name,images\nA1,grün,${photo}\n`));
  expect((await world.cat(check)).exit).toBe(3);
});

test("cat import reads the file as another encoding, if the user chooses it", async () => {
  const world = await shop();
  world.write("shop.csv", latin1(`reference,name,images\nA1,Sukienka \xbf\xf3\xb3ta,${photo}\n`));
  const first = atTerminal(world, "import shop.csv --no-progress", { stdin: true, stderr: true });
  await first.type("Which text of shop.csv is right?", "\x1b[B", "\r");
  await first.type('The file as Windows-1252 ("Sukienka ¿ó³ta")', "\x1b[B", "\r");
  await until(() => /✔ Read[\s\S]*❯ Windows-1250/.test(first.screen()), { seen: first.screen });
  await first.type("Which text of shop.csv is right?", "\r");
  await first.type('The file as Windows-1250 ("Sukienka żółta")', "\r");
  expect((await first.ran).exit, first.screen()).toBe(0);
  expect(world.products().map(({ name }) => name)).toEqual(["Sukienka żółta"]);
  world.write("catalogue.map.json", JSON.stringify({ encoding: "macintosh" }));
  world.write("shop.csv", Buffer.from(`reference,name,images\nA2,bl\u009fh,${photo}\n`, "latin1"));
  expect((await world.cat("import shop.csv --no-progress")).exit).toBe(0);
  expect(world.products().map(({ name }) => name)).toEqual(["Sukienka żółta", "blüh"]);
});

test.each([
  ["without a terminal", check, false],
  ["with --no-input", `${check} --no-input`, true],
])("cat import names the flag %s", async (_, line, stdin) => {
  const world = await shop();
  const ran = await world.cat(line, { tty: { stdin, stderr: false } });
  expect(ran.stderr.split("\n")[0]).toBe(
    'shop.csv:2  -  wrong_encoding  the file is not UTF-8; add the encoding if its text is right: --encoding windows-1252 ("Hemd grün"); or save it as UTF-8',
  );
  expect(ran.exit).toBe(3);
});

test("cat import does not ask if --encoding names it", async () => {
  const world = await shop();
  const line = `${check} --encoding windows-1252 --map Titel=name --map-value sex:Männer=male`;
  const ran = atTerminal(world, line, { stdin: true, stderr: true });
  expect((await ran.ran).exit).toBe(0);
  expect(ran.screen()).not.toContain("like this?");
});
