import { expect, test } from "vitest";
import { managers } from "../../scripts/package-managers.js";
import { platforms } from "../../scripts/portable/platforms.js";
import { installTable } from "./install-table.ts";

/** How archives name a system. */
const nameOf = (row: string) =>
  row
    .replace(/,.*|\s\|.*/g, "")
    .replace(" ", "-")
    .toLowerCase();

test("docs/install.md has a row for each package manager, for npm on Windows, and for each portable archive", () => {
  const rows = [...installTable().keys()];
  const archives = rows.filter((row) => row.endsWith(" | portable archive"));
  expect(archives.map(nameOf)).toEqual(platforms.map(({ name }) => name));
  expect(rows.filter((row) => !archives.includes(row))).toEqual([
    ...managers.map(({ name }) => `Linux x64 | ${name}`),
    "Windows x64, in Wine | npm",
  ]);
});
