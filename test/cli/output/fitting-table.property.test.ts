import fc from "fast-check";
import { expect, test } from "vitest";
import type { Column } from "../../../src/cli/output/columns.ts";
import { fittingTable } from "../../../src/cli/output/fitting-table.ts";
import { table } from "../../../src/cli/output/table.ts";
import { visible } from "../../../src/cli/output/visible.ts";
import { repetitions } from "../../support/repetitions.ts";

const columns: Column<readonly (string | null)[]>[] = [
  { name: "id", value: (row) => row[0] },
  { name: "name", value: (row) => row[1] },
  { name: "hidden", value: () => "x".repeat(50), only: "csv" },
  { name: "note", value: (row) => row[2] },
];
const cell = fc.option(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom("a", "日", "é", "e\u0301", "👩‍👩‍👧", " ", "\t", "\x1b[31m", "\u00ad"),
      maxLength: 8,
    }),
  ),
);

test("a table that fits is what the library draws, and one that is too wide is left to it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 6 }),
      fc.option(fc.integer({ min: 1, max: 60 })),
      (rows, width) => {
        const layout = { width, heading: (text: string) => `[${text}]`, visible };
        const whole = table(columns, rows, { ...layout, width: null }).text;
        const drawn = table(columns, rows, layout);
        const isCut = drawn.text !== whole || drawn.dropped.length > 0;
        expect(fittingTable(columns, rows, layout)).toBe(isCut ? null : drawn.text);
      },
    ),
    { numRuns: repetitions(200, 10_000) },
  );
});
