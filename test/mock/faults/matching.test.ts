import { describe, expect, test } from "vitest";
import { includes } from "../../../src/mock/faults/matching.ts";
import { refusal, row, type Send, startWorld } from "../world.ts";

/** A mock with a fault of status 503 on what `match` names. */
async function matchingWorld(match: object, more: object = {}) {
  const world = await startWorld();
  const add = (fault: object) => world.send("/_mock/faults", { json: fault, key: null });
  expect((await add({ match, status: 503, ...more })).status).toBe(200);
  /** Whether the fault acts on each of the requests. */
  const acts = async (requests: readonly (string | [string, Send])[]) => {
    const statuses = [];
    for (const one of requests) {
      const [path, send] = typeof one === "string" ? [one, {}] : one;
      statuses.push((await world.send(path, send)).status === 503);
    }
    return statuses;
  };
  return { ...world, add, acts };
}

describe("a pattern", () => {
  test("is the complete path: without a name in braces exactly, and whatever the query", async () => {
    const { acts } = await matchingWorld({ pattern: "/v1/products" });
    expect(
      await acts(["/v1/products", "/v1/products?limit=1", "/v1/products/1", "/v1/productsx", "/v1/models"]),
    ).toEqual([true, true, false, false, false]);
  });

  test("has any one part for a name in braces, also one with an escaped slash", async () => {
    const { acts } = await matchingWorld({ pattern: "/v1/products/{product_id}" });
    const paths = ["/v1/products/01", "/v1/products/a%2Fb", "/v1/products/", "/v1/products/a/images"];
    expect(await acts([...paths, "/v1/products"])).toEqual([true, true, false, false, false]);
  });

  test("takes signs of regular expressions literally, and compares decoded parts", async () => {
    const { add, acts, send } = await matchingWorld({ pattern: "/v1/products/a.c*(x)+" });
    expect(await acts(["/v1/products/abc", "/v1/products/a.c*(x)+", "/v1/products/a%2Ec*(x)%2B"])).toEqual([
      ...[false, true, true],
    ]);
    await send("/_mock/faults", { method: "DELETE", key: null });
    await add({ match: { pattern: "/v1/%70roducts/%C3%BC" }, status: 503 });
    expect(await acts(["/v1/products/%c3%bc", "/v1/products/u"])).toEqual([true, false]);
  });
});

describe("a query", () => {
  test("is compared by decoded values, in any order", async () => {
    const { acts } = await matchingWorld({ path: "/v1/products", query: { q: "a b+ü", limit: 7 } });
    expect(
      await acts([
        ...["/v1/products?q=a+b%2B%C3%BC&limit=7", "/v1/products?limit=7&x=1&q=a%20b%2b%c3%bc"],
        ...["/v1/products?q=a+b%2B%C3%BC&limit=70", "/v1/products?limit=7", "/v1/products"],
      ]),
    ).toEqual([true, true, false, false, false]);
  });

  test("fits a repeated parameter with the value once, and null fits only what was not sent", async () => {
    const { acts } = await matchingWorld({ query: { a: "2", b: null } });
    expect(
      await acts([
        ...["/v1/models?a=1&a=2", "/v1/models?a=1&a=3", "/v1/models?a=2&b=", "/v1/models?a=2&b"],
        ...["/v1/models?A=2", "/v1/models?a=2&__proto__=1&constructor=2"],
      ]),
    ).toEqual([true, false, false, false, false, true]);
  });

  test("and headers have none of the names of every object", async () => {
    const none = { toString: null, constructor: null };
    const { acts } = await matchingWorld({ query: none, headers: none });
    const sent: [string, Send] = ["/v1/models?x=1", { headers: { constructor: "x" } }];
    expect(await acts(["/v1/models", "/v1/models?x=1", "/v1/models?toString=1", sent])).toEqual([
      ...[true, true, false, false],
    ]);
  });
});

