import fc from "fast-check";

// Small sets of values, so that requests affect the same records.
const orientation = fc.constantFrom("front", "back", "detail");
const reference = fc.constantFrom("A", "B", " A ", "C", "\tB", "é", "Dress-1");
const name = fc.constantFrom("Linen dress", "linen", "Ünï COAT", "x", " x ");
const sex = fc.constantFrom("male", "female", "other", "kid");
const description = fc.constantFrom("", "soft", "ü".repeat(2_000));
const mode = fc.constantFrom("upsert", "create", "skip_existing");
const onImageError = fc.constantFrom("skip", "fail_row");
const index = fc.nat({ max: 20 });

/** An image of the organization, of the other organization, or unknown. */
const image = fc.record({
  whose: fc.oneof({ weight: 12, arbitrary: fc.constant("own") }, fc.constantFrom("other", "nobody")),
  index,
});
const link = fc.tuple(image, orientation).map(([one, orientation]) => ({ ...one, orientation }));
const links = fc.array(link, { minLength: 1, maxLength: 4 });

/** The product of a request. */
const target = {
  whose: fc.oneof({ weight: 8, arbitrary: fc.constant("own") }, fc.constantFrom("gone", "other", "nobody")),
  index,
};

const twentyOne = Array.from({ length: 21 }, () => ({ image_id: "x", orientation: "front" }));
/** Changes that make a new product invalid, and the reported field. */
const flaw = fc.constantFrom<{ param: string; fields: Record<string, unknown> }>(
  { param: "name", fields: { name: undefined } },
  { param: "reference", fields: { reference: " \t" } },
  { param: "images", fields: { images: [] } },
  { param: "images", fields: { images: twentyOne } },
  { param: "images[0].orientation", fields: { images: [{ image_id: "x", orientation: "up" }] } },
  { param: "colour", fields: { colour: "red" } },
  { param: "sex", fields: { sex: null } },
);

const url = fc.constantFrom(
  "https://cdn.example.com/photo.jpg",
  "https://cdn.example.com/photo.png",
  "https://cdn.example.com/photo.webp",
  "https://cdn.example.com/fail-timeout.jpg",
  "https://cdn.example.com/fail-not_an_image",
);
const row = fc.record(
  {
    reference,
    name,
    description,
    sex,
    images: fc.array(
      fc
        .tuple(fc.option(url, { freq: 3 }), fc.option(orientation), image)
        .map(([url, orientation, pick]) => ({ url, orientation, ...pick })),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { requiredKeys: ["reference", "name", "images"] },
);
const rows = fc.uniqueArray(row, {
  minLength: 1,
  maxLength: 6,
  selector: ({ reference }) => reference.trim(),
});
/** Rows that make an import invalid; `twin` repeats the first row. */
const badRow = fc.constantFrom<{ row: unknown; code: string; param: string }>(
  { row: "twin", code: "duplicate_reference_in_file", param: "reference" },
  {
    row: { reference: "bad 1", name: "N", images: [{ url: "http://cdn.example.com/x" }] },
    code: "invalid_row",
    param: "images[0].url",
  },
  {
    row: { reference: "bad 2", images: [{ url: "https://cdn.example.com/x" }] },
    code: "invalid_row",
    param: "name",
  },
);

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ upload: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      create: fc.record({ name, reference, description, sex }, { requiredKeys: ["name", "reference"] }),
      images: links,
      flaw: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, flaw),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      ...target,
      patch: fc.oneof(
        fc.constant({}),
        fc.record(
          { name, reference, description: fc.option(description), sex: fc.option(sex) },
          { requiredKeys: [] },
        ),
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ ...target, delete: fc.constant(true) }) },
  { weight: 4, arbitrary: fc.record({ ...target, attach: links }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...target,
      detach: fc.record({ whose: fc.constantFrom("on it", "on it", "own", "nobody"), index }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ get: target.whose, index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      list: fc.constantFrom("", "linen", "DRESS", "a", "ünï coat", "Ünï", "nothing", "b linen", "  x "),
      limit: fc.constantFrom(1, 2, 3, 100),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      rows,
      mode,
      onImageError,
      ndjson: fc.boolean(),
      flaws: fc.oneof(
        { weight: 5, arbitrary: fc.constant([]) },
        fc.uniqueArray(badRow, { minLength: 1, maxLength: 2, selector: (one) => one.param }),
      ),
    }),
  },
  { weight: 6, arbitrary: fc.record({ advance: fc.constantFrom(0, 1, 49, 50, 999, 1_000, 1_050, 5_000) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const mine = fc.constantFrom(0, 0, 1) as fc.Arbitrary<0 | 1>;
const upload = (mine: 0 | 1) => ({ mine, twice: false, step: { upload: true } });

/**
 * A sequence of steps. `mine` selects the organization; `twice` repeats a write with the same idempotency
 * key. Both organizations start with an image.
 */
export const orders = fc
  .array(fc.record({ mine, twice: fc.boolean(), step }), { minLength: 1, maxLength: 40, size: "max" })
  .map((more) => [upload(0), upload(1), ...more]);
export type Orders = typeof orders extends fc.Arbitrary<infer All> ? All : never;
