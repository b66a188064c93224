import { expect, test } from "vitest";
import { refusal, startWorld } from "../world.ts";

async function worldWithKey(key: string, fields: object) {
  const world = await startWorld();
  const put = (more: object) => world.send(`/_mock/keys/${key}`, { method: "PUT", json: more, key: null });
  const { body } = await put(fields);
  const statusOf = async (path: string, method = "GET") =>
    (await world.send(path, { method, key, ...(method === "GET" ? {} : { json: {} }) })).status;
  return { ...world, put, body, statusOf };
}

test("a key has the chosen scopes only", async () => {
  const scopes = ["products:read", "exports:write"];
  const { body, send, statusOf } = await worldWithKey("ak_ci", { scopes });
  expect(body).toEqual({
    ...{ key: "ak_ci", organization: "main", scopes, expires_at: null, revoked_at: null },
  });
  expect(await statusOf("/v1/products")).toBe(200);
  expect(await statusOf("/v1/exports", "POST")).toBe(202);
  expect(await statusOf("/v1/exports")).toBe(403);
  expect((await send("/v1/tasks", { key: "ak_ci" })).body).toEqual(
    refusal("forbidden", "insufficient_scope"),
  );
});

test("a key can belong to the other organization, or to a user", async () => {
  const { put, createProduct, send, statusOf } = await worldWithKey("ak_x", { organization: "other" });
  await createProduct();
  expect((await send("/v1/products", { key: "ak_x" })).body.data).toEqual([]);
  await put({ organization: null });
  expect((await send("/v1/products", { key: "ak_x" })).body).toEqual(
    refusal("forbidden", "user_key_not_allowed"),
  );
  // A field that is not given stays.
  await put({ scopes: ["products:read"] });
  expect((await put({ organization: "main" })).body.scopes).toEqual(["products:read"]);
  expect(await statusOf("/v1/models")).toBe(403);
});

test("a key expires at its time", async () => {
  const { clock, send, statusOf } = await worldWithKey("ak_short", { expires_at: "2026-01-05T09:10:00Z" });
  clock.advance(599_999);
  expect(await statusOf("/v1/products")).toBe(200);
  clock.advance(1);
  const got = await send("/v1/products", { key: "ak_short" });
  expect([got.status, got.body]).toEqual([401, refusal("unauthorized", "invalid_api_key")]);
});

test("a key that is revoked in the middle works for one more minute, also after a restore", async () => {
  const { put, clock, statusOf, mock, send } = await worldWithKey("ak_mock", {});
  expect((await put({ revoked: true })).body.revoked_at).toBe("2026-01-05T09:00:00.000Z");
  clock.advance(30_000);
  // Revoking twice changes nothing.
  expect((await put({ revoked: true })).body.revoked_at).toBe("2026-01-05T09:00:00.000Z");
  const state = JSON.stringify(mock.state());
  await send("/_mock/reset", { method: "POST", key: null });
  expect(
    (await send("/_mock/keys", { key: null })).body.map((key: { revoked_at: null }) => key.revoked_at),
  ).toEqual([...[null, null, null, null]]);
  await send("/_mock/state", { method: "PUT", body: state, key: null });
  clock.advance(29_999);
  expect(await statusOf("/v1/products")).toBe(200);
  clock.advance(1);
  expect(await statusOf("/v1/products")).toBe(401);
  expect((await send("/v1/products", { key: "ak_mock_readonly" })).status).toBe(200);
  await put({ revoked: false });
  expect(await statusOf("/v1/products")).toBe(200);
});

test("the keys of every mock are listed, and are in a state only once they are changed", async () => {
  const { send, mock, put } = await worldWithKey("ak_new", { scopes: [] });
  expect((await send("/_mock/keys", { key: null })).body.map(({ key }: { key: string }) => key)).toEqual([
    ...["ak_mock", "ak_mock_readonly", "ak_mock_user", "ak_mock_other", "ak_new"],
  ]);
  expect(mock.state().keys).toEqual([
    { key: "ak_new", organization: "main", scopes: [], expires_at: null, revoked_at: null },
  ]);
  await put({ scopes: null });
  mock.reset();
  expect(mock.state().keys).toBeUndefined();
});

test("a key with mistakes is rejected with all of them", async () => {
  const { put, send } = await worldWithKey("ak_y", {});
  const got = await put({ scopes: ["products:read", "all"], expires_at: "tomorrow", role: "admin" });
  expect([got.status, got.body.errors.map(({ param }: { param: string }) => param)]).toEqual([
    400,
    ["scopes", "expires_at", "role"],
  ]);
  const bad = await send("/_mock/keys/secret", { method: "PUT", json: {}, key: null });
  expect([bad.status, bad.body.error.message]).toEqual([400, "key: must begin with ak_ and have no spaces"]);
});
