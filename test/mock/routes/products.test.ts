import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { refusal, startWorld } from "../world.ts";

const now = "2026-01-05T09:00:00.000Z";

describe("create", () => {
  test("trims the reference and returns the product", async () => {
    const { send, imageId } = await startWorld();
    const image_id = await imageId();
    const json = { name: " A dress ", reference: "  DRESS-1\t", images: [{ image_id, orientation: "side" }] };
    const got = await send("/v1/products", { json });
    expect(got.status).toBe(201);
    expect(got.body).toEqual({
      id: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      name: " A dress ",
      reference: "DRESS-1",
      description: null,
      sex: null,
      images: [{ id: image_id, orientation: "side", origin: "user" }],
      created_at: now,
      updated_at: now,
    });
    expect((await send(`/v1/products/${got.body.id}`)).body).toEqual(got.body);
  });

  test("gets 409 for a reference in use, even with other surrounding spaces", async () => {
    const { createProduct } = await startWorld();
    await createProduct({ reference: "R" });
    const got = await createProduct({ reference: " R " });
    expect([got.status, got.body]).toEqual([
      409,
      refusal("conflict", "reference_already_exists", "reference"),
    ]);
  });

  const image = { image_id: "01HN1H1W2BE2ZP0BXGX60T7K32", orientation: "front" };
  test.each([
    ["no name", { name: undefined }, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a name of 201 characters", { name: "n".repeat(201) }, "name"],
    ["a name that is a number", { name: 1 }, "name"],
    ["no reference", { reference: undefined }, "reference"],
    ["a reference of spaces", { reference: " \t" }, "reference"],
    ["a reference of 101 characters", { reference: "r".repeat(101) }, "reference"],
    ["a description of 2,001 characters", { description: "d".repeat(2_001) }, "description"],
    ["null for a description", { description: null }, "description"],
    ["an unknown sex", { sex: "men" }, "sex"],
    ["no images", { images: undefined }, "images"],
    ["an empty list of images", { images: [] }, "images"],
    ["21 images", { images: Array(21).fill(image) }, "images"],
    ["images that are not a list", { images: image }, "images"],
    ["an image without an ID", { images: [{ orientation: "front" }] }, "images[0].image_id"],
    ["an image without an orientation", { images: [image, { image_id: "x" }] }, "images[1].orientation"],
    ["an unknown orientation", { images: [{ ...image, orientation: "up" }] }, "images[0].orientation"],
    ["an unknown field", { colour: "red" }, "colour"],
    ["an unknown field of an image", { images: [{ ...image, url: "x" }] }, "images[0].url"],
  ])("rejects %s with its field", async (_name, fields, param) => {
    const { createProduct } = await startWorld();
    const json = { name: "N", reference: "R", images: [image], ...fields };
    const { status, body } = await createProduct({}, { json });
    expect([status, body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });

  test("accepts the maximum length of every field", async () => {
    const { createProduct, imageId } = await startWorld();
    const image_id = await imageId();
    const got = await createProduct({
      // A character outside the basic plane counts once.
      name: "🧥".repeat(200),
      reference: "r".repeat(100),
      description: "d".repeat(2_000),
      images: Array(20).fill({ image_id, orientation: "detail" }),
    });
    expect(got.status).toBe(201);
    // The same image twice is attached once.
    expect(got.body.images).toEqual([{ id: image_id, orientation: "detail", origin: "user" }]);
  });

  test("gets 404 for an unknown image, and creates nothing", async () => {
    const { createProduct, imageId, mock } = await startWorld();
    const images = [
      { image_id: await imageId(), orientation: "front" },
      { image_id: "not an id", orientation: "back" },
    ];
    const got = await createProduct({ images });
    expect([got.status, got.body]).toEqual([
      404,
      refusal("not_found", "image_not_found", "images[1].image_id"),
    ]);
    expect(mock.state().organizations.main.products).toEqual([]);
  });
});

describe("update", () => {
  const patch = (json: unknown) => ({
    method: "PATCH",
    body: JSON.stringify(json),
    headers: { "content-type": "application/merge-patch+json" },
  });

  test("changes the given fields, clears them on null, and sets updated_at", async () => {
    const { send, createProduct, clock } = await startWorld();
    const { body: made } = await createProduct({ description: "D", sex: "kid" });
    clock.advance(1_000);
    const got = await send(`/v1/products/${made.id}`, patch({ reference: " NEW ", description: null }));
    const expected = { ...made, reference: "NEW", description: null, updated_at: "2026-01-05T09:00:01.000Z" };
    expect([got.status, got.body]).toEqual([200, expected]);
    expect((await send(`/v1/products/${made.id}`)).body).toEqual(expected);
  });

  test("does not change updated_at without a new value", async () => {
    const { send, createProduct, clock } = await startWorld();
    const { body: made } = await createProduct({ sex: "kid" });
    clock.advance(1_000);
    expect((await send(`/v1/products/${made.id}`, patch({}))).body).toEqual(made);
    const same = { name: made.name, reference: ` ${made.reference} `, sex: "kid", description: null };
    expect((await send(`/v1/products/${made.id}`, patch(same))).body).toEqual(made);
  });

  test("gets 409 for a reference in use, but not for a released one", async () => {
    const { send, createProduct } = await startWorld();
    const { body: one } = await createProduct({ reference: "ONE" });
    const { body: two } = await createProduct({ reference: "TWO" });
    const taken = await send(`/v1/products/${two.id}`, patch({ reference: "ONE", name: "X" }));
    expect([taken.status, taken.body]).toEqual([
      409,
      refusal("conflict", "reference_already_exists", "reference"),
    ]);
    expect((await send(`/v1/products/${two.id}`)).body).toEqual(two);
    await send(`/v1/products/${one.id}`, patch({ reference: "THREE" }));
    expect((await send(`/v1/products/${two.id}`, patch({ reference: "ONE" }))).status).toBe(200);
  });

  test("accepts only its own content type, and null only for nullable fields", async () => {
    const { send, createProduct } = await startWorld();
    const { body: made } = await createProduct();
    const plain = await send(`/v1/products/${made.id}`, { method: "PATCH", json: { name: "X" } });
    expect([plain.status, plain.body]).toEqual([415, refusal("invalid_request", "unsupported_media_type")]);
    const got = await send(`/v1/products/${made.id}`, patch({ name: null }));
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "name")]);
    expect((await send("/v1/products/nothing", patch({}))).body).toEqual(
      refusal("not_found", "product_not_found"),
    );
  });
});