test("headers are compared by name in any case and by exact value; null fits what was not sent", async () => {
  const { acts } = await matchingWorld({ headers: { "X-Shop": "Nord", "idempotency-KEY": null } });
  const sent = (headers: Record<string, string>): [string, Send] => ["/v1/models", { headers }];
  expect(
    await acts([
      ...[sent({ "x-shop": "Nord" }), sent({ "X-SHOP": "nord" }), sent({})],
      sent({ "x-shop": "Nord", "Idempotency-Key": "k" }),
    ]),
  ).toEqual([true, false, false, false]);
});

describe("a JSON body", () => {
  const post = (json: unknown): [string, Send] => ["/v1/imports", { json }];
  const rows = [row("A"), row("B")];

  test("fits with more fields at any depth, but lists of the same length only", async () => {
    const { acts } = await matchingWorld({ method: "POST", body: { rows: [{ reference: "A" }, {}] } });
    expect(
      await acts([
        post({ rows }),
        post({ rows, mode: "create" }),
        post({ rows: [rows[1], rows[0]] }),
        post({ rows: [...rows, row("C")] }),
        post({ rows: [rows[0], null] }),
        post({}),
      ]),
    ).toEqual([true, true, false, false, false, false]);
  });

  test("never fits a body that is not JSON, is cut, or is empty, nor a GET", async () => {
    const { acts } = await matchingWorld({ body: {} });
    const body = (text: string): [string, Send] => ["/v1/imports", { method: "POST", body: text }];
    expect(await acts([body('{"rows":[{'), body("rows"), "/v1/models"])).toEqual([false, false, false]);
    expect(await acts([body("{}"), body(`{"a":${"[".repeat(99)}${"]".repeat(99)}}`)])).toEqual([true, true]);
    expect(await acts([body(`{"a":${"[".repeat(100)}${"]".repeat(100)}}`)])).toEqual([false]);
  });

  test.each([
    [1, 1, true],
    [1, "1", false],
    [null, null, true],
    [{ a: null }, { a: null }, true],
    [{}, { a: null }, false],
    [{}, JSON.parse('{"__proto__":{}}'), false],
    [{}, { toString: {} }, false],
    [[], {}, false],
    [{}, [], false],
    [[1, 2], [1], false],
    ["abc", "ab", false],
  ])("%j has %j: %s", (value, part, has) => {
    expect(includes(value, part)).toBe(has);
  });
});

test("a fault acts only where all fields of its match fit", async () => {
  const { acts } = await matchingWorld({
    ...{ method: "get", path: "/v1/", pattern: "/v1/{list}", query: { limit: "1" }, headers: { "x-a": "1" } },
  });
  const headers = { "x-a": "1" };
  expect(
    await acts([
      ...(["/v1/models?limit=1", "/v1/models?limit=2", "/v1/models/1?limit=1"] as const).map(
        (path): [string, Send] => [path, { headers }],
      ),
      "/v1/models?limit=1",
    ]),
  ).toEqual([true, false, false, false]);
});

