import { describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { nobody, patch } from "../conformance/inputs.ts";
import { refusal, row, startWorld, tinyPng } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: a story reads the fields it is about.
type Json = any;
type World = Awaited<ReturnType<typeof startWorld>>;

const referencesOf = (rows: Json[]) => rows.map(({ product }) => product.reference);
const list = async ({ send }: World, query = "") => (await send(`/v1/exports?limit=100${query}`)).body.data;
const freeze = (world: World, json: unknown = {}) => world.send("/v1/exports", { json });
const textOf = async (url: string) => (await fetch(url)).text();
const rowsOf = async (url: string): Promise<Json[]> =>
  (await textOf(url))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const many = (count: number) => Array.from({ length: count }, (_, at) => row(`R${at}`));

/** A product with a finished beautifier and a finished try-on that shows another product, too. */
async function generated(world: World) {
  const styling = (await world.createProduct({ reference: "BELT" })).body;
  const product = (await world.createProduct({ reference: "DRESS" })).body;
  const beautifier = { product_id: product.id, background: "#f4f1ea", angle_shot: "front" };
  const made = await world.send("/v1/tasks/beautifier", {
    json: { subtype: "clothing", inputs: beautifier },
  });
  const input = { product_id: product.id, model_id: "mdl_001", background: "loft", angle_shot: "half-front" };
  const styled = { ...input, styling_product_ids: [styling.id] };
  const worn = await world.send("/v1/tasks/tryon", { json: { inputs: [styled] } });
  expect([made.status, worn.status]).toEqual([202, 202]);
  world.clock.advance(600_000);
  const tasks = [made.body.id, worn.body.tasks[0].id];
  const outputs = [];
  for (const id of tasks) outputs.push((await world.send(`/v1/tasks/${id}`)).body.output_image.id as string);
  return { styling, product, tasks, outputs };
}

describe("a row", () => {
  test("has the product and the caller's own photo, exactly", async () => {
    const world = await startWorld();
    const { body: product } = await world.createProduct({ reference: "A/B", sex: "kid" });
    const photo = product.images[0].id;
    const { url } = (await world.send(`/v1/images/${photo}`)).body;
    expect(await list(world)).toEqual([
      {
        product: { id: product.id, reference: "A/B", name: "A dress", sex: "kid", deleted_at: null },
        assets: [
          {
            id: photo,
            role: "source",
            url,
            url_expires_at: "2026-01-05T10:00:00.000Z",
            mime_type: "image/png",
            width: 1,
            height: 1,
            ai_generated: false,
            watermarked: false,
            derived: false,
            created_at: "2026-01-05T09:00:00.000Z",
            task_id: null,
            attributes: { orientation: "front" },
            also_features: [],
            suggested_filename: "A_B_front.png",
          },
        ],
      },
    ]);
  });

  test("has the generations made for it, each once, also when one is attached as a photo", async () => {
    const world = await startWorld();
    const { styling, product, tasks, outputs } = await generated(world);
    const images = [{ image_id: outputs[0], orientation: "detail" }];
    for (const { id } of [product, styling]) {
      expect((await world.send(`/v1/products/${id}/images`, { json: { images } })).status).toBe(201);
    }
    const [main, other] = await list(world);
    expect(main.assets.map(({ id }: Json) => id)).toEqual([product.images[0].id, ...outputs]);
    // Made for the dress: the belt appears only in what it features (ExportRow).
    expect(other.assets.map(({ id }: Json) => id)).toEqual([styling.images[0].id]);
    const task = (await world.send(`/v1/tasks/${tasks[0]}`)).body;
    expect(main.assets[1]).toMatchObject({
      role: "beautifier",
      ai_generated: true,
      derived: false,
      created_at: task.finished_at,
      task_id: tasks[0],
      attributes: { angle_shot: "front", background: "#f4f1ea" },
      also_features: [],
      suggested_filename: expect.stringMatching(/^DRESS_beautifier_front\.(jpg|png|webp)$/),
    });
    expect(main.assets[2]).toMatchObject({
      role: "tryon",
      ai_generated: true,
      task_id: tasks[1],
      attributes: { angle_shot: "half-front", background: "loft", model_id: "mdl_001" },
      also_features: [styling.id],
      suggested_filename: expect.stringMatching(/^DRESS_tryon_half-front\.(jpg|png|webp)$/),
    });
    expect(Object.keys(main.assets[1].attributes)).toEqual(["angle_shot", "background"]);
  });

  test("gives photos of one orientation different names, the same whatever is asked for", async () => {
    const world = await startWorld();
    const images = [];
    for (const orientation of ["front", "front", "back", "front"]) {
      images.push({ image_id: await world.imageId(), orientation });
    }
    await world.createProduct({ reference: "R", images });
    const [shown] = await list(world);
    expect(shown.assets.map((asset: Json) => asset.suggested_filename)).toEqual([
      "R_front.png",
      "R_front_2.png",
      "R_back.png",
      "R_front_3.png",
    ]);
  });
});

describe("roles", () => {
  test.each([
    ["source", ["source"]],
    ["tryon,beautifier", ["beautifier", "tryon"]],
    [" source , tryon ", ["source", "tryon"]],
    ["tryon,tryon", ["tryon"]],
    ["recoloring", []],
  ])("%j leaves the others out, products stay", async (role, expected) => {
    const world = await startWorld();
    await generated(world);
    const rows = await list(world, `&role=${encodeURIComponent(role)}`);
    expect(referencesOf(rows)).toEqual(["DRESS", "BELT"]);
    expect(rows[0].assets.map((asset: Json) => asset.role)).toEqual(expected);
  });

  test.each(["foo", "", "source,", "source,foo", "Source", "source;tryon"])("%j is refused", async (role) => {
    const { send } = await startWorld();
    const got = await send(`/v1/exports?role=${encodeURIComponent(role)}`);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "role")]);
  });

  test("do not change the names", async () => {
    const world = await startWorld();
    const { outputs } = await generated(world);
    const named = async (query: string) =>
      (await list(world, query))[0].assets.find(({ id }: Json) => id === outputs[1]).suggested_filename;
    expect(await named("&role=tryon")).toBe(await named(""));
  });
});

