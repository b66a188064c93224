import { describe, expect, test } from "vitest";
import { CsvCells } from "../../../src/flows/import/cells.ts";
import { parseColumn } from "../../../src/flows/import/columns.ts";
import {
  type Before,
  type DecideOptions,
  decide,
  type RowDecision,
  type RowFacts,
} from "../../../src/flows/import/decide.ts";
import { type ComparisonResult, distinctPhotos } from "../../../src/flows/import/decide-photos.ts";
import { FieldDigests, type FieldValues, sourceDigest } from "../../../src/flows/import/digests.ts";
import type { FileRow } from "../../../src/flows/import/file-row.ts";
import { KnownProduct, type ReadProduct } from "../../../src/flows/import/known-product.ts";
import { exportedValue, readExported, withDigests } from "../../../src/flows/import/said.ts";

const url = (name: string) => `https://cdn.example.com/${name}.jpg`;

/** A row of a CSV file; photos are named by a word. */
function rowOf(cells: Record<string, string>): FileRow {
  const all = { reference: "A", name: "Dress", ...cells };
  const header = Object.keys(all);
  const columns = new CsvCells(
    header.map((name) => parseColumn(name)),
    header,
  );
  const isPhoto = (name: string) => name.startsWith("image") && !name.endsWith("orientation");
  const record = Object.entries(all).map(([name, value]) =>
    isPhoto(name) && value !== "" ? value.split("|").map(url).join("|") : value,
  );
  return columns.toRow(record) as unknown as FileRow;
}

const weighed = (row: FileRow) =>
  withDigests(
    row,
    async (path) => path,
    () => undefined,
  );

/** A product of the service: images as `ID SIDE ORIGIN`, and what the ledger knows of them as `word ID`. */
function productOf(
  { images = [], ...fields }: Partial<Omit<ReadProduct, "images">> & { images?: string[] },
  known: string[] = [],
): KnownProduct {
  const read = {
    ...{ id: "P", name: "Dress", description: null, sex: null, ...fields },
    images: images.map((text) => {
      const [id = "", side = "unlabeled", origin = "user"] = text.split(" ");
      return { id, side, origin };
    }),
  };
  const photos = known.map((text) => {
    const [word = "", image = null] = text.split(" ");
    return { source: sourceDigest({ url: url(word) }), image };
  });
  return new KnownProduct("P", read, { reference: "A", productId: "P", fields: Buffer.alloc(24), photos });
}

interface Case {
  now: Record<string, string>;
  before?: Record<string, string> | null;
  isExported?: boolean;
  product: KnownProduct | null;
  compared?: ComparisonResult;
  options?: Partial<DecideOptions>;
  facts?: Partial<RowFacts>;
}

async function decided({
  now,
  before = null,
  isExported = false,
  product,
  compared,
  options,
  facts,
}: Case): Promise<RowDecision> {
  const row = await weighed(rowOf(now));
  const said: Before | null =
    before === null
      ? null
      : { said: (await weighed(rowOf(before))).cells.said, productId: "P", isOf: (id) => id === "P" };
  return decide(
    row,
    {
      ...{
        before: said,
        isExported,
        mayBePartial: false,
        renamedFrom: undefined,
        renamedTo: null,
        lookalike: null,
        overtaken: undefined,
        known: product,
        earlierConflict: undefined,
      },
      findCompared: () => compared,
      ...facts,
    },
    { mode: "upsert", onImageError: "skip", photos: "new", ...options },
  );
}

/** A decision in short. */
function short(decision: RowDecision): object {
  const { notApplied } = decision;
  const left =
    notApplied === undefined ? {} : { emptied: notApplied.emptied, removed: notApplied.removed.length };
  if (decision.kind === "conflict") return { kind: decision.code };
  if (decision.kind !== "send" && decision.kind !== "change") return { kind: decision.kind, ...left };
  const { fields, move, detach } = decision.edits;
  const some = (name: string, value: object) => (Object.keys(value).length === 0 ? {} : { [name]: value });
  return {
    kind: decision.kind,
    ...left,
    ...some("fields", fields),
    ...some(
      "move",
      move.map(({ image, side }) => `${image} ${side}`),
    ),
    ...some(
      "detach",
      detach.map(({ image, why }) => `${image} ${why}`),
    ),
    ...(decision.kind === "send" && {
      attach: decision.images.map((image) => image.url!.slice(24, -4)),
      name: decision.row.name,
      ...(decision.row.description !== undefined && { description: decision.row.description }),
    }),
  };
}

