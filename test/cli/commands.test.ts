import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { commandNames } from "../../src/cli/command-names.ts";
import { openState } from "../../src/state/state.ts";
import { createWorld } from "../support/world.ts";

test("commands --json lists every command, argument, flag and exit status", async () => {
  const world = await createWorld();
  const ran = await world.cat("commands --json", {
    env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined },
  });
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  const list = JSON.parse(ran.stdout);
  const names: string[] = list.commands.map(({ name }: { name: string }) => name);
  expect(new Set(names.map((name) => name.split(" ")[0]))).toEqual(
    new Set(commandNames.filter((name) => name !== "help")),
  );
  expect(names).toEqual(
    expect.arrayContaining(["export", "export sync", "products list", "webhooks listen"]),
  );
  const get = list.commands.find(({ name }: { name: string }) => name === "products list");
  expect(get).toMatchObject({
    summary: "list or search products",
    usage: "cat products list [flags]",
    arguments: [],
  });
  expect(get.flags.filter(({ flag }: { flag: string }) => flag === "--format")).toEqual([
    {
      ...{ flag: "--format", short: null, value: "FORMAT", description: "output format" },
      ...{
        choices: ["table", "json", "ndjson", "csv", "xlsx"],
        default: null,
        required: false,
        repeatable: false,
      },
    },
  ]);
  const api = list.commands.find(({ name }: { name: string }) => name === "api");
  expect(api.arguments[0]).toMatchObject({
    name: "METHOD",
    required: false,
    choices: expect.arrayContaining(["GET"]),
  });
  expect(api.flags[0]).toMatchObject({ flag: "--field", short: "-F", value: "NAME=VALUE", repeatable: true });
  expect(list.global_flags.map(({ flag }: { flag: string }) => flag)).toContain("--profile");
  expect(list.exit_statuses.map(({ status }: { status: number }) => status)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 129, 130, 143,
  ]);
});

test("commands prints the same for people", async () => {
  const world = await createWorld();
  const { stdout } = await world.cat("commands");
  expect(stdout).toContain("\ncat models list [flags]\n  list models\n    --public ");
  expect(stdout).toMatch(/\n {4}--limit N {2,}maximum number to list \(default: 25\)\n/);
  expect(stdout).toContain("\nGlobal flags\n    --profile NAME  profile to use");
  expect(stdout).toMatch(/\nExit status\n {6}0 {2}success\n/);
});

