import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { createWorld } from "../../support/world.ts";

const images = [{ url: "https://cdn.example.com/a.jpg", orientation: null }];
const objects = [
  { SKU: "A1", name: "Hemd", sex: "Damen", fotos: images, Preis: 12, description: null },
  { SKU: "A2", name: "Hose", sex: null, fotos: [{ url: "https://cdn.example.com/b.jpg" }], Lager: null },
];
const check = "import shop.ndjson --dry-run --no-progress";
const all = "--map SKU=reference --map fotos=images --map preis=ignore --map Lager=ignore";

async function shop(rows: readonly object[] = objects) {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  world.write("shop.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return world;
}

describe("the fields of NDJSON rows", () => {
  test("are read as --map and --map-value say; null is an absent value", async () => {
    const world = await shop();
    const { exit, stderr } = await world.cat(`import shop.ndjson ${all} --map-value sex:damen=female`);
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    expect(world.products().map(({ reference, sex, description }) => [reference, sex, description])).toEqual([
      ["A1", "female", null],
      ["A2", null, null],
    ]);
  });

  test("that are unknown make the file unusable, each named once with the flag, as columns do", async () => {
    const world = await shop([...objects, { ...objects[0], SKU: "A3" }]);
    const { exit, stderr } = await world.cat(`${check} --skip-invalid`);
    expect({ exit, stderr }).toEqual({
      exit: 3,
      stderr: `shop.ndjson:1  SKU  unknown_column  unknown field "SKU"; did you mean reference? Rename it, or use --map "SKU=reference" or --map "SKU=ignore"
shop.ndjson:1  fotos  unknown_column  unknown field "fotos"; did you mean images? Rename it, or use --map "fotos=images" or --map "fotos=ignore"
shop.ndjson:1  Preis  unknown_column  unknown field "Preis": rename it, or use --map "Preis=FIELD" or --map "Preis=ignore"
shop.ndjson:2  Lager  unknown_column  unknown field "Lager": rename it, or use --map "Lager=FIELD" or --map "Lager=ignore"
FIELD is one of: reference, name, description, sex, images.
error: cannot import shop.ndjson; nothing was sent
Fix the file and run the command again.
`,
    });
  });

  test("are asked about on the same screen, and saved", async () => {
    const world = await shop();
    const first = atTerminal(world, check, { stdin: true, stderr: true });
    await first.type("Read 4 columns and 1 value of shop.ndjson like this?", "\r");
    expect((await first.ran).exit).toBe(0);
    for (const line of ["SKU = reference (example: A1)", "Preis = skipped (example: 12)", "Damen = female"])
      expect(first.screen()).toContain(line);
    expect(await world.cat(check)).toEqual({
      exit: 0,
      stdout: "",
      stderr: `Columns from catalogue.map.json: SKU = reference, fotos = images, Preis = ignore, Lager = ignore.
Values from catalogue.map.json: Damen = female.
shop.ndjson: 2 rows, all valid. Nothing was sent (--dry-run).
`,
    });
  });

  test("are read by catalogue.map.json, except for photos in columns", async () => {
    const world = await shop();
    const columns = { SKU: "reference", fotos: "image_front", Preis: "ignore", Lager: "ignore" };
    world.write("catalogue.map.json", JSON.stringify({ columns, values: { sex: { Damen: "female" } } }));
    const { exit, stderr } = await world.cat(`${check}`);
    expect({ exit, stderr: stderr.split("\n").slice(0, 3) }).toEqual({
      exit: 3,
      stderr: [
        "Columns from catalogue.map.json: SKU = reference, Preis = ignore, Lager = ignore.",
        "Values from catalogue.map.json: Damen = female.",
        'shop.ndjson:1  fotos  unknown_column  unknown field "fotos"; did you mean images? Rename it, or use --map "fotos=images" or --map "fotos=ignore"',
      ],
    });
    expect((await world.cat(`${check} --map fotos=images`)).exit).toBe(0);
  });

  test("that the objects lack are not in the notes about catalogue.map.json", async () => {
    const world = await shop([{ reference: "A1", name: "x", sex: "Damen", images }]);
    const values = { sex: { Damen: "female", Herren: "male" }, orientation: { Vorne: "front" } };
    world.write("catalogue.map.json", JSON.stringify({ columns: { SKU: "reference" }, values }));
    expect((await world.cat(check)).stderr).toBe(
      "Values from catalogue.map.json: Damen = female.\nshop.ndjson: 1 row, all valid. Nothing was sent (--dry-run).\n",
    );
    world.write("shop.ndjson", `${JSON.stringify({ sku: "A1", name: "x", images })}\n`);
    expect((await world.cat(check)).stderr.split("\n")[0]).toBe(
      "Columns from catalogue.map.json: SKU = reference.",
    );
  });

  test("make a row invalid if two of them are read as one", async () => {
    const world = await shop([{ sku: "A1", reference: "B1", name: "x", images }]);
    const { exit, stderr } = await world.cat(`${check} --map SKU=reference`);
    expect({ exit, first: stderr.split("\n")[0] }).toEqual({
      exit: 3,
      first:
        'shop.ndjson:1  reference  invalid_row  the fields "sku" and "reference" map to the same field: remove one of them',
    });
  });

  test("stay as they are in the failed file, which can be imported with the same flags", async () => {
    const world = await shop([...objects, { SKU: "A3", name: "", fotos: images }]);
    const flags = `${all} --map-value sex:damen=female`;
    const { exit } = await world.cat(`import shop.ndjson ${flags} --skip-invalid`);
    expect({ exit, row: JSON.parse(world.read("shop.failed.ndjson")) }).toEqual({
      exit: 8,
      row: { SKU: "A3", name: "", fotos: images, error_code: "invalid_row", error_message: "name is empty" },
    });
    world.write("shop.failed.ndjson", world.read("shop.failed.ndjson").replace('"name":""', '"name":"Rock"'));
    expect((await world.cat(`import shop.failed.ndjson ${flags}`)).exit).toBe(0);
    expect(world.products().map(({ reference }) => reference)).toEqual(["A1", "A2", "A3"]);
  });

  test.each([
    [
      "--map fotos=image_front",
      'cannot use --map "fotos=image_front": shop.ndjson is read as NDJSON\nA row has',
    ],
    [
      "--map-value Geschlecht:a=b",
      'cannot use --map-value "geschlecht:": shop.ndjson is read as NDJSON\nA row',
    ],
    ["--delimiter ;", "cannot use --delimiter: shop.ndjson is read as NDJSON\n"],
  ])("exits with 2 for %s", async (flag, message) => {
    const world = await shop();
    const { exit, stderr } = await world.cat(`${check} ${flag}`);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(`error: ${message}`) });
  });
});
