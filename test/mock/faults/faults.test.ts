import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { MockOptions } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { refusal, row, type Send, startWorld } from "../world.ts";

/** A mock with helpers for faults: set a fault, create a product, and repeat that request. */
async function faultyWorld(options: MockOptions = {}) {
  const world = await startWorld(options);
  const image = await world.imageId();
  const order = (fault: object) => world.send("/_mock/faults", { json: fault, key: null });
  const faults = async () => (await world.send("/_mock/faults", { key: null })).body;
  /** Creates a product; the same reference makes the same request. */
  const create = (reference: string, key: string | null = null, more: Send = {}) =>
    world.send("/v1/products", {
      json: { name: "N", reference, images: [{ image_id: image, orientation: "front" }] },
      ...more,
      headers: { ...(key !== null && { "idempotency-key": key }), ...more.headers },
    });
  const references = () => world.mock.state().organizations.main.products.map(({ reference }) => reference);
  /** Resolves once the mock has received this many requests. */
  const received = async (count: number) => {
    await until(() => world.mock.requests().length >= count);
  };
  return { ...world, order, faults, create, references, received };
}

/** The received part of a response: status, headers, bytes, and whether it was complete. */
function rawly(url: string, options: { method?: string; path?: string } = {}) {
  return new Promise<{ status: number; length: string | undefined; text: string; whole: boolean }>(
    (resolve, reject) => {
      const headers = { authorization: "Bearer ak_mock" };
      request(url, { ...options, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", () => {});
        response.on("close", () =>
          resolve({
            status: response.statusCode!,
            length: response.headers["content-length"],
            text: Buffer.concat(chunks).toString("latin1"),
            whole: response.complete,
          }),
        );
      })
        .on("error", reject)
        .end();
    },
  );
}

const cutOff = expect.objectContaining({ message: "fetch failed" });

describe("a status", () => {
  test.each(
    sampled(
      [
        [400, "invalid_request", "invalid_request"],
        [401, "unauthorized", "invalid_api_key"],
        [402, "payment_required", "insufficient_credits"],
        [403, "forbidden", "insufficient_scope"],
        [404, "not_found", "image_not_found"],
        [408, "invalid_request", "request_timeout"],
        [409, "conflict", "reference_already_exists"],
        [413, "invalid_request", "body_too_large"],
        [415, "invalid_request", "unsupported_media_type"],
        [418, "invalid_request", "invalid_request"],
        [422, "invalid_request", "invalid_request"],
        [429, "rate_limited", "rate_limit_exceeded"],
        [500, "internal", "internal_error"],
        [501, "not_implemented", "not_implemented"],
        [502, "internal", "upstream_unavailable"],
        [503, "internal", "internal_error"],
        [599, "internal", "internal_error"],
      ],
      4,
    ),
  )("of %d sends the envelope with type %s and code %s", async (status, type, code) => {
    const { order, create, references } = await faultyWorld();
    await order({ match: { method: "POST", path: "/v1/products" }, times: 1, status });
    const got = await create("A");
    expect([got.status, got.body]).toEqual([status, refusal(type, code)]);
    expect(got.headers.get("retry-after")).toBe(status === 429 ? "1" : null);
    expect(got.headers.get("x-request-id")).toMatch(/^req_/);
    expect(got.headers.get("x-ratelimit-limit")).toBe("1000000");
    expect(references()).toEqual([]);
    expect((await create("A")).status).toBe(201);
  });

  test("uses the operation's own code", async () => {
    const { order, send } = await faultyWorld();
    await order({ match: { path: "/v1/" }, status: 404 });
    const codes = [];
    for (const path of ["products/x", "imports/x", "images/x", "products"]) {
      codes.push((await send(`/v1/${path}`)).body.error.code);
    }
    expect(codes).toEqual(["product_not_found", "import_not_found", "image_not_found", "route_not_found"]);
    await order({ match: {}, status: 409 });
    const got = await send("/_mock/faults", { method: "DELETE", key: null });
    expect(got.body).toEqual({ cleared: 2 });
    await order({ match: {}, status: 409 });
    expect((await send("/v1/products")).body).toEqual(refusal("conflict", "conflict"));
  });

  test.each([
    [422, "true"],
    [401, "true"],
    [429, null],
    [500, null],
    [503, null],
  ])("of %d with an idempotency key has the replay header %s when repeated", async (status, replayed) => {
    const { order, create, references, mock } = await faultyWorld();
    await order({ match: { path: "/v1/products" }, times: 1, status });
    expect((await create("A", "k")).status).toBe(status);
    const again = await create("A", "k");
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual(
      replayed === null ? [201, null] : [status, "true"],
    );
    expect(references()).toEqual(replayed === null ? ["A"] : []);
    expect(
      mock
        .requests()
        .slice(-2)
        .map((one) => [one.status, one.replayed]),
    ).toEqual([
      [status, false],
      [replayed === null ? 201 : status, replayed !== null],
    ]);
  });

  test("does not apply to a replay, a rejected key, a missing scope or a full window", async () => {
    const { order, create, faults, send } = await faultyWorld({ rateLimit: { reads: 1, writes: 60 } });
    expect((await create("A", "k")).status).toBe(201);
    await order({ match: {}, status: 500, times: 1 });
    const replay = await create("A", "k");
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect((await create("B", "k")).body).toEqual(refusal("invalid_request", "idempotency_key_reused"));
    expect((await create("B", null, { key: "ak_mock_revoked" })).status).toBe(401);
    expect((await create("B", null, { key: "ak_mock_readonly" })).status).toBe(403);
    expect((await send("/v1/nothing")).status).toBe(404);
    expect(await faults()).toMatchObject([{ acted: 0 }]);
    expect((await send("/v1/products")).status).toBe(500);
    // The request that the fault affected was counted.
    expect((await send("/v1/products")).status).toBe(429);
  });
});

