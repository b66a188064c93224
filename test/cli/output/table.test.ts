import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Column, inTableOrder, table, whole } from "../../../src/cli/output/table.ts";
import { visible } from "../../../src/text.ts";

interface Row {
  code: string;
  name: string | null;
}

const columns: Column<Row>[] = [
  { name: "code", value: (row) => row.code },
  { name: "title", value: (row) => row.name },
  { name: "hidden", value: () => "x", only: "csv" },
];
const textOf = <R>(...args: Parameters<typeof table<R>>): string => table<R>(...args).text;
const free = { width: null, heading: (text: string) => text, visible };

test("aligns columns with their names, without trailing spaces", () => {
  const rows = [
    { code: "A-1", name: "Linen dress" },
    { code: "LONG-CODE", name: null },
    { code: "日本", name: "é" },
  ];
  expect(textOf(columns, rows, free)).toBe(
    "code       title\n" + "A-1        Linen dress\n" + "LONG-CODE\n" + "日本       é\n",
  );
});

test("a table cuts nothing without a terminal", () => {
  const name = "x".repeat(500);
  expect(textOf(columns, [{ code: "A", name }], free)).toContain(name);
});

test("a table cuts the widest columns on a terminal, with an ellipsis", () => {
  const rows = [{ code: "A-1", name: "A very long name that does not fit" }];
  expect(textOf(columns, rows, { ...free, width: 20 })).toBe("code  title\nA-1   A very long n…\n");
});

describe("a column of IDs, by its name,", () => {
  const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const wide = (name: string): Column<object>[] => [
    { name: "line", value: () => 1 },
    { name: "reference", value: () => "A long reference", cut: "last" },
    { name: "action", value: () => "created", drop: "first" },
    { name, value: () => id },
    { name: "status", value: () => "succeeded", least: whole },
    { name: "error", value: () => "reference_already_exists" },
  ];

  test.each(["id", "product_id", "run_id", "image_ids"])("is never cut: %s", (name) => {
    for (let width = 1; width <= 120; width++) {
      const { text, dropped } = table(wide(name), [{}], { ...free, width });
      const [head, line] = text.split("\n");
      expect(line).toContain(id);
      for (const column of ["line", "reference", "action", "status", "error"]) {
        // The shortest remaining text of a name.
        expect(head!.includes(column.slice(0, 5))).toBe(!dropped.includes(column));
      }
      if (width >= 36) expect(line!.length).toBeLessThanOrEqual(width);
    }
  });

  test("is kept with the reference while other columns are dropped, `drop: first` first, then from the right", () => {
    const at = (width: number) => table(wide("id"), [{}], { ...free, width });
    expect(at(81)).toEqual({
      text:
        "line  reference         id                          status     error\n" +
        `1     A long reference  ${id}  succeeded  reference_already…\n`,
      dropped: ["action"],
    });
    expect(at(75)).toEqual({
      text:
        "line  reference         id                          status     error\n" +
        `1     A long reference  ${id}  succeeded  reference_a…\n`,
      dropped: ["action"],
    });
    expect(at(61)).toEqual({
      text: `line  reference         id                          status\n1     A long reference  ${id}  succeeded\n`,
      dropped: ["action", "error"],
    });
    expect(at(60)).toEqual({
      text: `line  reference         id\n1     A long reference  ${id}\n`,
      dropped: ["action", "status", "error"],
    });
    expect(at(40)).toEqual({
      text: `reference     id\nA long refe…  ${id}\n`,
      dropped: ["line", "action", "status", "error"],
    });
  });

  test("does not protect other columns from being cut", () => {
    expect(table(wide("android"), [{}], { ...free, width: 60 }).text).not.toContain(id);
  });
});

