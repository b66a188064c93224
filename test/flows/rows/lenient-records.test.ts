import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lenientRecords } from "../../../src/flows/rows/lenient-records.ts";
import { type CsvRecord, StrayRecord } from "../../../src/flows/rows/records.ts";

const record_delimiter = ["\r\n", "\n", "\r"];

async function recordsOf(text: string, delimiter: string, { size = 1000, linesBefore = 0, width = 0 } = {}) {
  // Chunks have complete characters, as from the text reader.
  const characters = Array.from(text);
  const chunks = Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    Buffer.from(characters.slice(at * size, (at + 1) * size).join("")),
  );
  const records: CsvRecord[] = [];
  const batches = lenientRecords(
    (async function* () {
      yield* chunks;
    })(),
    { delimiter, linesBefore, width: () => width },
  );
  for await (const batch of batches) records.push(...batch);
  return records;
}

test("reads text without stray quotes like the parser, whatever the chunks", async () => {
  const cell = fc.string({ unit: fc.constantFrom(...'aé😀 ,;·"\n\r'), maxLength: 5 });
  const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.constantFrom(",", ";", "\t", "·"),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.nat(3),
      fc.boolean(),
      async (rows, delimiter, end, more, isCut) => {
        const whole = stringify(rows, { delimiter, record_delimiter: end, quote_record_delimiter: true });
        const text = isCut && !whole.endsWith('"') ? whole.slice(0, -end.length) : whole;
        const expected = parse(text, { delimiter, record_delimiter, relax_column_count: true });
        expect(await recordsOf(text, delimiter, { size: 1 + more })).toEqual(expected);
      },
    ),
  );
});

test("starts after the lines to skip, wherever a chunk cuts their ends", async () => {
  for (const size of [1, 2, 3, 100]) {
    expect(await recordsOf('a"\r\nb\rc\n\nd,e\n', ",", { size, linesBefore: 4 })).toEqual([["d", "e"]]);
  }
});

test("returns invalid cells unparsed, and the others without their quotes", async () => {
  const text = 'a,5" b,"c ""d""","e" f,g\n"h",i\n';
  expect(await recordsOf(text, ",")).toEqual([
    new StrayRecord(["a", '5" b', 'c "d"', '"e" f', "g"], new Set([1, 3])),
    ["h", "i"],
  ]);
});

test("does not mistake two rows for one with a two-line cell, wherever a chunk ends", async () => {
  const two = 'a,"open,c\nb,name 5",c\n';
  for (const size of [1, 2, 5, 100]) {
    expect(await recordsOf(two, ",", { size, width: 3 })).toEqual([
      new StrayRecord(["a", '"open,c'], new Set([1])),
      new StrayRecord(["b", 'name 5"', "c"], new Set([1])),
    ]);
    // Any text between the two rows.
    expect(await recordsOf(two.replace("\n", "\n\nx\n"), ",", { size, width: 3 })).toHaveLength(4);
    // One of its lines cannot be a row.
    const one = 'a,"two\nlines",c\na,b,"two\nlines"\n';
    expect(await recordsOf(one, ",", { size, width: 3 })).toEqual([
      ["a", "two\nlines", "c"],
      ["a", "b", "two\nlines"],
    ]);
    expect(await recordsOf(two, ",", { size, width: 4 })).toEqual([["a", "open,c\nb,name 5", "c"]]);
  }
});
