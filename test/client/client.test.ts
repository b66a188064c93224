import * as fc from "fast-check";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { operations } from "../../src/contract/client-operations.ts";
import type { Product } from "../../src/contract/resources/products.ts";
import { ApiError, type Wait } from "../../src/index.ts";
import { bytes, json, refusal, reset, type Step } from "../http/scripted-server.ts";
import { repetitions } from "../support/repetitions.ts";
import { until } from "../support/until.ts";
import { clientAgainst, closeAll, importJob, product } from "./world.ts";

afterEach(closeAll);

const page = (ids: number[], next_cursor: string | null) =>
  json(200, {
    data: ids.map((n) => product({ id: `01JGZZ000000000000000000A${n}`, name: `P${n}` })),
    next_cursor,
    has_more: next_cursor !== null,
  });

test.each([
  [429, 3600, "Try again in 1 h."],
  [429, 5405, "Try again in 1 h 31 min."],
  [429, 301, "Try again in 6 min."],
  [503, 7200, "Try again in 2 h."],
  [402, 3600, undefined],
])("a %i with Retry-After %i has a hint that says when to try again", async (status, seconds, hint) => {
  const { client } = await clientAgainst([refusal(status, "no", { "retry-after": seconds })]);
  await expect(client.products.list()).rejects.toMatchObject({ status, hint });
});

