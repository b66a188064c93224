import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Agent, MockAgent } from "undici";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type ClientOptions, createClient, type FetchFunction, NetworkError } from "../../src/index.ts";
import { json, refusal, reset, type Step, scriptedServer, silence } from "../http/scripted-server.ts";
import { TestClock } from "../support/test-clock.ts";
import { closeAll, product } from "./world.ts";

afterEach(closeAll);

const apiKey = "ak_test_key_0123456789";
const id = "01JGZZ0000000000000000000A";
const found = json(200, product());
const baseUrl = "https://api.example.com";

function clientOf(options: Partial<ClientOptions>) {
  const clock = new TestClock();
  const client = createClient({ baseUrl, apiKey, clock, random: () => 0.5, ...options });
  onTestFinished(() => client.close());
  return { client, clock };
}

const get = (options: Partial<ClientOptions>) => clientOf(options).client.products.get({ product_id: id });

/** A fetch function without a network. */
const fetchOf = (respond: (url: string, init: RequestInit) => Response | Promise<Response>): FetchFunction =>
  (async (url: string, init: RequestInit) => respond(url, init)) as unknown as FetchFunction;

const responseOf = (body: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(body), { ...init, headers: { "content-type": "application/json" } });

describe("fetch", () => {
  test("the global one sends a request with its body and headers, and reads the response", async () => {
    const server = await scriptedServer(json(201, product()));
    const { client } = clientOf({ baseUrl: server.origin, fetch });
    expect((await client.products.create({ json: '{"name":"Linen shirt"}' })).id).toBe(id);
    const [seen] = server.requests;
    expect([seen!.method, seen!.path, String(seen!.body)]).toEqual([
      "POST",
      "/v1/products",
      '{"name":"Linen shirt"}',
    ]);
    expect(seen!.headers).toMatchObject({ authorization: `Bearer ${apiKey}`, "user-agent": "catalogue" });
  });

  test("a function replaces the network: it gets the complete request", async () => {
    const seen: unknown[] = [];
    const fetch = fetchOf((url, { method, redirect, headers, body, signal }) => {
      const { authorization } = headers as Record<string, string>;
      seen.push([url, method, redirect, authorization, body, signal instanceof AbortSignal]);
      return responseOf(product());
    });
    expect((await get({ fetch })).name).toBe("Linen shirt");
    expect(seen).toEqual([
      [`${baseUrl}/v1/products/${id}`, "GET", "manual", `Bearer ${apiKey}`, undefined, true],
    ]);
  });

  test("a failure of the network is repeated, as with own connections", async () => {
    let calls = 0;
    const fetch = fetchOf(() => {
      if (++calls < 3)
        throw new TypeError("fetch failed", {
          cause: Object.assign(new Error("gone"), { code: "ECONNRESET" }),
        });
      return responseOf(product());
    });
    expect((await get({ fetch })).id).toBe(id);
    expect(calls).toBe(3);
  });

  test("a server that cuts the connection, or rejects it, has the usual code", async () => {
    const server = await scriptedServer(reset);
    const retry = { attempts: 1 };
    await expect(get({ baseUrl: server.origin, fetch, retry })).rejects.toMatchObject({
      code: "connection_cut",
    });
    await server.stop();
    await expect(get({ baseUrl: server.origin, fetch, retry })).rejects.toMatchObject({
      ...{ name: "NetworkError", code: "unreachable" },
      message: `cannot connect to ${server.origin}: connection refused (GET /v1/products/${id})`,
    });
  });

  test("redirects are not followed, and a compression that fetch has undone is accepted", async () => {
    const server = await scriptedServer((response) => {
      response.writeHead(307, { location: "https://elsewhere.example.com/v1" });
      response.end();
    });
    await expect(get({ baseUrl: server.origin, fetch })).rejects.toMatchObject({ code: "redirect" });
    const unpacked = responseOf(product());
    unpacked.headers.set("content-encoding", "gzip");
    unpacked.headers.set("content-length", "3");
    expect((await get({ fetch: fetchOf(() => unpacked) })).id).toBe(id);
  });

  const failed = `cannot send to ${baseUrl}: the fetch of the client failed`;
  test.each<[string, unknown, string]>([
    ["an error", new RangeError("no quota."), `${failed}: no quota`],
    ["an error without a text", new RangeError(""), `${failed}: RangeError`],
    [
      "an error with a cause",
      new RangeError("fetch failed", { cause: new Error("no socket") }),
      `${failed}: fetch failed: no socket`,
    ],
    ["a text", "boom", `${failed}: boom`],
    ["undefined", undefined, `${failed}: undefined was thrown`],
    ["null", null, `${failed}: null was thrown`],
    ["an object", { a: 1 }, `${failed}: an object was thrown`],
    ["a symbol", Symbol("s"), `${failed}: Symbol(s) was thrown`],
  ])("a function that throws %s rejects with one error, at once", async (_, thrown, message) => {
    let calls = 0;
    const fetch: FetchFunction = () => {
      calls++;
      throw thrown;
    };
    const error = await get({ fetch }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      ...{ type: "network", code: "transport_failed", transient: false },
      message: `${message} (GET /v1/products/${id})`,
    });
    expect(calls).toBe(1);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a text", "ok"],
    ["parsed JSON", { id }],
    ["a status that is no number", { status: "200", headers: new Headers(), body: null }],
  ])("a function that resolves to %s rejects", async (_, value) => {
    await expect(get({ fetch: async () => value as never })).rejects.toMatchObject({
      message: `${failed}: it did not resolve to a Response (GET /v1/products/${id})`,
    });
  });

  test("a body that breaks, or that does not consist of bytes, rejects", async () => {
    const bodyOf = (start: (stream: ReadableStreamDefaultController) => void) =>
      get({
        fetch: fetchOf(() => new Response(new ReadableStream({ start }))),
        retry: { attempts: 1 },
      });
    await expect(bodyOf((stream) => stream.error(new TypeError("terminated")))).rejects.toMatchObject({
      message: `${failed}: terminated (GET /v1/products/${id})`,
    });
    const response = {
      status: 200,
      headers: new Headers(),
      body: new ReadableStream({ start: (s) => s.enqueue("x") }),
    };
    await expect(get({ fetch: async () => response as never })).rejects.toMatchObject({
      message: `${failed}: the body of its response does not consist of bytes (GET /v1/products/${id})`,
    });
  });

  test("a download uses it too, piece by piece, without the key", async () => {
    const seen: unknown[] = [];
    const fetch = fetchOf((url, { headers }) => {
      seen.push([url, Object.keys(headers as object)]);
      return new Response(new Uint8Array(3_000_000), { headers: { "content-length": "3000000" } });
    });
    const { client } = clientOf({ fetch, headers: { "x-tenant": "shop" } });
    let bytes = 0;
    for await (const chunk of client.download("https://files.example.com/a?signature=s"))
      bytes += chunk.length;
    expect(bytes).toBe(3_000_000);
    expect(seen).toEqual([
      ["https://files.example.com/a?signature=s", ["user-agent", "accept", "accept-encoding"]],
    ]);
  });

  test("close ends requests in flight, also of a function that ignores its signal", async () => {
    const { client } = clientOf({ fetch: () => new Promise(() => {}) });
    const outcome = client.models.list().catch((error: unknown) => error);
    await new Promise(setImmediate);
    await client.close();
    const closed = { code: "client_closed", message: "GET /v1/models: the client is closed" };
    expect(await outcome).toMatchObject(closed);
    await expect(client.models.list()).rejects.toMatchObject(closed);
  });
});

