import { describe, expect, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { patch } from "../../conformance/inputs.ts";
import { generated, type Json, list, referencesOf, type World } from "../exports/exported.ts";
import { refusal, row, startWorld, tinyPng } from "../world.ts";

describe("a row", () => {
  test("has exactly the product and its uploaded photo", async () => {
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

  test("has each generated image once, even if it is attached as a photo", async () => {
    const world = await startWorld();
    const { styling, product, tasks, outputs } = await generated(world);
    const images = [{ image_id: outputs[0], orientation: "detail" }];
    for (const { id } of [product, styling]) {
      expect((await world.send(`/v1/products/${id}/images`, { json: { images } })).status).toBe(201);
    }
    const [main, other] = await list(world);
    expect(main.assets.map(({ id }: Json) => id)).toEqual([product.images[0].id, ...outputs]);
    // Made for the dress: the belt appears only in also_features (ExportRow).
    expect(other.assets.map(({ id }: Json) => id)).toEqual([styling.images[0].id]);
    for (const { id, mime_type, created_at, url } of main.assets) {
      expect((await world.send(`/v1/images/${id}`)).body).toMatchObject({ id, mime_type, created_at, url });
    }
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

  test("has different names for photos of one orientation, whatever the role filter", async () => {
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
  ])("%j lists only those assets, but all products", async (role, expected) => {
    const world = await startWorld();
    await generated(world);
    const rows = await list(world, `&role=${encodeURIComponent(role)}`);
    expect(referencesOf(rows)).toEqual(["DRESS", "BELT"]);
    expect(rows[0].assets.map((asset: Json) => asset.role)).toEqual(expected);
  });

  test.each(["foo", "", "source,", "source,foo", "Source", "source;tryon"])("rejects %j", async (role) => {
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

  test("have 25 rows by default, and the page with the last row is the last page", async () => {
    const { send } = await startWorld({ demo: 26 });
    const first = (await send("/v1/exports")).body;
    expect([first.data.length, first.has_more]).toEqual([25, true]);
    const second = (await send(`/v1/exports?limit=1&cursor=${first.next_cursor}`)).body;
    expect([second.data.length, second.has_more, second.next_cursor]).toEqual([1, false, null]);
  });

  test("reject a cursor of other filters or another organization", async () => {
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
      `?cursor=${plain}=`,
    ]) {
      const got = await world.send(`/v1/exports${path}`);
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_cursor", "cursor")]);
    }
    const other = await world.send(`/v1/exports?cursor=${plain}`, { key: "ak_mock_other" });
    expect(other.status).toBe(400);
    // The same time and roles in another notation.
    const cursor = await cursorOf(`&since=${since}&role=tryon,source`);
    const same = `?since=2024-01-01T01:00:00%2B01:00&role=source,tryon&cursor=${cursor}`;
    expect((await world.send(`/v1/exports${same}`)).status).toBe(200);
  });

  test("do not show products of another organization", async () => {
    const world = await startWorld({ demo: 3 });
    expect((await world.send("/v1/exports", { key: "ak_mock_other" })).body.data).toEqual([]);
  });
});

describe("a delta", () => {
  const start = "2026-01-05T09:00:00.000Z";
  /** The delta of a change to B, one minute after the products A to C were created. */
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
    ["a changed field", ({ send }, { id }) => send(`/v1/products/${id}`, patch({ description: "new" }))],
    ["a changed reference", ({ send }, { id }) => send(`/v1/products/${id}`, patch({ reference: "B2" }))],
    [
      "an attached photo",
      async ({ send, imageId }, { id }) => {
        const images = [{ image_id: await imageId(), orientation: "back" }];
        return send(`/v1/products/${id}/images`, { json: { images } });
      },
    ],
    ["a row of an import", ({ runImport }, { reference }) => runImport([row(reference)])],
    [
      "a finished generation",
      ({ send }, { id }) => {
        const inputs = { product_id: id, background: "white", angle_shot: "front" };
        return send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } });
      },
    ],
  ])("has the complete state of a product after %s", async (_name, change) => {
    const { world, product, rows } = await since(change);
    const all = await list(world);
    expect(rows).toEqual([all.find((one: Json) => one.product.id === product.id)]);
  });

  test("has a new product", async () => {
    const { rows } = await since(({ createProduct }) => createProduct({ reference: "D" }));
    expect(referencesOf(rows)).toEqual(["D"]);
  });

  test("has a deleted product with deleted_at and without assets", async () => {
    const { world, product, rows } = await since(({ send }, { id }) =>
      send(`/v1/products/${id}`, { method: "DELETE" }),
    );
    const { id, reference, name, sex } = product;
    const deleted_at = "2026-01-05T09:01:00.000Z";
    expect(rows).toEqual([{ product: { id, reference, name, sex, deleted_at }, assets: [] }]);
    expect(referencesOf(await list(world))).toEqual(["C", "A"]);
  });

  test.each<[string, (world: World, product: Json) => Promise<unknown>]>([
    ["an unchanged product", async () => {}],
    [
      "a product with an update to the same value",
      ({ send }, { id, name }) => send(`/v1/products/${id}`, patch({ name })),
    ],
    [
      "a product with a detached photo",
      async (world, { id, images }) => {
        const more = { images: [{ image_id: await world.imageId(), orientation: "back" }] };
        await world.send(`/v1/products/${id}/images`, { json: more });
        world.clock.advance(60_000);
        return world.send(`/v1/products/${id}/images/${images[0].id}`, { method: "DELETE" });
      },
    ],
  ])("does not have %s", async (name, change) => {
    const { rows } = await since(change, `2026-01-05T09:0${name.endsWith("detached photo") ? 2 : 1}:00Z`);
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
    ["2026-01-05t09:01:00z", 1],
    ["2026-01-05t10:01:00.001+01:00", 0],
    ["2025-12-31T23:59:60Z", 3],
    ["2026-01-31T23:59:60Z", 0],
  ])("since %s: %d rows", async (at, count) => {
    const { rows } = await since(
      ({ send }, { id }) => send(`/v1/products/${id}`, patch({ name: "New" })),
      at,
    );
    expect(rows).toHaveLength(count);
  });

  test("rejects the space that an unescaped plus of an offset becomes, and says how it is written", async () => {
    const { send } = await startWorld({ demo: 1 });
    expect(await send("/v1/exports?since=2024-01-01T00:00:00+01:00")).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "invalid_request",
          param: "since",
          message: "since: must not have a space: write the + of an offset as %2B",
        },
      },
    });
    const escaped = await send("/v1/exports?since=2024-01-01T00:00:00.5%2B01:00");
    expect(escaped.body.data).toHaveLength(1);
  });

  test("the client escapes the plus of an offset", async () => {
    const { mock } = await startWorld({ demo: 1 });
    const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey });
    expect((await client.exports.list({ since: "2024-01-01T00:00:00+01:00" })).data).toHaveLength(1);
    await client.close();
    expect(mock.requests().at(-1)?.path).toContain("since=2024-01-01T00%3A00%3A00%2B01%3A00");
  });

  test.each([
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"],
    ["2016-12-31t23:59:60.999z", "2017-01-01T00:00:00Z"],
    ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z"],
    ["2012-07-01T05:29:60+05:30", "2012-07-01T00:00:00Z"],
  ])("reads a leap second as the next second: %s is %s", async (leap, next) => {
    const { send } = await startWorld({ demo: 2 });
    // A cursor is valid only for the list that it comes from.
    const { next_cursor } = (await send(`/v1/exports?limit=1&since=${encodeURIComponent(leap)}`)).body;
    expect((await send(`/v1/exports?since=${next}&cursor=${next_cursor}`)).status).toBe(200);
    expect((await send(`/v1/exports?since=2017-01-01T00:00:01Z&cursor=${next_cursor}`)).status).toBe(400);
  });

  test.each([
    ...["yesterday", "", "2026-01-05", "2026-01-05T09:00:00", "2026-02-30T09:00:00Z", "1767600000"],
    // Not leap seconds: these are not the last second of a month in UTC.
    ...[
      "2026-01-05T09:00:60Z",
      "2026-01-05T23:59:60Z",
      "2026-01-31T23:59:60%2B01:00",
      "2026-02-30T23:59:60Z",
    ],
    ...["2016-12-31T23:59:61Z", "2016-12-31T23:60:00Z", "2016-12-31T23:60Z", "9999-12-31T23:59:60Z"],
  ])("rejects since %j", async (at) => {
    const { send } = await startWorld();
    const got = await send(`/v1/exports?since=${at}`);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "since")]);
  });

  test("filters assets by role, but not products", async () => {
    const { world } = await since(async () => {});
    const rows = await list(world, `&since=${start}&role=tryon`);
    expect(rows.map(({ assets }: Json) => assets)).toEqual([[], [], []]);
  });

  test("is the same after a state is restored", async () => {
    const { world, rows } = await since(({ send }, { id }) =>
      send(`/v1/products/${id}`, { method: "DELETE" }),
    );
    const body = JSON.stringify(world.mock.state());
    await world.send("/_mock/reset", { method: "POST", key: null });
    expect((await world.send("/_mock/state", { method: "PUT", body, key: null })).status).toBe(200);
    expect(await list(world, "&since=2026-01-05T09:01:00Z")).toEqual(rows);
  });
});

test("a generation of a deleted product stays an image, but is no asset, also where it is attached", async () => {
  const world = await startWorld();
  const { product, outputs } = await generated(world);
  const coat = (await world.createProduct({ reference: "COAT" })).body;
  const images = [{ image_id: outputs[0]!, orientation: "detail" }];
  await world.send(`/v1/products/${coat.id}/images`, { json: { images } });
  await world.send(`/v1/products/${product.id}`, { method: "DELETE" });
  const listed = (await list(world)).flatMap(({ assets }: Json) => assets.map(({ id }: Json) => id));
  expect(listed).not.toContain(outputs[0]);
  expect((await world.send(`/v1/images/${outputs[0]}`)).status).toBe(200);
});

test("an image of several products is an asset of each", async () => {
  const world = await startWorld();
  const images = [{ image_id: (await world.upload(tinyPng)).body.id, orientation: "side" }];
  for (const reference of ["A", "B"]) await world.createProduct({ reference, images });
  const rows = await list(world);
  expect(rows.map(({ assets }: Json) => assets.map(({ id }: Json) => id))).toEqual([
    [images[0]!.image_id],
    [images[0]!.image_id],
  ]);
});