describe("a request", () => {
  test("shares its signal with any number of others, without a warning of Node", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    try {
      const { client } = await clientAgainst(Array.from({ length: 12 }, () => page([1], null)));
      const { signal } = new AbortController();
      await Promise.all(Array.from({ length: 12 }, () => client.products.list({}, { signal })));
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", onWarning);
    }
  });

  test("sends path parameters, query and headers of a read", async () => {
    const { client, server } = await clientAgainst([page([1], null)], { userAgent: "catalogue/1" });
    await client.products.list({ limit: 10, q: "a b&c=d/é", cursor: undefined });
    const [seen] = server.requests;
    expect(seen!.method).toBe("GET");
    expect(seen!.path).toBe("/v1/products?limit=10&q=a+b%26c%3Dd%2F%C3%A9");
    expect(seen!.headers).toMatchObject({
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "catalogue/1",
      authorization: "Bearer ak_test_key_0123456789",
    });
    expect(seen!.headers).not.toHaveProperty("idempotency-key");
    expect(seen!.headers).not.toHaveProperty("content-type");
  });

  test("sends a merge patch, with null kept and undefined removed", async () => {
    const { client, server } = await clientAgainst([json(200, product())]);
    await client.products.update(
      { product_id: "01JGZZ0000000000000000000A", body: { description: null, name: undefined } },
      { idempotencyKey: "k-1" },
    );
    const [seen] = server.requests;
    expect(seen!.path).toBe("/v1/products/01JGZZ0000000000000000000A");
    expect(seen!.headers["content-type"]).toBe("application/merge-patch+json");
    expect(seen!.headers["idempotency-key"]).toBe("k-1");
    expect(seen!.body.toString()).toBe('{"description":null}');
  });

  test("sends an import as NDJSON with its options in the query, or as JSON with them in the body", async () => {
    const { client, server } = await clientAgainst([json(202, importJob("validating"))]);
    await client.imports.create({ mode: "create", ndjson: Buffer.from('{"reference":"A"}\n') });
    await client.imports.create({ body: { mode: "create", rows: [{ reference: "A" }] } });
    expect(
      server.requests.map((seen) => [seen.path, seen.headers["content-type"], seen.body.toString()]),
    ).toEqual([
      ["/v1/imports?mode=create", "application/x-ndjson", '{"reference":"A"}\n'],
      ["/v1/imports", "application/json", '{"mode":"create","rows":[{"reference":"A"}]}'],
    ]);
  });

  test("sends an upload as a form with its file", async () => {
    const uploaded = {
      id: "01JGZZ0000000000000000000C",
      mime_type: "image/png",
      created_at: "2026-01-05T09:00:00Z",
    };
    const { client, server } = await clientAgainst([json(201, uploaded)]);
    const file = { bytes: Uint8Array.of(137, 80, 78, 71), filename: "a.png" };
    expect(await client.images.upload({ file })).toEqual(uploaded);
    expect(server.requests[0]!.headers["content-type"]).toMatch(
      /^multipart\/form-data; boundary=[0-9a-f]{40}$/,
    );
    expect(server.requests[0]!.body.includes(Buffer.from(file.bytes))).toBe(true);
  });

  test("sends no body for a delete, which returns none", async () => {
    const { client, server } = await clientAgainst([json(204, undefined)]);
    expect(await client.products.delete({ product_id: "X" })).toBeNull();
    expect(server.requests[0]!.body.length).toBe(0);
  });

  test.each<[string, Step]>([
    [
      "a login page",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>"),
    ],
    ["a 200 with an error in it", json(200, { error: { type: "internal", code: "x", message: "y" } })],
    ["a 200 with nothing", (response) => void response.writeHead(200).end()],
  ])("does not count a delete as done after %s", async (_, step) => {
    const { client } = await clientAgainst([step]);
    await expect(client.products.delete({ product_id: "X" })).rejects.toMatchObject({
      type: "bad_response",
      status: 200,
    });
  });

  test("waits for a gateway that asks for a day without blocking other requests", async () => {
    const tired = { "retry-after": 86_400 };
    const { client, clock } = await clientAgainst([
      refusal(429, "rate_limit_exceeded", tired),
      page([1], null),
    ]);
    await expect(client.products.list()).rejects.toMatchObject({ status: 429 });
    const before = clock.now();
    expect((await client.products.list()).data).toHaveLength(1);
    expect(clock.now() - before).toBeLessThanOrEqual(61_000);
  });

  test("reports an earlier attempt without a response along with a rejection", async () => {
    const create = {
      body: { name: "Coat", reference: "C", images: [{ image_id: "I", orientation: "front" as const }] },
    };
    const lost = await clientAgainst([reset, refusal(401, "invalid_api_key")]);
    await expect(lost.client.products.create(create)).rejects.toMatchObject({
      status: 401,
      earlierUnanswered: true,
    });
    const plain = await clientAgainst([refusal(401, "invalid_api_key")]);
    await expect(plain.client.products.create(create)).rejects.toMatchObject({
      status: 401,
      earlierUnanswered: false,
    });
  });

  test("never lets an ID change the path, whatever its characters", async () => {
    const { client, server } = await clientAgainst([json(200, product())]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 12 }), async (id) => {
        server.requests.length = 0;
        const outcome = await client.products.get({ product_id: id }).catch((error: unknown) => error);
        if (server.requests.length === 0) {
          expect(outcome).toMatchObject({ type: "invalid_request", param: "product_id" });
          expect(id === "." || id === ".." || /\p{Surrogate}/u.test(id)).toBe(true);
        } else {
          const { path } = server.requests[0]!;
          expect(path.split("/")).toHaveLength(4);
          expect(decodeURIComponent(new URL(path, "http://h").pathname.slice("/v1/products/".length))).toBe(
            id,
          );
        }
      }),
      { numRuns: repetitions(25, 2_000) },
    );
  });

  test.each(["", ".", ".."])("rejects the ID %j before anything is sent", async (product_id) => {
    const { client, server } = await clientAgainst([json(200, product())]);
    await expect(client.products.get({ product_id })).rejects.toMatchObject({ param: "product_id" });
    expect(server.requests).toEqual([]);
  });

  test.each(["", "a\nb", "ü", "x".repeat(256)])("rejects the idempotency key %j", async (idempotencyKey) => {
    const { client, server } = await clientAgainst([json(204, undefined)]);
    const call = client.products.delete({ product_id: "X" }, { idempotencyKey });
    await expect(call).rejects.toMatchObject({ type: "usage", code: "invalid_idempotency_key" });
    expect(server.requests).toEqual([]);
  });

  test("keeps the prefix of a base URL", async () => {
    const world = await clientAgainst([page([], null)]);
    const { client, server } = await clientAgainst([page([], null)], {
      baseUrl: `${world.server.origin}/imaging/`,
    });
    await client.products.list();
    expect(world.server.requests[0]!.path).toBe("/imaging/v1/products");
    expect(server.requests).toEqual([]);
  });
});