describe("a dispatcher", () => {
  test("of the caller sends the requests, and stays open after the client", async () => {
    const server = await scriptedServer(found);
    const agent = new Agent();
    const dispatched: unknown[] = [];
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      dispatched.push(options.path);
      return dispatch(options, handler);
    });
    const { client } = clientOf({ baseUrl: server.origin, dispatcher });
    await client.products.get({ product_id: id });
    await client.close();
    expect(dispatched).toEqual([`/v1/products/${id}`]);
    expect(agent.closed).toBe(false);
    expect((await agent.request({ origin: server.origin, path: "/", method: "GET" })).statusCode).toBe(200);
    await agent.close();
  });

  test("close ends its request in flight", async () => {
    const server = await scriptedServer(silence);
    const agent = new Agent();
    onTestFinished(() => agent.destroy());
    const { client } = clientOf({ baseUrl: server.origin, dispatcher: agent });
    const outcome = client.models.list().catch((error: unknown) => error);
    while (server.requests.length === 0) await new Promise(setImmediate);
    await client.close();
    expect(await outcome).toMatchObject({ message: "GET /v1/models: the client is closed" });
  });

  test("that is closed rejects with an error that names it", async () => {
    const agent = new Agent();
    await agent.close();
    await expect(get({ dispatcher: agent })).rejects.toMatchObject({
      ...{ name: "NetworkError", code: "client_closed" },
      message: `GET /v1/products/${id}: the dispatcher of the client is closed`,
    });
  });

  test("that does not expect the request rejects with its reason", async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    await expect(get({ dispatcher: agent })).rejects.toMatchObject({
      code: "transport_failed",
      message: expect.stringContaining("the dispatcher of the client failed: Mock dispatch not matched"),
    });
    const intercepted = agent.get(baseUrl).intercept({ path: `/v1/products/${id}` });
    intercepted.reply(200, product(), { headers: { "content-type": "application/json" } });
    expect((await get({ dispatcher: agent })).id).toBe(id);
  });

  test("that throws rejects with its reason", async () => {
    const dispatch = () => {
      throw new Error("invalid onError method");
    };
    await expect(get({ dispatcher: { dispatch } })).rejects.toMatchObject({
      message: `cannot send to ${baseUrl}: the dispatcher of the client failed: invalid onError method (GET /v1/products/${id})`,
    });
  });
});

