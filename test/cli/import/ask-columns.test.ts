import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";
const shopFile = `Artikelnummer;Titel;Preis;Bild vorne\nA1;Hemd;12,50;${photo}\n`;
const keys = { enter: "\r", up: "\x1b[A", down: "\x1b[B", interrupt: "\x03", end: "\x04" };

async function shop(options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld({ env: { NO_COLOR: "1" }, ...options });
  world.write("shop.csv", shopFile);
  return world;
}

/** Presses keys once a prompt appears. */
function atPrompts(world: TestWorld, line: string) {
  const { ran, screen, type } = atTerminal(world, line, { stdin: true, stderr: true });
  const press = (question: string, ...pressed: (keyof typeof keys)[]) =>
    type(question, ...pressed.map((key) => keys[key]));
  return { ran, screen, press };
}

const savedIn = (world: TestWorld, folder = ".") =>
  JSON.parse(readFileSync(join(world.folder, folder, "catalogue.map.json"), "utf8"));
const question = "Read 4 columns of shop.csv like this?";
const takeAll = ({ press }: ReturnType<typeof atPrompts>) => press(question, "enter");

describe("a file with unknown columns, on a terminal,", () => {
  test("shows a guess for each on one screen, and one Enter applies and saves all", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await takeAll(call);
    const { exit, stdout } = await call.ran;
    for (const line of [
      "❯ Yes, and save it in catalogue.map.json for later files",
      "  Artikelnummer = reference (example: A1)",
      "  Titel = name (example: Hemd)",
      "  Preis = skipped (example: 12,50)",
      "  Bild vorne = image_front",
    ])
      expect(call.screen()).toContain(line);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "" });
    expect(call.screen()).toContain("shop.csv: 1 row, all valid. Nothing was sent (--dry-run).");
    expect(savedIn(world)).toEqual({
      columns: { Artikelnummer: "reference", Titel: "name", Preis: "ignore", "Bild vorne": "image_front" },
    });
    expect(existsSync(join(world.folder, ".home", "config.json"))).toBe(false);
  });

  test("does not prompt again: saved columns are applied and noted, also off a terminal", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await takeAll(call);
    await call.ran;
    world.write("next.csv", `PREIS,reference,Titel,images\n3,B1,Hose,${photo}\n`);
    expect(await world.cat("import next.csv --dry-run --no-progress")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Columns from catalogue.map.json: Preis = ignore, Titel = name.\nnext.csv: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
    const piped = await world.cat("import - --format csv --dry-run --no-progress", { stdin: shopFile });
    expect(piped.exit).toBe(0);
  });

  test("does not prompt if the rows are typed at the terminal", async () => {
    const { cat } = await shop();
    const typed = await cat("import - --format csv --dry-run --no-progress", { stdin: shopFile, tty: true });
    expect([typed.exit, typed.stderr.includes("like this?")]).toEqual([3, false]);
  });

  test("applies --map before saved columns", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await takeAll(call);
    await call.ran;
    const ran = await world.cat("import shop.csv --dry-run --map Titel=description --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain('missing column "name" (required)');
  });

  test("saves nothing while no column is read as a field that is needed: Enter chooses the column", async () => {
    const world = await shop();
    world.write("shop.csv", `Artikelnummer;Preis;Bild vorne\nA1;12,50;${photo}\n`);
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    const lacking = "Read 3 columns of shop.csv like this? No column is read as name: choose the\ncolumn.";
    await call.press(lacking, "enter");
    await call.press('What is in column "Preis"? (example: 12,50)', "down", "enter");
    await call.press("Yes, and save it in catalogue.map.json", "enter");
    expect((await call.ran).exit).toBe(0);
    expect(savedIn(world).columns).toEqual({
      ...{ Artikelnummer: "reference", Preis: "name", "Bild vorne": "image_front" },
    });
  });

  test("lists the missing columns if the file has none for them, and saves nothing", async () => {
    const world = await shop();
    world.write("shop.csv", `Artikelnummer;Preis\nA1;12,50\n`);
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await call.press("No column is read as name: choose", "down", "enter");
    const { exit } = await call.ran;
    expect(call.screen()).toContain("No column has it: list the problems");
    expect(call.screen().replace(/\s+/g, " ")).toContain(
      'missing column "name" (required): add it, or use --map "COLUMN=name"',
    );
    expect(exit).toBe(3);
    expect(() => savedIn(world)).toThrow("ENOENT");
  });

  test("is not asked about if it has no column to choose for a missing one", async () => {
    const world = await shop();
    world.write("a.csv", `reference,sex,images\nA1,Damen,${photo}\n`);
    const call = atPrompts(world, "import a.csv --dry-run --no-progress");
    expect((await call.ran).exit).toBe(3);
    expect(call.screen()).not.toContain("like this?");
  });

  test("needs no column for photos that a folder has", async () => {
    const world = await shop();
    world.write("photos/A1.txt", "");
    world.write("shop.csv", "Artikelnummer;Titel\nA1;Hemd\n");
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress --images-from photos");
    await call.press("Read 2 columns of shop.csv like this?", "enter");
    await call.ran;
    expect(call.screen()).not.toContain("No column");
    expect(savedIn(world).columns).toEqual({ Artikelnummer: "reference", Titel: "name" });
  });

  test("has texts in a column with over 20 different wrong values, which are not asked about", async () => {
    const world = await shop();
    const rows = (count: number) =>
      Array.from({ length: count }, (_, at) => `A${at},Hemd,${photo},${String.fromCharCode(97 + at)}xyz\n`);
    world.write("a.csv", `reference,name,images,sex\n${rows(20).join("")}`);
    world.write("b.csv", `reference,name,images,sex\n${rows(21).join("")}`);
    const few = atPrompts(world, "import a.csv --dry-run --no-progress");
    await few.press("Read 20 values of a.csv like this?", "interrupt");
    await few.ran;
    const many = atPrompts(world, "import b.csv --dry-run --no-progress");
    expect((await many.ran).exit).toBe(3);
    expect(many.screen()).not.toContain("like this?");
  });

  test.each(["interrupt", "end"] as const)(
    "exits with 130 on %s, with one line and nothing sent",
    async (key) => {
      const world = await shop();
      const call = atPrompts(world, "import shop.csv --no-progress");
      await call.press(question, key);
      expect(await call.ran).toMatchObject({ exit: 130, stdout: "" });
      expect(call.screen().trimEnd().split("\n").at(-1)).toBe("interrupted");
      expect(world.requests()).toEqual([]);
    },
  );

  test("exits on a signal during a prompt", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run");
    await call.press(question);
    call.ran.interrupt("SIGTERM");
    expect((await call.ran).exit).toBe(143);
  });

  test("corrects a column with the fields that no column has, and asks again", async () => {
    const world = await shop();
    world.write("a.csv", `reference,title,images,SKU,Lager\nA1,Hemd,${photo},x,1\n`);
    const call = atPrompts(world, "import a.csv --dry-run --no-progress");
    await call.press("Read 3 columns of a.csv like this?", "down", "down", "enter");
    await call.press('What is in column "SKU"? (example: x)', "down", "enter");
    await call.press("SKU = description (example: x)", "interrupt");
    expect((await call.ran).exit).toBe(130);
  });

  test("keeps --map and --map-value beside the answers, and the next command has no others", async () => {
    const world = await shop();
    const fails = "https://cdn.example.com/fail-timeout.jpg";
    world.write("a.csv", `reference,Titel,Art,images\nA1,Hemd,W,${photo}|${fails}\n`);
    const call = atPrompts(world, "import a.csv --map Art=sex --map-value sex:W=female --no-progress");
    await call.press("Read 1 column of a.csv like this?", "enter");
    expect((await call.ran).exit).toBe(8);
    expect(call.screen()).toContain("cat import a.failed.csv --map Art=sex --map-value sex:W=female\n");
    const again = await world.cat("import a.failed.csv --map art=sex --map-value sex:w=female --dry-run");
    expect(again.exit, again.stderr).toBe(0);
  });

  test("guesses each field for one column only, and none for the columns of a failed file", async () => {
    const world = await shop();
    const header = "SKU,Artikelnummer,name,images,error_code,Error_Message";
    world.write("a.csv", `${header}\nA1,1,Hemd,${photo},timeout,too slow\n`);
    const call = atPrompts(world, "import a.csv --dry-run --no-progress");
    await call.press("Read 2 columns of a.csv like this?", "enter");
    expect((await call.ran).exit).toBe(0);
    expect(call.screen()).toContain("SKU = reference (example: A1)");
    expect(call.screen()).toContain("Artikelnummer = skipped (example: 1)");
  });

  test.each(["--delimiter ,", "--delimiter tab"])(
    "does not prompt about a header with a wrong delimiter: %s",
    async (flag) => {
      const world = await shop();
      const call = atPrompts(world, `import shop.csv --dry-run --no-progress ${flag}`);
      const { exit } = await call.ran;
      expect(exit).toBe(3);
      expect(call.screen()).not.toContain("like this?");
      expect(call.screen().replace(/\s+/g, " ")).toContain(
        'does not fit the header, which seems to use ";": use --delimiter ";"',
      );
    },
  );

  test("prompts without colors if colors are off", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run");
    await call.press(question, "interrupt");
    expect((await call.ran).stderr).not.toMatch(/\x1b\[\d*m/);
  });

  test("shows control characters of a cell as escapes", async () => {
    const world = await shop();
    world.write("a.csv", `reference,name,images,"Far\x1b[31mbe"\nA1,Hemd,${photo},\x1b]0;x\x07\n`);
    const call = atPrompts(world, "import a.csv --dry-run");
    await call.press("Far\\x1b[31mbe = skipped (example: \\x1b]0;x\\x07)", "interrupt");
    await call.ran;
  });
});