describe("a response", () => {
  test("passes on unknown fields, and unknown values of open sets", async () => {
    const images = [
      { id: "01JGZZ0000000000000000000D", orientation: "sideways", origin: "elsewhere", extra: 1 },
    ];
    const { client } = await clientAgainst([json(200, product({ images, colour: "blue" }))]);
    expect(await client.products.get({ product_id: "X" })).toEqual(product({ images, colour: "blue" }));
  });

  test("sets the service's clock by its Date, whatever its content", async () => {
    const { client, clock } = await clientAgainst([
      json(200, product(), { date: "Mon, 05 Jan 2026 10:00:00 GMT" }),
      refusal(404, "not_found", { date: "Tue, 06 Jan 2026 09:00:00 GMT" }),
    ]);
    expect(client.serviceNow()).toBeNull();
    await client.products.get({ product_id: "X" });
    expect(client.serviceNow()).toBe(Date.parse("2026-01-05T10:00:00Z"));
    clock.advance(1500);
    expect(client.serviceNow()).toBe(Date.parse("2026-01-05T10:00:01.500Z"));
    await expect(client.products.get({ product_id: "X" })).rejects.toMatchObject({ status: 404 });
    expect(client.serviceNow()).toBe(Date.parse("2026-01-06T09:00:00Z"));
  });

  test("dates a moment by the local clock or the smallest Date, whichever is earlier", async () => {
    const { client, clock } = await clientAgainst(
      ["09:10", "08:50", "09:00"].map((time) =>
        json(200, product(), { date: `Mon, 05 Jan 2026 ${time}:00 GMT` }),
      ),
    );
    const [at, minute] = [clock.now(), 60_000];
    for (const behind of [0, 10, 10]) {
      await client.products.get({ product_id: "X" });
      expect(client.earliest()).toBe(at - behind * minute);
    }
    clock.advance(5 * minute);
    expect([client.earliest(), client.earliest(at)]).toEqual([at - 5 * minute, at - 10 * minute]);
  });

  test("gives status, headers, request ID, Retry-After and replay to exchange", async () => {
    const headers = { "retry-after": 3, "idempotent-replayed": "true" };
    const { client } = await clientAgainst([json(202, importJob("processing"), headers)]);
    const answer = await client.exchange(operations.imports.create, { ndjson: "{}\n" });
    expect(answer).toMatchObject({
      status: 202,
      requestId: "req_server",
      retryAfterMs: 3000,
      replayed: true,
    });
    expect(answer.body.status).toBe("processing");
  });

  test("has the types of the contract", () => {
    expectTypeOf<Client["products"]["get"]>().parameter(0).toEqualTypeOf<{ product_id: string }>();
    expectTypeOf<Awaited<ReturnType<Client["products"]["get"]>>>().toEqualTypeOf<Product>();
    expectTypeOf<Awaited<ReturnType<Client["products"]["delete"]>>>().toEqualTypeOf<null>();
    expectTypeOf<Awaited<ReturnType<Client["products"]["list"]>>["data"]>().toEqualTypeOf<Product[]>();
    expectTypeOf<Parameters<Client["images"]["upload"]>[0]>().toEqualTypeOf<{
      file: { bytes: Uint8Array; filename: string };
    }>();
    const misuse = (client: Client) => {
      // @ts-expect-error an ID is required
      void client.products.get();
      // @ts-expect-error a misspelled parameter
      void client.products.list({ limits: 1 });
      // @ts-expect-error a body is required
      void client.products.create({});
      // @ts-expect-error not a mode
      void client.imports.create({ mode: "replace", ndjson: "" });
      for (const paginated of [client.paginate(operations.products.list, { q: "x" })]) {
        expectTypeOf(paginated).toEqualTypeOf<AsyncIterable<Product>>();
      }
    };
    expect(misuse).toBeTypeOf("function");
  });
});