/** A product that was not read: the digests of its fields alone are known. */
const unreadProduct = (fields: FieldValues) =>
  new KnownProduct("P", null, {
    reference: "A",
    productId: "P",
    fields: FieldDigests.of(fields).bytes,
    photos: [],
  });

const own = { image_front: "f" };
const known = ["f F"];
const images = ["F front"];

describe("the fields of a row are decided as in merge.md:", () => {
  const said = { description: "long", ...own };
  const at = (fields: Partial<ReadProduct> = {}) =>
    productOf({ description: "long", ...fields, images } as never, known);
  test.each<[string, Case, object]>([
    ["not edited, as the service", { now: said, before: said, product: at() }, { kind: "unchanged" }],
    [
      "not edited, other at the service",
      { now: said, before: said, product: at({ description: "other" }) },
      { kind: "kept" },
    ],
    [
      "edited",
      { now: { ...said, description: "new" }, before: said, product: at() },
      { kind: "change", fields: { description: "new" } },
    ],
    [
      "edited, before unknown",
      { now: { ...said, description: "new" }, product: at() },
      { kind: "change", fields: { description: "new" } },
    ],
    [
      "edited to the value of the service",
      { now: { ...said, description: "new" }, before: said, product: at({ description: "new" }) },
      { kind: "unchanged" },
    ],
    [
      "edited, and changed to something else",
      { now: { ...said, description: "new" }, before: said, product: at({ description: "other" }) },
      { kind: "changed_since" },
    ],
    [
      "the same with --conflicts service",
      {
        ...{ now: { ...said, description: "new" }, before: said, product: at({ description: "other" }) },
        options: { conflicts: "service" },
      },
      { kind: "kept" },
    ],
    [
      "the same with --conflicts sheet",
      {
        ...{ now: { ...said, description: "new" }, before: said, product: at({ description: "other" }) },
        options: { conflicts: "sheet" },
      },
      { kind: "change", fields: { description: "new" } },
    ],
    [
      "emptied in an exported sheet",
      { now: { ...said, description: "" }, before: said, isExported: true, product: at() },
      { kind: "change", fields: { description: null } },
    ],
    [
      "emptied in an exported sheet, changed since",
      {
        ...{ now: { ...said, description: "" }, before: said, isExported: true },
        product: at({ description: "other" }),
      },
      { kind: "changed_since" },
    ],
    [
      "emptied in a plain sheet",
      { now: { ...said, description: "" }, before: said, product: at() },
      { kind: "unchanged", emptied: ["description"], removed: 0 },
    ],
    [
      "emptied in a plain sheet, with --exact",
      { now: { ...said, description: "" }, before: said, product: at(), options: { exact: true } },
      { kind: "change", fields: { description: null } },
    ],
    ["empty, before unknown", { now: { ...said, description: "" }, product: at() }, { kind: "unchanged" }],
    [
      "column absent",
      { now: own, before: said, product: at({ description: "other" }) },
      { kind: "unchanged" },
    ],
    [
      "changed by others, with --exact",
      { now: said, before: said, product: at({ description: "other" }), options: { exact: true } },
      { kind: "change", fields: { description: "long" } },
    ],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });
});