describe("live pages", () => {
  test.each([
    ["0", 400],
    ["1", 200],
    ["2", 200],
    ["99", 200],
    ["100", 200],
    ["101", 400],
  ])("limit %s: %d", async (limit, status) => {
    const { send } = await startWorld({ demo: 120 });
    const got = await send(`/v1/exports?limit=${limit}`);
    expect(got.status).toBe(status);
    if (status === 200) expect(got.body.data).toHaveLength(Number(limit));
    else expect(got.body).toEqual(refusal("invalid_request", "invalid_request", "limit"));
  });

  test("25 unless told, and a page that ends with the last row is the last", async () => {
    const { send } = await startWorld({ demo: 26 });
    const first = (await send("/v1/exports")).body;
    expect([first.data.length, first.has_more]).toEqual([25, true]);
    const second = (await send(`/v1/exports?limit=1&cursor=${first.next_cursor}`)).body;
    expect([second.data.length, second.has_more, second.next_cursor]).toEqual([1, false, null]);
  });

  test("a cursor belongs to its filters and its organization", async () => {
    const world = await startWorld({ demo: 30 });
    const since = "2024-01-01T00:00:00Z";
    const cursorOf = async (query: string) =>
      (await world.send(`/v1/exports?limit=1${query}`)).body.next_cursor;
    const plain = await cursorOf("");
    for (const path of [
      `?role=source&cursor=${plain}`,
      `?since=${since}&cursor=${plain}`,
      `?since=2024-01-02T00:00:00Z&cursor=${await cursorOf(`&since=${since}`)}`,
      `?cursor=${(await world.send("/v1/products?limit=1")).body.next_cursor}`,
      "?cursor=",
    ]) {
      const got = await world.send(`/v1/exports${path}`);
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_cursor", "cursor")]);
    }
    const other = await world.send(`/v1/exports?cursor=${plain}`, { key: "ak_mock_other" });
    expect(other.status).toBe(400);
    // The same moment and the same roles, written in another way.
    const cursor = await cursorOf(`&since=${since}&role=tryon,source`);
    const same = `?since=2024-01-01T01:00:00%2B01:00&role=source,tryon&cursor=${cursor}`;
    expect((await world.send(`/v1/exports${same}`)).status).toBe(200);
  });

  test("another organization sees nothing", async () => {
    const world = await startWorld({ demo: 3 });
    expect((await world.send("/v1/exports", { key: "ak_mock_other" })).body.data).toEqual([]);
  });
});

