import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { createWorld, type Running, type TestWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";
const shopFile = `Artikelnummer;Titel;Preis;Bild vorne\nA1;Hemd;12,50;${photo}\n`;
const keys = { enter: "\r", up: "\x1b[A", down: "\x1b[B", interrupt: "\x03", end: "\x04" };

async function shop(options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld({ env: { NO_COLOR: "1" }, ...options });
  world.write("shop.csv", shopFile);
  return world;
}

/** Runs a command at a terminal, and presses keys once a question stands there. */
function atTerminal(world: TestWorld, line: string) {
  const stdin = new PassThrough();
  const ran: Running = world.cat(line, { stdin, tty: { stdin: true, stderr: true } });
  const screen = () => stripVTControlCharacters(ran.stderr);
  return {
    ran,
    screen,
    async press(question: string, ...pressed: (keyof typeof keys)[]) {
      await vi.waitFor(() => expect(screen()).toContain(question), { interval: 5, timeout: 20_000 });
      // A question takes keys from the next turn of the loop on.
      await new Promise((resolve) => setTimeout(resolve, 20));
      for (const key of pressed) stdin.write(keys[key]);
    },
  };
}

const configOf = (world: TestWorld) =>
  JSON.parse(readFileSync(join(world.folder, ".home", "config.json"), "utf8"));
const answerAll = async ({ press }: ReturnType<typeof atTerminal>) => {
  await press('What is the column "Artikelnummer", for instance A1?', "enter");
  await press('What is the column "Titel", for instance Hemd?', "enter");
  await press('What is the column "Preis", for instance 12,50?', "enter");
  await press('What is the column "Bild vorne"', "enter");
};

describe("a file with columns that nobody knows, at a terminal", () => {
  test("is asked about, the nearest field first, and read by the answers", async () => {
    const world = await shop();
    const call = atTerminal(world, "import shop.csv --dry-run --no-progress");
    await answerAll(call);
    await call.press("Save this in profile default for files to come?", "enter");
    const { exit, stdout } = await call.ran;
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

  test("is not asked about again: what was saved is applied and said, also where there is no terminal", async () => {
    const world = await shop();
    const call = atTerminal(world, "import shop.csv --dry-run --no-progress");
    await answerAll(call);
    await call.press("Save this", "enter");
    await call.ran;
    world.write("next.csv", `PREIS,reference,Titel,images\n3,B1,Hose,${photo}\n`);
    expect(await world.cat("import next.csv --dry-run --no-progress")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "columns as saved in profile default: PREIS = ignore, Titel = name\nnext.csv: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
    const piped = await world.cat("import - --format csv --dry-run --no-progress", { stdin: shopFile });
    expect(piped.exit).toBe(0);
  });

  test("is read by --map before what was saved", async () => {
    const world = await shop();
    const call = atTerminal(world, "import shop.csv --dry-run --no-progress");
    await answerAll(call);
    await call.press("Save this", "enter");
    await call.ran;
    const ran = await world.cat("import shop.csv --dry-run --map Titel=description --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain('there is no column "name": every row needs one');
  });

  test("is not read as what another saved column is read as already", async () => {
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

  test("is not read as a field that the header has itself, whatever was saved", async () => {
    const world = await shop();
    world.write(
      ".home/config.json",
      JSON.stringify({ profiles: { default: { columns: { titel: "name", preis: "ignore" } } } }),
    );
    world.write("own.csv", `reference,name,Titel,Preis,images\nB1,Hose,Frau,3,${photo}\n`);
    const ran = await world.cat("import own.csv --dry-run --no-progress");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain(
      "columns as saved in profile default: Preis = ignore\nown.csv:1  Titel  unknown_column",
    );
    expect(ran.stderr).toContain('and name is there: rename it, or give --map "Titel=ignore"\n');
    expect(await world.cat("import own.csv --dry-run --map Titel=ignore")).toMatchObject({ exit: 0 });
    const call = atTerminal(world, "import own.csv --dry-run --no-progress");
    await call.press('What is the column "Titel", for instance Frau?', "enter");
    await call.press("Save this", "interrupt");
    await call.ran;
    expect(configOf(world).profiles.default.columns.titel).toBe("name");
  });

  test("need not be saved", async () => {
    const world = await shop();
    const call = atTerminal(world, "import shop.csv --dry-run --no-progress");
    await answerAll(call);
    await call.press("Save this", "interrupt");
    expect((await call.ran).exit).toBe(130);
    expect(() => configOf(world)).toThrow("ENOENT");
  });

  test.each(["interrupt", "end"] as const)(
    "is left with %s: one line, 130, and nothing was sent",
    async (key) => {
      const world = await shop();
      const call = atTerminal(world, "import shop.csv --no-progress");
      await call.press('"Artikelnummer"', "enter");
      await call.press('"Titel"', key);
      expect(await call.ran).toMatchObject({ exit: 130, stdout: "" });
      expect(call.screen().trimEnd().split("\n").at(-1)).toBe("interrupted");
      expect(world.requests()).toEqual([]);
    },
  );

  test("a signal ends the question as well", async () => {
    const world = await shop();
    const call = atTerminal(world, "import shop.csv --dry-run");
    await call.press('"Artikelnummer"');
    call.ran.interrupt("SIGTERM");
    expect((await call.ran).exit).toBe(143);
  });

  test("a field that another column has is not proposed, and one answer leaves out all that are left", async () => {
    const world = await shop();
    world.write("a.csv", `reference,title,images,SKU,Lager,Farbe,Preis\nA1,Hemd,${photo},x,1,rot,3\n`);
    const call = atTerminal(world, "import a.csv --dry-run --no-progress --yes");
    await call.press('"title"', "enter");
    await call.press('"SKU"', "down", "enter");
    expect((await call.ran).exit).toBe(0);
    const columns = { title: "name", sku: "ignore", lager: "ignore", farbe: "ignore", preis: "ignore" };
    expect(configOf(world).profiles.default.columns).toEqual(columns);
    expect(call.screen()).not.toContain("❯ reference");
  });

  test.each(["--delimiter ,", "--delimiter tab"])(
    "is not asked about a header that is not cut as it is meant to be: %s",
    async (flag) => {
      const world = await shop();
      const call = atTerminal(world, `import shop.csv --dry-run --no-progress ${flag}`);
      const { exit } = await call.ran;
      expect(exit).toBe(3);
      expect(call.screen()).not.toContain("What is the column");
      expect(call.screen()).toContain(
        'does not part the cells, but ";" seems to: leave --delimiter out, or give --delimiter ";"',
      );
    },
  );

  test("is not coloured where colours are not wanted", async () => {
    const world = await shop();
    const call = atTerminal(world, "import shop.csv --dry-run");
    await call.press('"Artikelnummer"', "interrupt");
    expect((await call.ran).stderr).not.toMatch(/\x1b\[\d*m/);
  });

  test("shows what a cell holds for a terminal to obey", async () => {
    const world = await shop();
    world.write("a.csv", `reference,name,images,"Far\x1b[31mbe"\nA1,Hemd,${photo},\x1b]0;x\x07\n`);
    const call = atTerminal(world, "import a.csv --dry-run");
    await call.press('What is the column "Far\\x1b[31mbe", for instance \\x1b]0;x\\x07?', "interrupt");
    await call.ran;
  });
});

describe("nothing is asked", () => {
  const refusal =
    'shop.csv:1  Artikelnummer  unknown_column  "Artikelnummer" is not a column of an import: did you mean reference? Rename it, or give --map "Artikelnummer=reference", or --map "Artikelnummer=ignore"';

  test.each([
    ["with --no-input", "import shop.csv --no-input", { stdin: true, stderr: true }],
    ["where stdin is no terminal", "import shop.csv", { stdin: false, stderr: true }],
    ["where stderr is no terminal", "import shop.csv", { stdin: true, stderr: false }],
  ] as const)("%s: the flag is named", async (_, line, tty) => {
    const world = await shop();
    const ran = await world.cat(line, { tty });
    expect(ran.exit).toBe(3);
    expect(ran.stderr.split("\n")).toContain(refusal);
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

  test("keeps what else it holds", async () => {
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
    const call = atTerminal(world, "import shop.csv --dry-run --yes");
    await answerAll(call);
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

  test("that names no field is refused by a sentence", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { preis: "price" } } } });
    const ran = await world.cat("import shop.csv --dry-run");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain(
      'has the column "preis" of profile default saved as "price", which is no field of an import',
    );
  });

  test("has columns that NDJSON has no use for, and that do not refuse it", async () => {
    const world = await shop();
    config(world, { profiles: { default: { columns: { preis: "ignore" } } } });
    world.write("a.ndjson", `{"reference":"A1","name":"Hemd","images":[{"url":"${photo}"}]}\n`);
    expect(await world.cat("import a.ndjson --dry-run")).toMatchObject({
      exit: 0,
      stderr: "a.ndjson: 1 row, all valid. Nothing was sent (--dry-run).\n",
    });
  });

  test("is not looked at for a file whose columns are known", async () => {
    const world = await shop();
    config(world, "{");
    world.write("a.csv", `reference,name,images\nA1,Hemd,${photo}\n`);
    expect((await world.cat("import a.csv --dry-run")).exit).toBe(0);
    expect((await world.cat("import shop.csv --dry-run")).stderr).toContain("cannot be read");
  });
});
