import { join } from "node:path";
import { expect, test } from "vitest";
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
