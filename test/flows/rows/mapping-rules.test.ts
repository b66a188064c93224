import { expect, test } from "vitest";
import { readMapFlags } from "../../../src/cli/mapping/map-flags.ts";
import { importVocabulary } from "../../../src/flows/import/columns.ts";
import { normalValue, valuesOfColumn } from "../../../src/flows/rows/mapped-columns.ts";

test("the mapping of values compares values without case, surrounding space and kinds of apostrophes", () => {
  expect(normalValue(" Women’s ")).toBe(normalValue("women's"));
});

test("a value of a column wins over that of its field", () => {
  const values = new Map([
    ["sex", new Map([["d", "female"]])],
    ["gender", new Map([["d", "kid"]])],
  ]);
  expect(valuesOfColumn("Gender", "sex", values, importVocabulary)?.get("d")).toBe("kid");
  expect(valuesOfColumn("Other", "sex", values, importVocabulary)?.get("d")).toBe("female");
});

test.each([
  [{ mapValue: ["sex:D=female", "sex:d=kid"] }, 'the value "d" is mapped twice'],
  [{ map: ["SKU=reference", "sku=name"] }, 'the column "sku" is mapped twice'],
  [{ map: ["SKU=error_code"] }, 'unknown field "error_code"'],
])("the mapping of values rejects the flags %j", (flags, message) => {
  expect(() => readMapFlags(flags, importVocabulary)).toThrow(message);
});