describe("a drop", () => {
  test("before the work does nothing, stores nothing and releases the key", async () => {
    const { order, create, references, mock } = await faultyWorld();
    await order({ match: { path: "/v1/products" }, times: 1, drop: "before" });
    await expect(create("A", "k")).rejects.toEqual(cutOff);
    expect(references()).toEqual([]);
    expect(mock.state().organizations.main.idempotency_keys).toEqual([]);
    // Another request can use the key now.
    const got = await create("B", "k");
    expect([got.status, got.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect(mock.requests().at(-2)).toMatchObject({ method: "POST", status: null });
  });

  test("after the work does the work and stores the response", async () => {
    const { order, create, references, mock } = await faultyWorld();
    await order({ match: { path: "/v1/products" }, times: 1, drop: "after" });
    await expect(create("A", "k")).rejects.toEqual(cutOff);
    expect(references()).toEqual(["A"]);
    expect(mock.requests().at(-1)).toMatchObject({ method: "POST", status: null });
    const again = await create("A", "k");
    expect([again.status, again.headers.get("idempotent-replayed"), again.body.reference]).toEqual([
      201,
      "true",
      "A",
    ]);
    expect(references()).toEqual(["A"]);
  });

  test("after the work also does the work without a key", async () => {
    const { order, create } = await faultyWorld();
    await order({ match: { method: "post" }, times: 1, drop: "after" });
    await expect(create("A")).rejects.toEqual(cutOff);
    expect((await create("A")).body).toEqual(refusal("conflict", "reference_already_exists", "reference"));
  });

  test.each(["before", "after"])("%s the work also cuts off a replay", async (drop) => {
    const { order, create, references } = await faultyWorld();
    await create("A", "k");
    await order({ match: {}, times: 1, drop });
    await expect(create("A", "k")).rejects.toEqual(cutOff);
    expect((await create("A", "k")).headers.get("idempotent-replayed")).toBe("true");
    expect(references()).toEqual(["A"]);
  });
});

describe("a delay", () => {
  test("postpones the work, and the key counts as in progress meanwhile", async () => {
    const { order, create, clock, received, references, mock } = await faultyWorld();
    await order({ match: { method: "POST" }, times: 1, delay_ms: 5_000 });
    const first = create("A", "k");
    await received(2);
    expect((await create("A", "k")).body).toEqual(refusal("conflict", "request_in_progress"));
    clock.advance(4_999);
    expect((await create("A", "k")).status).toBe(409);
    expect(references()).toEqual([]);
    clock.advance(1);
    const { status, body } = await first;
    expect([status, body.created_at]).toEqual([201, "2026-01-05T09:00:05.000Z"]);
    const again = await create("A", "k");
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(mock.requests().at(1)).toMatchObject({ status: 201 });
  });

  test("is added to the latency", async () => {
    const { order, send, clock, received, mock } = await startedWithLatency();
    await order({ match: { path: "/v1/models" }, delay_ms: 50 });
    const seen = mock.requests().length;
    const held = send("/v1/models");
    await received(seen + 1);
    expect(clock.nextDue()).toBe(clock.now() + 150);
    clock.advance(150);
    expect((await held).status).toBe(200);
  });

  async function startedWithLatency() {
    const world = await startWorld({ latencyMs: 100 });
    const order = (fault: object) => world.send("/_mock/faults", { json: fault, key: null });
    const received = async (count: number) => {
      await until(() => world.mock.requests().length >= count);
    };
    return { ...world, order, received };
  }

  test("ends with a reset, which clears the faults", async () => {
    const { order, send, received, faults } = await faultyWorld();
    await order({ match: { path: "/v1/models" }, delay_ms: 60_000 });
    const held = send("/v1/models");
    await received(2);
    await send("/_mock/reset", { method: "POST", key: null });
    expect((await held).status).toBe(200);
    expect(await faults()).toEqual([]);
  });

  test("combines with one fault of another kind", async () => {
    const { order, create, clock, received, references, faults } = await faultyWorld();
    await order({ match: {}, drop: "after", times: 1 });
    await order({ match: {}, delay_ms: 1_000, times: 1 });
    await order({ match: {}, status: 503, times: 1 });
    const held = create("A", "k");
    held.catch(() => {});
    await received(2);
    clock.advance(1_000);
    await expect(held).rejects.toEqual(cutOff);
    expect(references()).toEqual(["A"]);
    expect((await faults()).map(({ acted }: { acted: number }) => acted)).toEqual([1, 1, 0]);
  });

  test("with a cut holds the key until the cut and releases it then", async () => {
    const { order, create, clock, received, references } = await faultyWorld();
    await order({ match: {}, delay_ms: 1_000, times: 1 });
    await order({ match: {}, drop: "before", times: 1 });
    const held = create("A", "k");
    held.catch(() => {});
    await received(2);
    expect((await create("A", "k")).status).toBe(409);
    clock.advance(1_000);
    await expect(held).rejects.toEqual(cutOff);
    expect(references()).toEqual([]);
    expect((await create("A", "k")).status).toBe(201);
  });
});

describe("a truncation", () => {
  test.each([0, 1, 20])(
    "sends %d bytes of the body, and the headers announce the full length",
    async (bytes) => {
      const { order, create, send, mock } = await faultyWorld();
      const { id } = (await create("A")).body;
      const path = `/v1/products/${id}`;
      const whole = JSON.stringify((await send(path)).body);
      await order({ match: { path }, times: 1, truncate: bytes });
      expect(await rawly(`${mock.baseUrl}${path}`)).toEqual({
        status: 200,
        length: String(whole.length),
        text: whole.slice(0, bytes),
        whole: false,
      });
      expect(await rawly(`${mock.baseUrl}${path}`)).toMatchObject({ text: whole, whole: true });
    },
  );

  test("does not change a response with a shorter body, or without one", async () => {
    const { order, create, send, mock } = await faultyWorld();
    const { id } = (await create("A")).body;
    const path = `/v1/products/${id}`;
    const whole = JSON.stringify((await send(path)).body);
    await order({ match: { path }, truncate: whole.length });
    expect(await rawly(`${mock.baseUrl}${path}`)).toMatchObject({ text: whole, whole: true });
    await send("/_mock/faults", { method: "DELETE", key: null });
    await order({ match: { path }, truncate: 0 });
    expect(await rawly(`${mock.baseUrl}${path}`, { method: "DELETE" })).toMatchObject({
      status: 204,
      whole: true,
    });
  });

  test("also cuts a replay", async () => {
    const { order, create, references } = await faultyWorld();
    await order({ match: {}, times: 2, truncate: 10 });
    await expect(create("A", "k")).rejects.toThrow();
    await expect(create("A", "k")).rejects.toThrow();
    const got = await create("A", "k");
    expect([got.status, got.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(references()).toEqual(["A"]);
  });
});

describe("signed files", () => {
  async function withFile() {
    const world = await faultyWorld();
    const { url } = (await world.send(`/v1/images/${await world.imageId()}`)).body;
    const whole = (await rawly(url)).text;
    return { ...world, url: url as string, whole };
  }

  test("are affected by a status, a drop, a truncation and a delay for their path", async () => {
    const { order, url, whole, clock, received, mock } = await withFile();
    await order({ match: { path: "/_signed/images/" }, times: 1, status: 503 });
    const failed = await rawly(url);
    expect([failed.status, JSON.parse(failed.text)]).toEqual([503, refusal("internal", "internal_error")]);
    for (const drop of ["before", "after"]) {
      await order({ match: { path: "/_signed" }, times: 1, drop });
      await expect(rawly(url)).rejects.toThrow("socket hang up");
    }
    await order({ match: { path: "/_signed" }, times: 1, truncate: 30 });
    expect(await rawly(url)).toEqual({
      status: 200,
      length: String(whole.length),
      text: whole.slice(0, 30),
      whole: false,
    });
    await order({ match: { path: "/_signed" }, times: 1, delay_ms: 100 });
    const seen = mock.requests().length;
    const held = rawly(url);
    await received(seen + 1);
    clock.advance(100);
    expect(await held).toMatchObject({ status: 200, text: whole });
  });

  test("are delayed by the latency", async () => {
    const { mock, send } = await faultyWorld();
    const { url } = (await send(`/v1/images/${mock.state().organizations.main.images[0]!.id}`)).body;
    const slow = await startWorld({ latencyMs: 250 });
    await slow.send("/_mock/state", { method: "PUT", body: JSON.stringify(mock.state()), key: null });
    const held = rawly(url.replace(mock.baseUrl, slow.mock.baseUrl));
    await until(() => slow.mock.requests().length > 0);
    expect(slow.clock.nextDue()).toBe(slow.clock.now() + 250);
    slow.clock.advance(250);
    expect(await held).toMatchObject({ status: 200, whole: true });
  });

  test("have no body to truncate for HEAD", async () => {
    const { order, url, whole } = await withFile();
    await order({ match: { method: "HEAD" }, truncate: 5 });
    expect(await rawly(url, { method: "HEAD" })).toEqual({
      status: 200,
      length: String(whole.length),
      text: "",
      whole: true,
    });
  });

  test("control routes are never affected", async () => {
    const { order, send } = await faultyWorld();
    for (const fault of [{ status: 500 }, { drop: "before" }, { truncate: 1 }]) {
      await order({ match: {}, ...fault });
      for (const path of ["/_mock/requests", "/_mock/state", "/_mock/faults"]) {
        expect((await send(path, { key: null })).status).toBe(200);
      }
    }
  });
});

describe("matching", () => {
  test("compares the path as sent, including the query, by its prefix", async () => {
    const { order, send } = await faultyWorld();
    await order({ match: { method: "GET", path: "/v1/products?limit=7" }, status: 500 });
    await order({ match: { path: "/v1/mod" }, status: 502 });
    const statuses = [];
    for (const path of ["/v1/products?limit=7", "/v1/products?limit=70", "/v1/products", "/v1/models"]) {
      statuses.push((await send(path)).status);
    }
    expect(statuses).toEqual([500, 500, 200, 502]);
  });

  test("chooses the first matching fault that is not used up", async () => {
    const { order, send, faults } = await faultyWorld();
    await order({ match: { path: "/v1/products" }, status: 500, times: 2 });
    await order({ match: {}, status: 502, times: 1 });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await send("/v1/products")).status);
    expect(statuses).toEqual([500, 500, 502, 200]);
    expect(await faults()).toEqual([
      { id: 1, match: { path: "/v1/products" }, times: 2, status: 500, acted: 2 },
      { id: 2, match: {}, times: 1, status: 502, acted: 1 },
    ]);
  });

  longTest("repeats the random choice with a seed, and does not change any ID", async () => {
    async function actedOn(seed: number, withFault: boolean) {
      const { order, send, imageId } = await startWorldWithOrder(seed);
      if (withFault) await order({ match: { path: "/v1/models" }, probability: 0.5, status: 500 });
      const statuses = [];
      for (let n = 0; n < 40; n++) statuses.push((await send("/v1/models?limit=1")).status);
      return { statuses, id: await imageId() };
    }
    const [one, two, other, none] = [
      await actedOn(3, true),
      await actedOn(3, true),
      await actedOn(4, true),
      await actedOn(3, false),
    ];
    expect(one).toEqual(two);
    expect(one.statuses).not.toEqual(other.statuses);
    expect(one.id).toBe(none.id);
    const failed = one.statuses.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(8);
    expect(failed).toBeLessThan(32);
  });

  async function startWorldWithOrder(seed: number) {
    const world = await startWorld({ seed });
    return { ...world, order: (fault: object) => world.send("/_mock/faults", { json: fault, key: null }) };
  }

  test("restarts with the first fault after a reset, and its random choice repeats", async () => {
    const { order, send } = await startWorldWithOrder(6);
    const story = async () => {
      const { body } = await order({ match: { path: "/v1/models" }, probability: 0.5, status: 503 });
      const met: number[] = [];
      for (let count = 0; count < 24; count++) met.push((await send("/v1/models")).status);
      return { id: body.id, met };
    };
    const first = await story();
    expect(first.id).toBe(1);
    expect(new Set(first.met)).toEqual(new Set([200, 503]));
    expect((await send("/_mock/reset", { method: "POST", key: null })).status).toBe(200);
    expect(await story()).toEqual(first);
  });

  test("counts a fault only when its random choice is to act", async () => {
    const { order, send, faults } = await faultyWorld();
    await order({ match: {}, probability: 0, status: 500, times: 1 });
    await order({ match: {}, probability: 1, status: 502, times: 1 });
    expect([(await send("/v1/models")).status, (await send("/v1/models")).status]).toEqual([502, 200]);
    expect((await faults()).map(({ acted }: { acted: number }) => acted)).toEqual([0, 1]);
  });
});

test("an import with a job fault fails before any row is processed", async () => {
  const { order, runImport, references, faults } = await faultyWorld();
  const fail = { code: "pipeline_down", message: "the pipeline is down" };
  await order({ match: { job: "import" }, times: 1, fail });
  const failed = await runImport([row("A")]);
  expect(failed.job).toMatchObject({ status: "failed", counts: { succeeded: 0, failed: 0 } });
  expect(references()).toEqual([]);
  expect((await runImport([row("A")])).job.status).toBe("completed");
  expect(await faults()).toEqual([{ id: 1, match: { job: "import" }, times: 1, fail, acted: 1 }]);
});

test("a ZIP or a task with a job fault shows the reason", async () => {
  const { order, create, send, clock } = await faultyWorld();
  const { id } = (await create("A")).body;
  await order({ match: { job: "export" }, times: 1, fail: { code: "disk_full", message: "no room" } });
  await order({
    match: { job: "task" },
    times: 1,
    fail: { code: "model_unsafe_content", message: "not that" },
  });
  const zip = () => send("/v1/exports", { json: { format: "zip" } });
  const task = () =>
    send("/v1/tasks/beautifier", {
      json: { subtype: "clothing", inputs: { product_id: id, background: "white", angle_shot: "front" } },
    });
  const started = [await zip(), await task(), await zip(), await task()].map(({ body }) => body.id);
  clock.advance(3_600_000);
  const ended = [];
  for (const [at, job] of started.entries()) {
    ended.push((await send(`/v1/${at % 2 === 0 ? "exports" : "tasks"}/${job}`)).body);
  }
  expect(ended).toMatchObject([
    { status: "failed", error: { code: "disk_full", message: "no room" }, url: null },
    { status: "failed", failure_reason: { code: "model_unsafe_content", message: "not that" } },
    { status: "completed", error: null },
    { status: "succeeded", failure_reason: null },
  ]);
});

describe("the list of faults", () => {
  test("is shown, and cleared all at once", async () => {
    const { order, send, faults } = await faultyWorld();
    const fault = { match: { method: "GET", path: "/v1" }, times: 3, probability: 0.25, delay_ms: 0 };
    const got = await order(fault);
    expect([got.status, got.body]).toEqual([200, { id: 1, ...fault, acted: 0 }]);
    expect((await order({ match: { method: "get" }, drop: "after" })).body).toEqual({
      id: 2,
      match: { method: "GET" },
      drop: "after",
      acted: 0,
    });
    expect(await faults()).toHaveLength(2);
    expect((await send("/_mock/faults", { method: "DELETE", key: null })).body).toEqual({ cleared: 2 });
    expect(await faults()).toEqual([]);
    expect((await send("/v1/models")).status).toBe(200);
  });

  test("loses one fault by its number, once", async () => {
    const { order, send, faults } = await faultyWorld();
    for (const status of [500, 502, 503]) await order({ match: {}, status });
    const remove = () => send("/_mock/faults/2", { method: "DELETE", key: null });
    expect((await remove()).body).toEqual({ cleared: 1 });
    const { status, body } = await remove();
    expect([status, body.error.message]).toEqual([404, "fault not found"]);
    expect((await faults()).map(({ id }: { id: number }) => id)).toEqual([1, 3]);
  });

  test("is not part of the state: a state neither contains nor changes it", async () => {
    const { order, send, faults, mock } = await faultyWorld();
    await order({ match: { path: "/v1/models" }, status: 500 });
    const state = JSON.stringify(mock.state());
    expect(state).not.toContain("/v1/models");
    expect((await send("/_mock/state", { method: "PUT", body: state, key: null })).status).toBe(200);
    expect(await faults()).toHaveLength(1);
    expect((await send("/v1/models")).status).toBe(500);
  });

  test.each(
    sampled(
      [
        ["nothing", "", undefined],
        ["invalid JSON", "{", undefined],
        ["null", null, undefined],
        ["a list", [], undefined],
        ["an empty object", {}, "match"],
        ["no match", { status: 500 }, "match"],
        ["no effect", { match: {} }, undefined],
        ["two effects", { match: {}, status: 500, drop: "after" }, undefined],
        ["another field", { match: {}, status: 500, more: 1 }, "more"],
        ["another field of match", { match: { url: "/" }, status: 500 }, "match.url"],
        ["an unknown method", { match: { method: "FETCH" }, status: 500 }, "match.method"],
        ["a path without a slash", { match: { path: "v1" }, status: 500 }, "match.path"],
        ["an empty path", { match: { path: "" }, status: 500 }, "match.path"],
        ["a control route", { match: { path: "/_mock/state" }, status: 500 }, "match.path"],
        ["an unknown job", { match: { job: "webhook" }, fail: { code: "c", message: "m" } }, "match.job"],
        ["never", { match: {}, times: 0, status: 500 }, "times"],
        ["a fraction of times", { match: {}, times: 1.5, status: 500 }, "times"],
        ["a probability above 1", { match: {}, probability: 1.1, status: 500 }, "probability"],
        ["a probability below 0", { match: {}, probability: -0.1, status: 500 }, "probability"],
        ["an interim status", { match: {}, status: 103 }, "status"],
        ["an invalid status", { match: {}, status: 600 }, "status"],
        ["a status as a string", { match: {}, status: "500" }, "status"],
        ["a negative delay", { match: {}, delay_ms: -1 }, "delay_ms"],
        ["a delay of more than a day", { match: {}, delay_ms: 86_400_001 }, "delay_ms"],
        ["an endless delay", '{"match":{},"delay_ms":1e999}', "delay_ms"],
        ["a drop at another time", { match: {}, drop: "during" }, "drop"],
        ["a negative truncation", { match: {}, truncate: -1 }, "truncate"],
        ["a failure without a job", { match: {}, fail: { code: "c", message: "m" } }, "fail"],
        ["a delay of a job", { match: { job: "task" }, delay_ms: 5 }, "delay_ms"],
        [
          "a job with a path",
          { match: { job: "task", path: "/v1" }, fail: { code: "c", message: "m" } },
          "match.path",
        ],
        ["a failure without a code", { match: { job: "task" }, fail: { message: "m" } }, "fail.code"],
        ["a failure without a message", { match: { job: "task" }, fail: { code: "c" } }, "fail.message"],
      ],
      8,
    ),
  )("rejects %s", async (_name, fault, param) => {
    const { send, faults } = await faultyWorld();
    const body = typeof fault === "string" ? fault : JSON.stringify(fault);
    const got = await send("/_mock/faults", { method: "POST", body, key: null });
    expect([got.status, got.body]).toMatchObject([400, refusal("invalid_request", "invalid_request", param)]);
    expect(await faults()).toEqual([]);
  });
});
