import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { createApp } from "../../../src/mock/app.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { monday, refusal, silentWorld, startWorld } from "../world.ts";

const json = { "content-type": "application/json" };

describe("an invalid body", () => {
  test.each(
    sampled(
      [
        ["malformed JSON", '{"name":'],
        ["an empty body", ""],
        ["null", "null"],
        ["a list", "[]"],
        ["a string", '"hello"'],
        ["a number", "1e999"],
        ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
        ["a hundred thousand brackets", "[".repeat(100_000)],
        ["a hundred thousand lists in lists", "[".repeat(100_000) + "]".repeat(100_000)],
        ["a byte order mark", "\ufeff{}"],
      ],
      3,
    ),
  )("is rejected with 400 and the envelope: %s", async (_name, body) => {
    const { send } = await startWorld();
    for (const path of ["/v1/products", "/v1/imports", "/v1/products/x/images"]) {
      const got = await send(path, { method: "POST", body, headers: json });
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request")]);
    }
  });

  test.each([
    ["no content type", {}],
    ["another content type", { "content-type": "text/plain" }],
    ["one with the same prefix", { "content-type": "application/jsonp" }],
    ["another charset", { "content-type": "application/json; charset=utf-16" }],
    ["a compressed body", { ...json, "content-encoding": "gzip" }],
  ])("is rejected with 415: %s", async (_name, headers) => {
    const { send } = await startWorld();
    const body = new TextEncoder().encode("{}");
    const got = await send("/v1/products", { body, headers: headers as Record<string, string> });
    expect([got.status, got.body]).toEqual([415, refusal("invalid_request", "unsupported_media_type")]);
  });

  test.each(
    sampled(
      [
        'Application/JSON ; charset="UTF-8"',
        "application/json;CHARSET=utf8",
        'application/json; note="a; charset=latin1"',
        'application/json; note="\\";charset=latin1"',
        'application/json; charset="utf\\-8"',
        'application/json; note="charset=latin1"; charset=utf-8',
        "application/json; xcharset=latin1",
        "application/json; charset=us-ascii; charset=latin1",
      ],
      3,
    ),
  )("is not one that has this content type, whatever its case and parameters: %s", async (type) => {
    const { send } = await startWorld();
    const got = await send("/v1/products", { body: "{}", headers: { "content-type": type } });
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "name")]);
  });

  test.each([
    'application/json; note="a; b"; charset=latin1',
    'application/json; note="\\\\"; charset=latin1',
    'application/json;charset="latin1',
    "application/json ;  Charset=utf-16 ",
  ])("is rejected with 415 for a foreign charset in any position: %s", async (type) => {
    const { send } = await startWorld();
    const got = await send("/v1/products", { body: "{}", headers: { "content-type": type } });
    expect([got.status, got.body]).toEqual([415, refusal("invalid_request", "unsupported_media_type")]);
  });

  test.each([
    ["{}", "name: is missing"],
    ['{"name":1}', "name: must be text"],
    ["\ufeff{}", "the body starts with a byte order mark, which JSON does not allow"],
    ['{"name":" "}', "name: must not be empty"],
    ['{"name":"N","reference":"R","images":{}}', "images: must be a list"],
    ['{"name":"N","reference":"R","images":[]}', "images: must have at least 1 entry"],
  ])("is reported in plain words: %s", async (body, message) => {
    const { send } = await startWorld();
    expect((await send("/v1/products", { body, headers: json })).body.error.message).toBe(message);
  });

  test.each(
    sampled(
      [
        ["POST", "/v1/products", "null", "the body must be an object"],
        ["POST", "/v1/products", "[1]", "the body must be an object"],
        ["POST", "/v1/exports", '{"format":"pdf"}', "format: must be one of manifest, zip"],
        [
          "POST",
          "/v1/exports",
          '{"role":["x"]}',
          "role[0]: must be one of source, beautifier, tryon, recoloring",
        ],
        ["POST", "/_mock/clock", '{"advance_ms":-1}', "advance_ms: must be at least 0"],
        ["POST", "/_mock/clock", '{"advance_ms":0.5}', "advance_ms: must be a whole number"],
        ["POST", "/_mock/clock", '{"advance_ms":"1"}', "advance_ms: must be a number"],
        ["POST", "/_mock/clock", "{}", "advance_ms: is missing"],
        ["POST", "/_mock/account", '{"credits":-1}', "credits: must be at least 0"],
        ["PUT", "/_mock/state", "7", "the body must be an object"],
        ["PUT", "/_mock/state", '{"version":2}', "version: must be 1"],
      ],
      4,
    ),
  )("of %s %s is reported in plain words: %s", async (method, path, body, message) => {
    const { send } = await startWorld();
    expect((await send(path, { method, body, headers: json })).body.error.message).toBe(message);
  });

  test("may have fields such as __proto__, which are handled like any other", async () => {
    const { send } = await startWorld();
    for (const field of ["__proto__", "constructor", "toString"]) {
      const got = await send("/v1/products", { body: `{"${field}":{}}`, headers: json });
      expect(got.status).toBe(400);
    }
    const row =
      '{"rows":[{"__proto__":1,"reference":"A","name":"N","images":[{"url":"https://a.example.com/x"}]}]}';
    const got = await send("/v1/imports", { body: row, headers: json });
    expect([got.status, got.body.errors.map(({ param }: { param: string }) => param)]).toEqual([
      400,
      ["__proto__"],
    ]);
  });

  test("is too large above 1 MB", async () => {
    const { send } = await startWorld();
    const body = (bytes: number) => `{}${" ".repeat(bytes - 2)}`;
    expect((await send("/v1/products", { body: body(1_048_576), headers: json })).status).toBe(400);
    const over = await send("/v1/products", { body: body(1_048_577), headers: json });
    expect([over.status, over.body]).toEqual([413, refusal("invalid_request", "body_too_large")]);
  });
});

