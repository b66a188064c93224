import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inOrderOfLines, type RowRange } from "../../../src/flows/outputs/row-outcome.ts";

/** Stretches over these lines, each reporting how many of them are open at once. */
function stretchesOf(lines: readonly (readonly number[])[], early: readonly number[] = []) {
  const seen = { open: 0, most: 0, closed: 0 };
  const stretches = lines.map(
    (all, index): RowRange<{ line: number; of: number }> => ({
      first: Math.max(0, (all[0] ?? 0) - (early[index] ?? 0)),
      async *rows() {
        seen.most = Math.max(seen.most, ++seen.open);
        try {
          for (const line of all) yield { line, of: index };
        } finally {
          seen.open--;
          seen.closed++;
        }
      },
    }),
  );
  return { stretches, seen };
}

const all = async <Row>(rows: AsyncIterable<Row>) => {
  const found: Row[] = [];
  for await (const row of rows) found.push(row);
  return found;
};

describe("stretches of rows", () => {
  test("that are consecutive are open one at a time", async () => {
    const { stretches, seen } = stretchesOf([
      [6, 7],
      [2, 3, 4],
      [8, 20],
    ]);
    expect((await all(inOrderOfLines(stretches))).map(({ line }) => line)).toEqual([2, 3, 4, 6, 7, 8, 20]);
    expect(seen.most).toBe(1);
  });

  test("that are nested are merged, and one that starts before its first line costs nothing", async () => {
    const { stretches } = stretchesOf([[2, 9], [3, 5], [4, 8], [], [7]], [0, 3, 0, 0, 7]);
    expect(await all(inOrderOfLines(stretches))).toEqual([
      { line: 2, of: 0 },
      { line: 3, of: 1 },
      { line: 4, of: 2 },
      { line: 5, of: 1 },
      { line: 7, of: 4 },
      { line: 8, of: 2 },
      { line: 9, of: 0 },
    ]);
  });

  test("are closed when the reader stops", async () => {
    const { stretches, seen } = stretchesOf([
      [2, 9],
      [3, 5],
      [20, 21],
    ]);
    for await (const { line } of inOrderOfLines(stretches)) if (line === 3) break;
    expect(seen).toEqual({ open: 0, most: 2, closed: 2 });
  });

  test("return every row once, in order, however the lines are distributed", async () => {
    const dealt = fc.record({
      owners: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 40 }),
      gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 40, maxLength: 40 }),
      early: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 5, maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(dealt, async ({ owners, gaps, early }) => {
        let line = 1;
        const lines: number[][] = [[], [], [], [], []];
        const expected = owners.map((of, at) => {
          line += gaps[at]!;
          lines[of]!.push(line);
          return { line, of };
        });
        const { stretches, seen } = stretchesOf(lines, early);
        expect(await all(inOrderOfLines(stretches))).toEqual(expected);
        expect([seen.open, seen.closed]).toEqual([0, lines.length]);
      }),
    );
  });
});
