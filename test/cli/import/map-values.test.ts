import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { createWorld } from "../../support/world.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const rows = `reference,name,Geschlecht,images,image_1,image_1_orientation
A1,Hemd,Damen,${photo("a")},,
A2,Hose,  HERREN ,,${photo("b")},Vorne
A3,Rock,k. A.,${photo("c")},,
`;
const map = "--map Geschlecht=sex --no-progress";

async function shop() {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  world.write("shop.csv", rows);
  return world;
}

test("offers the flag in the message of a wrong value, with the guess", async () => {
  const world = await shop();
  const { exit, stderr } = await world.cat(`import shop.csv --dry-run ${map}`);
  expect({ exit, stderr }).toEqual({
    exit: 3,
    stderr: `shop.csv:2  sex  invalid_row  sex must be one of male, female, other, kid, not "Damen": did you mean "female"? Correct it, or use --map-value "sex:Damen=female"
shop.csv:3  sex  invalid_row  sex must be one of male, female, other, kid, not "HERREN": did you mean "male"? Correct it, or use --map-value "sex:HERREN=male"
shop.csv:3  image_1_orientation  invalid_row  image_1_orientation must be one of front, back, left, right, top, bottom, three-quarter-left, three-quarter-right, detail, unlabeled, side, not "Vorne": did you mean "front"? Correct it, or use --map-value "orientation:Vorne=front"
shop.csv:4  sex  invalid_row  sex must be one of male, female, other, kid, not "k. A.": correct it, or use --map-value "sex:k. A.=VALUE"
error: shop.csv has 3 invalid rows out of 3; nothing was sent
Fix the file and run the command again.
`,
  });
});

test("cat import --map-value reads values without case, by field or column, and an empty one as none", async () => {
  const world = await shop();
  const flags =
    "--map-value sex:damen=female --map-value geschlecht:herren=male --map-value orientation:vorne=front";
  const { exit, stderr } = await world.cat(`import shop.csv ${map} ${flags} --map-value ${"'sex:k. A.='"}`);
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  const { stdout } = await world.cat("products list --json");
  const products = stdout
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line));
  expect(Object.fromEntries(products.map(({ reference, sex }) => [reference, sex]))).toEqual({
    A1: "female",
    A2: "male",
    A3: null,
  });
});

test("cat import --map-value keeps the values of the file in the failed file, and the flags in its command as typed", async () => {
  const world = await shop();
  const { exit, stderr } = await world.cat(
    `import shop.csv ${map} --map-value sex:Damen=female --skip-invalid`,
  );
  expect(exit).toBe(8);
  expect(stderr).toContain("cat import shop.failed.csv --map Geschlecht=sex --map-value sex:Damen=female");
  expect(readFileSync(join(world.folder, "shop.failed.csv"), "utf8")).toContain("A2,Hose,  HERREN ,");
});

test("no flag for a column of the file that is called like one of the failed file", async () => {
  const world = await shop();
  world.write(
    "shop.csv",
    ["reference,name,images,error_code", "A1,,a.jpg,x", "A2,Rock,https://cdn.example.com/a.jpg,x", ""].join(
      "\n",
    ),
  );
  const { stderr } = await world.cat("import shop.csv --map error_code=description --skip-invalid");
  expect(stderr.trimEnd().split("\n").at(-1)).toBe("  cat import shop.failed.csv");
});

test.each([
  ["sex=female", "use FIELD:FROM=TO"],
  ["sex:=female", "use FIELD:FROM=TO"],
  [
    "sex:Damen=femal",
    'unknown value "femal"\nDid you mean female? TO is one of male, female, other, kid, or empty for no value.',
  ],
])("cat import exits with 2 for --map-value %s", async (entry, message) => {
  const world = await shop();
  const { exit, stderr } = await world.cat(`import shop.csv ${map} --map-value ${entry}`);
  expect({ exit, isShown: stderr.includes(`invalid --map-value "${entry}": ${message}`) }).toEqual({
    exit: 2,
    isShown: true,
  });
});

test.each([
  ["Sexe:Damen=female", 'unknown column "sexe" in --map-value: the file does not have it'],
  [
    "images:a=b",
    'cannot use --map-value for the column "images": it works for reference, name, description, sex, orientation',
  ],
])("cat import rejects the file for --map-value %s", async (entry, message) => {
  const world = await shop();
  const { exit, stderr } = await world.cat(`import shop.csv --dry-run ${map} --map-value ${entry}`);
  expect({ exit, isShown: stderr.includes(message) }).toEqual({ exit: 3, isShown: true });
});

test("guesses values with the columns on a terminal, each can be changed, and saves them", async () => {
  const world = await shop();
  const first = atTerminal(world, "import shop.csv --dry-run --no-progress", { stdin: true, stderr: true });
  await first.type("Read 1 column and 4 values of shop.csv like this?", "\x1b[B", "\r");
  await first.type('What is "k. A."? (sex, 1 row)', "\r");
  await first.type("k. A. = no value (sex, 1 row)", "\r");
  expect((await first.ran).exit).toBe(0);
  for (const line of [
    "Geschlecht = sex (example: Damen)",
    "Damen = female (sex, 1 row)",
    "HERREN = male",
    "Vorne = front (orientation, 1 row)",
    "k. A. = ? (choose) (sex, 1 row)",
  ])
    expect(first.screen()).toContain(line);
  const { stderr, exit } = await world.cat("import shop.csv --dry-run --no-progress");
  expect({ exit, stderr }).toEqual({
    exit: 0,
    stderr: `Columns from catalogue.map.json: Geschlecht = sex.
Values from catalogue.map.json: Damen = female, HERREN = male, k. A. = no value, Vorne = front.
shop.csv: 3 rows, all valid. Nothing was sent (--dry-run).
`,
  });
});
