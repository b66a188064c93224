import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";
const mapping = `{
  "columns": { "Artikelnummer": "reference", "Titel": "name", "Preis": "ignore", "Modell": "model_id" },
  "values": {
    "sex": { "Damen": "female", "k. A.": "" },
    "background": { "Weiß": "white" }
  }
}
`;
const rows = `Artikelnummer;Titel;sex;Modell;Preis;images
A1;Hemd;DAMEN;Amara;1;${photo}
A2;Hose;k. A.;Amara;1;${photo}
`;

async function shop(content: string | null = mapping) {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  world.write("shop.csv", rows);
  if (content !== null) world.write("catalogue.map.json", content);
  return world;
}

const config = (folder: string, profile: object) => {
  mkdirSync(join(folder, ".home"), { recursive: true });
  writeFileSync(join(folder, ".home", "config.json"), JSON.stringify({ profiles: { default: profile } }));
};

const check = "import shop.csv --dry-run --no-progress";

describe("catalogue.map.json in the current folder", () => {
  test("maps columns and values; fields of other commands are skipped", async () => {
    const world = await shop();
    const { exit, stderr } = await world.cat("import shop.csv --no-progress");
    expect({ exit, stderr: stderr.split("\n").slice(0, 2) }).toEqual({
      exit: 0,
      stderr: [
        "Columns from catalogue.map.json: Artikelnummer = reference, Titel = name, Modell = ignore, Preis = ignore.",
        "Values from catalogue.map.json: Damen = female, k. A. = no value.",
      ],
    });
    expect(world.products().map(({ reference, sex }) => [reference, sex])).toEqual([
      ["A1", "female"],
      ["A2", null],
    ]);
  });

  test("is read by tryon, where reference is the reference of the product", async () => {
    const world = await shop();
    world.write("looks.csv", "Artikelnummer,Modell,background,angle_shot\nA1,Amara,Weiß,full-front\n");
    await world.cat("import shop.csv");
    const { exit, stdout, stderr } = await world.cat("tryon looks.csv --dry-run");
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: "model  background  angle_shot  images\nAmara  white       full-front  1\n",
      stderr: `Columns from catalogue.map.json: Artikelnummer = product_reference, Modell = model_id.
Values from catalogue.map.json: Weiß = white.
looks.csv: 1 image in 1 request. Nothing was queued (--dry-run).
`,
    });
  });

  test("comes after flags, and before answers of an earlier version and guesses", async () => {
    const world = await shop();
    config(world.folder, {
      columns: { preis: "description", modell: "ignore" },
      values: { sex: { damen: "other", herren: "male", kinder: "kid" } },
    });
    world.write("shop.csv", `${rows}A3;Rock;Herren;Amara;1;${photo}\n`);
    const { exit, stderr } = await world.cat(`${check} --map Titel=description --map Preis=name`);
    expect({ exit, stderr: stderr.split("\n").slice(0, 3) }).toEqual({
      exit: 0,
      stderr: [
        "Columns from catalogue.map.json: Artikelnummer = reference, Modell = ignore.",
        "Values from catalogue.map.json: Damen = female, k. A. = no value.",
        "Values from profile default: herren = male.",
      ],
    });
    const terminal = atTerminal(world, check, { stdin: true, stderr: true });
    expect((await terminal.ran).exit).toBe(0);
    expect(terminal.screen()).not.toContain("like this?");
    await world.cat("import shop.csv --no-progress");
    expect(world.products().map(({ sex }) => sex)).toEqual(["female", null, "male"]);
  });

  longTest("is not repeated by flags in the command for the failed rows, which reads it too", async () => {
    const world = await shop();
    world.write("shop.csv", `${rows}A3;;Herren;Amara;1;${photo}\n`);
    const next = (stderr: string) => stderr.trimEnd().split("\n").at(-1);
    const first = await world.cat("import shop.csv --skip-invalid --no-progress --map-value sex:Herren=male");
    expect([first.exit, next(first.stderr)]).toEqual([
      8,
      "  cat import shop.failed.csv --map-value sex:Herren=male",
    ]);
    world.write("shop.failed.csv", world.read("shop.failed.csv").replace("A3;;", "A3;Rock;"));
    const again = await world.cat("import shop.failed.csv --map-value sex:Herren=male --no-progress");
    expect([again.exit, world.products().length]).toEqual([0, 3]);
    world.write("own.json", mapping.replace("Titel", "Title"));
    const other = "import shop.csv --skip-invalid --fresh --no-progress --map-file own.json --map Titel=name";
    expect(next((await world.cat(`${other} --map-value sex:Herren=male`)).stderr)).toBe(
      "  cat import shop.failed.csv --map-file own.json --map Titel=name --map-value sex:Herren=male",
    );
  });

  test("is noted only as far as the sheet uses it", async () => {
    const world = await shop(mapping.replace('"Damen": "female"', '"Damen": "female", "Herren": "male"'));
    const { stderr } = await world.cat(check);
    expect(stderr.split("\n")[1]).toBe("Values from catalogue.map.json: Damen = female, k. A. = no value.");
    world.write("shop.csv", `reference,name,sex,images\nA1,Hemd,female,${photo}\n`);
    expect((await world.cat(check)).stderr).toBe(
      "shop.csv: 1 row, all valid. Nothing was sent (--dry-run).\n",
    );
  });

  test("does not skip a column of import whose name is another field of tryon", async () => {
    const world = await shop('{ "columns": { "Description": "background", "Ort": "background" } }');
    world.write("shop.csv", `reference,name,description,Ort,images\nA1,Hemd,blau,Studio,${photo}\n`);
    const { exit, stderr } = await world.cat("import shop.csv --no-progress");
    expect({ exit, first: stderr.split("\n")[0] }).toEqual({
      exit: 0,
      first: "Columns from catalogue.map.json: Ort = ignore.",
    });
    expect(world.products().map(({ description }) => description)).toEqual(["blau"]);
  });

  test("may map columns that a file does not have", async () => {
    const world = await shop();
    world.write("shop.csv", `reference,name,images\nA1,Hemd,${photo}\n`);
    expect(await world.cat(check)).toEqual({
      exit: 0,
      stdout: "",
      stderr: "shop.csv: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
  });

  test("that maps a column to a field that the file has is rejected, with the way out", async () => {
    const world = await shop();
    world.write("shop.csv", `reference,Titel,name,images\nA1,Hemd,x,${photo}\n`);
    const { exit, stderr } = await world.cat(check);
    expect({ exit, stderr: stderr.split("\n")[1] }).toEqual({
      exit: 3,
      stderr:
        'shop.csv:1  name  duplicate_header  the columns "Titel" and "name" map to the same field: remove one of them',
    });
    expect((await world.cat(`${check} --map Titel=ignore`)).exit).toBe(0);
  });

  test.each(
    sampled(
      [
        ["{", "catalogue.map.json:1: it is not valid JSON"],
        ['{\n "columns": {\n  "a": "name",\n }\n}', "catalogue.map.json:4: it is not valid JSON"],
        ['{\n "columns": {\n  "a": name\n }\n}', "catalogue.map.json:3: it is not valid JSON"],
        ['{\n "columns": {}\n}\n}', "catalogue.map.json:4: it is not valid JSON"],
        ['{\n "columns": {"a": "na', "catalogue.map.json:2: it is not valid JSON"],
        ["[]", "catalogue.map.json:1: the file is not a JSON object"],
        ['{\n"column": {}}', 'catalogue.map.json:2: unknown key "column"'],
        ['{\n"columns": []}', 'catalogue.map.json:2: "columns" is not a JSON object'],
        [
          '{"columns": {\n"SKU": "referenc"}}',
          'catalogue.map.json:2: unknown field "referenc" for the column "SKU"\nDid you mean reference?',
        ],
        ['{"columns": {"SKU": 1}}', 'catalogue.map.json:1: unknown field 1 for the column "SKU"'],
        [
          '{"columns": {"SKU": "name",\n"sku ": "name"}}',
          'catalogue.map.json:2: the column "sku " is mapped twice',
        ],
        [
          '{"values": {"sex": {\n"Damen": "female",\n"DAMEN": "male"}}}',
          'catalogue.map.json:3: the value "DAMEN" is mapped twice',
        ],
        ['{"values": {\n"size": {"M": "m"}}}', 'catalogue.map.json:2: unknown field "size" in values'],
        [
          '{"values": {"sex": {\n"Damen": "femal"}}}',
          'catalogue.map.json:2: unknown value "femal" for sex "Damen"\nUse one of male, female, other, kid, or an empty text for no value.',
        ],
        ['{"values": {"sex": {"Damen": null}}}', 'catalogue.map.json:1: unknown value null for sex "Damen"'],
        [
          '{"columns": {\n"SKU": "reference",\n"SKU": "name"}}',
          'catalogue.map.json:3: duplicate key "SKU"\nRemove one of the two.',
        ],
        [
          '{"columns": {"a": "name"}, "values": {"sex": {"\\"{\\u0061": "male",\n"\\"{a": ""}}}',
          'catalogue.map.json:2: duplicate key "\\"{a"',
        ],
        [
          '{"values": {"sex": {}},\n"columns": {},\n"values": {}}',
          'catalogue.map.json:3: duplicate key "values"',
        ],
      ],
      4,
    ),
  )("exits with 2 for %j", async (content, message) => {
    const world = await shop(content);
    const { exit, stderr } = await world.cat(check);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(`error: ${message}`) });
    expect(world.requests()).toEqual([]);
  });
});