describe("a delta", () => {
  const start = "2026-01-05T09:00:00.000Z";
  /** Three products, A to C, made at nine; a minute later a change to B. What is new since that minute. */
  async function since(
    change: (world: World, product: Json) => Promise<unknown>,
    at = "2026-01-05T09:01:00Z",
  ) {
    const world = await startWorld();
    const products: Json[] = [];
    for (const reference of ["A", "B", "C"]) products.push((await world.createProduct({ reference })).body);
    world.clock.advance(60_000);
    await change(world, products[1]);
    world.clock.advance(60_000);
    return { world, product: products[1], rows: await list(world, `&since=${encodeURIComponent(at)}`) };
  }

  test.each<[string, (world: World, product: Json) => Promise<unknown>]>([
    ["a field", ({ send }, { id }) => send(`/v1/products/${id}`, patch({ description: "new" }))],
    ["a reference", ({ send }, { id }) => send(`/v1/products/${id}`, patch({ reference: "B2" }))],
    [
      "a photo attached",
      async ({ send, imageId }, { id }) => {
        const images = [{ image_id: await imageId(), orientation: "back" }];
        return send(`/v1/products/${id}/images`, { json: { images } });
      },
    ],
    ["an import's row", ({ runImport }, { reference }) => runImport([row(reference)])],
    [
      "a generation that finished",
      ({ send }, { id }) => {
        const inputs = { product_id: id, background: "white", angle_shot: "front" };
        return send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } });
      },
    ],
  ])("%s brings the product's whole state", async (_name, change) => {
    const { world, product, rows } = await since(change);
    const all = await list(world);
    expect(rows).toEqual([all.find((one: Json) => one.product.id === product.id)]);
  });

  test("a product that is new", async () => {
    const { rows } = await since(({ createProduct }) => createProduct({ reference: "D" }));
    expect(referencesOf(rows)).toEqual(["D"]);
  });

  test("a deletion: the row says when, and has no assets", async () => {
    const { world, product, rows } = await since(({ send }, { id }) =>
      send(`/v1/products/${id}`, { method: "DELETE" }),
    );
    const { id, reference, name, sex } = product;
    const deleted_at = "2026-01-05T09:01:00.000Z";
    expect(rows).toEqual([{ product: { id, reference, name, sex, deleted_at }, assets: [] }]);
    expect(referencesOf(await list(world))).toEqual(["C", "A"]);
  });

  test.each<[string, (world: World, product: Json) => Promise<unknown>]>([
    ["nothing", async () => {}],
    [
      "a change that changes nothing",
      ({ send }, { id, name }) => send(`/v1/products/${id}`, patch({ name })),
    ],
    [
      "a photo taken off",
      async (world, { id, images }) => {
        const more = { images: [{ image_id: await world.imageId(), orientation: "back" }] };
        await world.send(`/v1/products/${id}/images`, { json: more });
        world.clock.advance(60_000);
        return world.send(`/v1/products/${id}/images/${images[0].id}`, { method: "DELETE" });
      },
    ],
  ])("%s is no change", async (name, change) => {
    const { rows } = await since(change, `2026-01-05T09:0${name.startsWith("a photo") ? 2 : 1}:00Z`);
    expect(rows).toEqual([]);
  });

  test.each([
    ["2026-01-05T09:00:59.999Z", 1],
    ["2026-01-05T09:01:00.000Z", 1],
    ["2026-01-05T09:01:00.001Z", 0],
    ["2026-01-05T10:01:00+01:00", 1],
    ["2026-01-05T10:01:00.001+01:00", 0],
    ["2026-01-04T23:01:00-10:00", 1],
    ["2026-01-05T09:01:00.0009Z", 1],
    [start, 3],
    ["0001-01-01T00:00:00Z", 3],
    ["9999-12-31T23:59:59Z", 0],
  ])("since %s: %d rows", async (at, count) => {
    const { rows } = await since(
      ({ send }, { id }) => send(`/v1/products/${id}`, patch({ name: "New" })),
      at,
    );
    expect(rows).toHaveLength(count);
  });

  test("a plus that arrives as a space is a plus", async () => {
    const { send } = await startWorld({ demo: 1 });
    expect((await send("/v1/exports?since=2024-01-01T00:00:00+01:00")).body.data).toHaveLength(1);
  });

  test.each(["yesterday", "", "2026-01-05", "2026-01-05T09:00:00", "2026-02-30T09:00:00Z", "1767600000"])(
    "since %j is refused",
    async (at) => {
      const { send } = await startWorld();
      const got = await send(`/v1/exports?since=${at}`);
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "since")]);
    },
  );

  test("roles leave assets out, not products", async () => {
    const { world } = await since(async () => {});
    const rows = await list(world, `&since=${start}&role=tryon`);
    expect(rows.map(({ assets }: Json) => assets)).toEqual([[], [], []]);
  });

  test("what a state was put back with is told as before", async () => {
    const { world, rows } = await since(({ send }, { id }) =>
      send(`/v1/products/${id}`, { method: "DELETE" }),
    );
    const body = JSON.stringify(world.mock.state());
    await world.send("/_mock/reset", { method: "POST", key: null });
    expect((await world.send("/_mock/state", { method: "PUT", body, key: null })).status).toBe(200);
    expect(await list(world, "&since=2026-01-05T09:01:00Z")).toEqual(rows);
  });
});