describe("skip and sequence", () => {
  test("skip spares the first matches, and other requests do not count", async () => {
    const { acts, send } = await matchingWorld({ path: "/v1/models" }, { skip: 2, times: 2 });
    const [models, products] = ["/v1/models", "/v1/products"];
    expect(await acts([products!, models!, products!, models!, models!, models!, models!])).toEqual([
      ...[false, false, false, false, true, true, false],
    ]);
    expect((await send("/_mock/faults", { key: null })).body).toMatchObject([
      { skip: 2, times: 2, acted: 2 },
    ]);
  });

  test("a spared match goes to the next fault, and a match that an earlier fault ended does not count", async () => {
    const { add, send } = await matchingWorld({}, { skip: 1, times: 1 });
    await add({ match: {}, skip: 1, status: 418 });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await send("/v1/models")).status);
    // The second fault is spared once, does not see the second request, and acts from then on.
    expect(statuses).toEqual([200, 503, 418, 418]);
  });

  test("each match takes the next entry, none for an empty one, and then the fault is used up", async () => {
    const { add, send } = await startedWith({
      match: { path: "/v1/models" },
      skip: 1,
      sequence: [{ status: 500 }, {}, { status: 429, headers: { "Retry-After": "7" } }, { drop: "before" }],
    });
    const got = [];
    for (let n = 0; n < 6; n++) {
      const { status, headers } = await send("/v1/models").catch(() => ({
        status: 0,
        headers: new Headers(),
      }));
      got.push([status, headers.get("retry-after")]);
    }
    expect(got).toEqual([
      ...[200, 500, 200].map((status) => [status, null]),
      ...[
        [429, "7"],
        [0, null],
        [200, null],
      ],
    ]);
    await add({ match: { path: "/v1/models" }, status: 502 });
    expect((await send("/v1/models")).status).toBe(502);
    expect((await send("/_mock/faults", { key: null })).body).toMatchObject([{ acted: 4 }, { acted: 1 }]);
  });

  test("an empty entry leaves no fault in the log of the request, and later faults act on it", async () => {
    const { add, send, mock } = await startedWith({ match: {}, sequence: [{}, { status: 500 }] });
    await add({ match: {}, times: 1, status: 418 });
    expect([(await send("/v1/models")).status, (await send("/v1/models")).status]).toEqual([418, 500]);
    expect(mock.requests().map(({ faults }) => faults)).toEqual([[2], [1]]);
  });

  test("delays of a sequence add up with other faults; a replay takes no entry that cannot apply", async () => {
    const { send, imageId } = await startedWith({
      match: { method: "POST", path: "/v1/products" },
      sequence: [{}, { status: 500 }],
    });
    const images = [{ image_id: await imageId(), orientation: "front" }];
    const create = (reference: string) =>
      send("/v1/products", {
        json: { name: "N", reference, images },
        headers: { "idempotency-key": reference },
      });
    const got = [];
    for (const reference of ["A", "A", "A", "B", "B"]) {
      const { status, headers } = await create(reference);
      got.push([status, headers.get("idempotent-replayed")]);
    }
    expect(got).toEqual([
      [201, null],
      [201, "true"],
      [201, "true"],
      [500, null],
      [201, null],
    ]);
  });

  test("jobs fail in sequence", async () => {
    const { runImport } = await startedWith({
      match: { job: "import" },
      sequence: [{ fail: { code: "a", message: "A" } }, {}, { fail: { code: "b", message: "B" } }],
    });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await runImport([row(`R${n}`)])).job.status);
    expect(statuses).toEqual(["failed", "completed", "failed", "completed"]);
  });

  test("a reset starts counting again, and a loaded state neither counts nor forgets", async () => {
    const fault = { match: { path: "/v1/models" }, sequence: [{ status: 500 }, { status: 502 }] };
    const { add, send, mock } = await startedWith(fault);
    expect((await send("/v1/models")).status).toBe(500);
    const state = JSON.stringify(mock.state());
    expect((await send("/_mock/state", { method: "PUT", body: state, key: null })).status).toBe(200);
    expect((await send("/v1/models")).status).toBe(502);
    expect((await send("/v1/models")).status).toBe(200);
    mock.reset();
    expect((await send("/v1/models")).status).toBe(200);
    await add(fault);
    expect((await send("/v1/models")).status).toBe(500);
  });

  async function startedWith(fault: object) {
    const world = await startWorld();
    const add = (one: object) => world.send("/_mock/faults", { json: one, key: null });
    expect((await add(fault)).status).toBe(200);
    return { ...world, add };
  }
});

