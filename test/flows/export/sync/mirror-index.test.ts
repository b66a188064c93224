import fc from "fast-check";
import { expect, test } from "vitest";
import { type MirrorEntry, toEntryKey } from "../../../../src/flows/export/sync/mirror-entry.ts";
import { MirrorIndex } from "../../../../src/flows/export/sync/mirror-index.ts";
import { idOf } from "./fake-catalogue.ts";
import { connect, entryWith, fileOf, mirrorIndexOf } from "./index-of.ts";

const entry = fc
  .record({
    product: fc.nat(6),
    asset: fc.nat(4),
    bytes: fc.nat(9),
    removed: fc.boolean(),
    name: fc.string(),
    sex: fc.constant(null),
  })
  .map(({ removed, ...fields }) => entryWith({ ...fields, ...(removed && { removed }) }));
const change = fc.oneof(fc.record({ set: entry }), fc.record({ drop: fc.tuple(fc.nat(6), fc.nat(4)) }));

test("an index behaves like a sorted list of entries, whatever is set and dropped", () => {
  fc.assert(
    fc.property(fc.array(entry), fc.array(change), (before, changes) => {
      const index = mirrorIndexOf(before);
      const model = new Map<string, MirrorEntry>(before.map((entry) => [toEntryKey(entry), entry]));
      for (const change of changes) {
        if ("set" in change) {
          index.set(change.set);
          model.set(toEntryKey(change.set), change.set);
        } else {
          const [product_id, asset_id] = change.drop.map(idOf) as [string, string];
          index.drop({ product_id, asset_id });
          model.delete(toEntryKey({ product_id, asset_id }));
        }
      }
      const expected = [...model.keys()].sort().map((key) => model.get(key)!);
      const current = expected.filter(({ removed }) => !removed);
      const products = (current.length > 0 ? current : expected).map(({ product_id }) => product_id);
      expect([...index.entries()]).toEqual(expected);
      expect([...index.entries("removed")]).toEqual(expected.filter(({ removed }) => removed));
      expect(index.products()).toEqual([...new Set(expected.map(({ product_id }) => product_id))]);
      expect(index.outermostProducts()).toEqual([...new Set([products.at(-1), products[0]])].filter(Boolean));
      expect([index.size, index.present]).toEqual([expected.length, current.length]);
      expect(Buffer.concat([...index.content()])).toEqual(fileOf(expected));
      for (const entry of before) expect(index.get(entry)).toEqual(model.get(toEntryKey(entry)) ?? null);
    }),
  );
});

test("an index keeps its changes again, after SQLite has rolled back those of a full disk", () => {
  const db = connect(null);
  let isFull = false;
  const statement: typeof db.statement = (sql) => {
    const own = db.statement<never>(sql);
    const run = (...values: Parameters<typeof own.run>) => {
      if (sql !== "COMMIT" || !isFull) return own.run(...values);
      db.execute("ROLLBACK");
      throw new Error("disk full");
    };
    return { ...own, run };
  };
  const index = MirrorIndex.open({ ...db, statement })!;
  const [first, second] = [1, 2].map((product) => entryWith({ product, asset: 1 }));
  isFull = true;
  expect(() => index.willPlace([first!])).toThrow("disk full");
  isFull = false;
  index.willPlace([second!]);
  expect(index.unconfirmed()).toEqual([second]);
  expect(db.statement("SELECT count(*) FROM placed").get()).toEqual([1]);
});
