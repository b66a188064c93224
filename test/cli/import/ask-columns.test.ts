import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
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

const configOf = (world: TestWorld) =>
  JSON.parse(readFileSync(join(world.folder, ".home", "config.json"), "utf8"));
const question = "Read 4 columns of shop.csv like this?";
const takeAll = ({ press }: ReturnType<typeof atPrompts>) => press(question, "enter");

describe("a file with unknown columns, on a terminal,", () => {
  test("shows a guess for each on one screen, and one Enter applies and saves all", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await takeAll(call);
    const { exit, stdout } = await call.ran;
    for (const line of [
      "❯ Yes, and remember it for later files (profile default)",
      "  Yes, for this file only",
      "  Artikelnummer = reference (example: A1)",
      "  Titel = name (example: Hemd)",
      "  Preis = skipped (example: 12,50)",
      "  Bild vorne = image_front",
    ])
      expect(call.screen()).toContain(line);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "" });
    expect(call.screen()).toContain("shop.csv: 1 row, all valid. Nothing was sent (--dry-run).");
    expect(configOf(world)).toEqual({
      profiles: {
        default: {
          columns: {
            artikelnummer: "reference",
            titel: "name",
            preis: "ignore",
            "bild vorne": "image_front",
          },
        },
      },
    });
    expect(statSync(join(world.folder, ".home", "config.json")).mode & 0o777).toBe(0o600);
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
        "Columns remembered from earlier files (profile default): PREIS = ignore, Titel = name.\nnext.csv: 1 row, all valid. Nothing was sent (--dry-run).\n",
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

  test("does not apply two saved columns with the same field", async () => {
    const world = await shop();
    world.write(
      ".home/config.json",
      JSON.stringify({ profiles: { default: { columns: { nam: "name", naam: "name" } } } }),
    );
    world.write("two.csv", `reference,Nam,Naam,images\nB1,Hose,Broek,${photo}\n`);
    const ran = await world.cat("import two.csv --dry-run --no-progress");
    expect(ran.stderr).toMatch(/two\.csv:1 {2}Naam {2}unknown_column {2}.* --map "Naam=ignore"\n/);
    expect(await world.cat("import two.csv --dry-run --map Naam=ignore")).toMatchObject({ exit: 0 });
  });

  test("does not apply a saved column if the header has its field", async () => {
    const world = await shop();
    world.write(
      ".home/config.json",
      JSON.stringify({ profiles: { default: { columns: { titel: "name", preis: "ignore" } } } }),
    );
    world.write("own.csv", `reference,name,Titel,Preis,images\nB1,Hose,Frau,3,${photo}\n`);
    const ran = await world.cat("import own.csv --dry-run --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain(
      "Columns remembered from earlier files (profile default): Preis = ignore.\nown.csv:1  Titel  unknown_column",
    );
    expect(ran.stderr).toContain('(the file already has name): rename it, or use --map "Titel=ignore"\n');
    expect(await world.cat("import own.csv --dry-run --map Titel=ignore")).toMatchObject({ exit: 0 });
    const call = atPrompts(world, "import own.csv --dry-run --no-progress");
    await call.press("Read 1 column of own.csv like this?", "interrupt");
    await call.ran;
    expect(configOf(world).profiles.default.columns.titel).toBe("name");
  });

  test("applies the guesses to one file without saving them", async () => {
    const world = await shop();
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    await call.press(question, "down", "enter");
    expect((await call.ran).exit).toBe(0);
    expect(() => configOf(world)).toThrow("ENOENT");
  });

  test("saves nothing while no column is read as a field that is needed: Enter chooses the column", async () => {
    const world = await shop();
    world.write("shop.csv", `Artikelnummer;Preis;Bild vorne\nA1;12,50;${photo}\n`);
    const call = atPrompts(world, "import shop.csv --dry-run --no-progress");
    const lacking = "Read 3 columns of shop.csv like this? No column is read as name: choose the\ncolumn.";
    await call.press(lacking, "enter");
    await call.press('What is in column "Preis"? (example: 12,50)', "down", "enter");
    await call.press("Yes, and remember it for later files", "enter");
    expect((await call.ran).exit).toBe(0);
    expect(configOf(world).profiles.default.columns).toEqual({
      ...{ artikelnummer: "reference", preis: "name", "bild vorne": "image_front" },
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
    expect(() => configOf(world)).toThrow("ENOENT");
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
    expect(configOf(world).profiles.default.columns).toEqual({ artikelnummer: "reference", titel: "name" });
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
    await call.press("Read 3 columns of a.csv like this?", "down", "down", "down", "enter");
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

  test("has all columns in the next command if they are for this file only", async () => {
    const world = await shop();
    const fails = "https://cdn.example.com/fail-timeout.jpg";
    world.write("a.csv", `reference,Titel,images\nA1,Hemd,${photo}|${fails}\n`);
    const call = atPrompts(world, "import a.csv --no-progress");
    await call.press("Read 1 column of a.csv like this?", "down", "enter");
    expect((await call.ran).exit).toBe(8);
    expect(call.screen()).toContain("cat import a.failed.csv --map titel=name\n");
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

describe("the config file", () => {
  const config = (world: TestWorld, content: unknown) => {
    mkdirSync(join(world.folder, ".home"));
    writeFileSync(
      join(world.folder, ".home", "config.json"),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  };

  test("keeps its other contents", async () => {
    const world = await shop();
    const other = {
      active: "shop",
      future: [1],
      profiles: {
        __proto__: null,
        dev: { baseUrl: "https://x.example" },
        shop: { baseUrl: "https://y.example", columns: { farbe: "ignore" } },
      },
    };
    config(world, other);
    const call = atPrompts(world, "import shop.csv --dry-run --yes");
    await takeAll(call);
    expect((await call.ran).exit).toBe(0);
    expect(configOf(world)).toEqual({
      ...other,
      profiles: {
        dev: other.profiles.dev,
        shop: {
          baseUrl: "https://y.example",
          columns: {
            farbe: "ignore",
            artikelnummer: "reference",
            titel: "name",
            preis: "ignore",
            "bild vorne": "image_front",
          },
        },
      },
    });
  });

  test("is rejected with a plain error for an unknown field", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { preis: "price" } } } });
    const ran = await world.cat("import shop.csv --dry-run");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain(
      'error: unknown field "price" for the column "preis" of profile default in the config file ',
    );
  });

  test("does not prevent an NDJSON import, whatever columns it contains", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { preis: "ignore" } } } });
    world.write("a.ndjson", `{"reference":"A1","name":"Hemd","images":[{"url":"${photo}"}]}\n`);
    expect(await world.cat("import a.ndjson --dry-run")).toMatchObject({
      exit: 0,
      stderr: "a.ndjson: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
  });

  test("may have photo columns, which objects lack", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { bild: "image_front", titel: "name" } } } });
    world.write("a.ndjson", `{"reference":"A1","Titel":"Hemd","images":[{"url":"${photo}"}]}\n`);
    expect(await world.cat("import a.ndjson --dry-run")).toMatchObject({
      exit: 0,
      stderr:
        "Columns remembered from earlier files (profile default): Titel = name.\na.ndjson: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
  });

  test("gets the new answer about a column that it knows as another field", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { artikelnummer: "name", titel: "description" } } } });
    world.write("a.csv", `Artikelnummer,name,images\nA1,Hemd,${photo}\n`);
    const call = atPrompts(world, "import a.csv --dry-run");
    await call.press("Read 1 column of a.csv like this?", "enter");
    expect((await call.ran).exit, call.screen()).toBe(0);
    expect(configOf(world).profiles.default.columns).toEqual({
      artikelnummer: "reference",
      titel: "description",
    });
  });

  test("is not read for a file with known columns only", async () => {
    const world = await shop();
    config(world, "{");
    world.write("a.csv", `reference,name,images\nA1,Hemd,${photo}\n`);
    expect((await world.cat("import a.csv --dry-run")).exit).toBe(0);
    expect((await world.cat("import shop.csv --dry-run")).stderr).toContain("cannot read the config file");
  });
});
