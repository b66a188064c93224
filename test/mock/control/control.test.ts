import { setTimeout as realWait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { startMock } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { until } from "../../support/until.ts";
import { monday, refusal, row, startWorld, tinyPng } from "../world.ts";

describe("the clock", () => {
  test("moves forward and runs what became due", async () => {
    const { send, importRows } = await startWorld();
    const { id } = (await importRows([row("A")])).body;
    const got = await send("/_mock/clock", { json: { advance_ms: 1_010 }, key: null });
    expect([got.status, got.body]).toEqual([200, { now: "2026-01-05T09:00:01.010Z" }]);
    expect((await send(`/v1/imports/${id}`)).body.status).toBe("completed");
  });

  test.each([
    ["an empty body", "", undefined],
    ["invalid JSON", "{", undefined],
    ["null", "null", undefined],
    ["a string", '{"advance_ms":"1"}', "advance_ms"],
    ["a negative number", '{"advance_ms":-1}', "advance_ms"],
    ["infinity", '{"advance_ms":1e999}', "advance_ms"],
    ["a fraction", '{"advance_ms":0.5}', "advance_ms"],
    ["a number that leads past the year 9999", '{"advance_ms":1e15}', "advance_ms"],
    ["another field", '{"advance_ms":1,"by":2}', "by"],
  ])("is not moved by %s", async (_name, body, param) => {
    const { send } = await startWorld();
    const got = await send("/_mock/clock", { method: "POST", body, key: null });
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });

  test("can be moved by a fraction from code, and IDs are still valid", async () => {
    const clock = new MovableClock({ frozenAt: monday });
    const mock = await startMock({ clock });
    mock.clock.advance(0.5);
    const form = new FormData();
    form.append("file", new Blob([tinyPng]), "photo.png");
    const headers = { authorization: "Bearer ak_mock" };
    const got = await fetch(`${mock.baseUrl}/v1/images`, { method: "POST", headers, body: form });
    expect(got.status).toBe(201);
    expect(await got.json()).toMatchObject({ created_at: "2026-01-05T09:00:00.000Z" });
    await mock.stop();
  });

  test("can be moved up to one day before the year 10000", async () => {
    const { send, createProduct, clock } = await startWorld();
    const move = (advance_ms: number) => send("/_mock/clock", { json: { advance_ms }, key: null });
    const lastMoment = Date.UTC(9999, 11, 30, 23, 59, 59, 999);
    // An image without a product would be cleaned up by then.
    const { id } = (await createProduct()).body.images[0];
    expect((await move(lastMoment + 1 - clock.now())).status).toBe(400);
    expect((await move(lastMoment - clock.now())).body).toEqual({ now: "9999-12-30T23:59:59.999Z" });
    expect((await send(`/v1/images/${id}`)).body.url_expires_at).toBe("9999-12-31T00:59:59.999Z");
  });

  test("keeps working when it ticks past the last moment: reset and states work", async () => {
    const { mock, send, imageId, clock } = await startWorld({ clock: new MovableClock() });
    const fresh = JSON.parse(JSON.stringify(mock.state()));
    const put = async (json: unknown) =>
      (await send("/_mock/state", { method: "PUT", json, key: null })).status;
    const move = async (advance_ms: number) =>
      (await send("/_mock/clock", { json: { advance_ms }, key: null })).status;
    clock.advance(Date.UTC(9999, 11, 30, 23, 59, 59, 999) - clock.now() - 100);
    await realWait(120);
    const image_id = await imageId();
    const images = [{ image_id }];
    await send("/v1/imports", { json: { rows: [{ reference: "A", name: "n", images }] } });
    await send("/v1/exports", { json: { format: "zip" }, headers: { "idempotency-key": "k" } });
    const state = mock.state();
    expect(Date.parse(state.now)).toBeGreaterThan(Date.UTC(9999, 11, 30, 23, 59, 59, 999));
    expect([await put(state), await put(fresh), await move(0), await move(1)]).toEqual([200, 200, 200, 400]);
    expect((await send("/_mock/reset", { method: "POST", key: null })).status).toBe(200);

    const again = await startWorld({ state });
    expect(again.clock.now()).toBe(Date.UTC(9999, 11, 30, 23, 59, 59, 999));
    expect((await again.send("/_mock/reset", { method: "POST", key: null })).status).toBe(200);
  });
});

describe("the request log", () => {
  test("lists requests oldest first, with masked API keys and without control requests", async () => {
    const { send, mock, clock } = await startWorld();
    await send("/v1/products?limit=1", { headers: { "x-request-id": "mine" } });
    clock.advance(1_000);
    const json = { advance_ms: 0 };
    await send("/_mock/clock", { json });
    await send("/v1/products", { json: {}, headers: { "idempotency-key": "k" } });
    await send("/v1/products", { json: {}, headers: { "idempotency-key": "k" } });
    const listed = (await send("/_mock/requests", { key: null })).body;
    expect(listed).toEqual(mock.requests());
    expect(listed).toMatchObject([
      {
        at: "2026-01-05T09:00:00.000Z",
        method: "GET",
        path: "/v1/products?limit=1",
        status: 200,
        request_id: "mine",
        idempotency_key: null,
        replayed: false,
        headers: { authorization: "Bearer ***" },
      },
      { at: "2026-01-05T09:00:01.000Z", method: "POST", status: 400, idempotency_key: "k", replayed: false },
      { method: "POST", status: 400, idempotency_key: "k", replayed: true },
    ]);
    expect(JSON.stringify(listed)).not.toContain("ak_mock");
  });

  longTest("keeps the last 1,000 requests", async () => {
    const { send, mock } = await startWorld();
    for (let sent = 0; sent < 1_003; sent++) await send(`/v1/nothing/${sent}`);
    const paths = mock.requests().map(({ path }) => path);
    expect([paths.length, paths[0], paths.at(-1)]).toEqual([1_000, "/v1/nothing/3", "/v1/nothing/1002"]);
  });
});

describe("seeds", () => {
  async function story(seed: number, frozenAt: number) {
    const mock = await startWorld({ seed, demo: 3, clock: new MovableClock({ frozenAt }) });
    const { body } = await mock.createProduct();
    const { results } = await mock.runImport([row("A")]);
    const listed = (await mock.send("/v1/products")).body.data;
    const requestId = (await mock.send("/v1/nothing")).headers.get("x-request-id");
    return { created: body.id, result: results, demo: listed.slice(2), requestId };
  }

  test("make the same requests return the same data, at any start time", async () => {
    const one = await story(5, monday);
    expect(await story(5, monday + 86_400_000 * 400)).toEqual(one);
    expect((await story(6, monday)).created).not.toBe(one.created);
  });

  test("are optional: without one, every start differs and IDs contain the time", async () => {
    const clock = new MovableClock({ frozenAt: monday });
    const [one, two] = [await startMock({ demo: 1, clock }), await startMock({ demo: 1, clock })];
    const idOf = (mock: typeof one) => mock.state().organizations.main.products[0]!.id;
    expect(idOf(one)).not.toBe(idOf(two));
    // The first ten characters of a ULID encode its time.
    expect(idOf(one).slice(0, 10)).toBe(idOf(two).slice(0, 10));
    expect(one.state().organizations.main.products[0]!.created_at).toBe("2026-01-05T08:59:00.000Z");
    await Promise.all([one.stop(), two.stop()]);
  });

  test("give a job the same IDs in any order of jobs and requests, and after a state was restored", async () => {
    const rows = [row("A"), row("B", { images: [...row("B").images, ...row("B").images] })];
    async function idsWith(between: (world: Awaited<ReturnType<typeof startWorld>>) => Promise<void>) {
      const world = await startWorld({ seed: 4 });
      const { id } = (await world.importRows(rows)).body;
      await between(world);
      world.clock.advance(60_000);
      const { data } = (await world.send(`/v1/imports/${id}/rows`)).body;
      return { data, next: await world.imageId() };
    }
    const atOnce = await idsWith(async () => {});
    const { data } = atOnce;
    const images = data.flatMap((one: Json) => one.images.map((image: Json) => image.image_id));
    expect(new Set([...images, ...data.map((one: Json) => one.product_id)]).size).toBe(5);
    // The job does not use an ID that the next request would get.
    const before = await startWorld({ seed: 4 });
    await before.importRows(rows);
    expect(await before.imageId()).toBe(atOnce.next);
    const later = await idsWith(async ({ imageId, clock }) => {
      await imageId();
      clock.advance(1_010);
      await imageId();
    });
    expect(later.data).toEqual(data);
    const restored = await idsWith(async ({ send, mock, clock }) => {
      const body = JSON.stringify(mock.state());
      clock.advance(1_010);
      await send("/_mock/state", { method: "PUT", body, key: null });
    });
    expect(restored).toEqual(atOnce);
  });

  test("a demo has the requested number of products, with unique references and matching kinds and sexes", async () => {
    const { mock } = await startWorld({ demo: 500 });
    const { products, images } = mock.state().organizations.main;
    expect(products).toHaveLength(500);
    expect(new Set(products.map(({ reference }) => reference)).size).toBe(500);
    for (const product of products) {
      expect(product.reference).toMatch(/^[A-Z]+-\d{4}$/);
      expect(product.images.length).toBeGreaterThanOrEqual(1);
      expect(product.images.length).toBeLessThanOrEqual(3);
    }
    expect(images).toHaveLength(products.reduce((sum, product) => sum + product.images.length, 0));
  });

  test("twenty thousand demo products take less than four seconds of the processor", async () => {
    const before = process.cpuUsage();
    const { send } = await startWorld({ demo: 20_000 });
    expect((await send("/v1/products?limit=1")).body.has_more).toBe(true);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000_000).toBeLessThan(4);
  });
});

