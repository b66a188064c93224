import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { refusal, row, startWorld } from "../world.ts";

const productId = "01HN1H1W4PQ0DXQWPCCMJ7W5M8";
const assetId = "01HN1H1W4KFRNEJ8WWP189ZPWJ";
const modelId = "01HN1H1W4H4ABF57W7VR084AMS";
const day = 86_400_000;

async function partsWorld() {
  const world = await startWorld();
  const put = (path: string, json: object = {}) =>
    world.send(`/_mock/${path}`, { method: "PUT", json, key: null });
  const get = async (path: string) => (await world.send(`/v1/${path}`)).body;
  /** Saves the state, resets, and loads it again. */
  const reload = async () => {
    const state = JSON.stringify(world.mock.state());
    world.mock.reset();
    await world.send("/_mock/state", { method: "PUT", body: state, key: null });
  };
  const assets = async (query = "") =>
    (await get(`exports?limit=100${query}`)).data.flatMap((one: { assets: object[] }) => one.assets);
  return { ...world, put, get, reload, assets };
}

test("an image that is of one organization is rejected for a part of the other", async () => {
  const { put, imageId, mock } = await partsWorld();
  const id = await imageId();
  const organization = "other";
  const rejected = { status: 400, body: refusal("invalid_request", "invalid_request") };
  const before = mock.state();
  expect(
    await put(`products/${productId}`, { organization, images: [{ id: assetId }, { id }] }),
  ).toMatchObject(rejected);
  expect(mock.state()).toEqual(before);
  await put(`products/${productId}`, { organization });
  const asset = { organization, product_id: productId, role: "tryon" };
  expect(await put(`assets/${id}`, asset)).toMatchObject(rejected);
  expect((await put(`assets/${assetId}`, asset)).status).toBe(200);
});

describe("a product of the dashboard", () => {
  test("has no reference, is listed and searched, and is neither exported nor matched by imports", async () => {
    const { put, get, send, reload, runImport, createProduct } = await partsWorld();
    const made = await put(`products/${productId}`, {
      name: "Red dress",
      created_at: "2020-05-01T00:00:00Z",
    });
    expect(made).toMatchObject({
      status: 200,
      body: {
        ...{ id: productId, name: "Red dress", reference: null, description: null, sex: null },
        images: [{ orientation: "front", origin: "user" }],
        ...{ created_at: "2020-05-01T00:00:00Z", updated_at: "2020-05-01T00:00:00Z" },
      },
    });
    await createProduct({ reference: "API" });
    await reload();
    expect((await get("products")).data.map(({ reference }: { reference: string }) => reference)).toEqual([
      "API",
      null,
    ]);
    expect((await get("products?q=red")).data).toEqual([made.body]);
    expect(await get(`products/${productId}`)).toEqual(made.body);
    for (const query of ["", "?since=2000-01-01T00:00:00Z"]) {
      expect(
        (await get(`exports${query}`)).data.map((one: { product: object }) => one.product),
      ).toMatchObject([{ reference: "API" }]);
    }
    const named = await send("/v1/exports", { json: { product_ids: [productId] } });
    expect([named.status, named.body]).toEqual([
      404,
      refusal("not_found", "product_not_found", "product_ids[0]"),
    ]);
    expect((await send("/v1/exports", { json: {} })).body.total_assets).toBe(1);
    const { results } = await runImport([row("null"), row("Red dress")]);
    expect(results.map(({ action }: { action: string }) => action)).toEqual(["created", "created"]);
    // Tasks take it like any product.
    const task = await send("/v1/tasks/beautifier", {
      json: {
        subtype: "clothing",
        inputs: { product_id: productId, background: "white", angle_shot: "front" },
      },
    });
    expect(task.status).toBe(202);
    expect((await send(`/v1/products/${productId}`, { method: "DELETE" })).status).toBe(204);
  });

  test("can be changed, and becomes a product of the API with a reference", async () => {
    const { put, get, createProduct } = await partsWorld();
    const photos = [{ id: assetId, orientation: "back", origin: "other" }];
    const made = (await put(`products/${productId}`, { images: photos, sex: "kid" })).body;
    expect(made.images).toEqual(photos);
    expect((await put(`products/${productId}`, { reference: "R-1" })).body).toMatchObject({
      ...{ reference: "R-1", sex: "kid", images: photos, updated_at: "2026-01-05T09:00:00.000Z" },
    });
    expect((await get("exports")).data).toHaveLength(1);
    const taken = await createProduct({ reference: "R-1" });
    expect(taken.status).toBe(409);
    expect((await put(`products/${modelId}`, { reference: "R-1" })).status).toBe(409);
    const other = await put(`products/${productId}`, { images: [{ id: modelId }] });
    expect([other.status, other.body.error.param]).toEqual([400, "images"]);
  });

  test("with mistakes is rejected with all of them", async () => {
    const { put, send } = await partsWorld();
    const got = await put(`products/${productId}`, { name: " ", sex: "x", images: [], price: 1 });
    expect([got.status, got.body.errors.map(({ param }: { param: string }) => param)]).toEqual([
      400,
      ["name", "sex", "images", "price"],
    ]);
    expect((await put("products/short")).body.error.param).toBe("product_id");
    await put(`products/${productId}`);
    await send(`/v1/products/${productId}`, { method: "DELETE" });
    expect((await put(`products/${productId}`)).status).toBe(400);
  });
});

