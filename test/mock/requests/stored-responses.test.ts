import { describe, expect, test } from "vitest";
import { row, startWorld } from "../world.ts";

const json = { "content-type": "application/json" };
const under = (key: string) => ({ method: "POST", body: "{}", headers: { ...json, "idempotency-key": key } });

/** A mock whose state has one idempotency key, `k`, with a changed response. */
async function startWithAnswer(answer: object, key: object = {}) {
  const world = await startWorld();
  await world.send("/v1/products", under("k"));
  const state = structuredClone(world.mock.state()) as ReturnType<typeof world.mock.state>;
  const { main } = state.organizations;
  const [stored] = main.idempotency_keys;
  const changed = { ...stored, ...key, answer: { ...stored!.answer, ...answer } };
  const body = JSON.stringify({
    ...state,
    organizations: { ...state.organizations, main: { ...main, idempotency_keys: [changed] } },
  });
  const put = await world.send("/_mock/state", { method: "PUT", body, key: null });
  return { ...world, put };
}

describe("the mock rejects a stored response with", () => {
  test.each([
    ["a line break in a header", { headers: { "Retry-After": "1\r\nX: y" } }],
    ["a header beyond latin1", { headers: { "Retry-After": "☂" } }],
    ["a header of latin1", { headers: { "Retry-After": "é" } }],
    ["a header without a value", { headers: { "Retry-After": "" } }],
    ["a name with a space", { headers: { "Retry After": "1" } }],
    ["a length", { headers: { "Content-Length": "7" } }],
    ["a transfer encoding", { headers: { "Transfer-Encoding": "chunked" } }],
    ["a connection", { headers: { Connection: "close" } }],
    ["another header", { headers: { "X-More": "1" } }],
    ["headers that are a list", { headers: [] }],
    ["the status 100", { status: 100 }],
    ["the status 500", { status: 500 }],
    ["the status 400.5", { status: 400.5 }],
    ["a body that is an object", { body: {} }],
    ["another field", { more: 1 }],
  ])("%s", async (_name, answer) => {
    const { put, mock, send } = await startWithAnswer(answer);
    expect([put.status, put.body.error.code]).toEqual([400, "invalid_request"]);
    expect(put.body.error.param).toMatch(/^organizations\.main\.idempotency_keys\[0\]\.answer\b/);
    expect(mock.state().organizations.main.idempotency_keys).toHaveLength(1);
    expect((await send("/v1/products", under("k"))).headers.get("idempotent-replayed")).toBe("true");
  });

  test.each([
    ["no character", ""],
    ["256 characters", "k".repeat(256)],
  ])("a key of %s", async (_name, key) => {
    const { put } = await startWithAnswer({}, { key });
    expect([put.status, put.body.error.param]).toEqual([400, "organizations.main.idempotency_keys[0].key"]);
  });
});

describe("the mock replays a stored response with", () => {
  test.each([
    [
      "the status 200 and a header",
      { status: 200, body: '{"a":"é ☂ \ud83e\udde5"}', headers: { "Retry-After": "5" } },
    ],
    ["the status 201", { status: 201, body: "{}" }],
    ["the status 202", { status: 202, body: "{}", headers: {} }],
    ["the status 204", { status: 204, body: null }],
    ["the status 400", { status: 400, body: "{}" }],
    ["the status 499", { status: 499, body: "{}" }],
  ])("%s", async (_name, answer) => {
    const { put, send } = await startWithAnswer(answer);
    expect(put.status).toBe(200);
    const got = await send("/v1/products", under("k"));
    expect([got.status, got.headers.get("idempotent-replayed")]).toEqual([answer.status, "true"]);
    expect(got.body).toEqual(answer.body === null ? "" : JSON.parse(answer.body));
    expect(got.headers.get("retry-after")).toBe(
      "headers" in answer && "Retry-After" in answer.headers ? "5" : null,
    );
  });

  test("every status that the mock stores itself", async () => {
    const one = await startWorld();
    const { body: product } = await one.createProduct({ reference: "A" });
    const { body: image } = await one.upload();
    const keyed = (key: string, method: string, body?: unknown) => ({
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { ...(body !== undefined && json), "idempotency-key": key },
    });
    const photo = { images: [{ image_id: image.id, orientation: "front" }] };
    const statuses = [
      await one.send("/v1/products", keyed("made", "POST", { name: "N", reference: "B", ...photo })),
      await one.send("/v1/imports", keyed("import", "POST", { rows: [row("C")] })),
      await one.send("/v1/imports", keyed("list of problems", "POST", { rows: [{}] })),
      await one.send(`/v1/products/${product.id}`, keyed("é", "DELETE")),
      await one.send(`/v1/products/${product.id}`, keyed("missing", "DELETE")),
      await one.send("/v1/products", keyed("taken", "POST", { name: "N", reference: "B", ...photo })),
    ].map(({ status }) => status);
    expect(statuses).toEqual([201, 202, 400, 204, 404, 409]);
    const state = one.mock.state();
    expect(state.organizations.main.idempotency_keys).toHaveLength(6);

    const two = await startWorld();
    const put = await two.send("/_mock/state", { method: "PUT", body: JSON.stringify(state), key: null });
    expect(put.status).toBe(200);
    expect(two.mock.state().organizations.main.idempotency_keys).toEqual(
      JSON.parse(JSON.stringify(state.organizations.main.idempotency_keys)),
    );
  });
});