describe("the photos of a row are decided as in merge.md:", () => {
  const two = { image_front: "f", image_back: "b" };
  const both = productOf({ images: ["F front", "B back"] }, ["f F", "b B"]);
  const many = { image_1: "a", image_2: "b", image_3: "c" };
  const three = productOf({ images: ["A", "B", "C"] }, ["a A", "b B", "c C"]);
  test.each<[string, Case, object]>([
    ["not edited", { now: two, before: two, product: both }, { kind: "unchanged" }],
    [
      "not edited, lost by the product",
      { now: two, before: two, product: productOf({ images: ["F front"] }, ["f F", "b B"]) },
      { kind: "kept" },
    ],
    [
      "not edited, others attached to the product of an exported row",
      {
        ...{ now: two, before: two, isExported: true },
        product: productOf({ images: ["F front", "B back", "X"] }, ["f F", "b B"]),
      },
      { kind: "kept" },
    ],
    [
      "a new source in a place that was empty",
      {
        now: two,
        before: { image_front: "f", image_back: "" },
        product: productOf({ images: ["F front"] }, ["f F"]),
      },
      { kind: "send", attach: ["b"], name: "Dress" },
    ],
    [
      "the same, which the product has",
      { now: two, before: { image_front: "f", image_back: "" }, product: both },
      { kind: "unchanged" },
    ],
    [
      "the same, which the product has with another side",
      {
        ...{ now: two, before: { image_front: "f", image_back: "" } },
        product: productOf({ images: ["F front", "B detail"] }, ["f F", "b B"]),
      },
      { kind: "change", move: ["B back"] },
    ],
    [
      "replaced",
      { now: { ...two, image_front: "n" }, before: two, product: both },
      { kind: "send", attach: ["n"], detach: ["F replaced"], name: "Dress" },
    ],
    [
      "replaced, and lost before",
      {
        ...{ now: { ...two, image_front: "n" }, before: two },
        product: productOf({ images: ["B back"] }, ["f F", "b B"]),
      },
      { kind: "send", attach: ["n"], name: "Dress" },
    ],
    [
      "moved: front and back swapped",
      { now: { image_front: "b", image_back: "f" }, before: two, product: both },
      { kind: "change", move: ["B front", "F back"] },
    ],
    [
      "moved to the place of another one, which is replaced",
      { now: { image_front: "b", image_back: "" }, before: two, product: both },
      { kind: "change", move: ["B front"], detach: ["F replaced"] },
    ],
    [
      "emptied in an exported sheet",
      { now: { ...two, image_back: "" }, before: two, isExported: true, product: both },
      { kind: "change", detach: ["B removed"] },
    ],
    [
      "emptied in a plain sheet",
      { now: { ...two, image_back: "" }, before: two, product: both },
      { kind: "unchanged", emptied: [], removed: 1 },
    ],
    [
      "emptied in a plain sheet, with --exact",
      { now: { ...two, image_back: "" }, before: two, product: both, options: { exact: true } },
      { kind: "change", detach: ["B removed"] },
    ],
    [
      "numbers in another order",
      { now: { image_1: "c", image_2: "a", image_3: "b" }, before: many, product: three },
      { kind: "unchanged" },
    ],
    [
      "numbers with a gap closed: the photo whose place has another one is replaced",
      { now: { image_1: "a", image_2: "c", image_3: "" }, before: many, product: three },
      { kind: "change", detach: ["B replaced"] },
    ],
    [
      "entries of images are added and removed, never replaced",
      {
        ...{ now: { images: "a|n" }, before: { images: "a|b" }, isExported: true },
        product: productOf({ images: ["A", "B"] }, ["a A", "b B"]),
      },
      { kind: "send", attach: ["n"], detach: ["B removed"], name: "Dress" },
    ],
    [
      "the same source three times is one photo",
      { now: { image_1: "n", image_2: "n", image_3: "n" }, product: productOf({ images: [] }) },
      { kind: "send", attach: ["n"], name: "Dress" },
    ],
    [
      "the last photo",
      {
        ...{ now: { image_front: "", image_back: "" }, before: own, isExported: true },
        product: productOf({ images }, known),
      },
      { kind: "last_photo" },
    ],
    ["column absent", { now: {}, before: two, product: both }, { kind: "unchanged" }],
    ["unknown, not compared yet", { now: own, product: productOf({ images }) }, { kind: "uncompared" }],
    [
      "unknown, with other bytes and a free side",
      { now: own, product: productOf({ images: ["X back"] }), compared: "different" },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    [
      "unknown, with other bytes and its side taken",
      { now: own, product: productOf({ images }), compared: "different" },
      { kind: "photo_exists" },
    ],
    [
      "brought by another sheet, and not compared yet, with its side taken",
      { now: own, product: productOf({ images: ["X front"] }, ["x X"]) },
      { kind: "uncompared" },
    ],
    [
      "brought by another sheet, with other bytes and its side taken",
      { now: own, product: productOf({ images: ["X front"] }, ["x X"]), compared: "different" },
      { kind: "photo_exists" },
    ],
    [
      "brought by another sheet, with a free side",
      { now: own, product: productOf({ images: ["X back"] }, ["x X"]) },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    [
      "unknown, and not to be fetched",
      { now: own, product: productOf({ images }), compared: "unfetchable" },
      { kind: "photo_unknown" },
    ],
    [
      "unknown, with --exact",
      {
        now: own,
        product: productOf({ images: ["X front", "Y"] }),
        compared: "different",
        options: { exact: true },
      },
      { kind: "send", attach: ["f"], detach: ["X replaced", "Y removed"], name: "Dress" },
    ],
    [
      "with other bytes and its side taken, with --conflicts sheet",
      {
        ...{ now: own, product: productOf({ images: ["X front", "Y back"] }, ["x X"]) },
        ...{ compared: "different", options: { conflicts: "sheet" } },
      },
      { kind: "send", attach: ["f"], detach: ["X replaced"], name: "Dress" },
    ],
    [
      "with other bytes and its side taken, with --conflicts service",
      {
        ...{ now: own, product: productOf({ images: ["X front", "Y back"] }, ["x X"]) },
        ...{ compared: "different", options: { conflicts: "service" } },
      },
      { kind: "kept" },
    ],
    [
      "attached already, next to another one of its side, with --conflicts sheet",
      {
        now: own,
        product: productOf({ images: ["F front", "X front", "Y back"] }, ["f F", "x X"]),
        options: { conflicts: "sheet" },
      },
      { kind: "change", detach: ["X replaced"] },
    ],
    [
      "attached already, next to another one of its side",
      { now: own, product: productOf({ images: ["F front", "X front"] }, ["f F", "x X"]) },
      { kind: "unchanged" },
    ],
    [
      "one source with and without a side has the side",
      {
        now: { images: "f", image_front: "f", image_back: "f" },
        product: productOf({ images: ["F detail"] }, known),
      },
      { kind: "change", move: ["F front"] },
    ],
    [
      "emptied in an exported sheet, and detached by others before",
      {
        ...{ now: { ...two, image_back: "" }, before: two, isExported: true },
        product: productOf({ images: ["F front"] }, ["f F", "b B"]),
      },
      { kind: "unchanged" },
    ],
    [
      "replaced, and it is not known which of the photos it was",
      {
        ...{ now: { ...two, image_back: "n" }, before: two, compared: "different" },
        product: productOf({ images: ["F front", "X"] }, ["f F", "b"]),
      },
      { kind: "photo_unknown" },
    ],
    [
      "not edited, and it is not known which of the photos it was, with another side",
      {
        ...{ now: { image_detail: "f" }, before: own, compared: "different" },
        product: productOf({ images: ["X"] }, ["f"]),
      },
      { kind: "photo_unknown" },
    ],
    [
      "moved, and it is not known which of the photos it was, as all others are known",
      { now: { image_detail: "f" }, before: own, product: productOf({ images: ["Y back"] }, ["f", "y Y"]) },
      { kind: "photo_unknown" },
    ],
    [
      "with --exact, not compared yet",
      { now: own, product: productOf({ images: ["X front"] }), options: { exact: true } },
      { kind: "uncompared" },
    ],
    [
      "with --exact, generated images stay",
      {
        now: own,
        product: productOf({ images: ["F front", "G front generated"] }, known),
        options: { exact: true },
      },
      { kind: "unchanged" },
    ],
    [
      "with --exact, a side that others changed is set again",
      {
        ...{ now: own, before: own, options: { exact: true } },
        product: productOf({ images: ["F back"] }, known),
      },
      { kind: "change", move: ["F front"] },
    ],
    [
      "not edited, generated images are no photos that others attached to the product of an exported row",
      {
        ...{ now: own, before: own, isExported: true },
        product: productOf({ images: ["F front", "G front generated"] }, known),
      },
      { kind: "unchanged" },
    ],
    [
      "with --photos all, sent as it is",
      { now: own, product: productOf({ images }, known), options: { photos: "all" } },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });

  test("an upsert keeps the name that others gave, and sends only what was edited", async () => {
    const said = { description: "long", ...own };
    const product = productOf({ name: "Coat", description: "other", images }, known);
    const decision = await decided({ now: { ...said, image_back: "b" }, before: said, product });
    expect(short(decision)).toEqual({ kind: "send", attach: ["b"], name: "Coat" });
  });
});

describe("the row of a product that is gone is decided as in merge.md:", () => {
  test.each<[string, Case, object]>([
    ["not edited", { now: own, before: own, product: null }, { kind: "deleted" }],
    ["edited", { now: { ...own, name: "Coat" }, before: own, product: null }, { kind: "product_deleted" }],
    [
      "a photo edited",
      { now: { image_front: "n" }, before: own, product: null },
      { kind: "product_deleted" },
    ],
    ["before unknown", { now: own, product: null }, { kind: "send", attach: ["f"], name: "Dress" }],
    [
      "all of them",
      { now: own, before: own, product: null, options: { isOtherCatalogue: true } },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    [
      "with --exact",
      { now: own, before: own, product: null, options: { exact: true } },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    ["a new row without a photo", { now: {}, product: null }, { kind: "no_images" }],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });

  test("another product has the reference now: what the row said before is of no use", async () => {
    const row = await weighed(rowOf({ ...own, name: "Dress" }));
    const before: Before = { said: row.cells.said, productId: "Q", isOf: (id) => id === "Q" };
    const facts = {
      before,
      isExported: false,
      renamedFrom: undefined,
      renamedTo: null,
      lookalike: null,
      overtaken: undefined,
      earlierConflict: undefined,
      mayBePartial: false,
    };
    const product = productOf({ name: "Coat", images: ["F front"] }, known);
    const options: DecideOptions = { mode: "upsert", onImageError: "skip", photos: "new" };
    const decision = decide(row, { ...facts, known: product, findCompared: () => undefined }, options);
    expect(short(decision)).toEqual({ kind: "change", fields: { name: "Dress" } });
  });
});

describe("a row whose product was not read", () => {
  const said = { description: "long", ...own };
  const fields = { name: "Dress", description: "long", sex: null };
  const other = { ...fields, description: "other" };
  const emptied = { description: "", ...own };
  test.each<[string, Case, object]>([
    [
      "that has its fields is unchanged",
      { now: said, before: said, product: unreadProduct(fields) },
      { kind: "unchanged" },
    ],
    ["that has others is kept", { now: said, before: said, product: unreadProduct(other) }, { kind: "kept" }],
    [
      "that has a field which the sheet never had is unchanged",
      { now: emptied, before: emptied, product: unreadProduct(other) },
      { kind: "unchanged" },
    ],
    [
      "that has a field which an exported sheet did not have is kept",
      { now: emptied, before: emptied, isExported: true, product: unreadProduct(other) },
      { kind: "kept" },
    ],
    [
      "of which a field is not known is read",
      { now: said, before: said, product: unreadProduct({ name: "Dress" }) },
      { kind: "unread" },
    ],
    [
      "is read if the row was edited",
      { now: { ...said, name: "Coat" }, before: said, product: unreadProduct(fields) },
      { kind: "unread" },
    ],
    [
      "is read with --exact",
      { now: said, before: said, product: unreadProduct(fields), options: { exact: true } },
      { kind: "unread" },
    ],
    [
      "is read if it is not known what the row said before",
      { now: said, product: unreadProduct(fields) },
      { kind: "unread" },
    ],
    [
      "is read if it is not known at all",
      { now: said, before: said, product: null, facts: { known: undefined } },
      { kind: "unread" },
    ],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });
});

describe("a row that is in a failed file for a conflict", () => {
  const facts = { earlierConflict: "changed_since" };
  const product = productOf({ name: "Robe", images: ["F front"] }, known);
  test.each<[string, Case, object]>([
    ["stays one", { now: own, product, facts }, { kind: "changed_since" }],
    [
      "keeps the values of the service with --conflicts service",
      { now: own, product, facts, options: { conflicts: "service" } },
      { kind: "kept" },
    ],
    [
      "has its own values with --conflicts sheet",
      { now: own, product, facts, options: { conflicts: "sheet" } },
      { kind: "change", fields: { name: "Dress" } },
    ],
    [
      "has its own values with --exact",
      { now: own, product, facts, options: { exact: true } },
      { kind: "change", fields: { name: "Dress" } },
    ],
    [
      "for a product that was deleted stays deleted with --conflicts service",
      {
        now: own,
        product: null,
        facts: { earlierConflict: "product_deleted" },
        options: { conflicts: "service" },
      },
      { kind: "deleted" },
    ],
    [
      "for a product that was deleted is created with --conflicts sheet",
      {
        ...{ now: { ...own, name: "Coat" }, before: own, product: null },
        ...{ facts: { earlierConflict: "product_deleted" }, options: { conflicts: "sheet" } },
      },
      { kind: "send", attach: ["f"], name: "Coat" },
    ],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });
});

describe("a row whose reference differs from that of its product", () => {
  const product = productOf({ images: ["F front"] }, known);
  const edited = { now: { ...own, name: "Coat" }, before: own, product, facts: { renamedTo: "it's B" } };
  const changed = {
    kind: "conflict",
    code: "reference_changed",
    message:
      "the product has the reference it's B since: write that in the row, or run cat products update 'it'\\''s B' --reference A",
  };
  test.each<[string, Case, object]>([
    [
      "is kept if others changed it and the row was not edited",
      { ...edited, now: own },
      { kind: "kept", productId: "P" },
    ],
    ["is a conflict if others changed it and the row was edited", edited, changed],
    [
      "is kept with --conflicts service",
      { ...edited, options: { conflicts: "service" } },
      { kind: "kept", productId: "P" },
    ],
    ["is a conflict with --exact", { ...edited, now: own, options: { exact: true } }, changed],
    [
      "is a conflict if the user changed it in an exported sheet",
      { now: own, product, facts: { renamedFrom: "B 1" } },
      {
        ...changed,
        message:
          "the row was exported as B 1: to change its reference, run cat products update 'B 1' --reference A",
      },
    ],
    [
      "is a conflict if the product of an exported sheet is gone",
      { now: own, product: null, facts: { renamedFrom: null } },
      {
        ...changed,
        message:
          "the row was exported with another reference, of a product that no longer exists: empty as_exported to import a new product",
      },
    ],
  ])("%s", async (_, one, expected) => {
    expect(await decided(one)).toEqual(expected);
  });
});

describe("a row of another mode, or with --photos all", () => {
  const lookalike = { id: "Q", reference: "a" } as RowFacts["lookalike"];
  const create = { mode: "create" } as const;
  const unknown = { known: undefined };
  test.each<[string, Case, object]>([
    [
      "is sent without a look at its product",
      { now: own, product: null, facts: unknown, options: create },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    [
      "needs its product for a plan",
      { now: own, product: null, facts: unknown, options: { ...create, isPlan: true } },
      { kind: "unread" },
    ],
    [
      "needs its product with --photos all",
      { now: own, product: null, facts: unknown, options: { photos: "all" } },
      { kind: "unread" },
    ],
    [
      "needs its product if another reference may look the same",
      { now: { ...own, reference: "A\u200b1" }, product: null, facts: unknown, options: create },
      { kind: "unread" },
    ],
    [
      "needs its product if the reference may be a damaged one",
      { now: { ...own, reference: "1001.0" }, product: null, facts: unknown, options: create },
      { kind: "unread" },
    ],
    [
      "needs no product if codes are as written",
      {
        ...{ now: { ...own, reference: "1001.0" }, product: null, facts: unknown },
        options: { ...create, codesAsWritten: true },
      },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    [
      "is a conflict next to a product that looks the same",
      { now: own, product: null, facts: { lookalike }, options: create },
      { kind: "lookalike_reference" },
    ],
    [
      "is a conflict in an upsert, too",
      { now: own, product: null, facts: { lookalike } },
      { kind: "lookalike_reference" },
    ],
    [
      "keeps the name of its product where names are made from references",
      {
        now: own,
        product: productOf({ name: "Robe" }),
        options: { photos: "all", namesFromReferences: true },
      },
      { kind: "send", attach: ["f"], name: "Robe" },
    ],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });

  test("sends each source once, and says which are left out, and whether it creates a product", async () => {
    const now = { images: "a|b|a", image_front: "b" };
    const send = await decided({ now, product: null, options: create });
    expect(short(send)).toEqual({ kind: "send", attach: ["a", "b"], name: "Dress" });
    expect(send).toMatchObject({ isNew: true, memo: { leftOut: [] } });
    expect(await decided({ now, product: productOf({}), options: create })).toMatchObject({ isNew: false });
  });
});

describe("a row of which others changed the product while it waited", () => {
  const read = { id: "P", name: "Dress", description: null, sex: null, images: [] };
  const product = productOf({ description: "theirs", images: ["F front"] }, known);
  const now = { ...own, description: "mine" };
  const conflict = { kind: "changed_since" };
  test.each<[string, Case, object]>([
    ["is a conflict", { now, before: own, product, facts: { overtaken: read } }, conflict],
    [
      "is none if the value is the same as before",
      { now, before: own, product, facts: { overtaken: { ...read, description: "theirs" } } },
      { kind: "change", fields: { description: "mine" } },
    ],
    [
      "is none with --conflicts sheet",
      { now, before: own, product, facts: { overtaken: read }, options: { conflicts: "sheet" } },
      { kind: "change", fields: { description: "mine" } },
    ],
    [
      "is a conflict if they deleted it",
      { now: { ...own, name: "Coat" }, product: null, facts: { overtaken: read } },
      { kind: "product_deleted" },
    ],
    [
      "is none if there was no product",
      { now: own, product: null, facts: { overtaken: null } },
      { kind: "send", attach: ["f"], name: "Dress" },
    ],
    [
      "is none in mode create",
      { now, product, facts: { overtaken: read }, options: { mode: "create" } },
      { kind: "send", attach: ["f"], name: "Dress", description: "mine" },
    ],
  ])("%s", async (_, one, expected) => {
    expect(short(await decided(one))).toEqual(expected);
  });
});

describe("as_exported", () => {
  const id = "01HN1H1W03A0000000000000PP";
  const cells = {
    ...{ reference: "A-1", name: "Dress", sex: "kid" },
    photos: [{ place: "front", side: "front", image_id: "01HN1H1W03A0000000000000AA" }],
  } as const;
  const value = exportedValue(id, cells);

  test("says what the row was, of which product, and under which reference", () => {
    const exported = readExported(value, " A-1 ")!;
    expect(exported).toMatchObject({ productId: id, hasReference: true });
    expect([exported.isOf(id), exported.isOf(`${id.slice(0, -1)}Q`)]).toEqual([true, false]);
    expect(exported.said.photos).toEqual([
      {
        ...{ place: "front", side: "front" },
        source: sourceDigest({ image_id: cells.photos[0].image_id }).subarray(0, 6),
      },
    ]);
    expect(readExported(value, "A-2")).toMatchObject({ productId: id, hasReference: false });
  });

  test("is no value if it is damaged, cut, or of another program", () => {
    for (const other of [value.slice(0, -1), value.replace("cat2", "cat3"), `${value}AA`, "", "x", 7])
      expect(readExported(other, "A-1")).toBeNull();
  });

  test("of an earlier version is still read, without places", () => {
    const earlier = "cat1rocFrgfU2dpaoZC1-MJK7KgWzNMAAAAAAAAAAAAAAAAAAAAAY5C2ePen";
    const exported = readExported(earlier, "COAT-2")!;
    expect(exported.said.photos).toMatchObject([{ place: "", side: undefined }]);
    expect(readExported(earlier, "COAT-1")).toBeNull();
  });
});

test("a photo that a row has twice gets the side that one of its cells tells", async () => {
  const { content, cells } = await weighed(
    rowOf({ image_1: "n", image_1_orientation: "unlabeled", image_front: "n", image_back: "n" }),
  );
  const photos = distinctPhotos(cells.said.photos!, content.images);
  expect(photos.map(({ index, side }) => [index, side])).toEqual([[1, "front"]]);
});
