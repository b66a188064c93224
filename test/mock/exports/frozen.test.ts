import { describe, expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import { nobody, patch } from "../../conformance/inputs.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { refusal, row, type Send, startWorld } from "../world.ts";
import { freeze, generated, type Json, list, referencesOf, rowsOf, textOf, type World } from "./exported.ts";

const many = (count: number) => Array.from({ length: count }, (_, at) => row(`R${at}`));

describe("a manifest", () => {
  test("is completed immediately, with one row per line", async () => {
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

  test("does not change after the products do", async () => {
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
    ["a changed field", ({ send }, { id }) => send(`/v1/products/${id}`, patch({ sex: "other" }))],
    [
      "an attached photo",
      async ({ send, imageId }, { id }) => {
        const images = [{ image_id: await imageId(), orientation: "back" }];
        return send(`/v1/products/${id}/images`, { json: { images } });
      },
    ],
    [
      "a detached photo",
      ({ send }, { id, images }) => send(`/v1/products/${id}/images/${images[0].id}`, { method: "DELETE" }),
    ],
    [
      "a generated image",
      ({ send }, { id }) => {
        const inputs = { product_id: id, background: "white", angle_shot: "front" };
        return send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } });
      },
    ],
  ])("includes %s that happened before it", async (_name, change) => {
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

  test("has a new signed URL on every read, but its assets do not", async () => {
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

  test("of product IDs has each once, in the given order, with only the given roles", async () => {
    const world = await startWorld();
    const { styling, product, outputs } = await generated(world);
    const product_ids = [styling.id, product.id, styling.id];
    const { body } = await freeze(world, { product_ids, role: ["tryon"] });
    const rows = await rowsOf(body.url);
    expect(referencesOf(rows)).toEqual(["BELT", "DRESS"]);
    expect(rows.flatMap(({ assets }) => assets.map(({ id }: Json) => id))).toEqual([outputs[1]]);
    expect(body.total_assets).toBe(1);
  });

  test.each<[string, Send]>([
    ["a request without body and content type", {}],
    ["a request with a content type but no body", { headers: { "content-type": "application/json" } }],
  ])("of %s has all products", async (_name, more) => {
    const world = await startWorld({ demo: 3 });
    const { status, body } = await world.send("/v1/exports", { method: "POST", ...more });
    expect([status, body.format, body.status]).toEqual([202, "manifest", "completed"]);
    expect(await rowsOf(body.url)).toEqual(await list(world));
  });

  test.each([
    ["text/plain", undefined, 415],
    ["text/plain", "{}", 415],
    ["application/json", " ", 400],
    ["application/json", "{", 400],
    ["application/json", "null", 400],
  ])("with the type %s and the body %j: %d", async (type, body, status) => {
    const world = await startWorld();
    const headers = { "content-type": type };
    const got = await world.send("/v1/exports", {
      method: "POST",
      headers,
      ...(body !== undefined && { body }),
    });
    expect(got.status).toBe(status);
  });

  test("of no products is empty", async () => {
    const world = await startWorld({ demo: 2 });
    for (const json of [{ product_ids: [] }, { product_ids: [], role: [] }]) {
      const { body } = await freeze(world, json);
      expect([body.status, body.total_assets, await textOf(body.url)]).toEqual(["completed", 0, ""]);
    }
    const { body } = await freeze(world, { role: [] });
    expect([body.total_assets, (await rowsOf(body.url)).length]).toEqual([0, 2]);
  });

  test.each(repetitions([501], [499, 500, 501]))(
    "of a catalog of %d products has at most the newest 500",
    async (count) => {
      const world = await startWorld();
      await world.runImport(many(count));
      const { body } = await freeze(world);
      const rows = await rowsOf(body.url);
      expect(rows).toHaveLength(Math.min(count, limits.exportProducts));
      expect([rows[0]!.product.reference, body.total_assets]).toEqual([`R${count - 1}`, rows.length]);
    },
  );

  test.each(
    sampled([
      [499, 202],
      [500, 202],
      [501, 400],
    ]),
  )("with %d IDs: %d", async (count, status) => {
    const world = await startWorld();
    await world.runImport(many(count));
    const ids = world.mock.state().organizations.main.products.map(({ id }) => id);
    const got = await freeze(world, { product_ids: ids });
    expect(got.status).toBe(status);
    if (status === 400)
      expect(got.body).toEqual(refusal("invalid_request", "invalid_request", "product_ids"));
    else expect(referencesOf(await rowsOf(got.body.url))).toEqual(many(count).map((one) => one.reference));
  });

  test("of an unknown product: 404, and no job", async () => {
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
  ])("rejects %j", async (json, param) => {
    const got = await freeze(await startWorld(), json);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });
});

describe("a zip", () => {
  test("takes time on the clock", async () => {
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

  test("has unique names, even if products with different references need the same one", async () => {
    const world = await startWorld();
    for (const reference of ["a:b", "a?b", "A_B"]) await world.createProduct({ reference });
    const { id } = (await freeze(world, { format: "zip" })).body;
    world.clock.advance(60_000);
    const { url } = (await world.send(`/v1/exports/${id}`)).body;
    const zip = Buffer.from(await (await fetch(url)).arrayBuffer());
    const names: string[] = [];
    // The entries of the central directory (APPNOTE 4.3.12).
    for (let at = zip.indexOf("PK\u0001\u0002"); at >= 0; at = zip.indexOf("PK\u0001\u0002", at + 4)) {
      names.push(zip.toString("utf8", at + 46, at + 46 + zip.readUInt16LE(at + 28)));
    }
    expect(names).toEqual(["A_B_front.png", "a_b_front_2.png", "a_b_front_3.png"]);
  });

  test("fails if a fault requires it", async () => {
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

  longTest("continues unchanged after a state is restored", async () => {
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

  test("is not visible to another organization", async () => {
    const world = await startWorld({ demo: 1 });
    const { id } = (await freeze(world)).body;
    const got = await world.send(`/v1/exports/${id}`, { key: "ak_mock_other" });
    expect([got.status, got.body]).toEqual([404, refusal("not_found", "export_not_found")]);
  });
});

test("an idempotency key creates one job", async () => {
  const world = await startWorld({ demo: 1 });
  const send = () => world.send("/v1/exports", { json: {}, headers: { "idempotency-key": "k" } });
  const [first, second] = [await send(), await send()];
  expect([second.body, second.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
});