describe("reset", () => {
  test("restores the state at the start, removes jobs and repeats the same IDs", async () => {
    const { send, mock, createProduct, importRows, clock } = await startWorld({
      demo: 2,
      rateLimit: { reads: 600, writes: 60 },
    });
    const before = mock.state();
    const first = (await createProduct({}, { headers: { "idempotency-key": "k" } })).body;
    await importRows([row("A")]);
    expect((await send("/_mock/reset", { method: "POST", key: null })).status).toBe(200);
    expect(clock.nextDue()).toBeNull();
    expect(mock.state()).toEqual(before);
    expect(mock.requests()).toEqual([]);
    const again = await createProduct({}, { headers: { "idempotency-key": "k" } });
    expect([again.status, again.body.id]).toEqual([201, first.id]);
  });

  test("without a seed gives the demo products of the start other IDs", async () => {
    const { mock } = await startWorld({ demo: 30, seed: undefined });
    const products = () => mock.state().organizations.main.products;
    const before = products();
    mock.reset();
    expect(products().map(({ reference, name }) => [reference, name])).toEqual(
      before.map(({ reference, name }) => [reference, name]),
    );
    expect(products()[0]!.id).not.toBe(before[0]!.id);
  });

  test.each(["/_mock/reset", "/_mock/state"])(
    "by %s completes the requests that the latency is delaying",
    async (path) => {
      const { send, mock, clock } = await startWorld({ latencyMs: 1_000 });
      const body = path === "/_mock/state" ? JSON.stringify(mock.state()) : "";
      const held = [send("/v1/products"), send("/v1/products/x", { method: "DELETE" })];
      await until(() => mock.requests().length === 2);
      const method = path === "/_mock/state" ? "PUT" : "POST";
      expect((await send(path, { method, key: null, body })).status).toBe(200);
      expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 404]);
      expect(clock.nextDue()).toBeNull();
    },
  );

  test("does not touch other timers on the same clock", async () => {
    const { mock, clock, importRows } = await startWorld();
    let fired = 0;
    clock.at(monday + 5_000, () => fired++);
    await importRows([row("A")]);
    mock.reset();
    clock.advance(10_000);
    expect(fired).toBe(1);
    expect(mock.state().organizations.main.products).toEqual([]);
  });
});