describe("a manifest", () => {
  test("is there at once, one row a line, as the rows were", async () => {
    const world = await startWorld({ demo: 3 });
    const rows = await list(world);
    const got = await freeze(world);
    expect([got.status, got.headers.get("retry-after")]).toEqual([202, null]);
    const { id, url } = got.body;
    expect(got.body).toEqual({
      id,
      format: "manifest",
      status: "completed",
      url,
      url_expires_at: "2026-01-05T10:00:00.000Z",
      total_assets: rows.flatMap(({ assets }: Json) => assets).length,
      error: null,
      created_at: "2026-01-05T09:00:00.000Z",
      finished_at: "2026-01-05T09:00:00.000Z",
    });
    expect(await rowsOf(url)).toEqual(rows);
    expect((await world.send(`/v1/exports/${id}`)).body).toEqual(got.body);
  });

  test("stays as it was, whatever changes", async () => {
    const world = await startWorld({ demo: 3 });
    const { id, url, total_assets } = (await freeze(world)).body;
    const before = await textOf(url);
    const [{ product, assets }] = await list(world);
    const images = [{ image_id: await world.imageId(), orientation: "back" }];
    await world.send(`/v1/products/${product.id}/images`, { json: { images } });
    await world.send(`/v1/products/${product.id}/images/${assets[0].id}`, { method: "DELETE" });
    await world.send(`/v1/products/${product.id}`, patch({ name: "New", reference: "NEW" }));
    await world.send(`/v1/products/${product.id}`, { method: "DELETE" });
    await world.createProduct();
    world.clock.advance(1_000);
    const again = (await world.send(`/v1/exports/${id}`)).body;
    expect([again.total_assets, again.url_expires_at]).toEqual([total_assets, "2026-01-05T10:00:01.000Z"]);
    expect(await textOf(again.url)).toBe(before);
    const later = (await freeze(world)).body;
    expect(await textOf(later.url)).not.toBe(before);
  });

  test.each<[string, (world: World, product: Json) => Promise<unknown>]>([
    ["a field", ({ send }, { id }) => send(`/v1/products/${id}`, patch({ sex: "other" }))],
    [
      "a photo attached",
      async ({ send, imageId }, { id }) => {
        const images = [{ image_id: await imageId(), orientation: "back" }];
        return send(`/v1/products/${id}/images`, { json: { images } });
      },
    ],
    [
      "a photo taken off",
      ({ send }, { id, images }) => send(`/v1/products/${id}/images/${images[0].id}`, { method: "DELETE" }),
    ],
    [
      "a generation",
      ({ send }, { id }) => {
        const inputs = { product_id: id, background: "white", angle_shot: "front" };
        return send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } });
      },
    ],
  ])("that comes after %s has it", async (_name, change) => {
    const world = await startWorld();
    const images = [];
    for (const orientation of ["front", "side"])
      images.push({ image_id: await world.imageId(), orientation });
    const { body: product } = await world.createProduct({ images });
    const before = await rowsOf((await freeze(world)).body.url);
    await change(world, product);
    world.clock.advance(600_000);
    const after = await rowsOf((await freeze(world)).body.url);
    expect(after).toEqual(await list(world));
    expect({ ...after[0], assets: after[0].assets.map(({ id }: Json) => id) }).not.toEqual({
      ...before[0],
      assets: before[0].assets.map(({ id }: Json) => id),
    });
  });

  test("is signed anew on every read, its assets are not", async () => {
    const world = await startWorld({ demo: 1 });
    const { id, url } = (await freeze(world)).body;
    const [{ assets }] = await rowsOf(url);
    world.clock.advance(3_599_999);
    expect((await fetch(assets[0].url)).status).toBe(200);
    world.clock.advance(1);
    expect([(await fetch(url)).status, (await fetch(assets[0].url)).status]).toEqual([403, 403]);
    const again = (await world.send(`/v1/exports/${id}`)).body.url;
    expect((await rowsOf(again))[0].assets).toEqual(assets);
  });

  test("of products by id: each once, in the order named, only those roles", async () => {
    const world = await startWorld();
    const { styling, product, outputs } = await generated(world);
    const product_ids = [styling.id, product.id, styling.id];
    const { body } = await freeze(world, { product_ids, role: ["tryon"] });
    const rows = await rowsOf(body.url);
    expect(referencesOf(rows)).toEqual(["BELT", "DRESS"]);
    expect(rows.flatMap(({ assets }) => assets.map(({ id }: Json) => id))).toEqual([outputs[1]]);
    expect(body.total_assets).toBe(1);
  });

  test("of nothing is empty", async () => {
    const world = await startWorld({ demo: 2 });
    for (const json of [{ product_ids: [] }, { product_ids: [], role: [] }]) {
      const { body } = await freeze(world, json);
      expect([body.status, body.total_assets, await textOf(body.url)]).toEqual(["completed", 0, ""]);
    }
    const { body } = await freeze(world, { role: [] });
    expect([body.total_assets, (await rowsOf(body.url)).length]).toEqual([0, 2]);
  });

  test.each([499, 500, 501])("of a catalogue of %d products has the newest 500 at most", async (count) => {
    const world = await startWorld();
    await world.runImport(many(count));
    const { body } = await freeze(world);
    const rows = await rowsOf(body.url);
    expect(rows).toHaveLength(Math.min(count, limits.exportProducts));
    expect([rows[0]!.product.reference, body.total_assets]).toEqual([`R${count - 1}`, rows.length]);
  });

  test.each([
    [499, 202],
    [500, 202],
    [501, 400],
  ])("%d ids: %d", async (count, status) => {
    const world = await startWorld();
    await world.runImport(many(count));
    const ids = world.mock.state().organizations.main.products.map(({ id }) => id);
    const got = await freeze(world, { product_ids: ids });
    expect(got.status).toBe(status);
    if (status === 400)
      expect(got.body).toEqual(refusal("invalid_request", "invalid_request", "product_ids"));
    else expect(referencesOf(await rowsOf(got.body.url))).toEqual(many(count).map((one) => one.reference));
  });

  test("of a product that is not there: 404, and no job", async () => {
    const world = await startWorld();
    const product = (await world.createProduct()).body;
    const gone = (await world.createProduct({ reference: "GONE" })).body;
    await world.send(`/v1/products/${gone.id}`, { method: "DELETE" });
    for (const missing of [nobody, gone.id, "x", "x".repeat(10_000), ""]) {
      const got = await freeze(world, { product_ids: [product.id, missing] });
      expect([got.status, got.body]).toEqual([
        404,
        refusal("not_found", "product_not_found", "product_ids[1]"),
      ]);
    }
    const other = await world.send("/v1/exports", {
      json: { product_ids: [product.id] },
      key: "ak_mock_other",
    });
    expect(other.status).toBe(404);
    expect(world.mock.state().organizations.main.exports).toEqual([]);
  });

  test.each([
    [{ format: "tar" }, "format"],
    [{ role: ["foo"] }, "role"],
    [{ role: "source" }, "role"],
    [{ product_ids: "x" }, "product_ids"],
    [{ product_ids: [1] }, "product_ids[0]"],
    [{ product_ids: null }, "product_ids"],
    [{ since: "2026-01-05T09:00:00Z" }, "since"],
  ])("%j is refused", async (json, param) => {
    const got = await freeze(await startWorld(), json);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });
});

