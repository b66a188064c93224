import { expect, test } from "vitest";
import { openApiDocument } from "../../../src/contract/openapi/document.ts";
import { operations } from "../../../src/contract/operations.ts";
import { undocumented } from "../../conformance/documented.ts";
import { refusal, startWorld } from "../world.ts";

test("GET /openapi.json returns the document of the contract, with this mock as its server", async () => {
  const { send, mock } = await startWorld();
  const { status, body, headers } = await send("/openapi.json", { key: null });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(body).toEqual(openApiDocument({ serverUrl: mock.baseUrl }));
  expect(body.servers).toEqual([{ url: mock.baseUrl }]);
});

test("GET /openapi.json needs no API key, does not count, and has the headers of every response", async () => {
  const { send } = await startWorld({ rateLimit: { reads: 2, writes: 1 } });
  const headers = { "x-request-id": "mine", origin: "https://docs.example.com" };
  for (const key of [null, "ak_mock", "ak_mock_revoked", "ak_mock_user", "ak_mock"]) {
    const got = await send("/openapi.json", { key, headers });
    expect(got.status).toBe(200);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "x-request-id": "mine",
      "x-ratelimit-limit": "2",
      "x-ratelimit-remaining": "2",
      "access-control-allow-origin": "*",
    });
  }
});

test("HEAD returns only the headers, and every other method is rejected", async () => {
  const { send, mock } = await startWorld();
  const text = JSON.stringify(openApiDocument({ serverUrl: mock.baseUrl }));
  const head = await send("/openapi.json", { method: "HEAD" });
  expect([head.status, head.body, head.headers.get("content-length")]).toEqual([
    200,
    "",
    String(Buffer.byteLength(text)),
  ]);
  const put = await send("/openapi.json", { method: "PUT", json: {} });
  expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(put.body).toEqual(refusal("invalid_request", "method_not_allowed"));
  const preflight = await send("/openapi.json", {
    method: "OPTIONS",
    headers: { origin: "https://a.example" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
});

test("each mock shows its own base URL in the document", async () => {
  const [one, other] = [await startWorld(), await startWorld()];
  const serverOf = async ({ send }: typeof one) => (await send("/openapi.json")).body.servers[0].url;
  expect([await serverOf(one), await serverOf(other)]).toEqual([one.mock.baseUrl, other.mock.baseUrl]);
  expect(one.mock.baseUrl).not.toBe(other.mock.baseUrl);
});

// The conformance test checks responses against the document, so that check is tested here.
test("the check finds a response that the document does not describe", async () => {
  const { createProduct } = await startWorld();
  const { create } = operations.products;
  const got = await createProduct();
  expect(undocumented(create, got)).toEqual([]);
  expect(undocumented(create, { ...got, status: 200 })).toEqual([
    "POST /v1/products: 200 is not in the document",
  ]);
  expect(undocumented(create, { ...got, body: { ...got.body, sex: "none", id: undefined } })).toEqual([
    expect.stringContaining("must have required property 'id'"),
    expect.stringContaining("/sex must be equal to one of the allowed values"),
    expect.stringContaining("/sex must be null"),
    expect.stringContaining("/sex must match a schema in anyOf"),
  ]);
  const headers = new Headers(got.headers);
  headers.delete("x-request-id");
  headers.set("x-ratelimit-reset", "1.5");
  headers.set("x-powered-by", "us");
  expect(undocumented(create, { ...got, headers })).toEqual([
    "X-Request-Id is missing",
    expect.stringContaining("must be integer"),
    "x-powered-by is not in the document",
  ]);
  const refused = await createProduct();
  expect(undocumented(create, refused)).toEqual([]);
  const body = { error: { ...refused.body.error, code: "image_not_found" } };
  expect(undocumented(create, { ...refused, body })).toEqual([
    expect.stringContaining("/error/code must be equal to one of the allowed values"),
  ]);
});
