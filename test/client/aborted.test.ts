import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import {
  CatalogueError,
  type Client,
  type ClientOptions,
  createClient,
  operations,
  type RequestLimits,
} from "../../src/index.ts";
import { stillClock } from "../http/core.ts";
import { bytes, json, refusal, type Step, scriptedServer, silence } from "../http/scripted-server.ts";
import { closeAll, importJob, product } from "./world.ts";

afterEach(closeAll);

const id = "01JGZZ0000000000000000000A";
const reason = { why: "the page was closed" };

const page = (names: string[], next_cursor: string | null) =>
  json(200, {
    data: names.map((name) => product({ id: `01JGZZ000000000000000000A${name}`, name })),
    next_cursor,
    has_more: next_cursor !== null,
  });

/** A call that is cancelled once `when` is true; resolves to its error. */
async function cancelled(
  steps: Step[],
  call: (client: Client, options: RequestLimits, server: { origin: string }) => Promise<unknown>,
  when: (seen: { requests: number; waits: string[] }) => boolean,
  options: Partial<ClientOptions> = {},
) {
  const server = await scriptedServer(...steps);
  const waits: string[] = [];
  const client = createClient({
    ...{ baseUrl: server.origin, apiKey: "ak_test_key_0123456789", clock: stillClock(), random: () => 0.5 },
    onWait: (wait) => waits.push(wait.reason),
    ...options,
  });
  onTestFinished(() => client.close());
  const leaving = new AbortController();
  const outcome = call(client, { signal: leaving.signal }, server).then(
    () => "done",
    (error: unknown) => error,
  );
  while (!when({ requests: server.requests.length, waits })) await new Promise(setImmediate);
  leaving.abort(reason);
  return { error: await outcome, waits, server };
}

const aborted = (name: string) => ({
  ...{ name: "CatalogueError", type: "aborted", code: "aborted", cause: reason },
  message: `${name} was cancelled by its signal`,
});
const wroteDone = (limit: number) => ({ "x-ratelimit-limit": limit, "x-ratelimit-remaining": 0 });
const done = () => false;

