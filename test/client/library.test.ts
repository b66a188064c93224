import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import {
  ApiError,
  CatalogueError,
  type ClientOptions,
  createClient,
  type ImageSource,
  NetworkError,
  operations,
  unknownField,
  type Wait,
} from "../../src/index.ts";
import { json, refusal, type Step, scriptedServer } from "../http/scripted-server.ts";
import { TestClock } from "../support/test-clock.ts";
import { closeAll, importJob, product } from "./world.ts";

afterEach(closeAll);

const id = "01JGZZ0000000000000000000A";
const apiKey = "ak_test_key_0123456789";

/** The client of the package in front of a scripted server. */
async function libraryAgainst(steps: Step[], options: Partial<ClientOptions> = {}) {
  const server = await scriptedServer(...steps);
  const clock = new TestClock();
  const client = createClient({ baseUrl: server.origin, apiKey, clock, random: () => 0.5, ...options });
  return { server, client, clock };
}

const page = (names: string[], next_cursor: string | null) =>
  json(200, {
    data: names.map((name) => product({ id: `01JGZZ000000000000000000A${name}`, name })),
    next_cursor,
    has_more: next_cursor !== null,
  });

describe("lists", () => {
  test("listAll reads every page, 100 entries at a time, with the filters on each", async () => {
    const { server, client } = await libraryAgainst([page(["A", "B"], "next"), page(["C"], null)]);
    const names: string[] = [];
    for await (const { name } of client.products.listAll({ q: "linen" })) names.push(name);
    expect(names).toEqual(["A", "B", "C"]);
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/v1/products?limit=100&q=linen",
      "/v1/products?limit=100&cursor=next&q=linen",
    ]);
  });

  test("toArray reads all entries, or no more pages than its limit needs", async () => {
    const pages = [page(["A", "B"], "next"), page(["C", "D"], "last"), page(["E"], null)];
    const { server, client } = await libraryAgainst([...pages, ...pages, ...pages]);
    const namesOf = async (limit?: number) =>
      (await client.products.listAll({ q: "linen" }).toArray({ limit })).map(({ name }) => name);
    expect(await namesOf()).toEqual(["A", "B", "C", "D", "E"]);
    expect(await client.paginate(operations.products.list).toArray()).toHaveLength(5);
    server.requests.length = 0;
    expect(await namesOf(3)).toEqual(["A", "B", "C"]);
    expect(server.requests).toHaveLength(2);
  });

  test("the same entries can be read again, from the first page", async () => {
    const { client } = await libraryAgainst([page(["A"], null)]);
    const entries = client.products.listAll();
    expect([await entries.toArray(), await entries.toArray()].map(({ length }) => length)).toEqual([1, 1]);
  });

  test("every list has a method that reads all pages, and nothing else has one", () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey });
    const methods = Object.keys(operations).flatMap((resource) =>
      Object.keys(client[resource as keyof typeof operations]).map((verb) => `${resource}.${verb}`),
    );
    expect(methods.filter((name) => name.endsWith("All"))).toEqual([
      ...["products.listAll", "imports.rowsAll", "exports.listAll", "tasks.listAll", "models.listAll"],
      "webhooks.listAll",
    ]);
  });
});

