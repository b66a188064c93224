import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { check } from "./check-support.ts";

/** A text with anything a CSV cell can contain: quotes, delimiters and line ends of each kind. */
const cell = fc
  .array(fc.constantFrom("a", "é", "😀", '"', ",", ";", "\t", "\n", "\r\n", "\r", " "), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => `x${parts.join("")}x`);

const record = fc.record({ name: cell, description: cell, bad: fc.boolean(), blankLinesBefore: fc.nat(2) });

test("the line of a row is where its record starts, whatever its cells and the lines before it contain", async () => {
  const file = fc.record({
    records: fc.array(record, { minLength: 1, maxLength: 20 }),
    delimiter: fc.constantFrom(",", ";", "\t"),
    ending: fc.constantFrom("\n", "\r\n", "\r"),
    bom: fc.boolean(),
    lastLineEnds: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(file, async ({ records, delimiter, ending, bom, lastLineEnds }) => {
      const write = (cells: string[]) =>
        stringify([cells], { delimiter, record_delimiter: ending, quoted: true });
      let text = (bom ? "\uFEFF" : "") + write(["reference", "name", "description", "images"]);
      let line = 2;
      const expected: string[] = [];
      records.forEach(({ name, description, bad, blankLinesBefore }, index) => {
        text += ending.repeat(blankLinesBefore);
        line += blankLinesBefore;
        if (bad) expected.push(`${line} images invalid_row`);
        const record = write([`R-${index}`, name, description, bad ? "" : "https://cdn.example.com/a.jpg"]);
        text += record;
        line += record.match(/\r\n|\n|\r/g)!.length;
      });
      const checked = await check(lastLineEnds ? text : text.slice(0, -ending.length));
      expect(checked.problems).toEqual(expected);
      expect(checked.total).toBe(records.length);
    }),
    { numRuns: repetitions(40, 3_000) },
  );
});

test("the line of an NDJSON row is its own line", async () => {
  const line = fc.constantFrom("good", "bad", "blank");
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1 }),
      fc.constantFrom("\n", "\r\n"),
      async (lines, ending) => {
        fc.pre(lines.some((kind) => kind !== "blank"));
        const text = lines.map((kind, index) => {
          if (kind === "blank") return "";
          const images = kind === "good" ? [{ url: "https://cdn.example.com/a.jpg" }] : [];
          return JSON.stringify({ reference: `R-${index}`, name: "line\nbreak", images });
        });
        const expected = lines.flatMap((kind, index) =>
          kind === "bad" ? [`${index + 1} images invalid_row`] : [],
        );
        expect((await check(text.join(ending), { name: "a.ndjson" })).problems).toEqual(expected);
      },
    ),
    { numRuns: repetitions(40, 2_000) },
  );
});
