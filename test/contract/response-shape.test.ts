import { describe, expect, test } from "vitest";
import * as z from "zod";
import { readAs } from "../../src/contract/response-shape.ts";
import { passedOnList, reliedOn, toShape } from "../../src/contract/response-values.ts";

const Part = z.looseObject({ id: reliedOn(z.string().regex(/^p\d$/, "must be a part")), size: z.int() });
const Thing = z.looseObject({
  id: reliedOn(z.string()),
  name: z.string(),
  state: reliedOn(z.enum(["new", "used"])).nullable(),
  link: reliedOn(z.url()).optional(),
  parts: reliedOn(z.array(Part)),
  count: reliedOn(z.int().min(1)),
  extras: z.array(Part),
});
const shape = toShape(Thing);
const thing = { id: "a", name: "A", state: "new", parts: [{ id: "p1", size: 2 }], count: 3, extras: [] };

const mismatchOf = (fields: object) => readAs(shape, { ...thing, ...fields }).mismatch;

describe("a value that passes", () => {
  test("is returned itself", () => {
    const given = structuredClone(thing);
    const { value } = readAs(shape, given);
    expect(value).toBe(given);
    expect(value).toEqual(thing);
  });

  test("gets the order of the contract, at each depth, with other fields behind", () => {
    const given = JSON.parse(
      '{"other":1,"count":3,"__proto__":{"x":1},"parts":[{"size":2,"new":0,"id":"p1"}],"state":"used","name":"A","id":"a"}',
    );
    expect(JSON.stringify(readAs(shape, given).value)).toBe(
      '{"id":"a","name":"A","state":"used","parts":[{"id":"p1","size":2,"new":0}],"count":3,"other":1,"__proto__":{"x":1}}',
    );
  });

  test("has null where a nullable field is absent", () => {
    const { state: _, ...given } = thing;
    expect(JSON.stringify(readAs(shape, given).value)).toBe(JSON.stringify({ ...thing, state: null }));
  });

  test("may have anything in the fields that the client does not rely on", () => {
    expect(mismatchOf({ name: 7, extras: [{ id: "x" }, null] })).toBeUndefined();
    const passing = toShape(z.looseObject({ rows: passedOnList(reliedOn(z.array(Part))) }));
    expect(readAs(passing, { rows: [{ id: "x" }] }).mismatch).toBeUndefined();
    expect(readAs(passing, { rows: ["x"] }).mismatch).toEqual({
      path: "rows.0",
      message: "must be an object",
    });
  });
});

test.each([
  [{ id: 7 }, "id", "must be a text"],
  [{ id: undefined }, "id", "is missing"],
  [{ state: "old" }, "state", "must be one of new, used"],
  [{ link: null }, "link", "must be a URL"],
  [{ link: "x" }, "link", "must be a URL"],
  [{ parts: {} }, "parts", "must be a list"],
  [{ parts: [{ id: "p1" }, { id: "q" }] }, "parts.1.id", "must be a part"],
  [{ parts: [[]] }, "parts.0", "must be an object"],
  [{ count: 0 }, "count", "must be at least 1"],
  [{ count: 1.5 }, "count", "must be an integer"],
])("%j is a mismatch", (fields, path, message) => {
  expect(mismatchOf(fields)).toEqual({ path, message });
});

test.each([
  [z.record(z.string(), z.string()), "record"],
  [z.literal("a"), "literal"],
  [z.string().min(1), "string with min_length"],
  [z.string().regex(/^a/).regex(/b$/), "string with string_format with string_format"],
  [z.string().refine((text) => text !== ""), "string with custom"],
  [z.int().max(5), "number with less_than"],
  [z.int().gt(0), "number with greater_than"],
  [z.number(), "number"],
  [z.array(z.string()).min(1), "array with min_length"],
])("a field whose check would be lost cannot be relied on: %#", (field, kind) => {
  expect(() => toShape(z.looseObject({ at: reliedOn(field) }))).toThrow(`a client cannot rely on a ${kind}`);
});