describe("an upload", () => {
  const uploaded = { id, mime_type: "image/png", created_at: "2026-01-05T09:00:00Z" };
  const bytes = Uint8Array.of(137, 80, 78, 71, 0, 255);
  const folder = mkdtempSync(join(tmpdir(), "catalogue-upload-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "front view.png");
  writeFileSync(path, bytes);

  test.each<[string, string, () => ImageSource]>([
    ["a Buffer", "image", () => Buffer.from(bytes)],
    ["an ArrayBuffer", "image", () => bytes.slice().buffer],
    ["a Blob", "image", () => new Blob([bytes])],
    ["a File", "coat.png", () => new File([bytes], "coat.png")],
    ["a Node stream", "image", () => Readable.from([bytes.slice(0, 2), bytes.slice(2)])],
    ["a web stream", "image", () => new Blob([bytes]).stream()],
    ["a path", "front view.png", () => path],
    ["a file URL", "front view.png", () => pathToFileURL(path)],
    ["bytes with a name", "a.png", () => ({ bytes, filename: "a.png" })],
    // Jest runs tests in a context of its own.
    ["bytes of another context", "image", () => runInNewContext(`Uint8Array.of(${bytes})`)],
  ])("takes %s, named %s, as the argument or under file", async (_, filename, source) => {
    const { server, client } = await libraryAgainst([json(201, uploaded)]);
    expect(await client.images.upload(source())).toEqual(uploaded);
    await client.images.upload({ file: source() });
    for (const { body } of server.requests) {
      expect(body.includes(`filename="${filename}"`)).toBe(true);
      expect(body.includes(Buffer.concat([Buffer.from("\r\n\r\n"), bytes, Buffer.from("\r\n--")]))).toBe(
        true,
      );
    }
    await client.close();
  });

  test.each<[string, unknown, object]>([
    ["a missing file", join(folder, "none.png"), { type: "file", code: "ENOENT" }],
    ["a folder", folder, { type: "file", code: "EISDIR", message: `cannot read ${folder}: it is a folder` }],
    [
      "more than 10 MB",
      new Uint8Array(10 * 1024 * 1024 + 1),
      { type: "invalid_request", code: "body_too_large" },
    ],
    [
      "a stream of more than 10 MB",
      Readable.from(Array.from({ length: 11 }, () => new Uint8Array(1024 * 1024))),
      { code: "body_too_large" },
    ],
    [
      "a stream of texts",
      Readable.from(["abc"]),
      { message: "images.upload: the stream must consist of bytes" },
    ],
    [
      "a stream of a missing file",
      (async function* () {
        yield* createReadStream(join(folder, "none.png"));
      })(),
      { type: "file", code: "ENOENT", message: `cannot open ${folder}/none.png: no such file or folder` },
    ],
    [
      "a stream that breaks",
      new ReadableStream({ start: (stream) => stream.error(new Error("no more")) }),
      { type: "file", code: "stream_failed", message: "cannot read the stream: no more" },
    ],
    [
      "a stream that its own sender ends",
      new ReadableStream({ start: (stream) => stream.error(new DOMException("gone", "AbortError")) }),
      { type: "file", code: "stream_failed", message: "cannot read the stream: gone" },
    ],
    [
      "a stream whose connection breaks",
      new ReadableStream({ start: (stream) => stream.error(new TypeError("terminated")) }),
      { type: "file", code: "stream_failed", message: "cannot read the stream: terminated" },
    ],
    [
      "an empty stream",
      Readable.from([]),
      { type: "invalid_request", code: "not_an_image", message: "the stream is empty" },
    ],
    ["a number", 5, { message: /^images\.upload takes a Blob, bytes/ }],
  ])("rejects %s without a request", async (_, source, error) => {
    const { server, client } = await libraryAgainst([json(201, uploaded)]);
    await expect(client.images.upload(source as ImageSource)).rejects.toMatchObject(
      "message" in error && error.message instanceof RegExp
        ? { message: expect.stringMatching(error.message) }
        : error,
    );
    expect(server.requests).toEqual([]);
  });
});

test("a signal ends an upload whose stream gives nothing", async () => {
  const { server, client } = await libraryAgainst([]);
  const reason = new Error("stopped");
  const stop = new AbortController();
  const upload = client.images.upload(new ReadableStream(), { signal: stop.signal });
  stop.abort(reason);
  await expect(upload).rejects.toMatchObject({ type: "aborted", cause: reason });
  expect(server.requests).toEqual([]);
});

test("exports.create() without arguments exports all products", async () => {
  const job = {
    id,
    format: "manifest",
    status: "completed",
    url: null,
    url_expires_at: null,
    total_assets: 0,
  };
  const { server, client } = await libraryAgainst([
    json(202, { ...job, error: null, created_at: "2026-01-05T09:00:00Z", finished_at: null }),
  ]);
  expect((await client.exports.create()).status).toBe("completed");
  expect(server.requests[0]!.body.toString()).toBe("{}");
});

test("poll reports each response to onResponse", async () => {
  const { client } = await libraryAgainst([
    json(200, importJob("processing")),
    json(200, importJob("completed")),
  ]);
  const seen: string[] = [];
  const done = await client.poll(
    operations.imports.get,
    { import_id: id },
    { done: ({ status }) => status === "completed", onResponse: ({ status }) => void seen.push(status) },
  );
  expect([seen, done.status]).toEqual([["processing", "completed"], "completed"]);
});

test("a field that the client does not know is kept, and read by its name", async () => {
  const { client } = await libraryAgainst([json(200, product({ colour: "blue" }))]);
  const found = await client.products.get({ product_id: id });
  expect([
    unknownField(found, "colour"),
    unknownField(found, "size"),
    unknownField(found, "toString"),
  ]).toEqual(["blue", undefined, undefined]);
});

test("await using closes the client at the end of its block", async () => {
  const { client } = await libraryAgainst([json(200, product())]);
  {
    await using used = client;
    await used.products.get({ product_id: id });
  }
  await expect(client.products.get({ product_id: id })).rejects.toMatchObject({ code: "client_closed" });
});

type AnyMethods = Record<string, (...args: unknown[]) => unknown>;
/** The entries of a list, for a mistake in `toArray`. */
type AnyEntries = { toArray(options: object): unknown };

type Mistake = [string, (resources: Record<string, AnyMethods>, client: AnyMethods) => unknown, string];

describe("options", () => {
  const baseUrl = "http://127.0.0.1:1";
  test.each<[object | undefined, string]>([
    [undefined, "createClient takes { baseUrl, apiKey }"],
    [{ apiKey }, "createClient: baseUrl is missing: the address of the service"],
    [{ baseUrl }, "createClient: apiKey is missing: the API key of your organization, which starts with ak_"],
    [
      { baseUrl, apiKey: " " },
      "createClient: apiKey is missing: the API key of your organization, which starts with ak_",
    ],
    [
      { baseUrl, apiKey, insecureHttpHosts: "mock" },
      "createClient: insecureHttpHosts must be a list of host names",
    ],
    [{ baseUrl, apiKey: 5 }, "createClient: apiKey must be a string or a function"],
    [{ baseURL: baseUrl, apiKey }, "createClient: unknown option baseURL; did you mean baseUrl?"],
    [{ baseUrl, apiKey, userAgent: "shop\n1" }, "createClient: userAgent must be printable ASCII text"],
    [
      { baseUrl, apiKey, retry: { times: 2 } },
      "createClient: unknown option retry.times; it takes attempts, unreached, backoff, inProgress, windowMs, rateLimited, rateLimitedMs",
    ],
    [
      { baseUrl, apiKey, retry: { attempt: 2 } },
      "createClient: unknown option retry.attempt; did you mean retry.attempts?",
    ],
    [{ baseUrl, apiKey, retry: { attempts: 0 } }, "createClient: retry.attempts must be a number from 1"],
    [{ baseUrl, apiKey, retry: 3 }, "createClient: retry must be an object"],
    [
      { baseUrl, apiKey, timeLimits: { totalMs: "5" } },
      "createClient: timeLimits.totalMs must be a number, 0 or more",
    ],
    [{ baseUrl, apiKey, clock: Date }, "createClient: clock must be a clock with now, sleep and at"],
  ])("%j are rejected", (options, message) => {
    expect(() => createClient(options as ClientOptions)).toThrow(new TypeError(message));
  });

  test("another host may use http if its name is listed", () => {
    const options = { baseUrl: "http://mock:4010", apiKey };
    expect(() => createClient(options)).toThrow("the base URL is not encrypted: http://mock:4010");
    expect(createClient({ ...options, insecureHttpHosts: ["mock"] })).toBeTypeOf("object");
  });

  test("a function for the API key must return a string", async () => {
    const client = createClient({ baseUrl, apiKey: () => undefined as never });
    await expect(client.models.list()).rejects.toThrow(
      new TypeError("createClient: apiKey must return a string"),
    );
  });

  test("an undefined option counts as not set", () => {
    expect(
      createClient({ baseUrl, apiKey, clock: undefined, retry: { attempts: undefined as never } }),
    ).toBeTypeOf("object");
  });

  test.each<Mistake>([
    [
      "a list",
      (client) => client.products!.list!({ limits: 1 }),
      "products.list: unknown field limits; did you mean limit?",
    ],
    [
      "rows outside of the body",
      (client) => client.imports!.create!({ rows: [] }),
      "imports.create: unknown field rows; it takes mode, on_image_error, body, json, ndjson",
    ],
    ...[{ rows: [] }, [{ reference: "A" }], 1].flatMap((value) =>
      ["json", "ndjson"].map(
        (name): Mistake => [
          `${name} that is no text`,
          (client) => client.imports!.create!({ [name]: value }),
          `imports.create: ${name} must be a string or bytes (Buffer, Uint8Array); objects go into body`,
        ],
      ),
    ),
    [
      "two bodies",
      (client) => client.imports!.create!({ body: { rows: [] }, ndjson: "{}" }),
      "imports.create takes one of body, ndjson: the others would not be sent",
    ],
    ...Object.entries({
      "a function": () => 1,
      "a list": [{ name: "Coat" }],
      "a Map": new Map([["name", "Coat"]]),
      "a promise": Promise.resolve({ name: "Coat" }),
      bytes: Buffer.from("{}"),
      "a form": new URLSearchParams({ name: "Coat" }),
    }).map(
      ([name, body]): Mistake => [
        `a body that is ${name}`,
        (client) => client.products!.update!({ product_id: id, body }),
        "products.update: body must be an object of the fields to send",
      ],
    ),
    [
      "rows as NDJSON for what takes none",
      (client) => client.products!.create!({ ndjson: "{}" }),
      "products.create: unknown field ndjson; it takes body, json",
    ],
    ["a string", (client) => client.products!.get!(id), "products.get takes { product_id }"],
    [
      "the options of a request",
      (client) => client.products!.delete!({ product_id: id }, { idempotencykey: "k" }),
      "products.delete: unknown option idempotencykey; did you mean idempotencyKey?",
    ],
    [
      "the options of all pages",
      (client) => client.products!.listAll!({}, { ahead: true }),
      "products.listAll: unknown option ahead; did you mean isAhead?",
    ],
    ...[0, 1.5, "5", Number.POSITIVE_INFINITY].map(
      (limit): Mistake => [
        `a limit of entries (${limit})`,
        (client) => (client.products!.listAll!() as AnyEntries).toArray({ limit }),
        "products.listAll().toArray: limit must be an integer, 1 or more",
      ],
    ),
    [
      "the options of toArray",
      (client) => (client.products!.listAll!() as AnyEntries).toArray({ max: 5 }),
      "products.listAll().toArray: unknown option max; it takes limit",
    ],
    [
      "the options of a download",
      (_, { download }) => download!("", { singal: null }),
      "client.download: unknown option singal; did you mean signal?",
    ],
    [
      "a download that resumes",
      (_, { downloadInto }) => downloadInto!({}, { limits: { total: 1 } }),
      "client.downloadInto: unknown option limits.total; did you mean limits.totalMs?",
    ],
    [
      "a request of one's own",
      (_, { raw }) => raw!({ method: "GET", path: "/v1/products", bdy: null }),
      "client.raw: unknown option bdy; did you mean body?",
    ],
    ["no request", (_, { raw }) => raw!(), "client.raw takes { method, path, body }"],
    [
      "a path",
      (_, { raw }) => raw!({ method: "GET", path: "https://example.com/v1/products" }),
      "client.raw: path must be an encoded path that starts with /, e.g. /v1/products",
    ],
    [
      "a body",
      (_, { raw }) => raw!({ method: "POST", path: "/v1/products", body: { name: "Dress" } }),
      "client.raw: body must be null, or { contentType, bytes }",
    ],
    [
      "the fields of an operation",
      (_, { exchange }) => exchange!(operations.products.list, { limits: 1 }),
      "client.exchange: unknown field limits; did you mean limit?",
    ],
    [
      "the fields of a list",
      (_, { paginate }) => paginate!(operations.models.list, { limits: 1 }),
      "client.paginate: unknown field limits; did you mean limit?",
    ],
    [
      "the fields of a request that is repeated",
      (_, { poll }) => poll!(operations.imports.get, { import_ids: id }, { done: () => true }),
      "client.poll: unknown field import_ids; did you mean import_id?",
    ],
    [
      "options that are null",
      (_, { raw }) => raw!({ method: "GET", path: "/v1/products" }, null),
      "client.raw: the options must be an object",
    ],
    [
      "the path of a request, which has a space",
      (_, { raw }) => raw!({ method: "GET", path: "/v1/products?q=wool coat" }),
      "client.raw: path must be an encoded path that starts with /, e.g. /v1/products",
    ],
    [
      "the content type of a request",
      (_, { raw }) =>
        raw!({ method: "POST", path: "/v1/x", body: { contentType: "a/b\r\nx: y", bytes: Buffer.of() } }),
      "client.raw: body must be null, or { contentType, bytes }",
    ],
    ...(
      [
        [{ "x-note": "a\r\nb" }, ': "x-note" must be printable ASCII text'],
        [{ "x note": "a" }, ': "x note" is not a valid header name'],
        [{ "X-Note": "a" }, ': "X-Note" must be in lower case: x-note'],
        [{ "x-note": 1 }, ': "x-note" must be a string, not a value of type number'],
        [{ authorization: "Bearer ak_1" }, ': "authorization" is set by the client'],
        [["x-note"], ' must be a plain object, e.g. { "x-tenant": "shop" }'],
        [
          new Headers({ "x-note": "a" }),
          ' must be a plain object, e.g. { "x-tenant": "shop" }; use Object.fromEntries(headers)',
        ],
      ] as const
    ).map(
      ([headers, problem]): Mistake => [
        "the headers of a request",
        (_, { raw }) => raw!({ method: "GET", path: "/v1/products", headers }),
        `client.raw: headers${problem}`,
      ],
    ),
    [
      "a download without a URL, as of an export in progress",
      (_, { download }) => download!(null),
      "client.download takes a signed URL",
    ],
    [
      "a download into nothing",
      (_, { downloadInto }) => downloadInto!(),
      "client.downloadInto takes a target and { url }",
    ],
    [
      "an operation",
      (_, { poll }) => poll!(undefined, {}, { done: () => true }),
      "client.poll takes an operation, e.g. operations.imports.get",
    ],
    [
      "an operation whose pages are read",
      (_, { paginate }) => paginate!({}),
      "client.paginate takes an operation, e.g. operations.imports.get",
    ],
    [
      "pages of what has none",
      (_, { paginate }) => paginate!(operations.imports.get, { import_id: id }),
      "client.paginate takes an operation that lists, e.g. operations.products.list",
    ],
    [
      "polling by a request that creates something each time",
      (_, { poll }) => poll!(operations.exports.create, {}, { done: () => true }),
      "client.poll takes an operation that reads, e.g. operations.imports.get",
    ],
    [
      "polling without an end",
      (_, { poll }) => poll!(operations.tasks.get, {}),
      "client.poll: done is missing: a function that says whether to stop polling",
    ],
  ])("a mistake in %s is rejected before a request", async (_, call, message) => {
    const client = createClient({ baseUrl, apiKey });
    await expect((async () => call(client as never, client as never))()).rejects.toThrow(
      new TypeError(message),
    );
  });
});

describe("errors", () => {
  const notFound = refusal(404, "product_not_found");
  /** The first frame of the stack, and its first line. */
  const told = (error: unknown) => {
    const [first, frame] = (error as Error).stack!.split("\n");
    return [first, /at (?:async )?(\w+)/.exec(frame!)?.[1]];
  };

  test("have the stack of the caller", async () => {
    const { client } = await libraryAgainst([notFound]);
    const caught = (error: unknown) => error;
    async function shopCode() {
      return await client.products.get({ product_id: "X" }).catch(caught);
    }
    async function listing() {
      for await (const _ of client.products.listAll()) return;
    }
    async function exchanging() {
      return await client.exchange(operations.products.get, { product_id: "X" }).catch(caught);
    }
    async function polling() {
      return await client
        .poll(operations.imports.get, { import_id: "X" }, { done: () => true })
        .catch(caught);
    }
    const error = await shopCode();
    expect(error).toBeInstanceOf(ApiError);
    expect((error as Error).message).toMatch(/\(GET \/v1\/products\/X: 404 product_not_found\)$/);
    expect(told(error)).toEqual([`${(error as Error).name}: ${(error as Error).message}`, "shopCode"]);
    expect((error as Error).stack).not.toContain("src/client");
    expect(told(await listing().catch(caught))[1]).toBe("listing");
    expect(told(await exchanging())[1]).toBe("exchanging");
    expect(told(await polling())[1]).toBe("polling");
  });

  test("of the caller's own callbacks keep their stack", async () => {
    const { client } = await libraryAgainst([json(200, importJob("completed"))]);
    const bug = new RangeError("a bug of the caller");
    const { stack } = bug;
    const done = () => {
      throw bug;
    };
    await expect(client.poll(operations.imports.get, { import_id: id }, { done })).rejects.toBe(bug);
    expect(bug.stack).toBe(stack);
  });

  test("all extend CatalogueError, which their names say", async () => {
    const { client } = await libraryAgainst([notFound]);
    const error = await client.products.get({ product_id: "" }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CatalogueError);
    expect(String(error)).toBe('CatalogueError: product_id "" is not a valid ID');
    const missing = client.products.get({} as never).catch((error: unknown) => error);
    expect(String(await missing)).toBe("CatalogueError: product_id is missing");
  });
});

describe("a host that refuses connections", () => {
  /** A port that was free a moment ago. */
  async function closedPort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  const refused = async (options: Partial<ClientOptions>) => {
    const waits: Wait[] = [];
    const baseUrl = `http://127.0.0.1:${await closedPort()}`;
    const clock = new TestClock();
    const client = createClient({
      baseUrl,
      apiKey,
      clock,
      random: () => 0.5,
      onWait: (wait) => waits.push(wait),
      ...options,
    });
    const errors = [
      await client.products.list().catch((error: unknown) => error),
      await client
        .download(`${baseUrl}/a.jpg`)
        [Symbol.asyncIterator]()
        .next()
        .catch((error: unknown) => error),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(NetworkError);
      expect(error).toMatchObject({ type: "network", code: "unreachable", transient: true });
    }
    return waits.map(({ path, ms }) => `${path} ${ms}`);
  };

  test("is given up at once", async () => {
    expect(await refused({})).toEqual([]);
  });

  test("is tried again if attempts are set", async () => {
    expect(await refused({ retry: { attempts: 3 } })).toEqual([
      "/v1/products 250",
      "/v1/products 500",
      "/a.jpg 250",
      "/a.jpg 500",
    ]);
  });

  test("is tried again if it has responded before, as it may be restarting", async () => {
    const waits: Wait[] = [];
    const { client, server } = await libraryAgainst([json(200, product())], {
      onWait: (wait) => waits.push(wait),
    });
    await client.products.get({ product_id: id });
    await server.stop();
    await expect(client.products.get({ product_id: id })).rejects.toMatchObject({ code: "unreachable" });
    expect(waits).toHaveLength(5);
  });
});