describe("an asset", () => {
  test("can be a recoloring of the dashboard, with open attributes and unknown sizes", async () => {
    const { put, createProduct, assets, reload, send } = await partsWorld();
    const { id } = (await createProduct({ reference: "R" })).body;
    const fields = {
      ...{ product_id: id, role: "recoloring", width: null, height: null },
      ...{ background: "beige", attributes: { color: "#aa0000", swatch: 3 } },
    };
    const made = await put(`assets/${assetId}`, fields);
    expect(made).toMatchObject({
      status: 200,
      body: {
        ...{ id: assetId, role: "recoloring", width: null, height: null, ai_generated: true },
        ...{ watermarked: false, derived: false, task_id: null, also_features: [] },
        attributes: { angle_shot: "front", background: "beige", color: "#aa0000", swatch: 3 },
        suggested_filename: "R_recoloring_front.jpg",
      },
    });
    await reload();
    expect(await assets()).toMatchObject([{ role: "source" }, made.body]);
    expect(await assets("&role=recoloring")).toHaveLength(1);
    expect((await send(`/v1/images/${assetId}`)).status).toBe(200);
    const bytes = new Uint8Array(await (await fetch(made.body.url)).arrayBuffer());
    expect((await sharp(bytes).metadata()).format).toBe("jpeg");
    // The same body again changes nothing.
    expect((await put(`assets/${assetId}`, fields)).body).toEqual(made.body);
  });

  test("that is edited has other bytes under the same ID, and the original stays", async () => {
    const { put, send, assets, createProduct, clock, mock } = await partsWorld();
    const { id } = (await createProduct({ reference: "R" })).body;
    await send("/v1/tasks/beautifier", {
      json: { subtype: "clothing", inputs: { product_id: id, background: "white", angle_shot: "front" } },
    });
    clock.advance(10_000);
    const before = (await assets("&role=beautifier"))[0];
    clock.advance(60_000);
    const since = encodeURIComponent(new Date(clock.now()).toISOString());
    expect(await assets(`&since=${since}`)).toEqual([]);
    await put(`assets/${before.id}`, { edit_number: 2 });
    const [, after] = await assets(`&since=${since}`);
    expect(after).toEqual({
      ...before,
      ...{ derived: true, created_at: new Date(clock.now()).toISOString() },
      attributes: { ...before.attributes, edit_number: 2 },
      ...{ url: after.url, url_expires_at: after.url_expires_at },
      suggested_filename: "R_beautifier_front_edit2.png",
    });
    const read = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
    const original = (await send(`/v1/images/${before.id}`)).body.url;
    const [active, kept] = [await read(after.url), await read(original)];
    expect(active.equals(kept)).toBe(false);
    // A watermark is no change for a delta (Exports, since), but one of the bytes.
    clock.advance(60_000);
    await put(`assets/${before.id}`, { watermarked: true });
    const later = encodeURIComponent(new Date(clock.now()).toISOString());
    expect(await assets(`&since=${later}`)).toEqual([]);
    const marked = (await assets("&role=beautifier"))[0];
    expect(marked).toMatchObject({ watermarked: true, derived: true, created_at: after.created_at });
    expect((await read(marked.url)).equals(active)).toBe(false);
    // The ZIP has the active version.
    const zip = (await send("/v1/exports", { json: { format: "zip" } })).body.id;
    clock.advance(60_000);
    const bytes = await read((await send(`/v1/exports/${zip}`)).body.url);
    expect(bytes.includes(await read(marked.url))).toBe(true);
    // Back to the generation itself.
    const plain = (await put(`assets/${before.id}`, { edit_number: null, watermarked: false })).body;
    expect(plain).toMatchObject({ derived: false, watermarked: false });
    expect((await read(plain.url)).equals(kept)).toBe(true);
    expect(mock.state().organizations.main.tasks).toHaveLength(1);
  });

  test("can be a watermarked photo, and unreadable pixels stay as they are", async () => {
    const { put, createProduct, assets, send } = await partsWorld();
    const { images } = (await createProduct({ reference: "R" })).body;
    const got = await put(`assets/${images[0].id}`, { watermarked: true });
    expect(got.body).toMatchObject({
      role: "source",
      ai_generated: false,
      watermarked: true,
      derived: false,
    });
    expect((await assets())[0]).toMatchObject({ watermarked: true });
    expect((await fetch((await assets())[0].url)).status).toBe(200);
    expect((await send(`/v1/images/${images[0].id}`)).body.url).toContain("/_signed/images/");
  });

  test("with a new role is listed, also as a photo that its product gets", async () => {
    const { put, assets, createProduct, get } = await partsWorld();
    const { id } = (await createProduct({ reference: "R" })).body;
    await put(`assets/${assetId}`, { product_id: id, role: "source", orientation: "back" });
    await put(`assets/${modelId}`, { product_id: id, role: "video_still" });
    expect((await assets()).map(({ role }: { role: string }) => role)).toEqual([
      ...["source", "source", "video_still"],
    ]);
    expect((await get(`products/${id}`)).images[1]).toEqual({
      ...{ id: assetId, orientation: "back", origin: "user" },
    });
  });

  test("with mistakes is rejected with all of them", async () => {
    const { put, createProduct, mock } = await partsWorld();
    const problems = async (id: string, fields: object) => {
      const { status, body } = await put(`assets/${id}`, fields);
      return [status, ...body.errors.map(({ message }: { message: string }) => message)];
    };
    const { id, images } = (await createProduct({ reference: "R" })).body;
    expect(await problems(assetId, {})).toEqual([
      400,
      "product_id: a new asset needs it",
      "role: a new asset needs it",
    ]);
    expect(
      await problems(assetId, { product_id: id, role: "source", edit_number: 1, task_id: null }),
    ).toEqual([400, "task_id: only a generated asset has it", "edit_number: only a generated asset has it"]);
    expect(await problems(assetId, { product_id: id, role: "tryon", orientation: "front" })).toEqual([
      400,
      "orientation: only a photo has it",
    ]);
    expect(await problems(images[0].id, { role: "tryon", mime_type: "image/webp", model_id: "m" })).toEqual([
      400,
      "role: cannot change once the asset exists",
      "mime_type: cannot change once the asset exists",
      "model_id: only a generated asset has it",
    ]);
    expect(await problems(assetId, { role: "Big", edit_number: 0, attributes: { a: [] } })).toEqual([
      400,
      "role: must be a word in lower case such as recoloring",
      "edit_number: must be at least 1",
      "attributes.a: must be text, a number, true or false",
    ]);
    expect((await put(`assets/${assetId}`, { product_id: assetId, role: "tryon" })).body).toEqual(
      refusal("not_found", "product_not_found", "product_id"),
    );
    expect(mock.state().organizations.main.images).toHaveLength(1);
  });
});