describe("verify", () => {
  test("has a line for each fault that acted less often than it was set to", async () => {
    const { mock, send } = await startWorld();
    expect(mock.verify()).toBeUndefined();
    const models = { path: "/v1/models" };
    mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, status: 500 });
    mock.faults.add({ match: models, times: 2, delay_ms: 0 });
    mock.faults.add({ match: models, delay_ms: 0 });
    mock.faults.add({ match: models, sequence: [{ delay_ms: 0 }, {}, {}] });
    mock.faults.add({ match: models, probability: 0, status: 500 });
    mock.faults.add({ match: { event: "any" }, probability: 0.5, drop: "after" });
    await send("/v1/models");
    const messages = [
      'fault 1, {"method":"POST","path":"/v1/imports"}: never acted',
      'fault 2, {"path":"/v1/models"}: acted 1 of 2 times',
      'fault 4, {"path":"/v1/models"}: acted 1 of 3 times',
      'fault 6, {"event":"any"}: never acted',
    ];
    expect(() => mock.verify()).toThrow(
      new Error(`mock.verify: 4 faults acted less often than expected\n  ${messages.join("\n  ")}`),
    );
    expect((await send("/_mock/verify", { key: null })).body).toEqual([
      { id: 1, acted: 0, expected: 1, message: messages[0] },
      { id: 2, acted: 1, expected: 2, message: messages[1] },
      { id: 4, acted: 1, expected: 3, message: messages[2] },
      { id: 6, acted: 0, expected: 1, message: messages[3] },
    ]);
    for (const id of [2, 4, 6]) mock.faults.remove(id);
    expect(() => mock.verify()).toThrow(
      /^mock\.verify: 1 fault acted less often than expected\n {2}fault 1, [^\n]*$/,
    );
    mock.reset();
    expect(mock.verify()).toBeUndefined();
    expect((await send("/_mock/verify", { key: null })).body).toEqual([]);
  });

  test("shortens what a fault matches", async () => {
    const { mock } = await startWorld();
    mock.faults.add({ match: { body: { a: "x".repeat(100_000) } }, status: 500 });
    expect(() => mock.verify()).toThrow(/^mock\.verify: .{1,40}\n.{200,300}: never acted$/);
  });
});

