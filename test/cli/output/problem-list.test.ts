import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/a.jpg";

/** What bash takes a command line for. */
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
])("an unknown column %j is told with the flag that a shell takes", async (header, flag) => {
  const world = await createWorld();
  const cell = `"${header.replaceAll('"', '""')}"`;
  world.write("a.csv", `reference,name,images,${cell}\nA,Dress,${photo},1\n`);
  const told = await world.cat("import a.csv --dry-run");
  expect(told.exit).toBe(3);
  expect(told.stderr.split("\n")[0]!.split(", or ").slice(1)).toEqual([
    `give ${flag.replace(/ignore('?"?)$/, "FIELD$1")}`,
    flag,
  ]);
  const { problems } = JSON.parse((await world.cat("import a.csv --dry-run --json")).stdout);
  expect(problems).toHaveLength(1);
  expect(Object.keys(problems[0])).toEqual(["line", "param", "code", "message"]);
  expect(problems[0].message.split(", or ").at(-1)).toBe(flag);
  expect(await world.cat(["import", "a.csv", "--dry-run", ...inBash(flag)])).toMatchObject({ exit: 0 });
});