test.each(
  sampled(
    [
      ["Windows-1252", Buffer.from('{"values": {"sex": {"Männer": "male"}}}', "latin1")],
      ["UTF-16", Buffer.from(`\ufeff${mapping}`, "utf16le")],
      ["UTF-16 without a byte order mark", Buffer.from("{}", "utf16le")],
    ],
    1,
  ),
)("cat import exits with 2 for catalogue.map.json in %s", async (_, content) => {
  const world = await shop(null);
  world.write("catalogue.map.json", content);
  expect(await world.cat(check)).toEqual({
    exit: 2,
    stdout: "",
    stderr: "error: cannot read catalogue.map.json: it is not UTF-8\nSave it as UTF-8.\n",
  });
});

describe("--map-file", () => {
  test("names another file, instead of the one in the current folder", async () => {
    const world = await shop("{");
    world.write("own.json", `\ufeff${mapping}`);
    const { exit, stderr } = await world.cat(`${check} --map-file own.json`);
    expect({ exit, stderr: stderr.split("\n")[1] }).toEqual({
      exit: 0,
      stderr: "Values from own.json: Damen = female, k. A. = no value.",
    });
  });

  test.each(sampled(["import shop.csv", "tryon shop.csv", "export --zip --products-from shop.csv"], 1))(
    "that does not exist is a wrong command line: %s",
    async (line) => {
      const world = await shop(null);
      expect(await world.cat(`${line} --map-file none.json`)).toEqual({
        exit: 2,
        stdout: "",
        stderr: "error: cannot read none.json: it does not exist\nCheck the name and the current folder.\n",
      });
    },
  );
});

