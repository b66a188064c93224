import dns from "node:dns";
import { createServer } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import fc from "fast-check";
import type { Dispatcher } from "undici";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { isLoopbackHost } from "../../src/contract/url-policy.ts";
import { openConnections } from "../../src/http/connections.ts";
import { isLocalName, lookup } from "../../src/http/local-names.ts";
import { forwardProxy } from "../support/forward-proxy.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Fails every lookup of the system but those of addresses, and records its names. */
function withoutDns(): string[] {
  const asked: string[] = [];
  const real = dns.lookup as (...given: unknown[]) => void;
  vi.spyOn(dns, "lookup").mockImplementation(((...given: unknown[]) => {
    const [name] = given as [string];
    if (isIP(name) !== 0) return real(...given);
    asked.push(name);
    const error = Object.assign(new Error(`asked for ${name}`), { code: "ENOTFOUND" });
    (given.at(-1) as (error: Error) => void)(error);
  }) as never);
  return asked;
}

const resolved = (name: string, options: Parameters<LookupFunction>[1]) =>
  new Promise((resolve) => lookup(name, options, (error, ...found) => resolve(error ?? found)));

describe("a name of this machine", () => {
  test.each(["localhost", "LOCALHOST", "localhost.", "api.localhost", "a.b.Localhost.", "xn--1.localhost"])(
    "has the addresses of loopback, and the system is not asked: %s",
    async (name) => {
      const asked = withoutDns();
      const both = [
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ];
      expect(await resolved(name, { all: true })).toEqual([both]);
      expect(await resolved(name, { all: true, family: 6 })).toEqual([[both[1]]]);
      expect(await resolved(name, {})).toEqual(["127.0.0.1", 4]);
      expect(await resolved(name, { family: "IPv6" })).toEqual(["::1", 6]);
      expect(asked).toEqual([]);
    },
  );

  test.each(["localhost.example.com", "notlocalhost", "localhost..", "localhost\n", "example.com", ""])(
    "is no other one: %j",
    async (name) => {
      const asked = withoutDns();
      expect(await resolved(name, { all: true })).toMatchObject({ code: "ENOTFOUND" });
      expect(asked).toEqual([name]);
    },
  );

  test("is the same for the URL policy", () => {
    const labels = fc.array(
      fc.constantFrom("localhost", "LocalHost", "api", "localhost2", "x-localhost", "com"),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(labels, fc.constantFrom("", "."), (parts, dot) => {
        const { hostname } = new URL(`http://${parts.join(".")}${dot}/`);
        expect(isLocalName(hostname)).toBe(isLoopbackHost(hostname));
      }),
    );
  });
});

test("the client reaches a server of this machine by any such name, on IPv4 or IPv6, also with a proxy", async () => {
  const asked = withoutDns();
  for (const address of ["127.0.0.1", "::1"]) {
    const hosts: string[] = [];
    const server = createServer(({ headers }, response) => {
      hosts.push(headers.host!);
      response.writeHead(200, { "content-type": "application/json", "x-request-id": "1" });
      response.end('{"data":[],"next_cursor":null,"has_more":false}');
    });
    // Outside the ports that the system gives to servers of other tests, which listen on the other address.
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    onTestFinished(() => void server.close());
    const host = `shop.api.localhost:${port}`;
    const client = createClient({
      baseUrl: `http://${host}`,
      apiKey: "ak_test",
      env: { HTTP_PROXY: "http://proxy.example.com:1" },
    });
    onTestFinished(() => client.close());
    expect(await client.products.list({})).toMatchObject({ data: [] });
    expect(hosts).toEqual([host]);
  }
  expect(asked).toEqual([]);
});

test.each(["http", "https"])("a proxy can have such a name, for %s", async (scheme) => {
  const asked = withoutDns();
  const proxy = await forwardProxy({ route: () => 0, rejectWith: 407 });
  const url = proxy.url.replace("127.0.0.1", "proxy.localhost");
  const connections = openConnections({ env: { HTTP_PROXY: url }, isDirect: () => false });
  onTestFinished(() => connections.close());
  const dispatcher = (await connections.forOrigin(`${scheme}://api.shop.test`)) as Dispatcher;
  await dispatcher.request({ origin: `${scheme}://api.shop.test`, path: "/", method: "GET" }).catch(() => {});
  expect([proxy.seen.length, asked]).toEqual([1, []]);
});

test("commands use such a name as base URL, as host to listen on and as handler", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const asked = withoutDns();
  const { port } = new URL(world.mock.baseUrl);
  const env = { CAT_BASE_URL: `http://api.localhost:${port}`, CAT_WEBHOOK_SECRET: "whsec_1" };
  expect(await world.cat("products list --json", { env })).toMatchObject({ exit: 0, stderr: "" });
  const listening = world.cat("webhooks listen --host hook.localhost --port 0 --json", { env });
  await until(() => listening.stdout.includes("\n"));
  const { listening: url, webhook_id } = JSON.parse(listening.stdout.split("\n")[0]!);
  expect([url, webhook_id]).toEqual([
    expect.stringMatching(/^http:\/\/hook\.localhost:\d+\/$/),
    expect.any(String),
  ]);
  // Its secret is another one than that of the listener, which so answers 400.
  const triggered = await world.cat(`webhooks trigger import.completed --to ${url} --json`, { env });
  expect([triggered.exit, JSON.parse(triggered.stdout).status]).toEqual([8, 400]);
  listening.interrupt();
  expect(await listening).toMatchObject({ exit: 0 });
  const serving = world.cat("serve --mock --host mock.localhost --port 0 --json");
  await until(() => serving.stdout.includes("\n"));
  expect(JSON.parse(serving.stdout).base_url).toMatch(/^http:\/\/mock\.localhost:\d+$/);
  serving.interrupt();
  expect(await serving).toMatchObject({ exit: 130, stderr: "" });
  expect(asked).toEqual([]);
});