describe("delete", () => {
  test("removes the product everywhere and releases its reference", async () => {
    const { send, createProduct } = await startWorld();
    const { body: made } = await createProduct({ reference: "R" });
    const got = await send(`/v1/products/${made.id}`, { method: "DELETE" });
    expect([got.status, got.body, got.headers.get("content-type")]).toEqual([204, "", null]);
    const gone = [404, refusal("not_found", "product_not_found")];
    const path = `/v1/products/${made.id}`;
    for (const again of [
      await send(path),
      await send(path, { method: "DELETE" }),
      await send(`${path}/images/${made.images[0].id}`, { method: "DELETE" }),
    ]) {
      expect([again.status, again.body]).toEqual(gone);
    }
    expect((await send("/v1/products")).body).toEqual({ data: [], next_cursor: null, has_more: false });
    expect((await createProduct({ reference: "R" })).status).toBe(201);
  });
});

describe("photos", () => {
  test("are attached and detached without changing updated_at, but the last one cannot be detached", async () => {
    const { send, createProduct, imageId, clock } = await startWorld();
    const { body: made } = await createProduct();
    const [first] = made.images;
    const second = await imageId();
    clock.advance(1_000);
    const path = `/v1/products/${made.id}`;
    const images = [{ image_id: second, orientation: "back" }];
    const attached = await send(`${path}/images`, { json: { images } });
    const link = { id: second, orientation: "back", origin: "user" };
    expect([attached.status, attached.body]).toEqual([201, [link]]);
    expect((await send(path)).body).toEqual({ ...made, images: [first, link] });

    // Attaching an image again sets its orientation: a product has an image only once.
    await send(`${path}/images`, { json: { images: [{ image_id: second, orientation: "left" }] } });
    expect((await send(path)).body.images).toEqual([first, { ...link, orientation: "left" }]);

    const detached = await send(`${path}/images/${first.id}`, { method: "DELETE" });
    expect([detached.status, detached.body]).toEqual([204, ""]);
    const last = await send(`${path}/images/${second}`, { method: "DELETE" });
    expect([last.status, last.body]).toEqual([422, refusal("invalid_request", "cannot_drop_last_image")]);
    const gone = await send(`${path}/images/${first.id}`, { method: "DELETE" });
    expect([gone.status, gone.body]).toEqual([404, refusal("not_found", "image_not_found")]);
  });

  test("can share one image between several products", async () => {
    const { createProduct, imageId } = await startWorld();
    const images = [{ image_id: await imageId(), orientation: "front" }];
    expect((await createProduct({ reference: "A", images })).status).toBe(201);
    expect((await createProduct({ reference: "B", images })).status).toBe(201);
  });
});