describe("an error response", () => {
  test("with the envelope becomes an ApiError", async () => {
    const error = {
      type: "not_found",
      code: "product_not_found",
      message: "There is no such product.",
      param: "product_id",
    };
    const { client } = await clientAgainst([json(404, { error })]);
    const refused = await client.products.get({ product_id: "X" }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({
      ...{ name: "ApiError", type: "not_found", code: "product_not_found", param: "product_id", status: 404 },
      ...{ requestId: "req_server", problems: [], body: error, request: "GET /v1/products/X" },
      message: "There is no such product (GET /v1/products/X: 404 product_not_found)",
    });
  });

  test("keeps its complete list of problems", async () => {
    const errors = [
      { line: 2, code: "invalid_row", param: "name", message: "name is missing" },
      { line: 9, code: "duplicate_reference_in_file", param: "reference", message: "SHIRT-1 stands twice" },
    ];
    const { client } = await clientAgainst([json(400, { errors })]);
    const refused = await client.imports.create({ ndjson: "{}" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "ApiError", status: 400, code: "invalid_row", problems: errors });
    expect((refused as Error).message).toBe(
      "name is missing (and 1 more) (POST /v1/imports: 400 invalid_row)",
    );
  });

  const full = { type: "invalid_request", code: "c", message: "bad" };
  test.each([
    [400, { ...full, param: null }, full, "bad (GET /v1/products/X: 400 c)"],
    [400, { ...full, param: 5 }, full, "bad (GET /v1/products/X: 400 c)"],
    [
      409,
      { ...full, code: null },
      { code: "invalid_request" },
      "bad (GET /v1/products/X: 409 invalid_request)",
    ],
    [
      422,
      { ...full, message: null },
      { code: "c" },
      "the service responded with status 422 (GET /v1/products/X: 422 c)",
    ],
    [403, { type: "forbidden" }, { code: "forbidden" }, /^the service responded with status 403 /],
    [418, { type: "teapot", message: "tea" }, { code: "teapot" }, /^tea /],
  ])("is shown with what it has: %i %j", async (status, error, body, message) => {
    const { client } = await clientAgainst([json(status, { error })]);
    const refused = await client.products.get({ product_id: "X" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "ApiError", status, body, param: undefined });
    expect((refused as Error).message).toMatch(message);
  });

  test("keeps unknown fields of a problem after those of the contract", async () => {
    const { client } = await clientAgainst([
      json(400, { errors: [{ x_new: 1, message: "bad", param: "name", code: "c", line: 2 }] }),
    ]);
    const refused = await client.imports.create({ ndjson: "{}" }).catch((error: unknown) => error);
    expect(JSON.stringify((refused as ApiError).problems)).toBe(
      '[{"line":2,"code":"c","message":"bad","param":"name","x_new":1}]',
    );
  });

  test("keeps the other fields of a problem if one is invalid", async () => {
    const odd = { line: "2", code: null, message: "bad", param: null };
    const { client } = await clientAgainst([
      json(400, { errors: [odd, { line: 3, code: "c", message: null }] }),
    ]);
    const refused = await client.imports.create({ ndjson: "{}" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: "ApiError",
      problems: [
        { code: "invalid_request", message: "bad" },
        { line: 3, code: "c", message: "rejected without a message" },
      ],
    });
  });

  test.each<[string, Step, string]>([
    [
      "HTML on 200",
      bytes(200, "<html>", { "content-type": "text/html; charset=utf-8" }),
      "sent HTML, not JSON",
    ],
    [
      "HTML on 403, from a proxy",
      bytes(403, "<html>", { "content-type": "text/html" }),
      "sent HTML, not JSON",
    ],
    ["HTML on 404", bytes(404, "<html>", { "content-type": "text/html" }), "sent HTML, not JSON"],
    ["HTML on 502, to the end", bytes(502, "<html>", { "content-type": "text/html" }), "sent HTML, not JSON"],
    ["plain text", bytes(200, "{}", { "content-type": "text/plain" }), "sent text/plain, not JSON"],
    ["nothing", bytes(200, "", {}), "sent an empty body"],
    ["an empty 204", bytes(204, "", {}), "sent an empty body"],
    ["other text", bytes(200, "hello", {}), "sent incomplete or invalid JSON"],
    [
      "gzip, unasked",
      bytes(200, "x", { "content-type": "application/json", "content-encoding": "gzip" }),
      "sent an unrequested compression (gzip)",
    ],
    ["null", json(200, null), "sent a body of an unexpected shape"],
    ["a list", json(200, []), "sent a body of an unexpected shape"],
    ["an ID of another type", json(200, product({ id: 7 })), "sent a body of an unexpected shape at id"],
    ["a 404 without the envelope", json(404, { message: "no" }), "an error without the service's envelope"],
    ["an envelope of another shape", json(400, { error: "no" }), "an error without the service's envelope"],
    ["an empty envelope", json(400, { error: {} }), "an error without the service's envelope"],
    ...[
      { error: { message: "no route" } },
      { error: { code: "Forbidden", message: "no" } },
      { error: { code: 403, status: "PERMISSION_DENIED", message: "no" } },
      { errors: [{ code: "403", title: "no" }] },
    ].map((body): [string, Step, string] => [
      `the error ${JSON.stringify(body)}, from a gateway`,
      json(400, body),
      "an error without the service's envelope",
    ]),
  ])("of kind %s is a BadResponseError with a one-sentence message", async (_, step, sentence) => {
    const { client, server } = await clientAgainst([step]);
    const error = await client.products.get({ product_id: "X" }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "BadResponseError", type: "bad_response" });
    expect((error as Error).message).toContain(sentence);
    expect((error as Error).message).toMatch(/ \(GET \/v1\/products\/X, status \d+\)$/);
    expect((error as Error).message).not.toContain("\n");
    expect(error).toMatchObject({ hint: `Check that ${server.origin} is the base URL of the service.` });
  });

  test("is read as JSON with a byte order mark, another JSON content type, or none", async () => {
    const text = JSON.stringify(product());
    const steps = [
      bytes(200, `\uFEFF${text}`, { "content-type": "application/json; charset=utf-8" }),
      bytes(200, text, { "content-type": "application/vnd.service+json" }),
      bytes(200, text, {}),
    ];
    const { client } = await clientAgainst(steps);
    for (const _ of steps) expect(await client.products.get({ product_id: "X" })).toEqual(product());
  });
});

