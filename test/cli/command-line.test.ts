import { describe, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";

describe("a wrong command line ends in 2, says what is wrong and where to look", () => {
  test.for([
    ["an unknown command", "prodcts", "unknown command 'prodcts' (Did you mean products?)", "cat"],
    [
      "an unknown command of a group",
      "products lst",
      "unknown command 'lst' (Did you mean list?)",
      "cat products",
    ],
    [
      "an unknown flag",
      "products list --limt 3",
      "unknown option '--limt' (Did you mean --limit?)",
      "cat products list",
    ],
    [
      "an unknown global flag",
      "products list --jsno",
      "unknown option '--jsno' (Did you mean --json?)",
      "cat products list",
    ],
    ["a group without a command", "products", "cat products needs a command: list, get", "cat products"],
    ["only flags", "--mock", "cat needs a command: import, imports, products, images, models, serve", "cat"],
    ["a missing argument", "products get", "missing required argument 'ID|REFERENCE'", "cat products get"],
    [
      "too many arguments",
      "products get a b",
      "too many arguments for 'get'. Expected 1 argument but got 2",
      "cat products get",
    ],
    [
      "a flag without its value",
      "products list --q",
      "option '--q <TEXT>' argument missing",
      "cat products list",
    ],
    [
      "a value that is not a number",
      "products list --limit many",
      "option '--limit <N>' argument 'many' is invalid. It must be a whole number of at least 1",
      "cat products list",
    ],
    [
      "a number out of range",
      "products list --limit 0",
      "option '--limit <N>' argument '0' is invalid. It must be a whole number of at least 1",
      "cat products list",
    ],
    [
      "a value that is no choice",
      "products list --format xml",
      "option '--format <FORMAT>' argument 'xml' is invalid. Allowed choices are table, json, ndjson, csv",
      "cat products list",
    ],
    [
      "two flags that exclude each other",
      "products list --all --limit 3",
      "option '--limit <N>' cannot be used with option '--all'",
      "cat products list",
    ],
    [
      "help on an unknown command",
      "help prodcts",
      "unknown command 'prodcts' (Did you mean products?)",
      "cat",
    ],
  ] as const)("%s", async ([, line, message, where]) => {
    const world = await createWorld();
    const stderr = `error: ${message}\nSee: ${where} --help\n`;
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr });
    expect(world.requests()).toEqual([]);
  });

  test("with --json it is one object, wherever the flag stands", async () => {
    const world = await createWorld();
    const error = {
      type: "usage",
      code: "unknown_option",
      message: "unknown option '--nope'. See: cat products list --help",
      exit: 2,
    };
    for (const line of ["--json products list --nope", "products list --nope --json"]) {
      expect(await world.cat(line)).toEqual({
        exit: 2,
        stdout: "",
        stderr: `${JSON.stringify({ error })}\n`,
      });
    }
  });
});

test("global flags stand before or after the command", async () => {
  const world = await createWorld({ mock: { demo: 2 } });
  const lines = ["--json products list", "products --json list", "products list --json"];
  const printed = await Promise.all(lines.map(async (line) => (await world.cat(line)).stdout));
  expect(printed[0]!.split("\n")).toHaveLength(3);
  expect(new Set(printed).size).toBe(1);
});

describe("help", () => {
  test.for(["", "help", "--help", "-h", "--json help", "help help"])("top: cat %s", async (line) => {
    const world = await createWorld();
    const ran = await world.cat(line);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(ran.stdout).toMatch(/^Usage: cat COMMAND \[flags\]\n/);
    expect(ran.stdout).toContain("  import FILE   bring in products");
    expect(ran.stdout).toContain("  --base-url URL  address of the service");
    expect(ran.stdout).toContain("    8  finished, but some rows");
    expect(ran.stdout).toContain("/bin/cat");
  });

  test.for([
    ["import", "Usage: cat import FILE|- [flags]\n"],
    ["imports", "Usage: cat imports COMMAND [flags]\n"],
    ["imports list", "Usage: cat imports list [flags]\n"],
    ["imports get", "Usage: cat imports get ID [flags]\n"],
    ["imports watch", "Usage: cat imports watch ID [flags]\n"],
    ["imports rows", "Usage: cat imports rows ID [flags]\n"],
    ["products", "Usage: cat products COMMAND [flags]\n"],
    ["products list", "Usage: cat products list [flags]\n"],
    ["products get", "Usage: cat products get ID|REFERENCE [flags]\n"],
    ["images", "Usage: cat images COMMAND [flags]\n"],
    ["images get", "Usage: cat images get ID [flags]\n"],
    ["models", "Usage: cat models COMMAND [flags]\n"],
    ["models list", "Usage: cat models list [flags]\n"],
    ["serve", "Usage: cat serve --mock [flags] [-- COMMAND ARG...]\n"],
  ] as const)("of %s, asked for either way", async ([command, usage]) => {
    const world = await createWorld({ env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined } });
    const asked = await world.cat(`help ${command}`);
    expect(asked).toMatchObject({ exit: 0, stderr: "" });
    expect(asked.stdout.startsWith(usage)).toBe(true);
    if (!usage.includes(" COMMAND ")) expect(asked.stdout).toContain("\nExamples:\n");
    expect(await world.cat(`${command} --help`)).toEqual(asked);
  });

  test("no line of help is wider than a terminal of 80 columns, but for examples", async () => {
    const world = await createWorld();
    const groups = ["imports list", "imports get", "imports watch", "imports rows", "products list"];
    const others = ["images get", "models list"];
    for (const line of [
      "help",
      ...["import", ...groups, "products get", ...others, "serve"].map((name) => `help ${name}`),
    ]) {
      const wide = (await world.cat(line)).stdout
        .split("\n")
        .filter((text) => text.length > 80 && !text.startsWith("  $ "));
      expect({ line, wide }).toEqual({ line, wide: [] });
    }
  });

  test("colours by flag and environment", async () => {
    const world = await createWorld();
    const bold = (text: string) => text.includes("\u001b[1m");
    const shown = async (line: string, tty: boolean, env = {}) =>
      bold((await world.cat(line, { tty, env })).stdout);
    expect(await shown("help", true)).toBe(true);
    expect(await shown("help", false)).toBe(false);
    expect(await shown("help --no-color", true)).toBe(false);
    expect(await shown("help", true, { NO_COLOR: "1" })).toBe(false);
    expect(await shown("help", true, { NO_COLOR: "" })).toBe(true);
    expect(await shown("help", true, { TERM: "dumb" })).toBe(false);
    expect(await shown("help", false, { FORCE_COLOR: "1" })).toBe(true);
    expect(await shown("help", true, { FORCE_COLOR: "0" })).toBe(false);
    expect(await shown("help --no-color", false, { FORCE_COLOR: "1" })).toBe(false);
  });
});

test("--version", async () => {
  const world = await createWorld();
  for (const line of ["--version", "--json --version"]) {
    expect(await world.cat(line)).toEqual({ exit: 0, stdout: "catalogue 0.0.0-source\n", stderr: "" });
  }
});

test("--quiet leaves data and errors", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  expect(await world.cat("products list --limit 1 --quiet")).toMatchObject({ exit: 0, stderr: "" });
  expect((await world.cat("products get NOPE --quiet")).stderr).toContain("error: no product has");
});