describe("no prompt appears", () => {
  const problem =
    'unknown column "Artikelnummer"; did you mean reference? Rename it, or use --map "Artikelnummer=reference" or --map "Artikelnummer=ignore"';

  test.each([
    ["with --no-input", "import shop.csv --no-input", { stdin: true, stderr: true }],
    ["where stdin is no terminal", "import shop.csv", { stdin: false, stderr: true }],
    ["where stderr is no terminal", "import shop.csv", { stdin: true, stderr: false }],
  ] as const)("%s, and the problem names the flag", async (_, line, tty) => {
    const world = await shop();
    const ran = await world.cat(line, { tty });
    expect(ran.exit).toBe(3);
    const code = tty.stderr ? "" : "unknown_column ";
    expect(stripVTControlCharacters(ran.stderr).replace(/\s+/g, " ")).toContain(
      `Artikelnummer ${code}${problem} `,
    );
  });

  test("with --json", async () => {
    const world = await shop();
    const ran = await world.cat("import shop.csv --json", { tty: { stdin: true, stderr: true } });
    expect(ran.exit).toBe(3);
    expect(JSON.parse(ran.stdout).problems[0]).toMatchObject({
      line: 1,
      param: "Artikelnummer",
      code: "unknown_column",
    });
  });
});

describe("answers are written", () => {
  test("to the file next to the sheet, where everything else stays", async () => {
    const world = await shop();
    const own = {
      columns: { " TITEL": "description", Farbe: "ignore" },
      values: { sex: { Damen: "female" } },
      encoding: "windows-1252",
      sheets: { "a.xlsx": "Neu" },
    };
    world.write("sheets/catalogue.map.json", JSON.stringify(own));
    world.write("sheets/a.csv", `Artikelnummer;name;sex;images\nA1;Hemd;Herren;${photo}\n`);
    const call = atPrompts(world, "import sheets/a.csv --dry-run --no-progress");
    await call.press("Read 1 column and 1 value of sheets/a.csv like this?", "enter");
    expect((await call.ran).exit, call.screen()).toBe(0);
    expect(savedIn(world, "sheets")).toEqual({
      ...own,
      columns: { ...own.columns, Artikelnummer: "reference" },
      values: { sex: { Damen: "female", Herren: "male" } },
    });
    expect(existsSync(join(world.folder, "catalogue.map.json"))).toBe(false);
    world.write("b.csv", world.read("sheets/a.csv"));
    expect((await world.cat("import b.csv --dry-run")).exit).toBe(3);
  });

  test("to the file of --map-file, which is read instead", async () => {
    const world = await shop();
    world.write("own.json", JSON.stringify({ columns: { Artikelnummer: "reference" } }));
    const call = atPrompts(world, "import shop.csv --dry-run --map-file own.json");
    await call.press("Read 3 columns of shop.csv like this?", "enter");
    expect((await call.ran).exit).toBe(0);
    expect(call.screen()).toContain("Yes, and save it in own.json for later files");
    expect(JSON.parse(world.read("own.json")).columns).toMatchObject({ Titel: "name" });
    expect(() => savedIn(world)).toThrow("ENOENT");
  });

  test("to the folder of the profile where the file next to the sheet cannot be", async () => {
    const world = await shop();
    mkdirSync(join(world.folder, "sheets"));
    world.write("sheets/a.csv", shopFile);
    // A link to nowhere cannot be written, whoever runs the tests.
    symlinkSync(join(world.folder, "gone/map.json"), join(world.folder, "sheets/catalogue.map.json"));
    const call = atPrompts(world, "import sheets/a.csv --dry-run --no-progress");
    await call.press("Read 4 columns of sheets/a.csv like this?", "enter");
    expect((await call.ran).exit, call.screen()).toBe(0);
    expect(call.screen().replace(/\s+/g, " ")).toContain("Cannot write sheets/catalogue.map.json: ");
    const kept = join(".home", "profiles", "default");
    expect(savedIn(world, kept).columns).toMatchObject({ Titel: "name" });
    const again = await world.cat("import sheets/a.csv --dry-run --no-progress");
    expect(again).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("profiles/default/catalogue.map.json: "),
    });
  });

  test("over a file that became invalid meanwhile: never", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await call.press(question);
    world.write("catalogue.map.json", '{ "columns": ');
    await call.press(question, "enter");
    expect((await call.ran).exit, call.screen()).toBe(2);
    expect(world.read("catalogue.map.json")).toBe('{ "columns": ');
  });
});