describe("a call that is cancelled rejects with an error of type aborted, whose cause is the reason", () => {
  const getOne = (client: Client, options: RequestLimits) => client.products.get({ product_id: id }, options);
  const readAll = (client: Client, options: RequestLimits) => client.products.listAll({}, options).toArray();
  const polling = (client: Client, options: RequestLimits) =>
    client.poll(operations.imports.get, { import_id: id }, { done, ...options });
  const save = async (client: Client, options: RequestLimits, { origin }: { origin: string }) => {
    for await (const _ of client.download(`${origin}/a`, options));
  };
  const target = { kept: null, begin: async () => {}, write: async () => {} };
  const saveInto = (client: Client, { signal }: RequestLimits, { origin }: { origin: string }) =>
    client.downloadInto(target, { url: `${origin}/a`, signal });
  const endless = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  const half: Step = (response) => void response.writeHead(200, { "content-length": 9 }).write("half");
  const atOnce = () => true;
  const asked = ({ requests }: { requests: number }) => requests > 0;
  const waiting = ({ waits }: { waits: string[] }) => waits.length > 0;

  test.each<[string, string, Step[], Parameters<typeof cancelled>[1], Parameters<typeof cancelled>[2]]>([
    ["before its response", "products.get", [silence], getOne, asked],
    ["in a response", "products.get", [half], getOne, asked],
    ["before another attempt", "products.get", [json(503, {})], getOne, waiting],
    ["in a wait after a 429", "products.get", [refusal(429, "rate_limited")], getOne, waiting],
    [
      "in a list",
      "products.listAll",
      [page(["A"], "next"), silence],
      readAll,
      ({ requests }) => requests > 1,
    ],
    ["in a poll's request", "client.poll", [silence], polling, asked],
    ["in a poll's wait", "client.poll", [json(200, importJob("processing"))], polling, waiting],
    ["before a download", "client.download", [silence], save, asked],
    ["in a download", "client.download", [half], save, asked],
    ["before another attempt of a download", "client.download", [bytes(503, "", {})], save, waiting],
    ["in a download that resumes", "client.downloadInto", [half], saveInto, asked],
    [
      "while the bytes of an upload are read",
      "images.upload",
      [],
      (client, options) => client.images.upload(endless, options),
      atOnce,
    ],
    [
      "in a request of one's own",
      "client.raw",
      [silence],
      (client, options) => client.raw({ method: "GET", path: "/v1/x" }, options),
      asked,
    ],
    [
      "in an exchange",
      "client.exchange",
      [silence],
      (client, options) => client.exchange(operations.products.get, { product_id: id }, options),
      asked,
    ],
  ])("%s", async (_, name, steps, call, when) => {
    const { error } = await cancelled(steps, call, when);
    expect(error).toBeInstanceOf(CatalogueError);
    expect(error).toMatchObject(aborted(name));
  });

  test("with a function for fetch", async () => {
    const { error } = await cancelled([silence], getOne, asked, { fetch });
    expect(error).toMatchObject(aborted("products.get"));
    const deaf = () => new Promise<never>(() => {});
    expect((await cancelled([], getOne, atOnce, { fetch: deaf })).error).toMatchObject(
      aborted("products.get"),
    );
  });

  test("before it starts, without a request", async () => {
    const server = await scriptedServer(silence);
    const client = createClient({ baseUrl: server.origin, apiKey: "ak_test_key_0123456789" });
    onTestFinished(() => client.close());
    const signal = AbortSignal.abort(reason);
    const calls = {
      "products.get": getOne,
      "products.listAll": readAll,
      "client.poll": polling,
      "client.download": save,
      "client.downloadInto": saveInto,
    };
    for (const [name, call] of Object.entries(calls))
      await expect(call(client, { signal }, server)).rejects.toMatchObject(aborted(name));
    expect(server.requests).toEqual([]);
  });

  test("in the queue of the rate limit window", async () => {
    const used = json(200, product(), { ...wroteDone(600), "x-ratelimit-reset": 4_000_000_000 });
    const call = async (client: Client, options: RequestLimits) => {
      await getOne(client, {});
      await getOne(client, options);
    };
    const { error, waits } = await cancelled([used], call, waiting);
    expect(waits).toEqual(["rate_window"]);
    expect(error).toMatchObject(aborted("products.get"));
  });

  test("between two entries of a list that needs no other request", async () => {
    const server = await scriptedServer(page(["A", "B"], null));
    const client = createClient({ baseUrl: server.origin, apiKey: "ak_test_key_0123456789" });
    onTestFinished(() => client.close());
    const leaving = new AbortController();
    const names: string[] = [];
    const reading = async () => {
      for await (const { name } of client.products.listAll({}, { signal: leaving.signal })) {
        names.push(name);
        leaving.abort(reason);
      }
    };
    await expect(reading()).rejects.toMatchObject(aborted("products.listAll"));
    expect(names).toEqual(["A"]);
  });

  test.each([[undefined], [null], [Number.NaN], ["late"], [new RangeError("late")]])(
    "whatever the reason: %s",
    async (given) => {
      const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "ak_1" });
      const signal = AbortSignal.abort(given);
      const error = await client.models.list({}, { signal }).catch((error: unknown) => error);
      expect(error).toMatchObject({ type: "aborted" });
      expect((error as Error).cause).toBe(signal.reason);
    },
  );
});

test("a failure of another kind is reported as such, also if the signal is aborted then", async () => {
  const leaving = new AbortController();
  const fault = new RangeError("a bug of the caller");
  const { error } = await cancelled(
    [json(200, importJob("completed"))],
    (client) =>
      client.poll(
        operations.imports.get,
        { import_id: id },
        {
          signal: leaving.signal,
          done() {
            leaving.abort(reason);
            throw fault;
          },
        },
      ),
    () => leaving.signal.aborted,
  );
  expect([fault, reason]).toContain((error as Error).cause ?? error);
});