describe("a response that is nested too deeply, or of another shape", () => {
  const levels = (count: number) => `${"[".repeat(count)}${"]".repeat(count)}`;
  const webhook = (more: string) => `{"id":"01JGZZ0000000000000000000A","signing_secret":"whsec_a"${more}}`;
  const body = { url: "https://hooks.example.com/a", events: ["import.completed" as const] };

  test.each([
    [
      "deep",
      webhook(`,"later":${levels(9_000)}`),
      { id: "01JGZZ0000000000000000000A", signing_secret: "whsec_a" },
    ],
    ["without a valid ID", '{"id":7,"signing_secret":"whsec_a"}', { id: 7, signing_secret: "whsec_a" }],
  ])("has what a write has done in `reply`: %s", async (_, text, reply) => {
    const { client, server } = await clientAgainst([
      bytes(201, text, { "content-type": "application/json" }),
    ]);
    const error = await client.webhooks.create({ body }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "BadResponseError", code: "wrong_shape", reply });
    expect(() => JSON.stringify((error as { reply: object }).reply)).not.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  test("has no `reply` for a read, nor for JSON that is no object", async () => {
    const deep = bytes(200, webhook(`,"later":${levels(200)}`), { "content-type": "application/json" });
    const { client } = await clientAgainst([deep, json(201, [1])]);
    const read = client.webhooks.get({ webhook_id: "A" });
    await expect(read).rejects.toMatchObject({ code: "wrong_shape", reply: undefined });
    const write = client.webhooks.create({ body });
    await expect(write).rejects.toMatchObject({ code: "wrong_shape", reply: undefined });
  });

  test("is an error of the service as usual if it is one", async () => {
    const error = { type: "forbidden", code: "insufficient_scope", message: "no", later: 0 };
    const text = JSON.stringify({ error }).replace("0}", `${levels(9_000)}}`);
    const { client, server } = await clientAgainst([
      bytes(403, text, { "content-type": "application/json" }),
    ]);
    const thrown = await client.webhooks.create({ body }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ name: "ApiError", status: 403, code: "insufficient_scope" });
    expect(() => JSON.stringify((thrown as ApiError).body)).not.toThrow();
    expect(server.requests).toHaveLength(1);
  });
});

