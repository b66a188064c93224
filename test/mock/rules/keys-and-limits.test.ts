import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { startMock } from "../../../src/mock/index.ts";
import { monday, refusal, startWorld } from "../world.ts";

describe("API keys", () => {
  test.each([
    ["no header", {}, 401, refusal("unauthorized", "missing_api_key")],
    ["another scheme", { authorization: "Basic YTpi" }, 401, refusal("unauthorized", "missing_api_key")],
    ["a scheme without a key", { authorization: "Bearer" }, 401, refusal("unauthorized", "missing_api_key")],
    [
      "an unknown key",
      { authorization: "Bearer ak_nobody" },
      401,
      refusal("unauthorized", "invalid_api_key"),
    ],
    [
      "a revoked key",
      { authorization: "Bearer ak_mock_revoked" },
      401,
      refusal("unauthorized", "invalid_api_key"),
    ],
    [
      "a user's key",
      { authorization: "Bearer ak_mock_user" },
      403,
      refusal("forbidden", "user_key_not_allowed"),
    ],
  ])("are rejected: %s", async (_name, headers, status, body) => {
    const { send } = await startWorld();
    const got = await send("/v1/products", { key: null, headers: headers as Record<string, string> });
    expect([got.status, got.body]).toEqual([status, body]);
    expect(got.headers.get("x-request-id")).toMatch(/^req_/);
  });

  test("accept the scheme in any letter case", async () => {
    const { send } = await startWorld();
    const got = await send("/v1/products", { key: null, headers: { authorization: "bearer  ak_mock " } });
    expect(got.status).toBe(200);
  });

  test("with read-only access list products, but cannot create any", async () => {
    const { send, createProduct } = await startWorld();
    expect((await send("/v1/products", { key: "ak_mock_readonly" })).status).toBe(200);
    const got = await createProduct({ images: [] }, { key: "ak_mock_readonly" });
    expect([got.status, got.body]).toEqual([403, refusal("forbidden", "insufficient_scope")]);
  });

  test("of another organization see nothing of the first", async () => {
    const { send, createProduct, importRows, imageId } = await startWorld();
    const product = (await createProduct()).body;
    const image = await imageId();
    const job = (await importRows([{ reference: "R", name: "N", images: [{ image_id: image }] }])).body;
    const other = { key: "ak_mock_other" };
    expect((await send("/v1/products", other)).body.data).toEqual([]);
    expect((await send(`/v1/products/${product.id}`, other)).body).toEqual(
      refusal("not_found", "product_not_found"),
    );
    expect((await send(`/v1/images/${image}`, other)).body).toEqual(refusal("not_found", "image_not_found"));
    expect((await send(`/v1/imports/${job.id}`, other)).body).toEqual(
      refusal("not_found", "import_not_found"),
    );
    const taken = await createProduct({ images: [{ image_id: image, orientation: "front" }] }, other);
    expect([taken.status, taken.body]).toEqual([
      404,
      refusal("not_found", "image_not_found", "images[0].image_id"),
    ]);
    expect((await createProduct({}, other)).status).toBe(201);
    const models = (await send("/v1/models?is_public=false", other)).body.data;
    expect(models).toEqual([]);
  });
});

describe("request IDs", () => {
  test.each(["a", "A.b_c:d-9", "x".repeat(128)])("are echoed if valid: %s", async (id) => {
    const { send } = await startWorld();
    const got = await send("/v1/products", { headers: { "x-request-id": id } });
    expect(got.headers.get("x-request-id")).toBe(id);
  });

  test.each(["x".repeat(129), "a b", "a/b", ""])("are replaced if invalid: %s", async (id) => {
    const { send } = await startWorld();
    const got = await send("/v1/products", { headers: { "x-request-id": id } });
    expect(got.headers.get("x-request-id")).toMatch(/^req_[a-z0-9]{8}_1$/);
  });
});