describe("answers in the settings, as earlier versions kept them,", () => {
  const config = (world: TestWorld, content: unknown) =>
    world.write(".home/config.json", typeof content === "string" ? content : JSON.stringify(content));

  test("are read after the files of mappings", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { titel: "name", farbe: "ignore" } } } });
    world.write("catalogue.map.json", '{ "columns": { "Farbe": "description" } }');
    world.write("a.csv", `reference;Titel;Farbe;images\nA1;Hemd;rot;${photo}\n`);
    expect(await world.cat("import a.csv --dry-run")).toMatchObject({
      exit: 0,
      stderr: `Columns from catalogue.map.json: Farbe = description.
Columns from profile default: titel = name.
a.csv: 1 row, all valid. Nothing was sent (--dry-run).
`,
    });
  });

  test("are rejected with a plain error for an unknown field", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { preis: "price" } } } });
    const ran = await world.cat("import shop.csv --dry-run");
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(
        'error: profile default:1: unknown field "price" for the column "preis"\n',
      ),
    });
  });

  test("may have photo columns, which objects lack", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { bild: "image_front", titel: "name" } } } });
    world.write("a.ndjson", `{"reference":"A1","Titel":"Hemd","images":[{"url":"${photo}"}]}\n`);
    expect(await world.cat("import a.ndjson --dry-run")).toMatchObject({
      exit: 0,
      stderr:
        "Columns from profile default: titel = name.\na.ndjson: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
  });

  test("are not needed for a file with known columns", async () => {
    const world = await shop();
    config(world, "{");
    world.write("a.csv", `reference,name,images\nA1,Hemd,${photo}\n`);
    expect((await world.cat("import a.csv --dry-run")).exit).toBe(0);
  });
});
