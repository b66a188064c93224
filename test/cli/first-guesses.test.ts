import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commandNames } from "../../src/cli/command-names.ts";
import { listedCommands } from "../support/listed-commands.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

describe("a first guess", () => {
  test.for(
    sampled(
      [
        ["products search dress", "products list --q dress"],
        ["products find dress --limit 2 --json", "products list --q dress --limit 2 --json"],
        ["products --json search dress", "products --json list --q dress"],
        ["products search --q dress", "products list --q dress"],
        ["products ls", "products list"],
        ["products show", "products list"],
        ["products show DRESS-0002", "products get DRESS-0002"],
        ["products INFO DRESS-0002 --json", "products get DRESS-0002 --json"],
        ["products rm NOPE", "products delete NOPE"],
        ["products add", "products create"],
        ["products edit DRESS-0002 --name Dress", "products update DRESS-0002 --name Dress"],
        ["images add nope.jpg", "images upload nope.jpg"],
        ["models search Amara", "models get Amara"],
        ["tasks search DRESS-0002", "tasks list --product DRESS-0002"],
        ["tasks status", "tasks list"],
        ["imports errors 01KE6W9ZJ8Q3V5X7B2D4F6H8JK", "imports rows 01KE6W9ZJ8Q3V5X7B2D4F6H8JK"],
        ["runs show", "runs list"],
        ["config show", "config list"],
        ["config show label", "config get label"],
        ["config rm label", "config unset label"],
        ["webhooks rm", "webhooks delete"],
        ["help products rm", "help products delete"],
        ["products info --help", "products get --help"],
      ] as const,
      8,
    ),
  )("%s runs cat %s", async ([guess, line]) => {
    const world = await createWorld({ mock: { demo: 8, seed: 1 } });
    const run = async (typed: string) => {
      const { exit, stdout, stderr } = await world.cat(typed);
      return { exit, stdout, stderr: stderr.replace(/request [\da-f-]+/, "request ID") };
    };
    const ran = await run(guess);
    const requests = world.requests().map(({ method, path }) => `${method} ${path}`);
    expect(ran).toEqual(await run(line));
    const others = world.requests().map(({ method, path }) => `${method} ${path}`);
    expect(requests).toEqual(others.slice(requests.length));
  });

  test.for(
    sampled(
      [
        ["status", "cat whoami or cat runs list"],
        ["version", "cat --version"],
        ["ping", "cat doctor"],
        ["history", "cat runs list"],
        ["search dress", "cat products list --q TEXT"],
        ["ls", "cat products list --q TEXT"],
        ["list products", "cat products list"],
        ["show tasks", "cat tasks list"],
        ["show product DRESS-1", "cat products get"],
        ["rm product DRESS-1", "cat products delete"],
        ["new", "cat import FILE or cat products create"],
        ["Add", "cat import FILE or cat products create"],
        ["edit DRESS-1", "cat products update ID|REFERENCE or cat import FILE"],
        ["remove DRESS-1", "cat products delete ID|REFERENCE"],
        ["upload a.jpg", "cat import FILE or cat images upload FILE"],
        ["push a.csv", "cat import FILE or cat images upload FILE"],
        ["pull", "cat export sync DIR or cat tasks save --save DIR"],
        ["sync folder", "cat export sync DIR"],
        ["undo", "cat imports undo last"],
        ["approve ID", "cat tasks review DECISIONS"],
        ["review decisions.csv", "cat tasks review DECISIONS"],
        ["products undo", "cat imports undo last"],
        ["products import a.csv", "cat import FILE"],
        ["products push a.csv", "cat import FILE"],
        ["products count", "cat products list --all"],
        ["tasks reject ID", "cat tasks review DECISIONS"],
        ["tasks history", "cat runs list"],
        ["tasks redo", "cat tryon --rerun DECISIONS"],
        ["images list", "cat products get ID|REFERENCE"],
        ["images download ID", "cat images get ID --save FILE"],
        ["imports create a.csv", "cat import FILE"],
        ["exports new", "cat export --manifest or cat export --zip"],
        ["export list", "cat exports list"],
        ["webhooks test", "cat webhooks trigger EVENT --to URL"],
        ["config where", "cat config path"],
        ["help status", "cat whoami or cat runs list"],
      ] as const,
      9,
    ),
  )("%s exits with 2 and names %s", async ([guess, commands]) => {
    const world = await createWorld();
    const ran = await world.cat(guess);
    expect([ran.exit, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toMatch(/^error: unknown command "[\w.]+"\nDid you mean /);
    expect(ran.stderr.split("\n")[1]).toMatch(`Did you mean ${commands}? See: cat`);
  });

  test.for(
    sampled(
      [
        ["products list dress", "Did you mean --q TEXT?"],
        ["products list 50", "Did you mean --limit N?"],
        ["models list Amara", "Did you mean cat models get ID|NAME?"],
        ["tasks list failed", "Did you mean --status failed?"],
        ["tasks list rejected", "Did you mean --decision rejected?"],
        ["tasks list DRESS-1", "Did you mean --product ID|REF?"],
        ["imports list a.csv", "Did you mean --out FILE or --ledger FILE?"],
        ["export DRESS-1", "Did you mean --product ID|REF?"],
        ["export out.csv", "Did you mean --out FILE or --decisions FILE?"],
        ["export 2026-01-01", "Did you mean --since TIME|last or --margin TIME?"],
        ["webhooks listen 4242", "Did you mean --port PORT or --count N?"],
        ["serve mock", "Did you mean --mock or -- COMMAND?"],
        ["whoami staging", "Did you mean --profile NAME?"],
        ["tryon DRESS-1 Amara", "Did you mean --product ID|REF or --model ID|NAME?"],
        ["tryon a.csv b.csv", "Run it once for each file."],
        ["products get A B", "Run it once for each, or put a value with spaces in quotes."],
        [
          "login ak_0123456789",
          "A key is never on the command line. Run: cat login, or cat login --with-key < keyfile.",
        ],
        [
          "login --key ak_0123456789",
          "A key is never on the command line. Run: cat login, or cat login --with-key < keyfile.",
        ],
        [
          "import a.csv --api-key=ak_0123456789",
          "A key is never on the command line. Run: cat login, or cat login --with-key < keyfile.",
        ],
        ["login https://imaging.example.com", "Did you mean --profile NAME or --base-url URL?"],
        ["import --file a.csv", "Use it without a flag: cat import FILE."],
        ["products get --reference A", "Use it without a flag: cat products get ID|REFERENCE."],
        ["products list --search dress", "Did you mean --q?"],
        ["tasks list --failed", "Did you mean --status failed?"],
        ["tasks list --rejected", "Did you mean --decision rejected?"],
        ["products list --xlsx", "Did you mean --format xlsx?"],
        ["tryon a.csv --redo", "Did you mean --rerun?"],
        ["tryon --rejected", "Did you mean --rerun?"],
        ["export --approved-only", "Did you mean --approved?"],
        ["products list -n 5", "Did you mean --limit?"],
        ["import a.csv --preview", "Did you mean --dry-run?"],
        ["import a.csv -y", "Did you mean --yes?"],
        ["export -o a.csv", "Did you mean --out?"],
        ["tryon a.csv --output folder", "Did you mean --save?"],
        ["-v", "For the version: cat --version."],
        ["products get", "To find it: cat products list."],
        ["runs get", "For example: cat runs get run_mk0xkhj4ac490d0d."],
      ] as const,
      9,
    ),
  )("%s exits with 2: %s", async ([guess, hint]) => {
    const world = await createWorld();
    const ran = await world.cat(guess);
    expect([ran.exit, ran.stdout, world.requests()]).toEqual([2, "", []]);
    expect(ran.stderr.split("\n")[1]).toMatch(`${hint} See: cat`);
    expect(ran.stderr).not.toContain("0123456789");
  });

  test.for(
    sampled(
      [
        ["import undo", "undo does not exist", "Did you mean cat imports undo last?"],
        ["import list", "list does not exist", "Did you mean cat imports list?"],
        ["tryon list", "list does not exist", "Did you mean cat tasks list?"],
        ["beautify review", "review does not exist", "Did you mean cat tasks review DECISIONS?"],
        [
          "tryon DRESS-0001",
          "DRESS-0001 does not exist",
          "Check the name. For a product: cat tryon --product ID|REF",
        ],
        [
          "products coverage coat",
          "coat does not exist",
          "Check the name. For a text: cat products coverage --q TEXT",
        ],
        ["import DRESS-0001", "DRESS-0001 does not exist", "Check the name and the current folder."],
        ["tryon list.csv", "list.csv does not exist", "Check the name and the current folder."],
      ] as const,
      4,
    ),
  )("%s exits with 2: %s. %s", async ([guess, message, hint]) => {
    const world = await createWorld();
    const ran = await world.cat(guess);
    expect([ran.exit, ran.stderr]).toEqual([2, `error: ${message}\n${hint}\n`]);
  });

  test("names the program as it was called", async () => {
    const world = await createWorld();
    const ran = await world.cat("version", { context: { program: "catalogue" } });
    expect(ran.stderr).toBe(
      'error: unknown command "version"\nDid you mean catalogue --version? See: catalogue --help\n',
    );
  });
});

test("every command that is named for a guess exists, with its flags", async () => {
  const { commands } = await listedCommands();
  const source = readFileSync(new URL("../../src/cli/flags/first-guesses.ts", import.meta.url), "utf8");
  const named = [...source.matchAll(/"(cat [a-z][^"]*)"/g)].map(([, text]) => text!);
  expect(named.length).toBeGreaterThan(50);
  for (const text of named) {
    const [, ...words] = text.split(" ");
    if (words[0] === "help") continue;
    expect(commandNames).toContain(words[0]);
    const found = commands
      .filter(({ name }) => `${words.join(" ")} `.startsWith(`${name} `))
      .sort((a, b) => b.name.length - a.name.length)[0];
    expect(found, text).toBeDefined();
    const own = found!.flags.map(({ flag }) => flag);
    const flags = words.filter((word) => word.startsWith("--"));
    expect(
      flags.filter((flag) => flag !== "--mock" && !own.includes(flag)),
      text,
    ).toEqual([]);
  }
});