describe("the rate limit window", () => {
  const window = (got: { headers: Headers }) =>
    ["limit", "remaining", "reset"].map((name) => got.headers.get(`x-ratelimit-${name}`));

  test("counts reads and writes separately, rejects one too many, and restarts on the minute", async () => {
    const { send, clock, mock, createProduct } = await startWorld({ rateLimit: { reads: 3, writes: 2 } });
    clock.advance(12_345);
    const reset = String(Date.UTC(2026, 0, 5, 9, 1, 0) / 1000);
    expect(window(await send("/v1/products"))).toEqual(["3", "2", reset]);
    expect(window(await send("/v1/products"))).toEqual(["3", "1", reset]);
    expect(window(await send("/v1/products"))).toEqual(["3", "0", reset]);
    const refused = await send("/v1/products");
    expect([refused.status, refused.body]).toEqual([429, refusal("rate_limited", "rate_limit_exceeded")]);
    expect(window(refused)).toEqual(["3", "0", reset]);
    expect(refused.headers.get("retry-after")).toBe("48");

    // One write for the image and one for the product; the third is rejected and changes nothing.
    expect(window(await createProduct())).toEqual(["2", "0", reset]);
    expect((await send("/v1/products", { json: {} })).status).toBe(429);
    expect(mock.state().organizations.main.products).toHaveLength(1);

    clock.advance(47_654);
    expect((await send("/v1/products")).status).toBe(429);
    clock.advance(1);
    expect(window(await send("/v1/products"))).toEqual(["3", "2", String(Number(reset) + 60)]);
  });

  test("belongs to the organization, not to the API key", async () => {
    const { send } = await startWorld({ rateLimit: { reads: 1, writes: 1 } });
    expect((await send("/v1/products", { key: "ak_mock_readonly" })).status).toBe(200);
    expect((await send("/v1/products")).status).toBe(429);
    expect((await send("/v1/products", { key: "ak_mock_other" })).status).toBe(200);
  });

  test("is in every response, and does not count requests without a known organization", async () => {
    const { send } = await startWorld({ rateLimit: { reads: 5, writes: 5 } });
    const reset = String(Date.UTC(2026, 0, 5, 9, 1, 0) / 1000);
    expect(window(await send("/v1/nowhere"))).toEqual(["5", "5", reset]);
    expect(window(await send("/v1/products", { method: "PUT" }))).toEqual(["5", "5", reset]);
    expect(window(await send("/v1/products", { key: "ak_nobody" }))).toEqual(["5", "5", reset]);
    expect(window(await send("/v1/products", { key: "ak_mock_user" }))).toEqual(["5", "5", reset]);
    // A rejected request of a known organization counts.
    expect(window(await send("/v1/products/nothing"))).toEqual(["5", "4", reset]);
  });

  test("allows 600 reads and 60 writes by default", async () => {
    const clock = new MovableClock({ frozenAt: monday });
    const mock = await startMock({ clock });
    const headers = { authorization: "Bearer ak_mock" };
    const limitOf = async (method: string) => {
      const response = await fetch(`${mock.baseUrl}/v1/products/none`, { method, headers });
      return [response.headers.get("x-ratelimit-limit"), response.headers.get("x-ratelimit-remaining")];
    };
    expect(await limitOf("GET")).toEqual(["600", "599"]);
    expect(await limitOf("DELETE")).toEqual(["60", "59"]);
    await mock.stop();
  });

  test("does not use up the idempotency key of a rejected request", async () => {
    const { send, clock, imageId } = await startWorld({ rateLimit: { reads: 1, writes: 2 } });
    const images = [{ image_id: await imageId(), orientation: "front" }];
    await send("/v1/products", { json: {} });
    const first = { json: { name: "N", reference: "R", images }, headers: { "idempotency-key": "k" } };
    expect((await send("/v1/products", first)).status).toBe(429);
    clock.advance(60_000);
    const got = await send("/v1/products", first);
    expect([got.status, got.headers.get("idempotent-replayed")]).toEqual([201, null]);
  });
});