describe("list", () => {
  test("returns the newest products first, in pages", async () => {
    const { send } = await startWorld({ demo: 30 });
    const first = (await send("/v1/products")).body;
    expect([first.data.length, first.has_more]).toEqual([25, true]);
    const second = (await send(`/v1/products?cursor=${first.next_cursor}`)).body;
    expect([second.data.length, second.has_more, second.next_cursor]).toEqual([5, false, null]);
    const times = [...first.data, ...second.data].map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    expect(new Set(times).size).toBe(30);
    const whole = (await send("/v1/products?limit=30")).body;
    expect([whole.data, whole.has_more]).toEqual([[...first.data, ...second.data], false]);
  });

  test("finds products with every word of q in name or reference, in any letter case", async () => {
    const { send, createProduct } = await startWorld();
    await createProduct({ reference: "DRESS-0001", name: "Red linen dress" });
    await createProduct({ reference: "DRESS-0002", name: "Blue linen dress" });
    const found = async (q: string) =>
      (await send(`/v1/products?q=${encodeURIComponent(q)}`)).body.data.map(
        (product: { reference: string }) => product.reference,
      );
    expect(await found("LINEN")).toEqual(["DRESS-0002", "DRESS-0001"]);
    expect(await found("linen red")).toEqual(["DRESS-0001"]);
    expect(await found("dress-0002")).toEqual(["DRESS-0002"]);
    expect(await found("velvet")).toEqual([]);
    await createProduct({ reference: "S-1", name: "ΣΑΣΑ Straße" });
    expect(await found("STRASSE σας")).toEqual(["S-1"]);
    await send(`/v1/products/${(await send("/v1/products?q=s-1")).body.data[0].id}`, { method: "DELETE" });
    expect(await found("  ")).toEqual(["DRESS-0002", "DRESS-0001"]);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=-1", "limit"],
    ["limit=2.5", "limit"],
    ["limit=", "limit"],
    ["limit=ten", "limit"],
    ["limit=1&limit=2", "limit"],
    ["q=a&q=b", "q"],
  ])("rejects %s", async (query, param) => {
    const { send } = await startWorld();
    const got = await send(`/v1/products?${query}`);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });

  test("accepts limits of 1 and 100, and unknown parameters", async () => {
    const { send } = await startWorld({ demo: 2 });
    expect((await send("/v1/products?limit=1")).body.data).toHaveLength(1);
    expect((await send("/v1/products?limit=100&color=red&color=blue")).body.data).toHaveLength(2);
  });

  test("rejects a cursor that is forged, altered, or of another list or organization", async () => {
    const { send } = await startWorld({ demo: 5 });
    const cursor = (await send("/v1/products?limit=2")).body.next_cursor;
    const bad = [400, refusal("invalid_request", "invalid_cursor", "cursor")];
    for (const [path, key] of [
      ["/v1/products?cursor=", "ak_mock"],
      ["/v1/products?cursor=abc", "ak_mock"],
      [`/v1/products?cursor=${cursor.slice(0, -1)}`, "ak_mock"],
      [`/v1/products?q=a&cursor=${cursor}`, "ak_mock"],
      [`/v1/models?cursor=${cursor}`, "ak_mock"],
      [`/v1/products?cursor=${cursor}`, "ak_mock_other"],
    ] as const) {
      const got = await send(path, { key });
      expect([path, got.status, got.body]).toEqual([path, ...bad]);
    }
    expect((await send(`/v1/products?limit=3&cursor=${cursor}`)).status).toBe(200);
  });

  test("shows every product that exists throughout the paging once, whatever is added or deleted meanwhile", async () => {
    const { send, createProduct, imageId } = await startWorld();
    const images = [{ image_id: await imageId(), orientation: "front" }];
    let made = 0;
    const create = async () => (await createProduct({ reference: `R${++made}`, images })).body.id as string;
    const remove = (id: string) => send(`/v1/products/${id}`, { method: "DELETE" });
    const step = fc.oneof(fc.constant("add" as const), fc.nat(30));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (count, changes, limit) => {
          const here = (await send("/v1/products?limit=100")).body.data.map(({ id }: { id: string }) => id);
          for (const id of here) await remove(id);
          const live: string[] = [];
          for (let left = count; left > 0; left--) live.unshift(await create());
          const throughout = new Set(live);
          const seen: string[] = [];
          let cursor: string | null = null;
          do {
            const path: string = `/v1/products?limit=${limit}${cursor === null ? "" : `&cursor=${cursor}`}`;
            const page: { data: { id: string }[]; has_more: boolean; next_cursor: string | null } = (
              await send(path)
            ).body;
            expect(page.data.length === limit || !page.has_more).toBe(true);
            seen.push(...page.data.map(({ id }) => id));
            cursor = page.next_cursor;
            for (const change of changes.shift() ?? []) {
              if (change === "add") live.unshift(await create());
              else if (live.length > 0) {
                const [id] = live.splice(change % live.length, 1);
                throughout.delete(id!);
                await remove(id!);
              }
            }
          } while (cursor !== null);
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.filter((id) => throughout.has(id))).toEqual(live.filter((id) => throughout.has(id)));
        },
      ),
      { numRuns: repetitions(5, 250) },
    );
  });
});
