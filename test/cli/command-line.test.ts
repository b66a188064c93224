import { describe, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";

describe("a wrong command line exits with 2, and the error names the mistake and a next step", () => {
  test.for([
    ["an unknown command", "prodcts", 'unknown command "prodcts"', "Did you mean products? See: cat --help"],
    [
      "an unknown command of a group",
      "products lst",
      'unknown command "lst"',
      "Did you mean list? See: cat products --help",
    ],
    [
      "an unknown flag",
      "products list --limt 3",
      "unknown flag --limt",
      "Did you mean --limit? See: cat products list --help",
    ],
    [
      "an unknown global flag",
      "products list --jsno",
      "unknown flag --jsno",
      "Did you mean --json? See: cat products list --help",
    ],
    ["an unknown short flag", "products list -x", "unknown flag -x", "See: cat products list --help"],
    [
      "-X of curl and gh",
      "api -X POST /v1/products",
      "unknown flag -X",
      "The method comes first: cat api POST PATH. See: cat api --help",
    ],
    [
      "--method of gh",
      "api /products --method=PATCH",
      "unknown flag --method",
      "The method comes first: cat api POST PATH. See: cat api --help",
    ],
    [
      "--data of curl",
      "api /products --data {}",
      "unknown flag --data",
      "Use -F NAME=VALUE, or --input FILE for a complete body. See: cat api --help",
    ],
    [
      "--jq of gh",
      "api /products --jq .id",
      "unknown flag --jq",
      "Pipe the output: cat api PATH | jq FILTER. See: cat api --help",
    ],
    ["-i of curl and gh", "api /products -i", "unknown flag -i", "Use --include. See: cat api --help"],
    [
      "a group without a command",
      "products",
      "cat products needs a command: list, get, export, coverage, create, update, delete, attach, detach",
      "See: cat products --help",
    ],
    [
      "only flags",
      "--mock",
      "cat needs a command: import, imports, runs, tryon, beautify, tasks, export, exports, products, images, models, webhooks, serve, api, login, logout, whoami, doctor, config, commands, mcp, completion",
      "See: cat --help",
    ],
    [
      "a missing argument",
      "products get",
      "missing argument: ID|REFERENCE",
      "To find it: cat products list. See: cat products get --help",
    ],
    [
      "too many arguments",
      "products get a b",
      "too many arguments: expected 1, got 2",
      "Run it once for each, or put a value with spaces in quotes. See: cat products get --help",
    ],
    [
      "a flag without its value",
      "products list --q",
      "--q needs a value: --q TEXT",
      "See: cat products list --help",
    ],
    [
      "a value that is not a number",
      "products list --limit many",
      'invalid --limit "many": use a whole number of at least 1',
      "See: cat products list --help",
    ],
    [
      "a number out of range",
      "products list --limit 0",
      'invalid --limit "0": use a whole number of at least 1',
      "See: cat products list --help",
    ],
    [
      "an invalid choice",
      "products list --format xml",
      'invalid --format "xml": use table, json, ndjson, csv or xlsx',
      "See: cat products list --help",
    ],
    [
      "two flags that exclude each other",
      "products list --all --limit 3",
      "--limit cannot be used with --all",
      "Remove one of them.",
    ],
    [
      "help on an unknown command",
      "help prodcts",
      'unknown command "prodcts"',
      "Did you mean products? See: cat --help",
    ],
    [
      "help on an unknown command of a group",
      "help products lst",
      'unknown command "lst"',
      "Did you mean list? See: cat products --help",
    ],
    [
      "an unknown command of a group with --help",
      "--profile a config nope --help",
      'unknown command "nope"',
      "See: cat config --help",
    ],
    [
      "a value, which may be a key, for a flag without one",
      "login --with-key=ak_secret",
      "--with-key takes no value",
      "Remove the = and the text after it. See: cat login --help",
    ],
    [
      "a value for a global flag without one",
      "products list --json=1",
      "--json takes no value",
      "Remove the = and the text after it. See: cat products list --help",
    ],
    [
      "a flag with the dash of a text editor",
      "products list —json",
      '"—" is not the - of a flag',
      "Did you mean --json? See: cat products list --help",
    ],
    [
      "an empty profile name",
      ["--profile", "", "products", "list"],
      "invalid profile name (from --profile)",
      "Use up to 32 letters, digits, hyphens, underscores and periods, starting with a letter or digit: staging.",
    ],
    [
      "an empty setting",
      ["config", "set", "label", ""],
      "invalid label: use up to 40 characters, for example production",
      "To remove it: cat config unset label",
    ],
    [
      "a mistyped setting",
      "config set labl x",
      'unknown setting "labl"',
      "Did you mean label? Use active, baseUrl, signatureHeader, label, color, excel or notify.",
    ],
  ] as const)("%s", async ([, line, message, hint]) => {
    const world = await createWorld();
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr: `error: ${message}\n${hint}\n` });
    expect(world.requests()).toEqual([]);
  });

  test.for([
    ["products get -REF", "-R", "cat products get"],
    ["imports get -y", "-y", "cat imports get"],
    ["imports rows -x", "-x", "cat imports rows"],
    ["import -a.csv", "-a", "cat import"],
  ] as const)("hints at -- for a value that starts with a dash: %s", async ([line, flag, where]) => {
    const world = await createWorld();
    const hint = `See: ${where} --help. For a value that starts with -, put -- before it: ${where} -- VALUE`;
    const stderr = `error: unknown flag ${flag}\n${hint}\n`;
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr });
  });

  test("rejects an unknown short flag of a command without arguments", async () => {
    const world = await createWorld();
    const stderr = "error: unknown flag -x\nSee: cat products list --help\n";
    expect(await world.cat("products list -x")).toEqual({ exit: 2, stdout: "", stderr });
  });

  test("reads a reference that starts with a dash after --", async () => {
    const world = await createWorld();
    const images = [{ url: "https://cdn.example.com/1.jpg" }];
    world.write("a.ndjson", `${JSON.stringify({ reference: "-REF", name: "Dress", images })}\n`);
    expect(await world.cat("import a.ndjson")).toMatchObject({ exit: 0 });
    const ran = await world.cat("products get --json -- -REF");
    expect(JSON.parse(ran.stdout)).toMatchObject({ reference: "-REF" });
  });

  test("prints it as one object with --json, before or after the command", async () => {
    const world = await createWorld();
    const error = {
      type: "usage",
      code: "unknown_option",
      message: "unknown flag --nope. See: cat products list --help",
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

test("global flags work before and after the command", async () => {
  const world = await createWorld({ mock: { demo: 2 } });
  const lines = ["--json products list", "products --json list", "products list --json"];
  const printed = await Promise.all(lines.map(async (line) => (await world.cat(line)).stdout));
  expect(printed[0]!.split("\n")).toHaveLength(3);
  expect(new Set(printed).size).toBe(1);
});

test("the error for a number that is too high names the highest", async () => {
  const world = await createWorld();
  const { exit, stderr } = await world.cat("products list --limit 99999999999999999999");
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining("use a whole number from 1 to 999999999999999"),
  ]);
});

describe("help", () => {
  test.for(["", "help", "--help", "-h", "--json help", "help help"])(
    "cat %s prints the top help",
    async (line) => {
      const world = await createWorld();
      const ran = await world.cat(line);
      expect(ran).toMatchObject({ exit: 0, stderr: "" });
      expect(ran.stdout).toMatch(/^Usage: cat COMMAND \[flags\]\n/);
      expect(ran.stdout).toContain("  import FILE       import products");
      expect(ran.stdout).toContain("  --base-url URL  URL of the service");
      expect(ran.stdout).toContain("    8  finished, but some rows");
      expect(ran.stdout).toContain("/bin/cat");
    },
  );

  test.for([
    ["import", "Usage: cat import FILE ...|FOLDER|- [flags]\n"],
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
    ["login", "Usage: cat login [flags]\n"],
    ["logout", "Usage: cat logout [flags]\n"],
    ["whoami", "Usage: cat whoami [flags]\n"],
    ["config", "Usage: cat config COMMAND [flags]\n"],
    ["config list", "Usage: cat config list [flags]\n"],
    ["config get", "Usage: cat config get NAME [flags]\n"],
    ["config set", "Usage: cat config set NAME VALUE [flags]\n"],
    ["config unset", "Usage: cat config unset NAME [flags]\n"],
    ["config path", "Usage: cat config path [flags]\n"],
    ["serve", "Usage: cat serve --mock [flags] [-- COMMAND ARG...]\n"],
  ] as const)("cat help %s and cat %s --help print the same", async ([command, usage]) => {
    const world = await createWorld({ env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined } });
    const asked = await world.cat(`help ${command}`);
    expect(asked).toMatchObject({ exit: 0, stderr: "" });
    expect(asked.stdout.startsWith(usage)).toBe(true);
    if (!usage.includes(" COMMAND ")) expect(asked.stdout).toContain("\nExamples:\n");
    expect(await world.cat(`${command} --help`)).toEqual(asked);
  });

  test.for(["help --json", "help --quiet", "help --no-color", "help --profile a"])(
    "cat %s prints the top help",
    async (line) => {
      const world = await createWorld();
      expect(await world.cat(line)).toEqual(await world.cat("--help"));
    },
  );

  test.for([
    ["help", 60],
    ["help", 45],
    ["help import", 60],
    ["commands", 60],
    ["commands", 80],
  ] as const)("%s on a terminal of %i columns is broken between words", async ([line, columns]) => {
    const world = await createWorld({ columns });
    const ran = await world.cat(`${line} --no-color`, { tty: true });
    const lines = ran.stdout.split("\n").filter((one) => !one.startsWith("  $ "));
    expect(lines.filter((one) => one.length > columns)).toEqual([]);
    const words = (text: string) => text.replace(/^ +# /gm, "").split(/\s+/).sort();
    expect(words(ran.stdout)).toEqual(words((await world.cat(line)).stdout));
  });

  test("the text next to a flag continues in its column, and a command stays in one piece", async () => {
    const world = await createWorld({ columns: 60 });
    const { stdout } = await world.cat("help --no-color", { tty: true });
    expect(stdout).toContain(
      "\n  --base-url URL  URL of the service, without /v1 (or\n                  CAT_BASE_URL)\n",
    );
    expect(stdout).toContain("\n  # try an import without an account, with a mock of the\n  # service\n");
    expect(stdout).toContain("\nThe system's cat still works: `cat notes.txt`,\n`echo hi | cat` and");
  });

  test("no line of help is wider than 80 columns, except in examples", async () => {
    const world = await createWorld();
    const groups = ["imports list", "imports get", "imports watch", "imports rows", "products list"];
    const others = ["images get", "models list", "login", "logout", "whoami", "config list", "config set"];
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

  test("flags and environment variables decide about colors", async () => {
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

test.each([
  ["--version", "catalogue 0.0.0-source\n"],
  ["--json --version", '{"version":"0.0.0-source"}\n'],
  ["--version --json", '{"version":"0.0.0-source"}\n'],
])("%s prints one line", async (line, stdout) => {
  const world = await createWorld();
  expect(await world.cat(line)).toEqual({ exit: 0, stdout, stderr: "" });
});

test("--quiet prints only results and errors", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  expect(await world.cat("products list --limit 1 --quiet")).toMatchObject({ exit: 0, stderr: "" });
  expect((await world.cat("products get NOPE --quiet")).stderr).toContain("error: no product has");
});