describe("a wrong fault", () => {
  const entries = Array.from({ length: 100_000 }, () => ({ status: "x" }));
  test.each<[string, object, string, string]>([
    [
      "a pattern with a query",
      { match: { pattern: "/v1/products?limit=1" }, status: 500 },
      "match.pattern",
      "match.pattern: must be a path without a query; use match.query",
    ],
    [
      "a pattern with braces inside a part",
      { match: { pattern: "/v1/a{b}" }, status: 500 },
      "match.pattern",
      "match.pattern: must have braces around a complete part: /v1/products/{product_id}",
    ],
    [
      "a pattern of a control route",
      { match: { pattern: "/_mock/{any}" }, status: 500 },
      "match.pattern",
      "match.pattern: faults do not apply to /_mock",
    ],
    [
      "a pattern that cannot be decoded",
      { match: { pattern: "/v1/%ff" }, status: 500 },
      "match.pattern",
      "match.pattern: must be a path without a query; use match.query",
    ],
    [
      "a query value that is a list",
      { match: { query: { a: ["1"] } }, status: 500 },
      "match.query.a",
      "match.query.a: must be text, a number or null",
    ],
    [
      "a query as text",
      { match: { query: "a=1" }, status: 500 },
      "match.query",
      "match.query: must be an object",
    ],
    [
      "a header name with a space",
      { match: { headers: { "a b": "1" } }, status: 500 },
      "match.headers.a b",
      "match.headers.a b: must be a header name",
    ],
    [
      "a header twice",
      { match: { headers: { A: "1", a: "2" } }, status: 500 },
      "match.headers",
      "match.headers: must name each header once; upper and lower case are the same",
    ],
    [
      "a header value as a number",
      { match: { headers: { A: 1 } }, status: 500 },
      "match.headers.A",
      "match.headers.A: must be text",
    ],
    ["a negative skip", { match: {}, skip: -1, status: 500 }, "skip", "skip: must be at least 0"],
    ["an empty sequence", { match: {}, sequence: [] }, "sequence", "sequence: must have at least 1 entry"],
    [
      "a long sequence",
      { match: {}, sequence: entries },
      "sequence",
      "sequence: must have at most 1000 entries",
    ],
    [
      "a long query",
      { match: { query: Object.fromEntries(entries.map((_, at) => [`a${at}`, {}])) }, status: 500 },
      "match.query",
      "match.query: must have at most 1000 entries",
    ],
    [
      "a name that no object can have",
      { match: { query: JSON.parse('{"__proto__":"1"}') }, status: 500 },
      "match.query.__proto__",
      "match.query.__proto__: cannot be compared or sent",
    ],
    ["a sequence as text", { match: {}, sequence: "500" }, "sequence", "sequence: must be a list"],
    [
      "a sequence with times",
      { match: {}, times: 2, sequence: [{ status: 500 }] },
      "times",
      "times: cannot be combined with sequence, which ends after its last entry",
    ],
    [
      "a sequence and an effect",
      { match: {}, status: 500, sequence: [{ status: 500 }] },
      "status",
      "status: cannot be combined with sequence",
    ],
    [
      "two effects in an entry",
      { match: {}, sequence: [{ status: 500 }, { status: 500, drop: "after" }] },
      "sequence[1]",
      "sequence[1]: needs at most one of status, delay_ms, drop, truncate",
    ],
    [
      "an entry with a match",
      { match: {}, sequence: [{ match: {}, status: 500 }] },
      "sequence[0].match",
      "unknown field sequence[0].match",
    ],
    [
      "an entry with headers alone",
      { match: {}, sequence: [{ headers: {} }] },
      "sequence[0].headers",
      "sequence[0].headers: needs a status",
    ],
    [
      "an entry for jobs",
      { match: {}, sequence: [{ fail: { code: "a", message: "b" } }] },
      "sequence[0].fail",
      "sequence[0].fail: needs match.job, because only jobs fail with a code",
    ],
    [
      "a job with a query",
      { match: { job: "task", query: {} }, fail: { code: "a", message: "b" } },
      "match.query",
      "match.query: cannot be combined with match.job",
    ],
    [
      "an event with a path",
      { match: { event: "any", path: "/v1" }, drop: "after" },
      "match.path",
      "match.path: cannot be combined with match.event",
    ],
    [
      "a webhook without an event",
      { match: { webhook_id: "w" }, drop: "after" },
      "match.webhook_id",
      "match.webhook_id: needs match.event",
    ],
    [
      "an unknown event",
      { match: { event: "task.done" }, drop: "after" },
      "match.event",
      "match.event: must be one of task.succeeded, task.failed, import.completed, import.failed, export.completed, export.failed, any",
    ],
    [
      "a delivery with a status",
      { match: { event: "any" }, status: 500 },
      "status",
      "status: is not for deliveries",
    ],
    [
      "a delivery that crashes",
      { match: { event: "any" }, drop: "crash" },
      "drop",
      "drop: must be before or after for a delivery",
    ],
    [
      "a request with a signature",
      { match: {}, signature: "wrong" },
      "signature",
      "signature: needs match.event, because it is for deliveries",
    ],
    [
      "eleven copies",
      { match: { event: "any" }, duplicate: 11 },
      "duplicate",
      "duplicate: must be at most 10",
    ],
  ])("is rejected with one line that names the field: %s", async (_name, fault, param, message) => {
    const { mock, send } = await startWorld();
    const got = await send("/_mock/faults", { json: fault, key: null });
    expect([got.status, got.body.error]).toEqual([
      400,
      { ...refusal("", "").error, ...invalid, param, message },
    ]);
    expect(() => mock.faults.add(fault as never)).toThrow(new TypeError(`mock.faults.add: ${message}`));
    expect(mock.faults.list()).toEqual([]);
  });
  const invalid = { type: "invalid_request", code: "invalid_request" };

  test("that is no JSON in code is rejected by name", async () => {
    const { mock } = await startWorld();
    const circular: Record<string, unknown> = {};
    circular.match = circular;
    for (const fault of [
      { match: {}, status: 1n },
      circular,
      { match: { body: nested(101) }, status: 500 },
    ]) {
      expect(() => mock.faults.add(fault as never)).toThrow(/^mock\.faults\.add: is not JSON: [^\n]+$/);
    }
  });
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
});
