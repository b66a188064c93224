import fc from "fast-check";
import { expect, test } from "vitest";
import { commandNames, findCommand } from "../../src/cli/command-names.ts";
import { globalFlags } from "../../src/cli/context/globals.ts";

const names = [...commandNames, "--help", "-h", "--version"] as const;
const switches = [
  "--json",
  "--mock",
  "--quiet",
  "--no-progress",
  "--no-color",
  "--no-input",
  "--verbose",
  "--yes",
];

test.for([
  ["import products.csv", "import", 0],
  ["--json products list", "products", 1],
  ["--profile dev products list", "products", 2],
  ["--profile=dev --base-url https://x import a.csv", "import", 3],
  ["--profile import help", "help", 2],
  ["-h", "-h", 0],
  ["--yes --version", "--version", 1],
] as const)("this program runs cat %s", ([line, name, index]) => {
  expect(findCommand(line.split(" "))).toEqual({ name, index });
});

test.for([
  "notes.txt",
  "-n import",
  "-",
  "--",
  "-- import",
  "./import",
  "Import",
  "import.csv",
  "--json",
  "--json notes.txt",
  "--profile",
  "--profile import",
  "--json=1 import",
  "--profil dev import",
  "-v --help",
  "constructor",
])("the system's cat runs cat %s", (line) => {
  expect(findCommand(line.split(" "))).toBeNull();
});

test("the flags that are accepted before a command are those of the interface", () => {
  expect(
    globalFlags
      .filter((flag) => flag.value === null)
      .map((flag) => flag.flag)
      .sort(),
  ).toEqual(switches.sort());
  expect(globalFlags.filter((flag) => flag.value !== null).map((flag) => flag.flag)).toEqual([
    "--profile",
    "--base-url",
    "--progress",
  ]);
});

test("the first word that is not a global flag decides which program runs", () => {
  const flags = fc.array(
    fc.oneof(
      fc.constantFrom(...switches).map((flag) => [flag]),
      fc.tuple(fc.constantFrom("--profile", "--base-url"), fc.string()),
      fc.string().map((value) => [`--profile=${value}`]),
    ),
  );
  const foreign = fc
    .string()
    .filter((word) => !/^--(profile|base-url)(=|$)/.test(word) && ![...names, ...switches].includes(word));
  fc.assert(
    fc.property(
      flags,
      fc.constantFrom(...names),
      foreign,
      fc.array(fc.string()),
      (before, name, other, after) => {
        const front = before.flat();
        expect(findCommand([...front, name, ...after])).toEqual({ name, index: front.length });
        expect(findCommand([...front, other, name, ...after])).toBeNull();
        expect(findCommand(front)).toBeNull();
      },
    ),
  );
});
