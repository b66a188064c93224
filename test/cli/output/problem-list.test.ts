import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { screenOf } from "../../support/screen.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";

/** The arguments that bash reads from a command line. */
const inBash = (line: string): string[] =>
  execFileSync("/bin/bash", ["--norc", "-c", `printf '%s\\0' ${line}`])
    .toString()
    .split("\0")
    .slice(0, -1);

test.each([
  ["Price", '--map "Price=ignore"'],
  ["Farbe, außen", '--map "Farbe, außen=ignore"'],
  [`it's "x"`, `--map 'it'\\''s "x"=ignore'`],
  ["in $HOME", "--map 'in $HOME=ignore'"],
  ["a\u0007b", "--map $'a\\007b=ignore'"],
  ["two\nlines of it's", "--map $'two\\nlines of it\\'s=ignore'"],
])("the problem of an unknown column %j ends with flags that a shell accepts", async (header, flag) => {
  const world = await createWorld();
  const cell = `"${header.replaceAll('"', '""')}"`;
  world.write("a.csv", `reference,name,images,${cell}\nA,Dress,${photo},1\n`);
  const told = await world.cat("import a.csv --dry-run");
  expect(told.exit).toBe(3);
  expect(told.stderr.split("\n")[0]!.split(": rename it, or use ")[1]).toBe(
    `${flag.replace(/ignore('?"?)$/, "FIELD$1")} or ${flag}`,
  );
  const { problems } = JSON.parse((await world.cat("import a.csv --dry-run --json")).stdout);
  expect(problems).toHaveLength(1);
  expect(Object.keys(problems[0])).toEqual(["line", "param", "code", "message"]);
  expect(problems[0].message.split(" or ").at(-1)).toBe(flag);
  expect(await world.cat(["import", "a.csv", "--dry-run", ...inBash(flag)])).toMatchObject({ exit: 0 });
});

describe("on a terminal", () => {
  /** The screen of a check, with one line per row of the terminal. */
  async function screenFor(text: string, columns = 80, flags = "") {
    const world = await createWorld({ columns });
    world.write("a.csv", text);
    const ran = await world.cat(`import a.csv --dry-run ${flags}`, { tty: { stdout: true, stderr: true } });
    expect(ran.exit).toBe(3);
    return screenOf(ran.stderr);
  }

  test("problems are in aligned columns, each with its lines", async () => {
    const rows = Array.from({ length: 31 }, (_, index) => `R-${index},,women,${photo}\n`).join("");
    const screen = await screenFor(
      `reference,name,sex,image_front\n${rows}X,Coat,kid,http://a.example/1.jpg\n`,
    );
    expect(screen).toEqual([
      "name         is missing",
      "             a.csv: lines 2-32 (31 rows)",
      'sex          must be one of male, female, other, kid, not "women": did you mean',
      '             "female"? Correct it, or use --map-value "sex:women=female"',
      "             a.csv: lines 2-32 (31 rows)",
      'image_front  must start with https://: "http://a.example/1.jpg"',
      "             a.csv: line 33",
      "error: a.csv has 32 invalid rows out of 32; nothing was sent",
      "Fix the file and run the command again.",
    ]);
  });

  test("unknown columns come with flags to copy, and the fields once below all problems", async () => {
    const screen = await screenFor(`SKU,Price per piece,Stock\nA,1,2\n`, 60);
    expect(screen).toEqual([
      'SKU              unknown column "SKU"; did you mean',
      "                 reference? Rename it, or use",
      '                 --map "SKU=reference" or --map "SKU=ignore"',
      'Price per piece  unknown column "Price per piece": rename',
      '                 it, or use --map "Price per piece=FIELD" or',
      '                 --map "Price per piece=ignore"',
      'Stock            unknown column "Stock": rename it, or use',
      '                 --map "Stock=FIELD" or --map "Stock=ignore"',
      'reference        missing column "reference" (required): add',
      '                 it, or use --map "COLUMN=reference"',
      'name             missing column "name" (required): add it,',
      '                 or use --map "COLUMN=name"',
      "FIELD is one of: reference, name, description, sex, images,",
      "image_1 to image_20, image_1_orientation to",
      "image_20_orientation, image_front and other orientations.",
      "error: cannot import a.csv; nothing was sent",
      "Fix the file and run the command again.",
    ]);
  });

  test("a long column name takes its own line", async () => {
    const column = "The orientation of the first photo";
    const screen = await screenFor(
      `reference,name,image_1,${column}\nA,Dress,${photo},upside\n`,
      80,
      `--map "${column}=image_1_orientation"`,
    );
    expect(screen.slice(0, 2)).toEqual([column, expect.stringMatching(/^ {26}must be one of /)]);
  });

  test("at most 1,000 problems are listed", async () => {
    // Those of the columns, and two of required columns that are missing.
    const columns = Array.from({ length: 1000 }, (_, index) => `c${index}`).join(",");
    const screen = await screenFor(`images,${columns}\n`);
    expect(screen.filter((line) => /^(?:c\d+|name|reference) /.test(line))).toHaveLength(1000);
    expect(screen).toContain("and 2 more problems; to list all of them, add --dry-run --json");
  });

  test("problems are listed before the valid rows are imported", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\nA,,${photo}\nB,Coat,${photo}\n`);
    const running = world.cat("import a.csv --skip-invalid", { tty: { stdout: true, stderr: true } });
    await until(() => world.requests().length > 0);
    expect(running.stderr).toContain("a.csv: line 2");
    const ran = await running;
    expect(ran.exit).toBe(8);
    expect(screenOf(ran.stderr)).toEqual([
      "name  is missing",
      "      a.csv: line 2",
      expect.stringMatching(/^Imported 1 of 2 rows from a\.csv in .* s: 1 created\.$/),
      "  1 invalid row skipped",
      "Invalid rows are in a.failed.csv, with the reasons. Fix them there, then run:",
      "  cat import a.failed.csv",
    ]);
  });
});

test("off a terminal unknown fields are listed once, below all problems", async () => {
  const world = await createWorld();
  world.write("a.csv", `reference,name,images,Price,Stock\nA,Dress,${photo},1,2\n`);
  expect((await world.cat("import a.csv --dry-run")).stderr.split("\n").slice(0, 3)).toEqual([
    'a.csv:1  Price  unknown_column  unknown column "Price": rename it, or use --map "Price=FIELD" or --map "Price=ignore"',
    'a.csv:1  Stock  unknown_column  unknown column "Stock": rename it, or use --map "Stock=FIELD" or --map "Stock=ignore"',
    "FIELD is one of: reference, name, description, sex, images, image_1 to image_20, image_1_orientation to image_20_orientation, image_front and other orientations.",
  ]);
});