describe("the state", () => {
  test("is complete: another mock that loads it continues as if it were the first", async () => {
    const one = await startWorld({ demo: 3, seed: 9, rateLimit: { reads: 600, writes: 60 } });
    const { body: photo } = await one.upload();
    const product = (await one.createProduct({ reference: "GONE" })).body;
    await one.send(`/v1/products/${product.id}`, { method: "DELETE" });
    const first = { json: {}, headers: { "idempotency-key": "k" } };
    await one.send("/v1/products", first);
    const { id } = (await one.importRows(Array.from({ length: 20 }, (_, at) => row(`R${at}`)))).body;
    one.clock.advance(1_075);
    const cursor = (await one.send("/v1/products?limit=2")).body.next_cursor;
    const state = (await one.send("/_mock/state", { key: null })).body;
    expect(state).toEqual(JSON.parse(JSON.stringify(one.mock.state())));

    const two = await startWorld({ seed: 1, rateLimit: { reads: 600, writes: 60 } });
    const put = await two.send("/_mock/state", { method: "PUT", body: JSON.stringify(state), key: null });
    // Its clock was before the time of the snapshot, so it was moved there.
    expect([put.status, put.body]).toEqual([200, { now: "2026-01-05T09:00:01.075Z" }]);
    expect(JSON.parse(JSON.stringify(two.mock.state()))).toEqual(state);

    expect((await two.send("/v1/products", first)).headers.get("idempotent-replayed")).toBe("true");
    expect((await two.send(`/v1/products?limit=2&cursor=${cursor}`)).status).toBe(200);
    const image = (await two.send(`/v1/images/${photo.id}`)).body;
    expect((await fetch(image.url)).status).toBe(200);
    expect((await two.createProduct({ reference: "GONE" })).status).toBe(201);
    for (const { clock, send } of [one, two]) {
      clock.advance(60_000);
      const { body } = await send(`/v1/imports/${id}`);
      expect([body.status, body.counts.succeeded]).toEqual(["completed", 20]);
    }
  });

  test.each([
    ["invalid JSON", "{"],
    ["null", "null"],
    ["a list", "[]"],
    ["an empty object", "{}"],
    ["another version", (state: Json) => ({ ...state, version: 2 })],
    ["an unknown field", (state: Json) => ({ ...state, more: 1 })],
    ["a product without an ID", (state: Json) => withProducts(state, [{ reference: "R" }])],
    [
      "IDs with a time that no ID can have",
      (state: Json) => ({ ...state, ids: { ...state.ids, time: 2 ** 48 } }),
    ],
    ["a time after the year 9999", (state: Json) => ({ ...state, now: "9999-12-31T23:59:59-01:00" })],
    ["a position too large for a cursor", (state: Json) => withFirst(state, { order: 1e15 })],
    [
      "a rate window that begins in between",
      (state: Json) => withMain(state, { rate_window: { started_at: 0.5, reads: 0, writes: 0 } }),
    ],
    ["a job whose rows take no time", (state: Json) => withJob(state, { row_ms: 0 })],
    ["a job without rows", (state: Json) => withJob(state, { rows: [] })],
    [
      "a job whose rows would have IDs with a time that no ID can have",
      (state: Json) => withJob(state, { id: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" }),
    ],
  ])("is rejected without any change: %s", async (_name, change) => {
    const { send, mock } = await startWorld({ demo: 2 });
    const before = mock.state();
    const body = typeof change === "string" ? change : JSON.stringify(change(before as unknown as Json));
    const got = await send("/_mock/state", { method: "PUT", body, key: null });
    expect([got.status, got.body.error.code]).toEqual([400, "invalid_request"]);
    expect(mock.state()).toEqual(before);
  });

  test("is accepted with a job in progress", async () => {
    const { send, mock } = await startWorld({ demo: 2 });
    const json = withJob(mock.state(), {});
    expect((await send("/_mock/state", { method: "PUT", json, key: null })).status).toBe(200);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: states that are wrong on purpose.
type Json = any;
const withMain = (state: Json, main: Json) => ({
  ...state,
  organizations: { ...state.organizations, main: { ...state.organizations.main, ...main } },
});
const withFirst = (state: Json, more: Json) => {
  const [first, ...others] = state.organizations.main.products;
  return withProducts(state, [{ ...first, ...more }, ...others]);
};
const withProducts = (state: Json, products: Json) => withMain(state, { products });
const pendingResult = {
  line: 1,
  reference: "R",
  status: "pending",
  action: null,
  product_id: null,
  images: [],
  error: null,
};
const withJob = (state: Json, job: Json) =>
  withMain(state, {
    imports: [
      {
        id: "01HN1H1W2BE2ZP0BXGX60T7K32",
        status: "processing",
        mode: "upsert",
        on_image_error: "skip",
        created_at: state.now,
        started_at: state.now,
        finished_at: null,
        validated_at: 0,
        row_ms: 10,
        rows: [{ row: row("R"), result: pendingResult }],
        done: 0,
        succeeded: 0,
        partial: 0,
        failed: 0,
        ...job,
      },
    ],
  });