describe("a table with names", () => {
  const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  interface Named {
    reference: string;
    name: string;
  }
  const named = inTableOrder<Named>([
    { name: "id", value: () => id },
    { name: "product_id", value: () => id, only: "csv" },
    { name: "status", value: () => "succeeded", least: whole },
    { name: "name", value: ({ name }) => name },
    { name: "images", value: () => 3 },
    { name: "reference", value: ({ reference }) => reference },
  ]);
  const dress = { reference: "DRESS-1", name: "Linen summer dress with straps" };
  const drawn = (width: number) => table(named, [dress], { ...free, width });

  test("begins with the reference and the name, and ends with the ID", () => {
    expect(drawn(88)).toEqual({
      text:
        "reference  name                            status     images  id\n" +
        `DRESS-1    Linen summer dress with straps  succeeded  3       ${id}\n`,
      dropped: [],
    });
  });

  test("has the IDs of others before the one of the row, and the order of the columns without an ID", () => {
    const order = (...names: string[]) =>
      inTableOrder(names.map((name) => ({ name, value: () => "" }))).map(({ name }) => name);
    expect(order("id", "product_id", "line", "url", "file", "name", "reference")).toEqual([
      ...["reference", "name", "file", "url", "line", "product_id", "id"],
    ]);
    expect(order("kind", "field", "name")).toEqual(["kind", "field", "name"]);
  });

  test("drops other columns from the right before it cuts a name, and the ID first where it does not fit next to the names", () => {
    expect(drawn(87).dropped).toEqual(["images"]);
    expect(drawn(69)).toEqual({
      text: `reference  name                            id\nDRESS-1    Linen summer dress with straps  ${id}\n`,
      dropped: ["status", "images"],
    });
    expect(drawn(68)).toEqual({
      text:
        "reference  name                            status     images\n" +
        "DRESS-1    Linen summer dress with straps  succeeded  3\n",
      dropped: ["id"],
    });
    expect(drawn(35).text).toBe("reference  name\nDRESS-1    Linen summer dress with…\n");
  });

  test("has the ID in full or not at all, and never next to a name or a reference that is cut", () => {
    const word = fc.string({ unit: fc.constantFrom(..."ab é日"), maxLength: 60 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ reference: word, name: word }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 20, max: 160 }),
        (rows, width) => {
          const { text, dropped } = table(named, rows, { ...free, width });
          const lines = text.trimEnd().split("\n").slice(1);
          for (const [index, line] of lines.entries()) {
            expect(displayWidth(line)).toBeLessThanOrEqual(width);
            expect(line.endsWith(id)).toBe(!dropped.includes("id"));
            if (dropped.includes("id")) continue;
            expect(line).toContain(rows[index]!.reference);
            expect(line).toContain(rows[index]!.name);
          }
        },
      ),
    );
  });
});

/** Two of the characters below are two columns wide. */
const displayWidth = (line: string): number =>
  [...line].reduce((width, character) => width + (/[日😀]/u.test(character) ? 2 : 1), 0);

test("a table cuts references last and IDs never", () => {
  const rows = [{ code: "01ARZ3NDEKTSV4RRFFQ69G5FAV", name: "Linen dress" }];
  const drawn = (cut: "last" | "never", width: number) =>
    textOf([{ ...columns[0]!, cut }, columns[1]!], rows, { ...free, width }).split("\n")[1];
  expect(drawn("last", 40)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV  Linen dress");
  expect(drawn("last", 35)).toBe("01ARZ3NDEKTSV4RRFFQ69…  Linen dress");
  expect(drawn("last", 28)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  expect(drawn("last", 20)).toBe("01ARZ3NDEKTSV4RRFFQ…");
  expect(drawn("never", 39)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV  Linen dress");
  expect(drawn("never", 38)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  expect(drawn("never", 20)).toBe("01ARZ3NDEKTSV4RRFFQ69G5FAV");
});

describe("a table that is too wide", () => {
  const at = "2026-01-05T09:00Z";
  const wide: Column<object>[] = [
    { name: "file", value: () => "spring-and-summer.csv" },
    { name: "mode", value: () => "upsert", drop: "first" },
    { name: "at", value: () => at, least: whole },
    { name: "note", value: () => "photographed twice" },
  ];
  const drawn = (width: number) => table(wide, [{}], { ...free, width });

  test("drops `drop: first` before it cuts anything", () => {
    expect(drawn(68)).toMatchObject({
      text: expect.stringContaining(`.csv  upsert  ${at}  photographed twice\n`),
    });
    expect(drawn(67)).toEqual({
      text: `file                   at                 note\nspring-and-summer.csv  ${at}  photographed twice\n`,
      dropped: ["mode"],
    });
  });

  test("drops a column before it is too narrow to read, and never cuts a whole one", () => {
    for (let width = 17; width <= 70; width++) {
      const { text, dropped } = drawn(width);
      for (const line of text.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(width);
      expect(text.includes(at)).toBe(!dropped.includes("at"));
      for (const [cut] of text.matchAll(/\S+(?: \S+)*…/g)) expect(cut.length).toBeGreaterThanOrEqual(10);
    }
  });
});

test("a table prints one line per row, whatever its content, and none wider than the terminal", () => {
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