describe("cat config mapping", () => {
  test("lists columns and values, with the place of each, first those that win", async () => {
    const world = await shop();
    config(world.folder, {
      columns: { preis: "description", farbe: "ignore" },
      encoding: "macintosh",
      mappings: {
        tryon: { columns: { winkel: "angle_shot" }, values: { background: { grau: "light-grey" } } },
      },
    });
    expect(await world.cat("config mapping")).toEqual({
      exit: 0,
      stderr: "",
      stdout: `kind      field       name           read as     files   from
column                artikelnummer  reference   all     catalogue.map.json
column                titel          name        all     catalogue.map.json
column                preis          ignore      all     catalogue.map.json
column                modell         model_id    all     catalogue.map.json
value     sex         damen          female      all     catalogue.map.json
value     sex         k. a.          no value    all     catalogue.map.json
value     background  weiß           white       all     catalogue.map.json
column                farbe          ignore      import  profile default
encoding              not UTF-8      macintosh   import  profile default
column                winkel         angle_shot  tryon   profile default
value     background  grau           light-grey  tryon   profile default
`,
    });
    const json = (await world.cat("config mapping --json")).stdout.split("\n");
    expect(JSON.parse(json[4]!)).toEqual({
      kind: "value",
      field: "sex",
      name: "damen",
      read_as: "female",
      files: "all",
      from: "catalogue.map.json",
    });
  });

  test("says so if nothing is mapped", async () => {
    const world = await shop(null);
    expect(await world.cat("config mapping")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "No columns or values are mapped yet.\n",
    });
  });
});

test.each(
  sampled(
    [
      ["import folder/shop.csv", "--results", "folder/catalogue.map.json"],
      ["import folder/shop.csv", "--failed", "folder/catalogue.map.json"],
      ["import folder/shop.csv --map-file own.json", "--results", "own.json"],
      ["import folder/shop.csv", "--report", "folder/catalogue.map.json"],
      ["tryon folder/looks.csv --yes", "--results", "folder/catalogue.map.json"],
      ["tryon folder/looks.csv --yes", "--report", "folder/catalogue.map.json"],
      ["tryon folder/looks.csv --yes", "--gallery", "folder/catalogue.map.json"],
      ["beautify folder/shots.csv --yes --map-file own.json", "--report", "own.json"],
    ],
    3,
  ),
)("a mapping file is not replaced by an output: %s %s %s", async (line, flag, name) => {
  const world = await shop(null);
  world.write("folder/shop.csv", rows);
  world.write("folder/looks.csv", "Artikelnummer,Modell,background,angle_shot\nA1,Amara,Weiß,full-front\n");
  world.write("folder/shots.csv", "Artikelnummer,subtype,background,angle_shot\nA1,clothing,Weiß,front\n");
  for (const file of ["folder/catalogue.map.json", "own.json"]) world.write(file, mapping);
  const { exit, stderr } = await world.cat(`${line} ${flag} ${name}`);
  expect({ exit, line: stderr.split("\n").at(-3) }).toEqual({
    exit: 2,
    line: `error: cannot write ${flag} ${name}: the command already reads or writes it`,
  });
  expect(world.read(name)).toBe(mapping);
});

test.skipIf(process.platform === "win32")(
  "a pipe with the name of a mapping is an error, not a wait",
  async () => {
    const world = await shop(null);
    execFileSync("mkfifo", [join(world.folder, "catalogue.map.json")]);
    const { exit, stderr } = await world.cat(check);
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr:
        "error: cannot read catalogue.map.json: it is not a file\n" +
        "Remove it, or use another one with --map-file.\n",
    });
  },
);
