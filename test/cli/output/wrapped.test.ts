import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { explain } from "../../../src/cli/output/explain.ts";
import { lineWidth, wrapped, wrappedText } from "../../../src/cli/output/wrapped.ts";
import { CatError } from "../../../src/errors.ts";
import { atTerminal } from "../../support/at-terminal.ts";
import { screenOf } from "../../support/screen.ts";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";

describe("a line that is too long", () => {
  test("is broken between words, with its indent on each line", () => {
    expect(wrapped("  5 rows in progress at the service", 20)).toEqual([
      "  5 rows in progress",
      "  at the service",
    ]);
    expect(wrapped("exactly twenty chars", 20)).toEqual(["exactly twenty chars"]);
  });

  test("keeps a URL or a path in one piece, however long", () => {
    const url = "https://cdn.example.com/photos/of/the/summer.jpg";
    expect(wrapped(`cannot reach ${url}: try later`, 20)).toEqual(["cannot reach", `${url}:`, "try later"]);
    expect(wrapped(url, 20)).toEqual([url]);
  });

  test.each([
    "  cat import a.failed.csv --mode create --profile dev",
    "  export CAT_BASE_URL=http://127.0.0.1:4010 CAT_API_KEY=ak_mock",
    '  curl -H "Authorization: Bearer ak_mock" http://127.0.0.1:4010/v1/products',
  ])("stays in one piece if it is a command: %s", (line) => {
    expect(wrapped(line, 20)).toEqual([line]);
  });

  test("keeps a command at its end in one piece, but not the words after `cat` in a sentence", () => {
    const command = "cat imports rows ID --status failed";
    expect(wrapped(`2 rows failed: ${command}`, 40)).toEqual(["2 rows failed:", command]);
    expect(wrapped(`2 rows failed: ${command}`, 80)).toEqual([`2 rows failed: ${command}`]);
    expect(wrapped("disk full: cat imports list will not show this import.", 30)).toEqual([
      "disk full: cat imports list",
      "will not show this import.",
    ]);
  });

  test("counts wide characters as two columns, and colors as none", () => {
    expect(wrapped("日本 日本 日本", 9)).toEqual(["日本 日本", "日本"]);
    expect(wrapped("日本 日本 日本", 8)).toEqual(["日本", "日本", "日本"]);
    expect(wrapped("\u001b[31merror:\u001b[39m it is full", 17)).toEqual([
      "\u001b[31merror:\u001b[39m it is full",
    ]);
  });

  test("keeps columns together that several spaces align", () => {
    expect(wrapped("a.csv:2  name  is missing", 20)).toEqual(["a.csv:2  name  is", "missing"]);
  });

  test("loses no word, and fits unless a word does not", () => {
    const word = fc.string({ unit: fc.constantFrom(..."ab日é."), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        (words, width) => {
          const lines = wrapped(words.join(" "), width);
          expect(lines.join(" ")).toBe(words.join(" "));
          for (const line of lines) {
            if (stringWidth(line) > width) expect(words).toContain(line);
          }
        },
      ),
    );
  });
});

test.each([
  [{ isTTY: true, columns: 60 }, 60],
  [{ isTTY: true, columns: 0 }, null],
  [{ isTTY: false, columns: 80 }, null],
])("the width of %j is %s", (output, width) => {
  expect(lineWidth(output)).toBe(width);
});

test("each line of a text is wrapped on its own, and no line without a width", () => {
  expect(wrappedText("one two three\nfour five\n", 9)).toBe("one two\nthree\nfour five\n");
  expect(wrappedText("one two three\n", null)).toBe("one two three\n");
});

describe("an error", () => {
  const error = new CatError("the file cannot be read", {
    type: "input",
    code: "x",
    hint: "Close it and try again.",
  });
  const format = { json: false, verbose: false, width: 20, paint: (text: string) => text };

  test("is wrapped with its hint", () => {
    expect(explain(error, format)).toBe("error: the file\ncannot be read\nClose it and try\nagain.\n");
  });

  test("is one line as JSON, and its stack trace is not wrapped", () => {
    expect(
      explain(error, { ...format, json: true })
        .trimEnd()
        .split("\n"),
    ).toHaveLength(1);
    expect(explain(error, { ...format, verbose: true })).toContain(error.stack);
  });
});

describe("at the width of the terminal", () => {
  const file = `reference,name,images\nA,Dress,${photo}|https://cdn.example.com/fail-timeout.jpg\n`;
  const told = async (line: string, call: object = {}) => {
    const world = await createWorld({ columns: 40 });
    world.write("spring-and-summer.csv", file);
    world.write("bad.csv", `reference,name,images\nA,,${photo}\nB,Coat,${photo}\n`);
    const { stderr } = await world.cat(`${line} --no-progress`, call);
    return screenOf(stderr);
  };
  const terminal = { tty: { stderr: true } };

  test("a question and its problem are wrapped between words", async () => {
    const world = await createWorld({ columns: 40 });
    world.write("the-spring-of-2026.csv", `reference,title,images\nA,${"linen ".repeat(10)},${photo}\n`);
    const { ran, type } = atTerminal(world, "import the-spring-of-2026.csv");
    await type("Read 1 column of\nthe-spring-of-2026.csv like this?", "\u0003");
    expect((await ran).exit).toBe(130);
    const signIn = atTerminal(world, "login");
    await signIn.type("Profile:", "a b\n");
    await signIn.shows("\n> invalid profile name. Use up to 32\nletters, digits, hyphens, underscores\nand");
    await signIn.type("Profile:", "\u0003");
    expect((await signIn.ran).exit).toBe(130);
  });

  test("a summary is wrapped, but not the command to copy", async () => {
    expect(await told("import spring-and-summer.csv", terminal)).toEqual([
      "Imported 1 row from",
      expect.stringMatching(/^spring-and-summer\.csv in \d\.\d s: 1$/),
      "created.",
      "  1 row imported without some of its",
      "  photos",
      "    spring-and-summer.csv:2  A  https://cdn.example.com/fail-timeout.jpg:",
      "    the image could not be fetched:",
      "    timeout",
      "Partial rows are in",
      "spring-and-summer.failed.csv, with the",
      "reasons. Fix them there, then run:",
      "  cat import spring-and-summer.failed.csv",
    ]);
  });

  test("an error is wrapped", async () => {
    expect((await told("import bad.csv", terminal)).slice(-5)).toEqual([
      "error: bad.csv has 1 invalid row out of",
      "2; nothing was sent",
      "Fix the file and run the command again,",
      "or add --skip-invalid to import the",
      "valid rows.",
    ]);
  });

  test("nothing is wrapped without a terminal", async () => {
    expect((await told("import bad.csv")).slice(-2)).toEqual([
      "error: bad.csv has 1 invalid row out of 2; nothing was sent",
      "Fix the file and run the command again, or add --skip-invalid to import the valid rows.",
    ]);
    expect((await told("import spring-and-summer.csv"))[3]).toBe(
      "Partial rows are in spring-and-summer.failed.csv, with the reasons. Fix them there, then run:",
    );
  });

  test("a problem keeps its flag to copy in one piece", async () => {
    const world = await createWorld({ columns: 30 });
    world.write("a.csv", `reference,name,images,Price per piece\nA,Dress,${photo},1\n`);
    const { stderr } = await world.cat("import a.csv --dry-run --no-progress", terminal);
    expect(screenOf(stderr)).toContain('                 --map "Price per piece=FIELD"');
  });
});