describe("a model", () => {
  test("with a ULID is private: one organization lists it and renders on it", async () => {
    const { put, get, send, reload, createProduct } = await partsWorld();
    const made = await put(`models/${modelId}`, { name: "Nora", sex: "female", has_preview: false });
    expect(made.body).toMatchObject({
      ...{ id: modelId, name: "Nora", is_public: false, body_type: null },
      ...{ preview_url: null, preview_url_expires_at: null },
    });
    await reload();
    expect((await get("models?is_public=false")).data.at(-1)).toEqual(made.body);
    expect((await send("/v1/models?limit=100", { key: "ak_mock_other" })).body.data).not.toContainEqual(
      made.body,
    );
    const { id } = (await createProduct()).body;
    const inputs = [{ product_id: id, model_id: modelId, background: "studio", angle_shot: "full-front" }];
    expect((await send("/v1/tasks/tryon", { json: { inputs } })).status).toBe(202);
  });

  test("that is curated can change, and a page continues where it was", async () => {
    const { put, get } = await partsWorld();
    const all = (await get("models?limit=100")).data;
    const first = await get("models?limit=5");
    await put("models/mdl_012", { hair_color: null, has_preview: false });
    await put("models/mdl_900", { name: "Zoe", body_type: "petite" });
    await put(`models/${modelId}`, { name: "Nora" });
    const rest = (await get(`models?limit=100&cursor=${first.next_cursor}`)).data;
    expect([...first.data, ...rest].map(({ id }) => id)).toEqual([
      ...all.map(({ id }: { id: string }) => id),
      "mdl_900",
    ]);
    expect(rest.at(-2)).toMatchObject({ id: "mdl_012", name: "Leila", hair_color: null, preview_url: null });
    expect(rest.at(-1)).toMatchObject({ id: "mdl_900", is_public: true, body_type: "petite" });
  });
});

