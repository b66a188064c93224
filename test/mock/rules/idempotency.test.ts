import { describe, expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { refusal, startWorld, tinyPng } from "../world.ts";

const dayMs = 24 * 3_600_000;

async function worldWithBody() {
  const world = await startWorld();
  const images = [{ image_id: await world.imageId(), orientation: "front" }];
  const body = JSON.stringify({ name: "N", reference: "R", images });
  const post = (key: string, more: { path?: string; body?: string; key?: string } = {}) =>
    world.send(more.path ?? "/v1/products", {
      body: more.body ?? body,
      key: more.key ?? "ak_mock",
      headers: { "content-type": "application/json", "idempotency-key": key },
    });
  return { ...world, body, post };
}

describe("the same key", () => {
  test("with the same request returns the stored response, marked, and does nothing twice", async () => {
    const { post, mock } = await worldWithBody();
    const first = await post("k");
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([201, null]);
    const second = await post("k");
    expect([second.status, second.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(mock.state().organizations.main.products).toHaveLength(1);
  });

  test("with another body, path, query or method gets 422", async () => {
    const { post, send, body } = await worldWithBody();
    const product = (await post("k")).body;
    const reused = [422, refusal("invalid_request", "idempotency_key_reused")];
    const answers = [
      await post("k", { body: `${body} ` }),
      await post("k", { path: "/v1/products?a=1" }),
      await post("k", { path: "/v1/webhooks" }),
      await send(`/v1/products/${product.id}`, { method: "DELETE", headers: { "idempotency-key": "k" } }),
    ];
    for (const got of answers) expect([got.status, got.body]).toEqual(reused);
    expect((await send(`/v1/products/${product.id}`)).status).toBe(200);
  });

  test("with the same upload under another multipart boundary gets 422, and the message names the boundary", async () => {
    const { send } = await worldWithBody();
    const upload = (boundary: string) => {
      const disposition = `Content-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n`;
      const start = Buffer.from(`--${boundary}\r\n${disposition}`);
      return send("/v1/images", {
        body: Buffer.concat([start, tinyPng, Buffer.from(`\r\n--${boundary}--\r\n`)]),
        headers: { "content-type": `multipart/form-data; boundary=${boundary}`, "idempotency-key": "k" },
      });
    };
    expect((await upload("first")).status).toBe(201);
    const replayed = await upload("first");
    expect([replayed.status, replayed.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    const other = await upload("second");
    expect([other.status, other.body.error.message]).toEqual([
      422,
      "this idempotency key was used with a different request: its method, path or bytes differ; a multipart body needs the same boundary",
    ]);
  });

  test("with only another method gets 422, and does nothing", async () => {
    const { post, send } = await worldWithBody();
    const path = `/v1/products/${(await post("k")).body.id}`;
    const under = (method: string, key: string) => ({
      method,
      body: '{"name":"Renamed"}',
      headers: { "content-type": "application/merge-patch+json", "idempotency-key": key },
    });
    expect((await send(path, under("PATCH", "other"))).status).toBe(200);
    const got = await send(path, under("DELETE", "other"));
    expect([got.status, got.body]).toEqual([422, refusal("invalid_request", "idempotency_key_reused")]);
    expect((await send(path)).body.name).toBe("Renamed");
  });

  test("is independent in another organization", async () => {
    const { post, imageId } = await worldWithBody();
    await post("k");
    const images = [{ image_id: await imageId("ak_mock_other"), orientation: "front" }];
    const body = JSON.stringify({ name: "N", reference: "R", images });
    expect((await post("k", { key: "ak_mock_other", body })).status).toBe(201);
  });

  test("is stored for 24 hours, to the millisecond", async () => {
    const { post, clock } = await worldWithBody();
    await post("k");
    clock.advance(dayMs - 1);
    expect((await post("k")).headers.get("idempotent-replayed")).toBe("true");
    clock.advance(1);
    const got = await post("k");
    expect([got.status, got.body]).toEqual([
      409,
      refusal("conflict", "reference_already_exists", "reference"),
    ]);
  });

  test("replays Retry-After and other headers of the response", async () => {
    const { send } = await startWorld();
    const submit = () =>
      send("/v1/imports", {
        json: { rows: [{ reference: "R", name: "N", images: [{ url: "https://a.example.com/1.jpg" }] }] },
        headers: { "idempotency-key": "k" },
      });
    const [first, second] = [await submit(), await submit()];
    expect([second.status, second.headers.get("retry-after")]).toEqual([202, "5"]);
    expect(second.body).toEqual(first.body);
  });
});

describe("a response", () => {
  test.each([
    ["is stored for 404", "/v1/products/nothing", "DELETE", 404],
    ["is stored for 400", "/v1/products", "POST", 400],
    ["is not stored for 500", "/v1/products/nothing", "DELETE", 500],
  ])("%s", async (name, path, method, status) => {
    const { send } = await startWorld();
    if (status === 500) await send("/_mock/faults", { json: { match: { method }, status } });
    const go = () =>
      send(path, {
        method,
        ...(method === "POST" && { json: {} }),
        headers: { "idempotency-key": "k", ...(method === "POST" && { "content-type": "application/json" }) },
      });
    await go();
    const again = await go();
    const replayed = name.startsWith("is not") ? null : "true";
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([status, replayed]);
  });

  test("is neither read nor stored for a read-only API key", async () => {
    const { post } = await worldWithBody();
    expect((await post("a")).status).toBe(201);
    const scope = refusal("forbidden", "insufficient_scope");
    for (const key of ["a", "b", "b"]) {
      const got = await post(key, { key: "ak_mock_readonly" });
      expect([got.status, got.body, got.headers.get("idempotent-replayed")]).toEqual([403, scope, null]);
    }
    const own = await post("b");
    expect([own.status, own.headers.get("idempotent-replayed")]).toEqual([409, null]);
  });

  test("is stored for 415 and 409", async () => {
    const { send, createProduct, imageId } = await startWorld();
    const twice = async (go: () => ReturnType<typeof send>) => {
      await go();
      const got = await go();
      return [got.status, got.headers.get("idempotent-replayed")];
    };
    expect(
      await twice(() =>
        send("/v1/products", { body: "x", headers: { "content-type": "text/csv", "idempotency-key": "b" } }),
      ),
    ).toEqual([415, "true"]);
    await createProduct();
    const images = [{ image_id: await imageId(), orientation: "front" }];
    const json = { name: "N", reference: "DRESS", images };
    expect(await twice(() => send("/v1/products", { json, headers: { "idempotency-key": "c" } }))).toEqual([
      409,
      "true",
    ]);
  });
});

describe("an idempotency key", () => {
  test.each([
    ["is accepted with one character", "k", 404],
    ["is accepted with 255 characters", "k".repeat(255), 404],
    ["is rejected with 256 characters", "k".repeat(256), 400],
    ["is rejected if it is empty", "", 400],
  ])("%s", async (_name, key, status) => {
    const { send } = await startWorld();
    const got = await send("/v1/products/x", { method: "DELETE", headers: { "idempotency-key": key } });
    expect(got.status).toBe(status);
    if (status === 400)
      expect(got.body).toEqual(refusal("invalid_request", "invalid_request", "Idempotency-Key"));
  });

  test("is ignored for GET", async () => {
    const { send } = await startWorld();
    const headers = { "idempotency-key": "k".repeat(256) };
    const got = await send("/v1/products", { headers });
    expect([got.status, got.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });
});

describe("while the first request is in flight", () => {
  test("a second one gets 409, and the stored response once the first is done", async () => {
    const { send, clock } = await startWorld({ latencyMs: 1_000 });
    const go = () => send("/v1/products/x", { method: "DELETE", headers: { "idempotency-key": "k" } });
    const first = go();
    // The latency delays the first request until the clock moves.
    await until(() => clock.nextDue() !== null);
    const second = await go();
    expect([second.status, second.body]).toEqual([409, refusal("conflict", "request_in_progress")]);
    clock.advance(1_000);
    expect((await first).status).toBe(404);
    const third = await go();
    expect([third.status, third.headers.get("idempotent-replayed")]).toEqual([404, "true"]);
  });
});
