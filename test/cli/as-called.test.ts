import { expect, test } from "vitest";
import { asCalled } from "../../src/cli/command-names.ts";

test.each([
  ["Run: cat login (or add --base-url URL)", "Run: catalogue login (or add --base-url URL)"],
  ["  cat import a.csv --mock", "  catalogue import a.csv --mock"],
  [
    "To add one: cat login. To list them (cat config list)",
    "To add one: catalogue login. To list them (catalogue config list)",
  ],
  ['$EDITOR "$(cat config path)"', '$EDITOR "$(catalogue config path)"'],
  ["Usage: cat COMMAND [flags]", "Usage: catalogue COMMAND [flags]"],
  ["cat needs a command: import, imports", "catalogue needs a command: import, imports"],
  ["global flags: cat --help", "global flags: catalogue --help"],
])("a command has the name that was called: %s", (text, expected) => {
  expect(asCalled("catalogue", [])(text)).toBe(expected);
  expect(asCalled("cat", [])(text)).toBe(text);
});

test.each([
  "The system's cat still works: `cat notes.txt`, `echo hi | cat` and `cat -n FILE`",
  "To print a file that has the name of a command: `cat ./import`; `/bin/cat --help`",
  "cannot read cat import.csv",
  'unknown product "cat import"',
  'duplicate reference "pet cat login", first used in line 2',
  "cat importing, concat import, cat.import, my-cat import",
])("the system's cat and other texts stay: %s", (text) => {
  expect(asCalled("catalogue", [])(text)).toBe(text);
});

test("a file of the command line, and files named after it, keep their names", () => {
  const text =
    "Failed rows are in my cat import (1).failed.csv. Run: cat import 'my cat import (1).failed.csv'";
  expect(asCalled("catalogue", ["import", "my cat import (1).csv"])(text)).toBe(
    "Failed rows are in my cat import (1).failed.csv. Run: catalogue import 'my cat import (1).failed.csv'",
  );
});