test("an idempotency key of a crashed request is in use for five minutes, then free", async () => {
  const { put, send, clock, reload } = await partsWorld();
  const key = "order 7/ä";
  const crashed = await put(`idempotency-keys/${encodeURIComponent(key)}`);
  expect(crashed.body).toEqual({
    ...{
      key,
      organization: "main",
      crashed_at: "2026-01-05T09:00:00.000Z",
      free_at: "2026-01-05T09:05:00.000Z",
    },
  });
  await put("idempotency-keys/k");
  const create = () => send("/v1/exports", { json: {}, headers: { "idempotency-key": "k" } });
  expect((await create()).body).toEqual(refusal("conflict", "request_in_progress"));
  await reload();
  clock.advance(299_999);
  expect((await create()).status).toBe(409);
  clock.advance(1);
  expect((await create()).status).toBe(202);
  expect((await create()).headers.get("idempotent-replayed")).toBe("true");
});

describe("an image without a product", () => {
  test("is cleaned up after seven days, unless a product has it by then", async () => {
    const { imageId, createProduct, clock, send, reload } = await partsWorld();
    const status = async (id: string) => (await send(`/v1/images/${id}`)).status;
    const [never, later] = [await imageId(), await imageId()];
    const [kept, shared] = [await imageId(), await imageId()];
    const photo = (id: string) => ({ image_id: id, orientation: "front" });
    const { id } = (await createProduct({ reference: "A", images: [photo(kept), photo(shared)] })).body;
    await createProduct({ reference: "B", images: [photo(shared)] });
    await createProduct({ reference: "C", images: [photo(later)] });
    clock.advance(day);
    await send(`/v1/products/${id}/images/${shared}`, { method: "DELETE" });
    await reload();
    clock.advance(6 * day - 1);
    expect(await status(never)).toBe(200);
    clock.advance(1);
    expect(await status(never)).toBe(404);
    expect((await createProduct({ reference: "D", images: [photo(never)] })).status).toBe(404);
    await send(`/v1/products/${id}`, { method: "DELETE" });
    clock.advance(7 * day - 1);
    expect(await status(kept)).toBe(200);
    clock.advance(1);
    expect([await status(kept), await status(shared), await status(later)]).toEqual([404, 200, 200]);
  });

  test("stays while an export has it", async () => {
    const { createProduct, imageId, clock, send } = await partsWorld();
    const [one, two] = [await imageId(), await imageId()];
    const photo = (id: string) => ({ image_id: id, orientation: "front" });
    const { id } = (await createProduct({ images: [photo(one), photo(two)] })).body;
    await send("/v1/exports", { json: { format: "zip" } });
    await send(`/v1/products/${id}/images/${two}`, { method: "DELETE" });
    clock.advance(30 * day);
    expect((await send(`/v1/images/${two}`)).status).toBe(200);
  });

  test("is not looked for while there is none", async () => {
    const { runImport, clock, mock } = await partsWorld();
    await runImport([row("A")]);
    expect(clock.nextDue()).toBeNull();
    expect(mock.state().organizations.main).not.toHaveProperty("unlinked_images");
  });
});

test("the same puts give the same state with a seed", async () => {
  const state = async () => {
    const { put, mock } = await partsWorld();
    await put(`products/${productId}`, { reference: "R" });
    await put(`assets/${assetId}`, { product_id: productId, role: "recoloring", edit_number: 1 });
    await put(`models/${modelId}`);
    await put("keys/ak_z", { scopes: [] });
    return JSON.stringify(mock.state());
  };
  expect(await state()).toBe(await state());
});