describe("a path or query", () => {
  test.each(
    sampled(
      [
        "/",
        "/v1",
        "/v2/products",
        "/v1/products/",
        "/v1/products/?limit=1",
        "/v1/tasks/",
        "/v1/imports//rows",
        "/v1/products/x/y/z",
        "/v1/Products",
        "/v1/nothing",
        "/v1//products",
        "/v1/products/x/images/y/z",
        "/_mock/nothing",
        "/_signed/nothing",
      ],
      4,
    ),
  )("gets 404 if the path is unknown: %s", async (path) => {
    const { send } = await startWorld();
    const got = await send(path);
    expect([got.status, got.body]).toEqual([404, refusal("not_found", "route_not_found")]);
    const posted = await send(path, { json: {} });
    expect([posted.status, posted.body]).toEqual([404, refusal("not_found", "route_not_found")]);
  });

  test.each(
    sampled(
      [
        ["PUT", "/v1/products", "POST, GET"],
        ["HEAD", "/v1/products", "POST, GET"],
        ["DELETE", "/v1/imports", "POST"],
        ["POST", "/v1/products/x", "GET, PATCH, DELETE"],
        ["HEAD", "/v1/images/x", "GET"],
        ["PROPFIND", "/v1/models", "GET"],
        ["DELETE", "/v1/tasks/tryon", "POST, GET"],
        ["GET", "/_mock/clock", "POST"],
      ],
      3,
    ),
  )("gets 405 with the allowed methods: %s %s", async (method, path, allow) => {
    const { send } = await startWorld();
    const got = await send(path, { method });
    expect([got.status, got.headers.get("allow")]).toEqual([405, allow]);
    if (method !== "HEAD") expect(got.body).toEqual(refusal("invalid_request", "method_not_allowed"));
  });

  test.each(["%", "%zz", "%ff", "%c0%ae", "a%2fb%"])(
    "gets 400 if the path cannot be decoded: %s",
    async (id) => {
      const { send } = await startWorld();
      const got = await send(`/v1/products/${id}`);
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request")]);
      expect(got.headers.get("x-ratelimit-limit")).not.toBeNull();
    },
  );

  test.each(
    sampled(
      [
        ["q=%zz", "q"],
        ["q=%ff", "q"],
        ["q=%", "q"],
        ["q=a%4", "q"],
        ["q=%e9", "q"],
        ["q=caf%e9+noir", "q"],
        ["q=%c0%ae", "q"],
        ["q=%ed%a0%80", "q"],
        ["limit=2&unknown=%C3&q=a", "unknown"],
        ["q=a=%zz", "q"],
        ["my+name%5B%5D=%zz", "my name[]"],
        ["%zz", undefined],
        ["q=a&%zz=b", undefined],
        ["q=a?%", "q"],
      ],
      3,
    ),
  )("gets 400 if the query cannot be decoded: %s", async (query, param) => {
    const { send } = await startWorld();
    const error = refusal("invalid_request", "invalid_request", param);
    for (const path of [
      "/v1/products",
      "/v1/nothing",
      "/_signed/images/x",
      "/_mock/requests",
      "/openapi.json",
    ]) {
      const got = await send(`${path}?${query}`);
      expect([path, got.status, got.body]).toEqual([path, 400, error]);
      expect(got.headers.get("x-request-id")).not.toBeNull();
    }
    const { message } = (await send(`/v1/products?${query}`)).body.error;
    expect(message).toMatch(
      param === undefined ? /^the query has invalid percent-encoding/ : /: invalid percent-encoding/,
    );
    if (param !== undefined) expect(message.startsWith(`${param}: `)).toBe(true);
  });

  test.each(
    sampled(
      [
        "",
        "q",
        "q=",
        "=",
        "&&",
        "q=100%25",
        "q=%E2%82%AC",
        "q=%F0%9F%A7%A5",
        "q=a%2Bb",
        "%71=a",
        "x=%00",
        "q=a?b=c",
      ],
      3,
    ),
  )("is accepted with an unusual but valid query: %j", async (query) => {
    const { send } = await startWorld();
    expect((await send(`/v1/products?${query}`)).status).toBe(200);
  });

  test("is rejected with a duplicate query parameter", async () => {
    const { send } = await startWorld();
    for (const [query, name] of [
      ["limit=5&limit=6", "limit"],
      ["q=a&limit=1&q=a", "q"],
    ]) {
      const got = await send(`/v1/products?${query}`);
      expect([got.status, got.body.error]).toEqual([
        400,
        {
          type: "invalid_request",
          code: "invalid_request",
          message: `${name}: appears more than once`,
          param: name,
        },
      ]);
    }
  });

  test("a plus in a query is a space, and an encoded plus is a plus", async () => {
    const { send, createProduct } = await startWorld();
    await createProduct({ reference: "P-1", name: "Black+white tee" });
    await createProduct({ reference: "P-2", name: "White tee, black seam" });
    const found = async (q: string) =>
      (await send(`/v1/products?q=${q}`)).body.data.map(({ reference }: { reference: string }) => reference);
    expect(await found("black+white")).toEqual(["P-2", "P-1"]);
    expect(await found("black%2Bwhite")).toEqual(["P-1"]);
    expect(await found("%42lack%20seam")).toEqual(["P-2"]);
  });

  test.each(
    sampled(
      ["x", "%00", "..%2f..%2fetc", "01HN1H1W2BE2ZP0BXGX60T7K32", "a".repeat(5_000), "__proto__", "🧥"],
      3,
    ),
  )("an invalid ID is not found: %s", async (id) => {
    const { send } = await startWorld();
    const got = await send(`/v1/products/${encodeURIComponent(decodeURIComponent(id))}`);
    expect([got.status, got.body]).toEqual([404, refusal("not_found", "product_not_found")]);
  });

  test("a preflight request is allowed on any path and without an API key", async () => {
    const { send } = await startWorld();
    for (const path of ["/v1/products", "/v1/nothing", "/v1/products?q=%E0%A4%A", "/v1/%FF"]) {
      const got = await send(path, {
        method: "OPTIONS",
        key: null,
        headers: {
          origin: "https://shop.example.com",
          "access-control-request-method": "PATCH",
          "access-control-request-headers": "authorization, content-type",
        },
      });
      expect([got.status, got.body]).toEqual([204, ""]);
      expect(got.headers.get("access-control-allow-origin")).toBe("*");
      expect(got.headers.get("access-control-allow-headers")).toBe("authorization, content-type");
      expect(got.headers.get("access-control-allow-methods")).toContain("PATCH");
      expect(got.headers.get("x-request-id")).toMatch(/^req_/);
    }
    const got = await send("/v1/products", { headers: { origin: "https://shop.example.com" } });
    expect(got.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("a URL of 8,192 bytes is accepted, and a longer one is rejected", async () => {
    const { send } = await startWorld();
    const path = (bytes: number) => "/v1/products?q=".padEnd(bytes, "a");
    expect((await send(path(8_192))).status).toBe(200);
    const got = await send(path(8_193));
    expect([got.status, got.body]).toEqual([414, refusal("invalid_request", "uri_too_long")]);
    const nowhere = await send("/".padEnd(9_000, "a"));
    expect([nowhere.status, nowhere.body]).toEqual([414, refusal("invalid_request", "uri_too_long")]);
  });
});

describe("a raw request", () => {
  /** Writes to the socket and returns everything received until it was closed, or until `enough` matches. */
  function exchange(port: number, parts: (string | Buffer)[], enough = /$^/): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = "";
      const socket = connect(port, "127.0.0.1", () => {
        for (const part of parts) socket.write(part);
      });
      const finish = () => {
        socket.destroy();
        resolve(text);
      };
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        if (enough.test(text)) finish();
      });
      socket.on("close", finish);
      socket.on("error", (error) => (text === "" ? reject(error) : finish()));
    });
  }
  function parsed(text: string) {
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const [status = "", ...lines] = head.split("\r\n");
    const headers = new Map(lines.map((line) => line.split(": ") as [string, string]));
    return { status: Number(status.split(" ")[1]), headers, body: body === "" ? null : JSON.parse(body) };
  }
  const portOf = (baseUrl: string) => Number(new URL(baseUrl).port);
  const request = "GET /v1/products HTTP/1.1\r\nHost: x\r\n";

  test.each(
    sampled(
      [
        ["garbage", ["\u0000\u0001\u0002 hello\r\n\r\n"], 400, "invalid_request"],
        ["an unknown method", ["BREW /v1/products HTTP/1.1\r\nHost: x\r\n\r\n"], 400, "invalid_request"],
        ["TLS", [Buffer.from("16030100c8010000c40303", "hex")], 400, "invalid_request"],
        ["another protocol", ["GET / FTP/1.0\r\n\r\n"], 400, "invalid_request"],
        ["a header without a colon", [`${request}hello\r\n\r\n`], 400, "invalid_request"],
        ["two lengths", [`${request}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`], 400, "invalid_request"],
        [
          "an invalid length",
          ["POST /v1/products HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
          400,
          "invalid_request",
        ],
        [
          "length and chunks",
          [`${request}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
          400,
          "invalid_request",
        ],
        ["oversized headers", [`${request}X: ${"x".repeat(40_000)}\r\n\r\n`], 431, "headers_too_large"],
        [
          "a URL that is too long for the parser",
          [`GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
          414,
          "uri_too_long",
        ],
        ["CONNECT", ["CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"], 405, "method_not_allowed"],
        [
          "an invalid chunk",
          [
            "POST /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ak_mock\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          ],
          400,
          "invalid_request",
        ],
      ],
      5,
    ),
  )("is rejected: %s", async (_name, parts, status, code) => {
    const { mock, send } = await startWorld({ rateLimit: { reads: 600, writes: 60 } });
    const got = parsed(await exchange(portOf(mock.baseUrl), parts));
    expect([got.status, got.body]).toEqual([status, refusal("invalid_request", code)]);
    expect(got.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(got.headers.get("X-Request-Id")).toMatch(/^req_/);
    expect(got.headers.get("X-RateLimit-Limit")).toBe("600");
    expect(got.headers.get("X-RateLimit-Remaining")).toBe("600");
    expect((await send("/v1/products")).status).toBe(200);
  });

  test.each([
    [1_998, 200],
    [1_999, 431],
    [10_000, 431],
  ])("with an API key and a Host after %d other headers gets %d", async (others, status) => {
    const { mock } = await startWorld();
    const text = `GET /v1/products HTTP/1.1\r\n${"a:\r\n".repeat(others)}Host: x\r\nAuthorization: Bearer ak_mock\r\n\r\n`;
    const got = parsed(await exchange(portOf(mock.baseUrl), [text], /\}$/));
    expect(got.status).toBe(status);
    if (status === 431) expect(got.body).toEqual(refusal("invalid_request", "headers_too_large"));
  });

  test("without a Host is rejected for HTTP/1.1 only", async () => {
    const { mock } = await startWorld();
    const port = portOf(mock.baseUrl);
    const key = "Authorization: Bearer ak_mock\r\n\r\n";
    const bad = parsed(await exchange(port, [`GET /v1/products HTTP/1.1\r\n${key}`], /\}$/));
    expect([bad.status, bad.body]).toEqual([400, refusal("invalid_request", "invalid_request", "Host")]);
    expect(parsed(await exchange(port, [`GET /v1/products HTTP/1.0\r\n${key}`])).status).toBe(200);
  });

  test("with two Hosts is rejected, even if they are equal", async () => {
    const { mock } = await startWorld();
    for (const host of ["x", "localhost"]) {
      const text = `${request}host: ${host}\r\nAuthorization: Bearer ak_mock\r\n\r\n`;
      const got = parsed(await exchange(portOf(mock.baseUrl), [text], /\}$/));
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "Host")]);
    }
  });

  test("in absolute form works like origin form: routing, 405, log, idempotency", async () => {
    const { mock } = await startWorld();
    const go = async (method: string, target: string, more = "") => {
      const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ak_mock\r\n${more}\r\n`;
      return parsed(await exchange(portOf(mock.baseUrl), [head], /[}\]]$/));
    };
    expect((await go("GET", "http://localhost/v1/models?limit=1")).status).toBe(200);
    const wrong = await go("PUT", "http://localhost/v1/models");
    expect([wrong.status, wrong.headers.get("Allow")]).toEqual([405, "GET"]);
    expect((await go("GET", "HTTP://localhost?a")).status).toBe(404);
    const key = "Idempotency-Key: k\r\n";
    expect((await go("DELETE", "/v1/products/x", key)).headers.get("Idempotent-Replayed")).toBeUndefined();
    const again = await go("DELETE", "http://127.0.0.1/v1/products/x", key);
    expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([404, "true"]);
    const paths = mock.requests().map(({ path }) => path);
    expect(paths).toEqual(["/v1/models?limit=1", "/v1/models", "/?a", "/v1/products/x", "/v1/products/x"]);
    // The host of the target counts, not the Host header.
    expect((await go("GET", "http://example.com/_mock/requests")).status).toBe(403);
    expect((await go("GET", "http://localhost/_mock/requests")).status).toBe(200);
  });

  test("with an unknown expectation is accepted", async () => {
    const { mock } = await startWorld();
    const key = "Authorization: Bearer ak_mock\r\nExpect: the-spanish-inquisition\r\n\r\n";
    const got = parsed(await exchange(portOf(mock.baseUrl), [request + key], /\}$/));
    expect(got.status).toBe(200);
  });

  test("declared too large is rejected before its body is sent", async () => {
    const { mock } = await startWorld();
    const head = (path: string, bytes: number) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ak_mock\r\nContent-Length: ${bytes}\r\n\r\n`;
    for (const [path, bytes] of [
      ["/v1/imports", 8 * 1024 * 1024 + 1],
      ["/v1/images", 1e12],
      ["/v1/products", 1024 * 1024 + 1],
    ] as const) {
      const got = parsed(await exchange(portOf(mock.baseUrl), [head(path, bytes)], /\}$/));
      expect([got.status, got.body]).toEqual([413, refusal("invalid_request", "body_too_large")]);
    }
  });

  test("with an endless body is rejected at the limit", async () => {
    const { mock } = await startWorld();
    const head =
      "POST /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ak_mock\r\nTransfer-Encoding: chunked\r\n\r\n";
    const chunk = `40000\r\n${"x".repeat(0x40000)}\r\n`;
    const got = parsed(await exchange(portOf(mock.baseUrl), [head, ...Array(5).fill(chunk)], /\}$/));
    expect([got.status, got.body]).toEqual([413, refusal("invalid_request", "body_too_large")]);
  });

  test("of a client that disconnects in the middle leaves no trace", async () => {
    const { mock, send, clock } = await startWorld();
    const head =
      "POST /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ak_mock\r\nIdempotency-Key: k\r\n" +
      "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    await new Promise<void>((resolve) => {
      const socket = connect(portOf(mock.baseUrl), "127.0.0.1", () => {
        socket.write(head, () => socket.destroy());
      });
      socket.on("close", () => resolve());
    });
    expect(clock.nextDue()).toBeNull();
    const got = await send("/v1/products", { json: {}, headers: { "idempotency-key": "k" } });
    expect([got.status, got.headers.get("idempotent-replayed")]).toEqual([400, null]);
  });

  longTest("that is too slow gets 408, and its connection is closed", async () => {
    const clock = new MovableClock({ frozenAt: monday });
    const world = silentWorld(clock);
    const server = createApp(world, { headersMs: 60, requestMs: 60, idleMs: 60 });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as { port: number };
    const slow = parsed(await exchange(port, ["GET /v1/products HTTP/1.1\r\nHost"]));
    expect([slow.status, slow.body]).toEqual([408, refusal("invalid_request", "request_timeout")]);
    const head =
      "POST /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ak_mock\r\nContent-Length: 9\r\n\r\n";
    const drip = parsed(await exchange(port, [head, "{"]));
    expect([drip.status, drip.body]).toEqual([408, refusal("invalid_request", "request_timeout")]);
    server.close();
  });
});
