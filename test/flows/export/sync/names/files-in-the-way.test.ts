import { describe, expect, test } from "vitest";
import { mirrorFiles, toShard } from "../../../../../src/flows/export/sync/mirror-state.ts";
import { CaselessFiles, StoredFiles } from "../memory-store.ts";
import { mirrorWorld, tree } from "../mirror-world.ts";

const template = "{reference}{ext}";
const mine = Buffer.from("mine");

/** A mirror of products with a photo each, after its first run. */
async function mirrorOf(references: readonly string[], stored = new StoredFiles()) {
  const world = mirrorWorld();
  const products = references.map((reference) => world.catalogue.add(reference, ["source"]));
  const run = async (input: object = {}, options: object = {}) => {
    const { summary, stopped } = await world.run(stored, { template, ...input }, options);
    if (stopped !== undefined) throw stopped;
    world.clock.advance(600_000);
    return summary;
  };
  await run();
  const rename = (at: number, reference: string) => {
    products[at]!.reference = reference;
    world.catalogue.touch(products[at]!);
  };
  /** The lines of the index. */
  const lines = (index = "catalogue.ndjson") =>
    String(stored.files.get(index))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { path: string; asset_id: string; damaged?: true });
  return { ...world, products, stored, run, rename, lines };
}

const imageOf = (products: readonly { assets: readonly { id: string }[] }[], at: number) =>
  products[at]!.assets[0]!.id;

describe("a rename never replaces a file", () => {
  test("of the user, whose name differs from the earlier one by case alone", async () => {
    const { stored, run, rename, products } = await mirrorOf(["Dress"]);
    stored.files.set("dress.jpg", mine);
    rename(0, "dress");
    expect(await run()).toMatchObject({ renamed: 1, failed: 0 });
    expect(Object.keys(tree(stored))).toEqual([
      "catalogue.ndjson",
      `dress-${imageOf(products, 0)}.jpg`,
      "dress.jpg",
    ]);
    expect(stored.files.get("dress.jpg")).toBe(mine);
  });

  test("and changes the case of a name, also on a disk that ignores case", async () => {
    for (const stored of [new StoredFiles(), new StoredFiles(new CaselessFiles())]) {
      const { run, rename } = await mirrorOf(["Dress", "Coat"], stored);
      rename(0, "dress");
      expect(await run()).toMatchObject({ renamed: 1, failed: 0, unchanged: 1 });
      expect(Object.keys(tree(stored))).toEqual(["Coat.jpg", "catalogue.ndjson", "dress.jpg"]);
    }
  });

  test("that the user creates at the last moment", async () => {
    const { stored, run, rename, products } = await mirrorOf(["A", "B"]);
    rename(0, "NEW");
    rename(1, "A");
    const onChange = (change: string) => {
      if (change === "rename A.jpg NEW.jpg") stored.files.set("NEW.jpg", mine);
    };
    expect(await run({}, { onChange })).toMatchObject({ renamed: 2, failed: 0 });
    expect(stored.files.get("NEW.jpg")).toBe(mine);
    expect(Object.keys(tree(stored))).toEqual([
      "A.jpg",
      `NEW-${imageOf(products, 0)}.jpg`,
      "NEW.jpg",
      "catalogue.ndjson",
    ]);
  });
});

describe("a file that is missing when it is to be renamed", () => {
  test("keeps its line, and no other image gets its name; the next run downloads it", async () => {
    const { stored, run, rename, lines, products } = await mirrorOf(["R1", "R2"]);
    stored.files.delete("R2.jpg");
    rename(1, "R3");
    rename(0, "R2");
    expect(await run()).toMatchObject({ failed: 1, failures: [{ code: "missing_file" }] });
    expect(lines()).toMatchObject([
      { path: `R2-${imageOf(products, 0)}.jpg` },
      { path: "R2.jpg", damaged: true },
    ]);
    expect(await run()).toMatchObject({ changed: 1, failed: 0 });
    expect(lines().map(({ path, damaged }) => ({ path, damaged }))).toEqual([
      { path: "R2.jpg", damaged: undefined },
      { path: "R3.jpg", damaged: undefined },
    ]);
    expect(await run({ verify: true })).toMatchObject({ changed: 0, unchanged: 2 });
  });

  test("that two lines of an old index share is downloaded to a name of its own", async () => {
    const { stored, run, lines } = await mirrorOf(["R1", "R2"]);
    const index = String(stored.files.get("catalogue.ndjson"));
    stored.files.set("catalogue.ndjson", Buffer.from(index.replace('"path":"R2.jpg"', '"path":"R1.jpg"')));
    stored.databases.clear();
    expect(await run({ verify: true })).toMatchObject({ changed: 1, failed: 0 });
    expect(new Set(lines().map(({ path }) => path)).size).toBe(2);
    expect(await run({ verify: true })).toMatchObject({ changed: 0, failed: 0, unchanged: 2 });
  });
});

describe("a repair that fails", () => {
  test("is tried again by the next run, without --verify", async () => {
    const { stored, run, lines, catalogue, products } = await mirrorOf(["A", "B"]);
    const before = tree(stored);
    stored.files.set("A.jpg", Buffer.from("damaged"));
    catalogue.failing = new Set([imageOf(products, 0)]);
    expect(await run({ verify: true })).toMatchObject({ failed: 1, unchanged: 1 });
    expect(lines()[0]).toMatchObject({ path: "A.jpg", damaged: true });
    expect(await run()).toMatchObject({ failed: 1, unchanged: 1 });
    catalogue.failing = new Set();
    expect(await run()).toMatchObject({ changed: 1, failed: 0, unchanged: 1 });
    expect(tree(stored)).toEqual(before);
  });
});

