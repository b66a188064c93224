import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";
const down = "\x1b[B";

async function severalWorld(files: Readonly<Record<string, string>>) {
  const world = await createWorld({ env: { NO_COLOR: "1" } });
  for (const [name, text] of Object.entries(files)) world.write(name, text);
  const columns = () => JSON.parse(world.read("catalogue.map.json"));
  return { ...world, columns };
}

const same = {
  "a.csv": `Artikelnummer,Titel,Geschlecht,images\nA1,Hemd,Damen,${photo}\nA2,Hose,Herren,${photo}\n`,
  "b.csv": `Artikelnummer,Titel,Geschlecht,Lager,images\nB1,Rock,Damen,7,${photo}\n`,
};

test("several files have one screen, with each guess once, and one Enter saves all", async () => {
  const { columns, ...world } = await severalWorld(same);
  const call = atTerminal(world, "import a.csv b.csv --dry-run --no-progress");
  await call.type("Read 4 columns and 2 values of 2 files like this?", "\r");
  expect((await call.ran).exit, call.screen()).toBe(0);
  for (const line of [
    "  Artikelnummer = reference (example: A1)",
    "  Damen = female (sex, 2 rows)",
    "  Herren = male (sex, 1 row, a.csv)",
    "  Lager = skipped (example: 7, b.csv)",
  ])
    expect(call.screen()).toContain(line);
  expect(call.screen().match(/like this\?/g)).toHaveLength(2);
  expect(columns()).toEqual({
    columns: { Artikelnummer: "reference", Titel: "name", Geschlecht: "sex", Lager: "ignore" },
    values: { sex: { Damen: "female", Herren: "male" } },
  });
});

test.each(["a.csv b.csv", "b.csv a.csv"])(
  "a column may be read as different fields in two files; the field is saved: %s",
  async (files) => {
    const { columns, ...world } = await severalWorld({
      "a.csv": `reference,name,SKU,images\nA1,Hemd,x,${photo}\n`,
      "b.csv": `SKU,name,images\nB1,Rock,${photo}\n`,
    });
    const call = atTerminal(world, `import ${files} --dry-run --no-progress`);
    await call.type("Read 2 columns of 2 files like this?", "\r");
    expect((await call.ran).exit, call.screen()).toBe(0);
    expect(call.screen()).toContain("  SKU = skipped (example: x, a.csv)");
    expect(call.screen()).toContain("  SKU = reference (example: B1, b.csv)");
    expect(columns().columns).toEqual({ SKU: "reference" });
  },
);

test("an answer about a column leaves its field free for another column of another file", async () => {
  const { columns, ...world } = await severalWorld({
    "a.csv": `reference,Modell,images\nA1,Hemd,${photo}\n`,
    "b.csv": `reference,Titel,images\nB1,Rock,${photo}\n`,
  });
  const call = atTerminal(world, "import a.csv b.csv --dry-run --no-progress");
  await call.type("No column of a.csv is read as name", "\r");
  await call.type('What is in column "Modell"?', down, "\r");
  await call.type("Yes, and save", "\r");
  expect((await call.ran).exit, call.screen()).toBe(0);
  expect(columns().columns).toEqual({ Modell: "name", Titel: "name" });
});

test("the column to choose first is one of the file that lacks a field", async () => {
  const { columns, ...world } = await severalWorld({
    "a.csv": `reference,name,Lager,images\nA1,Hemd,7,${photo}\n`,
    "b.csv": `reference,Modell,images\nB1,Rock,${photo}\n`,
  });
  const call = atTerminal(world, "import a.csv b.csv --dry-run --no-progress");
  await call.type("No column of b.csv is read as name", "\r");
  await call.type('What is in column "Modell"?', down, "\r");
  await call.type("Yes, and save", "\r");
  expect((await call.ran).exit, call.screen()).toBe(0);
  expect(columns().columns).toEqual({ Lager: "ignore", Modell: "name" });
});

test("a file that is known is not asked about again with another one", async () => {
  const { columns: _, ...world } = await severalWorld({
    ...same,
    "ok.csv": `reference,name,images\nC1,Rock,${photo}\n`,
  });
  const call = atTerminal(world, "import ok.csv b.csv --dry-run --no-progress");
  await call.type("Read 4 columns and 1 value of b.csv like this?", "\r");
  expect((await call.ran).exit, call.screen()).toBe(0);
});

test("what several files have in common is noted once", async () => {
  const rows = (reference: string) =>
    `Artikelnummer,Titel,Geschlecht,images\n${reference},Hemd,Damen,${photo}\n`;
  const files = {
    "a.csv": rows("A1"),
    "b.csv": rows("B1"),
    "c.csv": rows("C1").replace("Titel", "Bezeichnung"),
  };
  const { columns: _, ...world } = await severalWorld(files);
  const call = atTerminal(world, "import a.csv c.csv --dry-run --no-progress");
  await call.type("Read 4 columns and 1 value of 2 files like this?", "\r");
  expect((await call.ran).exit, call.screen()).toBe(0);
  expect((await world.cat("import a.csv b.csv c.csv --dry-run --no-progress")).stderr).toBe(
    `Columns from catalogue.map.json: Artikelnummer = reference, Titel = name, Geschlecht = sex.
Values from catalogue.map.json: Damen = female.
Columns from catalogue.map.json: Artikelnummer = reference, Bezeichnung = name, Geschlecht = sex.
a.csv, b.csv, c.csv: 3 rows, all valid. Nothing was sent (--dry-run).
`,
  );
});

test("a chosen encoding is that of the files that are not UTF-8", async () => {
  const { columns: _, ...world } = await severalWorld({ "a.csv": `SKU,name,images\nA1,Weiß,${photo}\n` });
  writeFileSync(join(world.folder, "b.csv"), `SKU,name,images\nB1,Grün,${photo}\n`, "latin1");
  const call = atTerminal(world, "import a.csv b.csv --no-progress");
  await call.type("Read the encoding and 1 column of 2 files like this?", "\r");
  expect((await call.ran).exit, call.screen()).toBe(0);
  expect(world.products().map(({ name }) => name)).toEqual(["Weiß", "Grün"]);
});
