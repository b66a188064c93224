import { describe, expect, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import type { Product } from "../../../src/contract/resources/products.ts";
import { FieldDigests, type FieldValues } from "../../../src/flows/import/digests.ts";
import { packProduct, toReadProduct } from "../../../src/flows/import/known-product.ts";
import {
  changedFields,
  isOfPart,
  judge,
  photosAttached,
  productBefore,
  type UndoPart,
  undoProduct,
} from "../../../src/flows/import/undo/undo-product.ts";
import type { ProductChange } from "../../../src/state/changes.ts";

/** A product of the service, with images as `ID SIDE ORIGIN`. */
function productOf(images: string[], fields: FieldValues = {}): Product {
  return {
    ...{ id: "P", name: "Dress", description: "long", sex: null, ...fields },
    images: images.map((text) => {
      const [id, orientation = "unlabeled", origin = "user"] = text.split(" ");
      return { id, orientation, origin };
    }),
  } as Product;
}

const before = productOf(["F front", "B back"]);

/** What an import changed of a product. */
function changeOf({ set = {}, ...more }: Partial<ProductChange> & { set?: FieldValues } = {}): ProductChange {
  return {
    ...{ productId: "P", reference: "A", action: "updated", photos: [], detached: [], moved: [] },
    ...{ before: packProduct(toReadProduct(before)), after: FieldDigests.of(set).bytes, isUndone: false },
    ...more,
  };
}

const nothing = { remove: false, fields: {}, photos: [], attach: [], kept: [] };

interface Case {
  change: ProductChange;
  live: Product | null;
  part?: UndoPart;
}

const created = (more: object = {}) =>
  changeOf({
    action: "created",
    before: null,
    set: { name: "Dress", description: "long" },
    photos: ["F"],
    ...more,
  });
const renamed = changeOf({ set: { name: "Robe" } });

describe("the undo of a product", () => {
  test.each<[string, Case, object]>([
    [
      "deletes one that the import created",
      { change: created(), live: productOf(["F front"]) },
      { remove: true },
    ],
    [
      "deletes it with its generated images",
      { change: created(), live: productOf(["F front", "G front generated"]) },
      { remove: true },
    ],
    [
      "keeps a created one that has more photos",
      { change: created(), live: productOf(["F front", "X"]) },
      { kept: ["photos were added since the import"] },
    ],
    [
      "keeps a created one that has other fields",
      { change: created(), live: productOf(["F front"], { name: "Robe", description: "x" }) },
      { kept: ["name and description changed since the import"] },
    ],
    ["has nothing to do for a created one that is gone", { change: created(), live: null }, {}],
    [
      "keeps one of which the response to its batch was lost",
      { change: changeOf({ action: "sent" }), live: before },
      { kept: ["the result of its batch is not known"] },
    ],
    ["keeps one that is gone", { change: renamed, live: null }, { kept: ["the product no longer exists"] }],
    [
      "keeps one that was not read",
      { change: changeOf({ before: null }), live: before },
      { kept: ["the product was not read before the import"] },
    ],
    [
      "restores a field",
      { change: renamed, live: productOf(["F front", "B back"], { name: "Robe" }) },
      { fields: { name: "Dress" } },
    ],
    [
      "restores an empty field",
      { change: changeOf({ set: { sex: "kid" } }), live: productOf(["F front"], { sex: "kid" }) },
      { fields: { sex: null } },
    ],
    ["leaves a field that is as before", { change: renamed, live: before }, {}],
    [
      "keeps a field that others changed",
      { change: renamed, live: productOf(["F front"], { name: "Coat" }) },
      { kept: ["name changed since the import"] },
    ],
    [
      "keeps a name that was empty before",
      {
        change: changeOf({
          set: { name: "Robe" },
          before: packProduct(toReadProduct(productOf([], { name: null }))),
        }),
        live: productOf([], { name: "Robe" }),
      },
      { kept: ["name changed since the import"] },
    ],
    [
      "detaches photos of the import",
      { change: changeOf({ photos: ["N", "F"] }), live: productOf(["F front", "N", "X"]) },
      { photos: ["N"] },
    ],
    [
      "keeps one of the photos of the import if the product had none",
      { change: changeOf({ photos: ["N", "O"] }), live: productOf(["N", "O"]) },
      { photos: ["O"], kept: ["its last photo cannot be detached"] },
    ],
    [
      "detaches them all if others come back",
      { change: changeOf({ photos: ["N"], detached: ["F"] }), live: productOf(["N"]) },
      { photos: ["N"], attach: [{ id: "F", side: "front", origin: "user" }] },
    ],
    ["attaches no photo that is there", { change: changeOf({ detached: ["F"] }), live: before }, {}],
    [
      "turns a photo back",
      {
        change: changeOf({ moved: [{ image: "F", side: "detail" }] }),
        live: productOf(["F detail", "B back"]),
      },
      { attach: [{ id: "F", side: "front", origin: "user" }] },
    ],
    [
      "keeps the side that others gave to a photo",
      {
        change: changeOf({ moved: [{ image: "F", side: "detail" }] }),
        live: productOf(["F left", "B back"]),
      },
      { kept: ["the orientation of a photo changed since the import"] },
    ],
    [
      "turns a photo back whose new side an earlier version did not keep",
      {
        change: changeOf({ moved: [{ image: "F", side: undefined }] }),
        live: productOf(["F left", "B back"]),
      },
      { attach: [{ id: "F", side: "front", origin: "user" }] },
    ],
    [
      "turns a photo back that the import attached again",
      { change: changeOf({ photos: ["F"] }), live: productOf(["F left", "B back"]) },
      { attach: [{ id: "F", side: "front", origin: "user" }] },
    ],
    [
      "takes back the side of a photo that had none",
      {
        change: changeOf({
          moved: [{ image: "F", side: "front" }],
          before: packProduct(toReadProduct(productOf(["F"]))),
        }),
        live: productOf(["F front"]),
      },
      { attach: [{ id: "F", side: "unlabeled", origin: "user" }] },
    ],
    [
      "keeps the side that others gave to a photo that had none",
      {
        change: changeOf({
          moved: [{ image: "F", side: "front" }],
          before: packProduct(toReadProduct(productOf(["F"]))),
        }),
        live: productOf(["F left"]),
      },
      { kept: ["the orientation of a photo changed since the import"] },
    ],
    [
      "leaves the side that the service gave to a photo",
      {
        change: changeOf({
          photos: ["F"],
          moved: [{ image: "F", side: undefined }],
          before: packProduct(toReadProduct(productOf(["F"]))),
        }),
        live: productOf(["F left"]),
      },
      {},
    ],
    [
      "leaves a moved photo that is gone",
      { change: changeOf({ moved: [{ image: "F", side: "detail" }] }), live: productOf(["B back"]) },
      {},
    ],
    [
      "of fields alone leaves photos",
      {
        change: changeOf({ set: { name: "Robe" }, photos: ["N"] }),
        live: productOf(["F front", "N"], { name: "Robe" }),
        part: "fields",
      },
      { fields: { name: "Dress" } },
    ],
    [
      "of photos alone leaves fields",
      {
        change: changeOf({ set: { name: "Robe" }, photos: ["N"] }),
        live: productOf(["F front", "N"], { name: "Robe" }),
        part: "photos",
      },
      { photos: ["N"] },
    ],
  ])("%s", (_, { change, live, part = null }, expected) => {
    expect(judge(change, live, part as UndoPart | null)).toEqual({ ...nothing, ...expected });
  });
});

test.each<[ProductChange["action"], UndoPart | null, boolean]>([
  ["created", null, true],
  ["created", "created", true],
  ["created", "fields", false],
  ["updated", null, true],
  ["updated", "created", false],
  ["updated", "photos", true],
  ["sent", "created", true],
  ["sent", "fields", true],
])("a change that is %s belongs to the part %s: %s", (action, part, isOf) => {
  expect(isOfPart({ action }, part)).toBe(isOf);
});

test("what an import changed are the fields that differ, and the photos that were not there", () => {
  const change = changeOf({ set: { name: "Robe", description: "long" }, photos: ["F", "N"] });
  const was = productBefore(change)!;
  expect(was).toEqual(toReadProduct(before));
  expect(changedFields(change, was)).toEqual({ name: "Dress" });
  expect(photosAttached(change, was)).toEqual(["N"]);
  expect(productBefore({ before: null })).toBeNull();
});

/** Undoes a product whose requests go to a service that has `live`, and responds with 404 to `missing` requests. */
async function undone(
  { change, live, part = null }: { change: ProductChange; live: Product | null; part?: UndoPart | null },
  { isPlan = false, missing = [], age = 0 }: { isPlan?: boolean; missing?: string[]; age?: number } = {},
) {
  const sent: string[] = [];
  const records: unknown[] = [];
  const forgotten: string[] = [];
  let now = 1_000_000;
  const answer = (text: string) => async (input: object, options: { onDoubt: (is: boolean) => void }) => {
    const { body } = input as { body?: object };
    options.onDoubt(true);
    const line = `${text}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`;
    sent.push(line);
    if (missing.includes(text))
      throw new ApiError({
        ...{ request: text, status: 404 },
        body: { type: "not_found", code: "image_not_found", message: "gone" },
      });
    options.onDoubt(false);
    return {};
  };
  const summary = { deleted: 0, set_back: 0, detached: 0, attached: 0 };
  const request = () => ({
    ...{ signal: new AbortController().signal, inDoubt: false, onDoubt: () => {}, cut: () => {} },
  });
  const clock = { now: () => now, at: () => () => {} };
  const changes = { undone: (...row: unknown[]) => void records.push(row.slice(3)) };
  const run = {
    ...{ account: 1, clock, newKey: () => "key", signal: new AbortController().signal },
    client: {
      products: {
        delete: answer("delete"),
        update: answer("update"),
        attach: answer("attach"),
        detach: answer("detach"),
        get: async () => {
          sent.push("get");
          now += 1;
          return live;
        },
      },
    },
    state: {
      changes,
      uploads: { forgetImage: (_: number, image: string) => void forgotten.push(image) },
      ledger: { ofProduct: () => null },
    },
  } as never;
  const kept = await undoProduct(
    {
      ...{
        change,
        live,
        lookedAt: now - age,
        verdict: judge(change, live, part),
        only: part,
        isPlan,
        target: "run_1",
      },
      begin: request as never,
      summary,
    },
    run,
  );
  return { kept, sent, records, forgotten, summary };
}

const none = { deleted: 0, set_back: 0, detached: 0, attached: 0 };

describe("the requests of an undo", () => {
  const mixed = {
    change: changeOf({ set: { name: "Robe" }, photos: ["N"], detached: ["F"] }),
    live: productOf(["B back", "N front"], { name: "Robe" }),
  };

  test("restore fields, then attach photos before others are detached, and are recorded", async () => {
    expect(await undone(mixed)).toEqual({
      kept: [],
      sent: [
        'update {"name":"Dress"}',
        'attach {"images":[{"image_id":"F","orientation":"front"}]}',
        "detach",
      ],
      // After each write, so that a failure later on does not count as undone; then all of it.
      records: [
        [false, {}],
        [false, {}],
        [false, {}],
        [true, {}],
      ],
      forgotten: ["N"],
      summary: { ...none, set_back: 1, detached: 1, attached: 1 },
    });
  });

  test("are counted for a plan, but neither sent nor recorded", async () => {
    expect(await undone(mixed, { isPlan: true })).toEqual({
      ...{ kept: [], sent: [], records: [], forgotten: [] },
      summary: { ...none, set_back: 1, detached: 1, attached: 1 },
    });
  });

  test("keep what replaced a photo that the service no longer has", async () => {
    const result = await undone(mixed, { missing: ["attach"] });
    expect(result.kept).toEqual(["the service no longer has its photo F"]);
    expect(result.sent).not.toContain("detach");
    expect(result.summary).toEqual({ ...none, set_back: 1 });
    expect(result.records.at(-1)).toEqual([false, {}]);
  });

  test("do not count a photo that was detached meanwhile", async () => {
    const { summary, kept } = await undone(mixed, { missing: ["detach"] });
    expect([summary.detached, kept]).toEqual([0, []]);
  });

  test("delete a created product, and forget its photos", async () => {
    const result = await undone({ change: created(), live: productOf(["F front"]) });
    expect(result).toEqual({
      ...{ kept: [], sent: ["delete"], forgotten: ["F"], summary: { ...none, deleted: 1 } },
      records: [
        [false, {}],
        [true, { isGone: true }],
      ],
    });
  });

  test("forget the photos of a created product that is gone, and none of another", async () => {
    const photos = ["F"];
    const gone = await undone({ change: created({ photos }), live: null });
    expect(gone).toMatchObject({ kept: [], sent: [], forgotten: ["F"] });
    const other = await undone({ change: changeOf({ photos }), live: null });
    expect(other).toMatchObject({ kept: ["the product no longer exists"], sent: [], forgotten: [] });
  });

  test("are none for one that is as before", async () => {
    const result = await undone({ change: renamed, live: before });
    expect(result).toMatchObject({ kept: [], sent: [], records: [[true, {}]], summary: none });
  });

  test("of a part leave the rest to be undone", async () => {
    const fields = await undone({ ...mixed, part: "fields" });
    expect([fields.sent, fields.records.at(-1)]).toEqual([['update {"name":"Dress"}'], [false, {}]]);
    const photos = await undone({ ...mixed, part: "photos" });
    expect([photos.sent.length, photos.records.at(-1)]).toEqual([2, [false, {}]]);
    const all = await undone({
      change: changeOf({ set: { name: "Robe" } }),
      live: mixed.live,
      part: "fields",
    });
    expect(all.records.at(-1)).toEqual([true, {}]);
    const turned = await undone({
      change: changeOf({ set: { name: "Robe" }, moved: [{ image: "F", side: "detail" }] }),
      live: productOf(["F left", "B back"], { name: "Robe" }),
      part: "fields",
    });
    expect([turned.kept, turned.records.at(-1)]).toEqual([[], [false, {}]]);
  });

  test("read the product again if it was read long ago, once for all writes", async () => {
    const { sent } = await undone(mixed, { age: 3_600_000 });
    expect(sent).toEqual([
      "get",
      'update {"name":"Dress"}',
      'attach {"images":[{"image_id":"F","orientation":"front"}]}',
      "detach",
    ]);
  });
});