describe("commands NAME", () => {
  test("has the entry of one command, with the meanings of its exit statuses, the global flags, and few bytes", async () => {
    const world = await createWorld();
    const all = await world.cat("commands --json");
    const listed = JSON.parse(all.stdout);
    const entry = listed.commands.find(({ name }: { name: string }) => name === "products list");
    const ran = await world.cat("commands products list --json");
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toEqual({
      version: listed.version,
      commands: [entry],
      global_flags: listed.global_flags,
      exit_statuses: listed.exit_statuses.filter(({ status }: { status: number }) =>
        [0, 1, 2, 3, 4, 7, 129, 130, 143].includes(status),
      ),
    });
    expect(entry.output.exit_statuses).toEqual([0, 1, 2, 3, 4, 7, 129, 130, 143]);
    expect(ran.stdout.length).toBeLessThan(all.stdout.length / 25);
    // A name of the list, as one word, and by the other name of the program.
    expect(await world.cat(["commands", " products  list", "--json"])).toEqual(ran);
    expect(await world.cat("commands --json -- products list")).toEqual(ran);
    const called = await world.cat("commands runs list --json", { context: { program: "catalogue" } });
    expect(JSON.parse(called.stdout).commands[0].usage).toBe("catalogue runs list [flags]");
  });

  test("has the names and summaries of a group alone, and those below a command", async () => {
    const world = await createWorld();
    const json = async (line: string) => JSON.parse((await world.cat(`${line} --json`)).stdout);
    expect(await json("commands runs")).toEqual({
      version: expect.any(String),
      commands: [
        { name: "runs list", summary: "list the runs of this machine" },
        { name: "runs get", summary: "show a run, and the command that resumes or undoes it" },
      ],
      exit_statuses: [],
    });
    const { commands } = await json("commands export");
    expect(commands.map((one: { name: string; flags?: [] }) => [one.name, one.flags !== undefined])).toEqual([
      ["export", true],
      ["export sync", false],
    ]);
    expect(Object.keys(commands[1])).toEqual(["name", "summary"]);
  });

  test("prints the same for people", async () => {
    const world = await createWorld();
    expect((await world.cat("commands models")).stdout).toBe(
      "Commands\n    cat models list  list models\n    cat models get   show a model\n",
    );
    const { stdout } = await world.cat("commands models list");
    expect(stdout).toMatch(/^cat models list \[flags\]\n {2}list models\n {4}--public /);
    expect(stdout).toMatch(/\n\nExit status\n {6}0 {2}success\n.*\n {4}143 {2}terminated \(SIGTERM\)\n$/s);
    expect(stdout).toContain("\n\nGlobal flags\n    --profile NAME ");
    const called = await world.cat("commands models", { context: { program: "catalogue" } });
    expect(called.stdout).toContain("    catalogue models list  list models\n");
    for (const line of ["commands catalogue models list", "commands cat models list"])
      expect((await world.cat(line)).stdout).toBe(stdout);
    const narrow = await createWorld({ columns: 40 });
    const lines = (await narrow.cat("commands models get", { tty: true })).stdout.split("\n");
    expect(Math.max(...lines.map((line) => stripVTControlCharacters(line).length))).toBeLessThanOrEqual(40);
  });

  test.each([
    ["commands prodcuts", "prodcuts", "Did you mean products? See: cat --help"],
    ["commands products lst", "lst", "Did you mean list? See: cat products --help"],
    ["commands runs lists", "lists", "Did you mean list? See: cat runs --help"],
    ["commands models show", "show", "Did you mean get? See: cat models --help"],
    ["commands images show", "show", "Did you mean get? See: cat images --help"],
    ["commands import csv", "csv", "See: cat import --help"],
    ["commands help", "help", "See: cat --help"],
    ["commands ''", "", "See: cat --help"],
  ])("exits with 2 for: %s", async (line, word, hint) => {
    const world = await createWorld();
    expect(await world.cat(line)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: unknown command ${JSON.stringify(word)}\n${hint}\n`,
    });
  });

  test("exits with 2 next to --skill", async () => {
    const world = await createWorld();
    expect(await world.cat("commands runs --skill")).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: --skill cannot be used with NAME\nRemove one of them.\n",
    });
  });
});

test("a list on a terminal keeps its names for Tab; a list in a pipe does not", async () => {
  const world = await createWorld({ mock: { demo: 2 } });
  const kept = async () => {
    const state = await openState(join(world.folder, ".home", "state", "default.db"), { clock: world.clock });
    const value = state.marks.get(world.mock.baseUrl, "completion:products");
    state.close();
    return value;
  };
  await world.cat("products list");
  expect(await kept()).toBe(null);
  await world.cat("products list", { tty: true });
  expect(new Set(JSON.parse((await kept())!))).toEqual(
    new Set(world.products().map(({ reference, name }) => [reference, name])),
  );
});

test("completion prints a script for a known shell only", async () => {
  const world = await createWorld();
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const ran = await world.cat(["completion", shell]);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(ran.stdout).toContain("catalogue __complete");
    const json = JSON.parse((await world.cat(["completion", shell, "--json"])).stdout);
    expect(json).toEqual({ shell, script: ran.stdout });
  }
  expect(await world.cat("completion tcsh")).toEqual({
    exit: 2,
    stdout: "",
    stderr: 'error: invalid SHELL "tcsh": use bash, zsh, fish or powershell\nSee: cat completion --help\n',
  });
});