describe("own headers", () => {
  const sent = async (options: Partial<ClientOptions>, headers?: Record<string, string | undefined>) => {
    const server = await scriptedServer(found);
    const { client } = clientOf({ baseUrl: server.origin, ...options });
    await client.products.get({ product_id: id }, { headers });
    return server.requests[0]!.headers;
  };

  test("of the client go with every request; those of a request replace them, in any case", async () => {
    const headers = { "X-Tenant": "shop", traceparent: "00-1", "x-empty": undefined };
    expect(await sent({ headers })).toMatchObject({ "x-tenant": "shop", traceparent: "00-1" });
    expect(await sent({ headers }, { "x-tenant": "other", "X-More": "1" })).toMatchObject({
      ...{ "x-tenant": "other", traceparent: "00-1", "x-more": "1" },
    });
    expect(await sent({ headers })).not.toHaveProperty("x-empty");
    // An undefined one removes that of the client.
    expect(await sent({ headers }, { "x-tenant": undefined })).not.toHaveProperty("x-tenant");
  });

  test("go with each page of a list and each request of a poll", async () => {
    const page: Step = json(200, { data: [], next_cursor: null, has_more: false });
    const server = await scriptedServer(page);
    const { client } = clientOf({ baseUrl: server.origin });
    await client.products.listAll({}, { headers: { "x-trace": "1" } }).toArray();
    const { operations } = await import("../../src/index.ts");
    await client.poll(operations.models.list, {}, { done: () => true, headers: { "x-trace": "2" } });
    expect(server.requests.map(({ headers }) => headers["x-trace"])).toEqual(["1", "2"]);
  });

  const plainObject = ' must be a plain object, e.g. { "x-tenant": "shop" }';
  test.each<[unknown, string]>([
    [{ Authorization: "Bearer x" }, ': "Authorization" is set by the client'],
    [{ host: "example.com" }, ': "host" is set by the client'],
    [{ "Content-Length": "1" }, ': "Content-Length" is set by the client'],
    [{ "content-type": "text/plain" }, ': "content-type" is set by the client'],
    [{ "idempotency-key": "k" }, ': "idempotency-key" is set by the client'],
    [{ "user-agent": "shop" }, ': "user-agent" is set by the client'],
    [{ "x-b": "1", "x-a": "1", "X-A": "2" }, ': "x-a" and "X-A" are the same header'],
    [{ "x-a": undefined, "X-A": "2" }, ': "x-a" and "X-A" are the same header'],
    [{ "x-b": "1", "x-a": 5 }, ': "x-a" must be a string, not a value of type number'],
    [{ "x-a": ["1", "2"] }, ': "x-a" must be a string, not a list'],
    [{ "x-a": null }, ': "x-a" must be a string, not null'],
    [{ "x a": "1" }, ': "x a" is not a valid header name'],
    [{ "": "1" }, ': "" is not a valid header name'],
    [{ "x-a": "a\r\nb: c" }, ': "x-a" must be printable ASCII text'],
    [{ "x-a": "é" }, ': "x-a" must be printable ASCII text'],
    [[["x-a", "1"]], plainObject],
    [new Headers({ "x-a": "1" }), `${plainObject}; use Object.fromEntries(headers)`],
    [new Map([["x-a", "1"]]), plainObject],
    ["x-a: 1", plainObject],
    [null, plainObject],
  ])("%j are rejected, of the client and of a request", async (headers, problem) => {
    expect(() => clientOf({ headers: headers as never })).toThrow(
      new TypeError(`createClient: headers${problem}`),
    );
    const { client } = clientOf({});
    await expect(client.models.list({}, { headers: headers as never })).rejects.toThrow(
      new TypeError(`models.list: headers${problem}`),
    );
  });
});

