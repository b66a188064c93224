import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Column } from "../../../src/cli/output/columns.ts";
import { table } from "../../../src/cli/output/table.ts";
import { visible } from "../../../src/cli/output/visible.ts";

interface Row {
  code: string;
  name: string | null;
}

const columns: Column<Row>[] = [
  { name: "code", value: (row) => row.code },
  { name: "name", value: (row) => row.name },
  { name: "hidden", value: () => "x", only: "csv" },
];
const textOf = <R>(...args: Parameters<typeof table<R>>): string => table<R>(...args).text;
const free = { width: null, heading: (text: string) => text, visible };

test("columns stand under their names, as wide as they need, without a blank at the end of a line", () => {
  const rows = [
    { code: "A-1", name: "Linen dress" },
    { code: "LONG-CODE", name: null },
    { code: "日本", name: "é" },
  ];
  expect(textOf(columns, rows, free)).toBe(
    "code       name\n" + "A-1        Linen dress\n" + "LONG-CODE\n" + "日本       é\n",
  );
});

test("off a terminal nothing is cut", () => {
  const name = "x".repeat(500);
  expect(textOf(columns, [{ code: "A", name }], free)).toContain(name);
});

test("on a terminal the widest columns give way, and the cut shows", () => {
  const rows = [{ code: "A-1", name: "A very long name that does not fit" }];
  expect(textOf(columns, rows, { ...free, width: 20 })).toBe("code  name\nA-1   A very long n…\n");
});

describe("a column that is named like IDs", () => {
  const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const wide = (name: string): Column<object>[] => [
    { name: "line", value: () => 1 },
    { name: "reference", value: () => "A long reference", cut: "last" },
    { name: "action", value: () => "created", drop: "first" },
    { name, value: () => id },
    { name: "status", value: () => "succeeded" },
    { name: "error", value: () => "download_failed" },
  ];

  test.each(["id", "product_id", "run_id", "image_ids"])("is never cut: %s", (name) => {
    for (let width = 1; width <= 120; width++) {
      const { text, dropped } = table(wide(name), [{}], { ...free, width });
      const [head, line] = text.split("\n");
      expect(line).toContain(id);
      for (const column of ["line", "reference", "action", "status", "error"]) {
        // Where a name is cut, so much of it stays.
        expect(head!.includes(column.slice(0, 5))).toBe(!dropped.includes(column));
      }
      if (width >= 36) expect(line!.length).toBeLessThanOrEqual(width);
    }
  });

  test("stays with the reference while others go, the least useful one first, then from the right", () => {
    const at = (width: number) => table(wide("id"), [{}], { ...free, width });
    expect(at(80)).toEqual({
      text:
        "line  reference         action   id                          status    error\n" +
        `1     A long reference  created  ${id}  succeed…  download…\n`,
      dropped: [],
    });
    expect(at(60)).toEqual({
      text: `line  reference   id                          status  error\n1     A long re…  ${id}  succe…  downl…\n`,
      dropped: ["action"],
    });
    expect(at(40)).toEqual({
      text: `line  refer…  id\n1     A lon…  ${id}\n`,
      dropped: ["action", "status", "error"],
    });
  });

  test("does not keep one that is not from being cut", () => {
    expect(table(wide("android"), [{}], { ...free, width: 60 }).text).not.toContain(id);
  });
});

/** Of the characters below, two take two columns. */
const displayWidth = (line: string): number =>
  [...line].reduce((width, character) => width + (/[日😀]/u.test(character) ? 2 : 1), 0);

test("what is copied from a table is cut last, and an id never", () => {
  const rows = [{ code: "01ARZ3NDEKTSV4RRFFQ69G5FAV", name: "Linen dress" }];
  const drawn = (cut: "last" | "never", width: number) =>
    textOf([{ ...columns[0]!, cut }, columns[1]!], rows, { ...free, width }).split("\n")[1];
  expect(drawn("last", 35)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV  Linen …");
  expect(drawn("last", 20)).toBe("01ARZ3NDEKT…  Linen…");
  expect(drawn("never", 35)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV  Linen …");
  expect(drawn("never", 34)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV  Linen…");
  expect(drawn("never", 20)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV");
});

test("a row is a line whatever is in it, and no line is wider than the terminal", () => {
  const text = fc.string({ unit: fc.constantFrom(...'ab \n\r\t\u001bé日😀,"│'), maxLength: 60 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ code: text, name: text }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 20, max: 100 }),
      (rows, width) => {
        const lines = textOf(columns, rows, { ...free, width }).split("\n");
        expect(lines).toHaveLength(rows.length + 2);
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
});