describe("shards in one folder", () => {
  /** Two products of different shards. */
  const pair = () => {
    const world = mirrorWorld();
    const products = Array.from({ length: 12 }, (_, at) => world.catalogue.add(`R${at}`, []));
    const ofShard = (number: number) => products.find(({ id }) => toShard(id, 2) === number)!;
    return { ...world, ofShard };
  };

  test("keep their images apart, also after files were lost and repaired in turn", async () => {
    const { catalogue, run, clock, ofShard, newMirror } = pair();
    for (const number of [1, 2]) {
      ofShard(number).reference = "SAME";
      catalogue.attach(ofShard(number), "source");
    }
    const stored = newMirror();
    const verify = async (number: number) => {
      const shard = { number, of: 2 };
      const { summary } = await run(stored, { template, shard, verify: true, full: true });
      clock.advance(600_000);
      return summary;
    };
    await verify(1);
    await verify(2);
    stored.files.delete("SAME.jpg");
    // The second shard does not take the name that the index of the first one has.
    catalogue.touch(ofShard(2));
    ofShard(2).assets[0]!.edits++;
    await verify(2);
    expect(stored.files.has("SAME.jpg")).toBe(false);
    expect(await verify(1)).toMatchObject({ changed: 1, failed: 0 });
    for (const number of [1, 2])
      expect(await verify(number)).toMatchObject({ changed: 0, failed: 0, unchanged: 1 });
    const images = Object.values(tree(stored)).filter((content) => content.startsWith("\u00ff"));
    expect(new Set(images).size).toBe(2);
  });

  test("part if both indexes have the same file", async () => {
    const { catalogue, run, clock, ofShard, newMirror } = pair();
    for (const number of [1, 2]) catalogue.attach(ofShard(number), "source");
    const stored = newMirror();
    const verify = async (number: number) => {
      const { summary } = await run(stored, { template, shard: { number, of: 2 }, verify: true });
      clock.advance(600_000);
      return summary;
    };
    await verify(1);
    await verify(2);
    const { index } = mirrorFiles({ number: 2, of: 2 });
    const path = `${ofShard(1).reference}.jpg`;
    const text = String(stored.files.get(index));
    stored.files.set(index, Buffer.from(text.replace(/"path":"[^"]*"/, `"path":"${path}"`)));
    stored.databases.clear();
    expect(await verify(2)).toMatchObject({ changed: 1, failed: 0 });
    for (const number of [1, 2]) expect(await verify(number)).toMatchObject({ changed: 0, unchanged: 1 });
  });
});

test("a file that a kill left parked gets its name, also if its image was removed since", async () => {
  const { stored, run, products } = await mirrorOf(["A"]);
  products[0]!.assets = [];
  const parked = ".catalogue-sync/all/parked/x";
  stored.files.set(parked, stored.files.get("A.jpg")!);
  stored.files.delete("A.jpg");
  const [line] = String(stored.files.get("catalogue.ndjson")).trim().split("\n");
  const entry = { ...JSON.parse(line!), path: parked, removed: true };
  const table = stored.databases.get(".catalogue-sync/all/index.db")!;
  const change = "UPDATE entry SET is_removed = 1, is_fresh = 1, folded_path = ?, line = ?";
  table.statement(change).run(parked, JSON.stringify(entry));
  table.execute("UPDATE file SET is_ahead = 1");
  await run({ full: true });
  expect([...stored.files.keys()].filter((path) => path.includes("parked"))).toEqual([]);
  expect(stored.files.has("A.jpg")).toBe(true);
});

describe("a file that the user has put in place of one of the mirror stays", () => {
  test("when its image was removed from the catalogue, with --delete", async () => {
    const { stored, run, products, catalogue } = await mirrorOf(["A", "B", "C"]);
    products[0]!.assets = [];
    catalogue.touch(products[0]!);
    await run();
    stored.files.set("A.jpg", mine);
    expect(await run({ delete: true })).toMatchObject({ removed: 0, failed: 0 });
    expect(Object.keys(tree(stored))).toEqual(["A.jpg", "B.jpg", "C.jpg", "catalogue.ndjson"]);
    expect(stored.files.get("A.jpg")).toBe(mine);
  });

  test("when its product gets another reference", async () => {
    const { stored, run, rename } = await mirrorOf(["A"]);
    stored.files.set("A.jpg", mine);
    rename(0, "Z");
    for (let again = 0; again < 2; again++) {
      expect(await run()).toMatchObject({ renamed: 0, failed: 1 - again });
      expect(stored.files.get("A.jpg")).toBe(mine);
    }
    expect(await run({ verify: true })).toMatchObject({ changed: 1, failed: 0 });
    expect(Object.keys(tree(stored))).toEqual(["Z.jpg", "catalogue.ndjson"]);
  });

  test("when its image is edited", async () => {
    const { stored, run, products, catalogue } = await mirrorOf(["A"]);
    stored.files.set("A.jpg", mine);
    products[0]!.assets[0]!.edits++;
    catalogue.touch(products[0]!);
    expect(await run()).toMatchObject({ changed: 1, failed: 0 });
    const [image] = Object.keys(tree(stored));
    expect([image, stored.files.get("A.jpg")]).toEqual([`A-${imageOf(products, 0)}.jpg`, mine]);
  });
});