describe("a transport is rejected", () => {
  const agent = { dispatch: () => true };
  test.each<[object, string]>([
    [
      { fetch, dispatcher: agent },
      "createClient takes one of fetch, dispatcher: each decides on the connections",
    ],
    [{ fetch, env: {} }, "createClient takes one of fetch, env: each decides on the connections"],
    [
      { dispatcher: agent, env: {} },
      "createClient takes one of dispatcher, env: each decides on the connections",
    ],
    [{ fetch: "fetch" }, "createClient: fetch must be a function"],
    [{ dispatcher: fetch }, "createClient: dispatcher must be a Dispatcher of undici, with dispatch"],
    [{ dispatcher: null }, "createClient: dispatcher must be a Dispatcher of undici, with dispatch"],
  ])("%#", (options, message) => {
    expect(() => clientOf(options)).toThrow(new TypeError(message));
  });
});

describe("limits of a request", () => {
  const limited: Step = refusal(429, "rate_limited", { "retry-after": 1 });
  test.each<[string, Step, object, number]>([
    ["no retry of a failure", json(503, {}), { retries: 0 }, 1],
    ["no retry of a cut connection", reset, { retries: 0 }, 1],
    ["no retry of a 429", limited, { retries: 0 }, 1],
    ["two retries of a failure", json(503, {}), { retries: 2 }, 3],
    ["two retries of a 429", limited, { retries: 2 }, 3],
    ["more retries than the client has", json(503, {}), { retries: 8 }, 9],
    ["the retries of the client", json(503, {}), {}, 6],
    ["the retries of the client, if undefined", json(503, {}), { retries: undefined }, 6],
  ])("%s", async (_, step, options, attempts) => {
    const server = await scriptedServer(found, step);
    const { client } = clientOf({ baseUrl: server.origin });
    await client.products.get({ product_id: id });
    await expect(client.models.list({}, options)).rejects.toThrow();
    expect(server.requests).toHaveLength(1 + attempts);
  });

  test("timeoutMs ends a request with its retries, and the others keep their limit", async () => {
    const server = await scriptedServer(json(503, {}));
    const { client, clock } = clientOf({ baseUrl: server.origin });
    const begun = clock.now();
    await expect(client.models.list({}, { timeoutMs: 1_000 })).rejects.toMatchObject({ status: 503 });
    expect(clock.now() - begun).toBeLessThan(1_000);
    const few = server.requests.length;
    await expect(client.models.list()).rejects.toMatchObject({ status: 503 });
    expect(server.requests.length - few).toBe(6);
  });

  test("rejects at once if the wait that a 429 asks for is longer than what is left of timeoutMs", async () => {
    const reset = String(Date.parse("2026-01-05T09:00:02Z") / 1000);
    const limits = { "retry-after": 2, "x-ratelimit-limit": 600, "x-ratelimit-remaining": 0 };
    const server = await scriptedServer(
      refusal(429, "rate_limited", { ...limits, "x-ratelimit-reset": reset }),
    );
    const { client, clock } = clientOf({ baseUrl: server.origin });
    const begun = clock.now();
    await expect(client.models.list({}, { timeoutMs: 1_500 })).rejects.toMatchObject({ status: 429 });
    expect(clock.now() - begun).toBeLessThan(100);
    expect(server.requests).toHaveLength(1);
  });

  test.each<[object, string]>([
    [{ retries: 1.5 }, "models.list: retries must be an integer, 0 or more"],
    [{ retries: -1 }, "models.list: retries must be an integer, 0 or more"],
    [{ timeoutMs: "5" }, "models.list: timeoutMs must be a number, 0 or more"],
    [{ timeoutMs: Number.NaN }, "models.list: timeoutMs must be a number, 0 or more"],
    [{ idempotencyKey: "k" }, "models.list only reads: a key has no effect"],
    [
      { keyFrom: { here: "1" } },
      "models.list: keyFrom must be { here, service } in milliseconds, where service may be null",
    ],
  ])("%j are rejected", async (options, message) => {
    await expect(clientOf({}).client.models.list({}, options)).rejects.toThrow(new TypeError(message));
  });
});

test("a certificate of the caller's own authority is accepted by its dispatcher, and only by it", async () => {
  const [cert, key] = ["cert", "key"].map((name) =>
    readFileSync(new URL(`../mock/certificates/${name}.pem`, import.meta.url), "utf8"),
  );
  const server = createServer({ cert: cert!, key: key! }, (request, response) =>
    found(response as never, request as never),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  const dispatcher = new Agent({ connect: { ca: cert!, servername: "example.org" } });
  onTestFinished(() => dispatcher.destroy());
  expect((await get({ baseUrl: origin, dispatcher })).id).toBe(id);
  await expect(get({ baseUrl: origin, retry: { attempts: 1 } })).rejects.toMatchObject({ code: "tls" });
});
