import fc from "fast-check";
import { expect, test } from "vitest";
import { generationForm } from "../../../src/flows/generate/columns/generation-form.ts";
import { fieldNames } from "../../../src/flows/generate/columns/vocabulary.ts";
import { type Mapping, noMapping, normalValue } from "../../../src/flows/rows/mapped-columns.ts";
import { ObjectFields } from "../../../src/flows/rows/object-fields.ts";
import type { InputProblem } from "../../../src/flows/rows/problem.ts";
import { isFailureColumn, normalHeader } from "../../../src/flows/rows/row-form.ts";

const kind = "tryon";
const fields: readonly string[] = fieldNames[kind];
const formOf = (mapping: Mapping) =>
  generationForm({ kind, matrix: false, allowDuplicates: true, ...mapping });

const isOwn = (title: string) => {
  const name = normalHeader(title);
  return name !== "" && name !== "ignore" && !fields.includes(name) && !isFailureColumn(name);
};
const titles = fc.uniqueArray(fc.string({ maxLength: 12 }).filter(isOwn), {
  selector: normalHeader,
  minLength: fields.length + 1,
  maxLength: fields.length + 1,
});
/** A word of the user, and the value that it stands for. */
const words = fc.uniqueArray(
  fc.tuple(
    fc
      .string({ maxLength: 8 })
      // A cell without the apostrophe that keeps a spreadsheet from running it is another word.
      .filter((from) => normalValue(from) !== "" && !from.includes("|") && !from.trim().startsWith("'")),
    fc.stringMatching(/^[a-z]{1,8}$/),
  ),
  { selector: ([from]) => normalValue(from), minLength: fields.length, maxLength: fields.length },
);

test("a file with other columns and words is read as the file with those of the service", () => {
  fc.assert(
    fc.property(titles, words, (names, pairs) => {
      const [own, ...header] = names as [string, ...string[]];
      const mapping: Mapping = {
        map: new Map([
          [normalHeader(own), "ignore"],
          ...header.map((title, at) => [normalHeader(title), fields[at]!] as const),
        ]),
        values: new Map(pairs.map(([from, to], at) => [fields[at]!, new Map([[normalValue(from), to]])])),
      };
      const problems: InputProblem[] = [];
      const mapped = formOf(mapping);
      const row = mapped
        .columns([own, ...header], 1, (problem) => problems.push(problem))
        .toRow(["anything", ...pairs.map(([from]) => ` ${from.toUpperCase().toLowerCase()} `)]);
      const expected = formOf(noMapping)
        .columns(fields, 1, () => {})
        .toRow(pairs.map(([, to]) => to));
      expect({ row, problems }).toEqual({ row: expected, problems: [] });
      const object = Object.fromEntries([
        [own, { any: "thing" }] as const,
        ...header.map((title, at) => [title, pairs[at]![0]] as const),
      ]);
      const read = new ObjectFields(mapped.objects!);
      expect(mapped.fromObject(read.read(object, 1).row)).toEqual(expected);
      expect(read.unknown.size).toBe(0);
    }),
  );
});