describe("a zip", () => {
  test("is rendered on the clock", async () => {
    const world = await startWorld({ demo: 2 });
    const got = await freeze(world, { format: "zip" });
    expect([got.status, got.headers.get("retry-after")]).toEqual([202, "5"]);
    const { id, total_assets } = got.body;
    expect(got.body).toMatchObject({
      status: "processing",
      url: null,
      url_expires_at: null,
      finished_at: null,
    });
    const read = () => world.send(`/v1/exports/${id}`);
    world.clock.advance(1_000 + 5 * total_assets - 1);
    expect([(await read()).body, (await read()).headers.get("retry-after")]).toEqual([got.body, "5"]);
    world.clock.advance(1);
    const done = await read();
    expect([done.body.status, done.body.error, done.headers.get("retry-after")]).toEqual([
      "completed",
      null,
      null,
    ]);
    expect(done.body.finished_at).toBe(new Date(world.clock.now()).toISOString());
    expect((await fetch(done.body.url)).headers.get("content-type")).toBe("application/zip");
  });

  test("takes a tenth of the time at ten times the speed", async () => {
    const world = await startWorld({ demo: 2, speed: 10 });
    const { headers, body } = await freeze(world, { format: "zip" });
    expect(headers.get("retry-after")).toBe("1");
    world.clock.advance(100 + Math.ceil(body.total_assets / 2));
    expect((await world.send(`/v1/exports/${body.id}`)).body.status).toBe("completed");
  });

  test("fails when it was ordered to", async () => {
    const world = await startWorld({ demo: 2 });
    const fail = { code: "storage_full", message: "no room" };
    await world.send("/_mock/faults", { json: { match: { job: "export" }, times: 1, fail }, key: null });
    const { id } = (await freeze(world, { format: "zip" })).body;
    world.clock.advance(60_000);
    const { body } = await world.send(`/v1/exports/${id}`);
    expect([body.status, body.error, body.url]).toEqual(["failed", fail, null]);
    const { id: next } = (await freeze(world, { format: "zip" })).body;
    world.clock.advance(60_000);
    expect((await world.send(`/v1/exports/${next}`)).body.status).toBe("completed");
  });

  test("goes on, and stays the same, when a state is put back", async () => {
    const one = await startWorld({ demo: 3, seed: 5 });
    const { id } = (await freeze(one, { format: "zip" })).body;
    const product = one.mock.state().organizations.main.products[0]!;
    await one.send(`/v1/products/${product.id}`, { method: "DELETE" });
    const two = await startWorld();
    const body = JSON.stringify(one.mock.state());
    expect((await two.send("/_mock/state", { method: "PUT", body, key: null })).status).toBe(200);
    const read = async (world: World) => {
      world.clock.advance(60_000);
      const { url } = (await world.send(`/v1/exports/${id}`)).body;
      return new Uint8Array(await (await fetch(url)).arrayBuffer());
    };
    expect(await read(two)).toEqual(await read(one));
  });

  test("of an organization is not another's", async () => {
    const world = await startWorld({ demo: 1 });
    const { id } = (await freeze(world)).body;
    const got = await world.send(`/v1/exports/${id}`, { key: "ak_mock_other" });
    expect([got.status, got.body]).toEqual([404, refusal("not_found", "export_not_found")]);
  });
});

test("a job is made once for one idempotency key", async () => {
  const world = await startWorld({ demo: 1 });
  const send = () => world.send("/v1/exports", { json: {}, headers: { "idempotency-key": "k" } });
  const [first, second] = [await send(), await send()];
  expect([second.body, second.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
});

test("one image on many products is an asset of each", async () => {
  const world = await startWorld();
  const images = [{ image_id: (await world.upload(tinyPng)).body.id, orientation: "side" }];
  for (const reference of ["A", "B"]) await world.createProduct({ reference, images });
  const rows = await list(world);
  expect(rows.map(({ assets }: Json) => assets.map(({ id }: Json) => id))).toEqual([
    [images[0]!.image_id],
    [images[0]!.image_id],
  ]);
});
