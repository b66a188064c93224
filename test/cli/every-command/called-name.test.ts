import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandNames } from "../../../src/cli/command-names.ts";
import { listedCommands } from "../../support/listed-commands.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { type CallOptions, createWorld } from "../../support/world.ts";
import { lineOf } from "./command-lines.ts";
import { type Finished, type SeededWorld, seededWorld } from "./seeded-world.ts";

/** `cat` and a command, which the user who called `catalogue` may not be able to run: `cat` may be the system's. */
const otherName = new RegExp(`(?<!/bin/)\\bcat (?:${[...commandNames, "COMMAND", "--help"].join("|")})\\b`);

/** The lines with the other name that a command printed, or that are in a file of its folder. */
function linesWithOtherName({ stdout, stderr, folder }: Finished): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && /\.(?:html|csv|ndjson|jsonl?)$/.test(file.name))
    .map((file) => readFileSync(join(file.parentPath, file.name), "utf8"));
  return [stdout, stderr, ...files]
    .flatMap((text) => text.split("\n"))
    .filter((line) => otherName.test(line));
}

/** Runs command lines as `catalogue`; gives the lines with the other name, and the number of those with the called one. */
async function asCatalogue(
  run: SeededWorld["run"],
  lines: readonly (readonly string[])[],
  call: CallOptions = {},
) {
  const wrong: string[] = [];
  let called = 0;
  for (const line of lines) {
    const ran = await run(line, { ...call, context: { program: "catalogue" } });
    wrong.push(...linesWithOtherName(ran).map((text) => `${line.join(" ")}: ${text}`));
    called += `${ran.stdout}\n${ran.stderr}`.split("\n").filter((text) => text.includes("catalogue ")).length;
  }
  return { wrong, called };
}

test("the help of every command, called as catalogue, names no command of cat", async () => {
  const world = await createWorld();
  const { commands } = await listedCommands();
  const run = async (line: readonly string[], call?: CallOptions): Promise<Finished> =>
    Object.assign(await world.cat(line, call), { folder: world.folder });
  const names = commands.map(({ name }) => name.split(" "));
  const groups = new Set(names.map(([group]) => group!));
  const pages = [...names, ...[...groups].map((group) => [group]), []].map((line) => [...line, "--help"]);
  const { wrong, called } = await asCatalogue(run, [["commands"], ...pages]);
  expect(wrong).toEqual([]);
  expect(called).toBeGreaterThan(2 * pages.length);
});

longTest("every command, called as catalogue, says catalogue in its notes, errors and files", async () => {
  const { ids, list, run } = await seededWorld();
  const lines = list.commands.map((one) => lineOf(one, ids, ["--yes"], ["--", "true"]));
  const noSettings = { CAT_API_KEY: undefined, CAT_BASE_URL: undefined };
  const moreLines = [
    ["tryon", "looks.csv", "--yes", "--gallery", "review.html"],
    ["tryon", "looks.csv", "--yes", "--no-wait"],
    ["import", "a.csv", "--no-wait"],
    ["webhooks", "nope"],
    ["config", "get", "apiKey"],
  ];
  const calls: [lines: readonly (readonly string[])[], call?: CallOptions][] = [
    [lines, { tty: true, stdin: "\u0003" }],
    [moreLines],
    [lines],
    [lines, { env: noSettings }],
    [lines, { env: { CAT_API_KEY: "ak_mock_revoked" } }],
    [lines.map((line) => [...line, "--json"]), { env: noSettings }],
    [lines.map((line) => [...line, "--nope"])],
  ];
  const found = [];
  for (const [given, call] of calls.slice(0, repetitions(2, calls.length)))
    found.push(await asCatalogue(run, given, call));
  expect(found.flatMap(({ wrong }) => wrong)).toEqual([]);
  for (const { called } of found) expect(called).toBeGreaterThan(3);
});

longTest("the harness sees the commands of a program that was called as cat", async () => {
  const { run } = await seededWorld();
  expect(linesWithOtherName(await run(["whoami"], { env: { CAT_BASE_URL: undefined } }))).toHaveLength(1);
  const page = await run(["tryon", "looks.csv", "--yes", "--gallery", "review.html"]);
  expect(linesWithOtherName(page).filter((line) => line.includes("--rerun"))).toHaveLength(1);
});
