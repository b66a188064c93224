import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replay } from "../../../../../src/flows/export/sync/index/journal.ts";
import { keyOf, type MirrorEntry } from "../../../../../src/flows/export/sync/index/mirror-entry.ts";
import { MirrorIndex } from "../../../../../src/flows/export/sync/index/mirror-index.ts";
import { idOf } from "../fake-catalogue.ts";
import { entryWith, fileOf, mirrorIndexOf } from "../index-of.ts";

const written = (index: MirrorIndex): Buffer => Buffer.concat([...index.content()]);

const entry = fc
  .record({
    product: fc.nat(6),
    asset: fc.nat(4),
    bytes: fc.nat(9),
    removed: fc.boolean(),
    name: fc.string(),
  })
  .map(({ removed, ...fields }) => entryWith({ ...fields, ...(removed && { removed }) }));
const change = fc.oneof(fc.record({ set: entry }), fc.record({ drop: fc.tuple(fc.nat(6), fc.nat(4)) }));

test("an index behaves like a sorted list of entries, whatever is set and dropped", () => {
  fc.assert(
    fc.property(fc.array(entry), fc.array(change), fc.nat(4), (before, changes, mostOpen) => {
      const index = MirrorIndex.read("catalogue.ndjson", fileOf(before), mostOpen);
      const model = new Map<string, MirrorEntry>(before.map((one) => [keyOf(one), one]));
      for (const one of changes) {
        if ("set" in one) {
          index.set(one.set);
          model.set(keyOf(one.set), one.set);
        } else {
          const [product_id, asset_id] = one.drop.map(idOf) as [string, string];
          index.drop(product_id, asset_id);
          model.delete(keyOf({ product_id, asset_id }));
        }
      }
      const expected = [...model.keys()].sort().map((key) => model.get(key)!);
      expect([...index.entries()]).toEqual(expected);
      expect([...index.removed()]).toEqual(expected.filter(({ removed }) => removed));
      expect(index.present).toBe(expected.filter(({ removed }) => !removed).length);
      expect(written(index)).toEqual(fileOf(expected));
      for (const { product_id, asset_id } of before)
        expect(index.get(product_id, asset_id)).toEqual(model.get(keyOf({ product_id, asset_id })) ?? null);
    }),
  );
});

describe("a file that is not an index", () => {
  const lines = [entryWith({ product: 1, asset: 1 }), entryWith({ product: 2, asset: 1 })].map((one) =>
    fileOf([one]).toString(),
  );
  test.for([
    ["an incomplete last line", `${lines[0]}${lines[1]!.slice(0, -1)}`, 2],
    ["an incomplete line", `${lines[0]!.slice(0, 10)}\n`, 1],
    ["another order", `${lines[1]}${lines[0]}`, 2],
    ["an empty line", `${lines[0]}\n${lines[1]}`, 2],
    ["other JSON", '{"a":1}\n', 1],
  ] as const)("is rejected with the line: %s", ([, text, line]) => {
    expect(() => MirrorIndex.read("images/catalogue.ndjson", Buffer.from(text))).toThrow(
      expect.objectContaining({
        message: `images/catalogue.ndjson:${line} is not a line of an index`,
        type: "input",
        code: "invalid_index",
      }),
    );
  });

  test("is rejected when a damaged line is used", () => {
    const index = MirrorIndex.read(
      "catalogue.ndjson",
      Buffer.from(`${lines[0]}${lines[1]!.slice(0, -3)}"}\n`),
    );
    expect(() => [...index.entries()]).toThrow("catalogue.ndjson:2 is not a line of an index");
  });
});

describe("the journal of a stopped run", () => {
  const [one, other] = [entryWith({ product: 1, asset: 1 }), entryWith({ product: 2, asset: 2 })];
  const begun = entryWith({ product: 3, asset: 3 });
  const lines = (...steps: unknown[]) => steps.map((step) => `${JSON.stringify(step)}\n`).join("");

  async function* inParts(steps: string) {
    const bytes = Buffer.from(steps);
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  }

  test("adds and drops entries, and lists what was begun", async () => {
    const index = mirrorIndexOf([one]);
    const steps = lines(
      ["put", other],
      ["entry", other],
      ["put", begun],
      ["drop", one.product_id, one.asset_id],
    );
    expect(await replay(inParts(steps), index)).toEqual({
      ...{ begun: [begun], moves: [], isCut: false },
      products: new Set([other.product_id]),
    });
    expect([...index.entries()]).toEqual([other]);
  });

  test("lists moves without an end", async () => {
    const index = mirrorIndexOf([one]);
    const moved = { ...other, path: "there.jpg" };
    const steps = lines(["move", other.path, "there.jpg"], ["entry", moved], ["move", one.path, "b.jpg"]);
    expect((await replay(inParts(steps), index)).moves).toEqual([{ from: one.path, to: "b.jpg" }]);
  });

  test("may be cut short anywhere, and resumed", async () => {
    const steps = lines(["put", one], ["entry", one]);
    for (let length = 0; length < steps.length; length++) {
      const index = mirrorIndexOf([]);
      const found = await replay(
        inParts(`${steps.slice(0, length)}\n${lines(["entry", other])}["ent`),
        index,
      );
      expect(found.isCut).toBe(true);
      expect([...index.entries()].at(-1)).toEqual(other);
    }
  });
});
