import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRow, toCells } from "../../../src/flows/generate/columns/read-row.ts";

const tryon = { kind: "tryon", matrix: true } as const;
const values = <Value extends string>(...known: Value[]) =>
  fc.uniqueArray(fc.constantFrom(...known), { minLength: 1, maxLength: known.length });

const rows = fc.record({
  product_reference: values("A-1", "B-2", "C 3"),
  model_id: values("Amara", "mdl_002", "Zoë"),
  background: values("white", "studio", "#f4f1ea"),
  angle_shot: values("full-front", "close-up", "custom-hero"),
});

const joined = (row: Record<string, readonly string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(row).map(([field, some]) => [field, some.join(" | ")]));

test("a row expands to every combination of its values, each once", () => {
  fc.assert(
    fc.property(rows, (row) => {
      const { generations, problems } = readRow(joined(row), tryon);
      expect(problems).toEqual([]);
      const found = generations.map(({ productReference, model, background, angleShot }) =>
        JSON.stringify([productReference, model, background, angleShot]),
      );
      const expected = row.product_reference.flatMap((product) =>
        row.model_id.flatMap((model) =>
          row.background.flatMap((background) =>
            row.angle_shot.map((angle) => JSON.stringify([product, model, background, angle])),
          ),
        ),
      );
      expect(found).toEqual(expected);
      expect(generations.map(({ combination }) => combination)).toEqual(expected.map((_, at) => at));
    }),
  );
});

test("the cells of a combination read as that combination alone, with --matrix or without", () => {
  fc.assert(
    fc.property(rows, fc.boolean(), (row, matrix) => {
      for (const one of readRow(joined(row), tryon).generations) {
        const [again, ...others] = readRow(toCells(one), { kind: "tryon", matrix }).generations;
        expect(others).toEqual([]);
        expect(again).toEqual({ ...one, combination: 0 });
      }
    }),
  );
});

test("any JSON value is read or has a problem, and never throws", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom("tryon", "beautify"), fc.boolean(), (value, kind, matrix) => {
      const { generations, problems } = readRow(value, { kind, matrix } as typeof tryon);
      expect(generations.length === 0).toBe(problems.length > 0);
    }),
  );
});

describe("a row is rejected", () => {
  const row = { product_reference: "A", model_id: "M", background: "white", angle_shot: "full-front" };
  test.for([
    [
      { ...row, styling_product_ids: Array(11).fill("B").join("|") },
      "styling_product_ids has 11 products; the limit is 10",
    ],
    [{ ...row, styling_product_ids: "B|A" }, 'styling_product_ids contains the main product "A": remove it'],
    [{ ...row, look_at_camera: "maybe" }, 'look_at_camera must be true or false, not "maybe"'],
    [{ ...row, product_id: "x" }, 'product_id must be a product ID (26 characters), not "x"'],
    [{ ...row, style: "ghost" }, "style is not a field of a try-on"],
    [{ ...row, background: 5 }, "background must be text, not a number"],
    [{ ...row, product_reference: ["A"] }, "product_reference must be text, not a list"],
    [null, "a row must be a JSON object, not null"],
    [{ ...row, model_id: " " }, "model_id is missing"],
    [
      {
        ...row,
        product_reference: Array.from({ length: 101 }, (_, at) => `P${at}`).join("|"),
        model_id: Array.from({ length: 100 }, (_, at) => `M${at}`).join("|"),
      },
      "the row expands to 10100 combinations; the limit is 10000: split it into several rows",
    ],
  ] as const)("%j", ([value, message]) => {
    expect(readRow(value, tryon).problems.map((problem) => problem.message)).toEqual([message]);
  });
});