describe("paging", () => {
  const names = async (iterable: AsyncIterable<Product>) => {
    const all: string[] = [];
    for await (const item of iterable) all.push(item.name);
    return all;
  };

  test("reads every page, 100 entries at a time", async () => {
    const { client, server } = await clientAgainst([page([1, 2], "c1"), page([], "c2"), page([3], null)]);
    expect(await names(client.paginate(operations.products.list, { q: "x" }))).toEqual(["P1", "P2", "P3"]);
    expect(server.requests.map((seen) => seen.path)).toEqual([
      "/v1/products?limit=100&q=x",
      "/v1/products?limit=100&cursor=c1&q=x",
      "/v1/products?limit=100&cursor=c2&q=x",
    ]);
  });

  test("reads no further than requested, and starts at the given cursor", async () => {
    const { client, server } = await clientAgainst([page([1, 2], "c1")]);
    for await (const _ of client.paginate(operations.products.list, { limit: 2, cursor: "c0" })) break;
    expect(server.requests.map((seen) => seen.path)).toEqual(["/v1/products?limit=2&cursor=c0"]);
  });

  test("requests a page ahead while entries are used, if wanted; its failure comes after them", async () => {
    const refused = refusal(403, "permission_denied");
    const { client, server } = await clientAgainst([page([1, 2], "c1"), refused]);
    const entries = client.paginate(operations.products.list, {}, { isAhead: true })[Symbol.asyncIterator]();
    expect(await entries.next()).toMatchObject({ value: { name: "P1" } });
    await until(() => server.requests.length === 2);
    expect(await entries.next()).toMatchObject({ value: { name: "P2" } });
    await expect(entries.next()).rejects.toMatchObject({ name: "ApiError", status: 403 });
    expect(server.requests).toHaveLength(2);
  });

  test.each<[string, Step[]]>([
    ["the same cursor again", [page([1], "c1"), page([2], "c1")]],
    ["a cycle of cursors", [page([1], "c1"), page([2], "c2"), page([3], "c1")]],
    ["no cursor", [json(200, { data: [], next_cursor: null, has_more: true })]],
  ])("ends with an error on %s", async (_, steps) => {
    const { client, server } = await clientAgainst(steps);
    const all = names(client.paginate(operations.products.list));
    await expect(all).rejects.toMatchObject({ name: "BadResponseError", code: "bad_cursor" });
    expect(server.requests).toHaveLength(steps.length);
  });
});

describe("polling", () => {
  const job = (status: string, headers: Record<string, string> = {}) => json(200, importJob(status), headers);

  test("follows Retry-After (5 s if absent), and reports every response", async () => {
    const steps = [
      job("validating", { "retry-after": "2" }),
      refusal(429, "rate_limit_exceeded", { "retry-after": "9" }),
      job("processing"),
      job("processing", { "retry-after": "0" }),
      job("completed"),
    ];
    const waits: Wait[] = [];
    const { client, clock } = await clientAgainst(steps, { onWait: (wait) => waits.push(wait) });
    const seen: string[] = [];
    const ended = await client.poll(
      operations.imports.get,
      { import_id: "X" },
      {
        done: (body) => body.status === "completed",
        onResponse: (body) => {
          seen.push(body.status);
        },
      },
    );
    expect(ended.status).toBe("completed");
    expect(seen).toEqual(["validating", "processing", "processing", "completed"]);
    expect(clock.slept).toEqual([2000, 9125, 5000, 100]);
    expect(waits.map((wait) => wait.reason)).toEqual(["job", "rate_limited", "job", "job"]);
  });

  test("ends with a TimeoutError after the timeout", async () => {
    const { client, clock, server } = await clientAgainst([job("processing", { "retry-after": "5" })]);
    const begun = clock.now();
    const outcome = client.poll(
      operations.imports.get,
      { import_id: "X" },
      { done: () => false, timeoutMs: 12_000 },
    );
    await expect(outcome).rejects.toMatchObject({ name: "TimeoutError", code: "wait_timeout" });
    expect(server.requests).toHaveLength(3);
    expect(clock.now() - begun).toBe(15_000);
  });

  test("stops on an abort", async () => {
    const { client } = await clientAgainst([job("processing")]);
    const abort = new AbortController();
    const outcome = client.poll(
      operations.imports.get,
      { import_id: "X" },
      { done: () => false, onResponse: () => abort.abort(new Error("stop")), signal: abort.signal },
    );
    await expect(outcome).rejects.toThrow("stop");
  });
});

test("a download sends no key, even to the service's own origin", async () => {
  const { client, server } = await clientAgainst([bytes(200, "row\n", {})]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of client.download(`${server.origin}/signed?signature=s`)) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe("row\n");
  expect(server.requests[0]!.headers).not.toHaveProperty("authorization");
});

test("a closed client rejects requests", async () => {
  const { client } = await clientAgainst([page([], null)]);
  await client.close();
  await expect(client.products.list()).rejects.toMatchObject({ name: "NetworkError", code: "client_closed" });
});
