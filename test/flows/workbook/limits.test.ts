import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { shownCount, shownSize, workbookLimits } from "../../../src/flows/workbook/limits.ts";

test("the limits of docs/importing.md are those of the reader", () => {
  const page = readFileSync(new URL("../../../docs/importing.md", import.meta.url), "utf8");
  const [, table = ""] = page.split("| part of a workbook | at most |\n|---|---|\n");
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n");
  const limits = rows.map((row) => row.split("|")[2]!.match(/[\d,]+\d(?: MiB)?|\d+(?: MiB)?/g));
  const limit = workbookLimits;
  expect(limits).toEqual([
    [shownCount(limit.files)],
    [shownCount(limit.sheets)],
    [limit.rows, limit.columns].map(shownCount),
    [shownCount(limit.cells)],
    [shownCount(limit.strayCells)],
    [shownSize(limit.rowText)],
    [shownSize(limit.sheetText)],
    [shownCount(limit.sharedTexts), shownSize(limit.sharedTextBytes)],
    [shownSize(limit.sheetBytes)],
    [shownSize(limit.otherBytes)],
    [shownCount(limit.ranges)],
    [shownSize(limit.markup), shownCount(limit.markupOfValue)],
  ]);
});
