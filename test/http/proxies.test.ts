import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { openConnections } from "../../src/http/connections.ts";
import { downloader } from "../../src/http/download.ts";
import { networkFailure, ProxyFailure } from "../../src/http/network-failure.ts";
import { poster } from "../../src/http/post.ts";
import { parseProxies } from "../../src/http/proxies.ts";
import { forwardProxy } from "../support/forward-proxy.ts";
import { hasOpenssl, ownAuthority } from "../support/own-authority.ts";
import { TestClock } from "../support/test-clock.ts";
import { closeAll, coreAgainst } from "./core.ts";
import { json, scriptedServer } from "./scripted-server.ts";

afterEach(closeAll);

const api = "https://api.shop.test";
const plain = "http://api.shop.test";

/** Sends one GET to an origin, with the proxies of `env`; resolves to the response or the error. */
async function get(origin: string, env: Record<string, string>, attempts = 1) {
  const connections = openConnections({ env, isDirect: ({ hostname }) => hostname === "127.0.0.1" });
  onTestFinished(() => connections.close());
  const { send, clock } = await coreAgainst([json(200, {})], { connections, retry: { attempts } });
  const message = { method: "GET", origin, path: "/v1/x", headers: {}, body: null } as const;
  const outcome = await send(message).catch((error: unknown) => error as Error);
  return { outcome, clock };
}

describe("the variables", () => {
  const shown = (env: Record<string, string>, origin = api) => {
    const { shown, variable } = parseProxies(env).find(origin) ?? {};
    return [variable, shown];
  };

  test("name a proxy by scheme; HTTP_PROXY alone is used for both", () => {
    const env = { HTTPS_PROXY: "http://one.test:1", HTTP_PROXY: "http://two.test:2" };
    expect(shown(env)).toEqual(["HTTPS_PROXY", "http://one.test:1"]);
    expect(shown(env, plain)).toEqual(["HTTP_PROXY", "http://two.test:2"]);
    expect(shown({ HTTP_PROXY: "http://two.test:2" })).toEqual(["HTTP_PROXY", "http://two.test:2"]);
    expect(shown({ HTTPS_PROXY: "http://one.test:1" }, plain)).toEqual([undefined, undefined]);
  });

  test("are read in lower case first, and count as not set if they are empty", () => {
    expect(shown({ https_proxy: "http://one.test", HTTPS_PROXY: "http://two.test" })).toEqual([
      "https_proxy",
      "http://one.test",
    ]);
    expect(shown({ https_proxy: " ", HTTPS_PROXY: "two.test:8080" })).toEqual([
      "HTTPS_PROXY",
      "http://two.test:8080",
    ]);
  });

  test.for([
    ["*", true],
    ["other.test, *", true],
    ["api.shop.test", true],
    ["API.SHOP.TEST.", true],
    ["shop.test", true],
    [".shop.test", true],
    ["*.shop.test", true],
    ["a.test shop.test", true],
    ["api.shop.test:443", true],
    ["api.shop.test:8443", false],
    ["op.test", false],
    ["api.shop.test.example", false],
    [".", false],
    [",, ", false],
  ] as const)("NO_PROXY %j excludes the host: %s", ([entries, isExcluded]) => {
    for (const name of ["NO_PROXY", "no_proxy"]) {
      const proxies = parseProxies({ HTTPS_PROXY: "http://one.test", [name]: entries });
      expect([proxies.find(api) === null, proxies.isExcluded(api)]).toEqual([isExcluded, isExcluded]);
    }
  });

  test("NO_PROXY can have an IPv6 address, with and without brackets", () => {
    for (const no_proxy of ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"]) {
      expect(shown({ HTTPS_PROXY: "http://one.test", no_proxy }, "https://[2001:db8::1]")).toEqual([
        undefined,
        undefined,
      ]);
    }
  });

  test.for(["socks5://user:hidden@host", "http://", "http://user:%zz@host:1", "http://host:99999", "ht tp"])(
    "are rejected by name, without their value: %j",
    (value) => {
      for (const variable of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]) {
        const error = (() => {
          try {
            return openConnections({ env: { [variable]: value }, isDirect: () => true });
          } catch (error) {
            return error;
          }
        })();
        expect(error).toMatchObject({
          ...{ type: "usage", code: "invalid_proxy", message: `${variable} is not the URL of an HTTP proxy` },
          hint: `Set ${variable} to http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.`,
        });
      }
    },
  );

  test("never apply to this machine", async () => {
    const service = await scriptedServer(json(200, { direct: true }));
    const proxy = await forwardProxy({ route: () => 0 });
    const { outcome } = await get(service.origin, { HTTP_PROXY: proxy.url });
    expect(outcome).toMatchObject({ status: 200 });
    expect(proxy.seen).toEqual([]);
  });
});

describe("a proxy", () => {
  test.for([undefined, "user:p@ss wörd", "user:"])(
    "passes on plain requests, with credentials %j",
    async (credentials) => {
      const service = await scriptedServer(json(200, { through: "proxy" }));
      const proxy = await forwardProxy({
        route: () => Number(new URL(service.origin).port),
        ...(credentials === undefined ? {} : { credentials }),
      });
      const [user = "", password = ""] = (credentials ?? "").split(":").map(encodeURIComponent);
      const before = credentials === undefined ? "" : `${user}${password === "" ? "" : `:${password}`}@`;
      const { outcome } = await get(plain, { http_proxy: `http://${before}${proxy.host}` });
      expect(outcome).toMatchObject({ status: 200, body: Buffer.from('{"through":"proxy"}') });
      expect(proxy.seen).toEqual([`GET ${plain}/v1/x`]);
      expect(service.requests[0]!.headers).toMatchObject({ host: "api.shop.test" });
      expect(service.requests[0]!.headers).not.toHaveProperty("proxy-authorization");
    },
  );

  test("without its user name fails a request and names the variable", async () => {
    const proxy = await forwardProxy({ route: () => 0, credentials: "user:secret" });
    for (const [origin, seen] of [
      [api, "CONNECT api.shop.test:443"],
      [plain, `GET ${plain}/v1/x`],
    ] as const) {
      const { outcome, clock } = await get(origin, { HTTP_PROXY: proxy.url }, 6);
      expect(outcome).toMatchObject({
        ...{ type: "network", code: "proxy_refused", transient: false },
        message: `the proxy ${proxy.url} requires a user name and password (GET /v1/x)`,
        hint: `Set HTTP_PROXY to http://USER:PASSWORD@${proxy.host}.`,
      });
      expect(clock.slept).toEqual([]);
      expect(proxy.seen.splice(0)).toEqual([seen]);
    }
  });

  test("that rejects the password does not show it", async () => {
    const proxy = await forwardProxy({ route: () => 0, credentials: "user:secret" });
    for (const origin of [api, plain]) {
      const { outcome } = await get(origin, { http_proxy: `http://user:hidden@${proxy.host}` });
      expect(outcome).toMatchObject({
        code: "proxy_refused",
        message: `the proxy ${proxy.url} rejected the user name and password (GET /v1/x)`,
        hint: "Check the user name and password in http_proxy.",
      });
      expect(`${(outcome as Error).stack}${JSON.stringify(outcome)}`).not.toContain("hidden");
    }
  });

  test.for([
    [502, 2],
    [403, 0],
  ] as const)(
    "that responds with %i to a tunnel is named, after %i retries",
    async ([rejectWith, retries]) => {
      const proxy = await forwardProxy({ route: () => 0, rejectWith });
      const { outcome, clock } = await get(api, { HTTPS_PROXY: proxy.url }, 3);
      expect(outcome).toMatchObject({
        code: "proxy_refused",
        message: `the proxy ${proxy.url} rejected the connection to ${api} with status ${rejectWith} (GET /v1/x)`,
        hint: "Check the base URL, or add api.shop.test to NO_PROXY to connect without the proxy.",
      });
      expect(clock.slept).toHaveLength(retries);
      expect(proxy.seen).toHaveLength(retries + 1);
    },
  );

  test.for([api, plain])("that has ended is named, not the service: %s", async (origin) => {
    const proxy = await forwardProxy({ route: () => 0 });
    await proxy.stop();
    const { outcome, clock } = await get(origin, { HTTP_PROXY: `user:hidden@${proxy.host}` }, 3);
    expect(outcome).toMatchObject({
      ...{ code: "proxy_unreachable", transient: true },
      message: `cannot connect to the proxy ${proxy.url}: connection refused (GET /v1/x)`,
      hint: "Check HTTP_PROXY and your network.",
    });
    expect(clock.slept).toHaveLength(2);
  });

  test("with https:// in its URL, but without TLS, is named", async () => {
    const proxy = await forwardProxy({ route: () => 0 });
    const { outcome } = await get(api, { HTTPS_PROXY: `https://${proxy.host}` });
    expect(outcome).toMatchObject({
      code: "proxy_unreachable",
      message: expect.stringMatching(/^cannot connect securely to the proxy https:\/\/127\.0\.0\.1:\d+: E/),
      hint: "Check HTTPS_PROXY; most proxies need http://, not https://.",
    });
  });

  test("is named where a tunnel breaks", async () => {
    // Nothing listens there: the proxy closes the connection without a response.
    const ended = await forwardProxy({ route: () => 0 });
    await ended.stop();
    const proxy = await forwardProxy({ route: () => ended.port });
    const { outcome } = await get(api, { HTTPS_PROXY: proxy.url });
    expect(proxy.seen).toHaveLength(1);
    expect(outcome).toMatchObject({
      code: "connection_cut",
      message: `${api} closed the connection before the response was complete, through the proxy ${proxy.url} (GET /v1/x)`,
    });
  });

  test.for([
    ["UND_ERR_CONNECT_TIMEOUT", api, "unreachable", `cannot connect to ${api}: connection timed out (GET /)`],
    [
      "ETIMEDOUT",
      api,
      "proxy_unreachable",
      "cannot connect to the proxy http://p.test: connection timed out (GET /)",
    ],
    [
      "UND_ERR_CONNECT_TIMEOUT",
      plain,
      "proxy_unreachable",
      "cannot connect to the proxy http://p.test: connection timed out (GET /)",
    ],
  ] as const)(
    "is not named where the host behind it is silent: %s of %s",
    ([code, origin, kind, message]) => {
      const proxy = parseProxies({ HTTP_PROXY: "http://p.test" }).find(origin)!;
      const failure = new ProxyFailure(proxy, Object.assign(new Error("timed out"), { code }));
      expect(networkFailure(failure, { method: "GET", path: "/", origin, headers: {} })).toMatchObject({
        ...{ code: kind, message },
      });
    },
  );

  test("carries downloads and events to handlers, and is named in their failures", async () => {
    const proxy = await forwardProxy({ route: () => 0, credentials: "user:secret" });
    const connections = openConnections({ env: { http_proxy: proxy.url }, isDirect: () => false });
    onTestFinished(() => connections.close());
    const clock = new TestClock();
    const download = downloader({
      ...{ connections, clock, userAgent: "test", silenceMs: 1_000, random: () => 0.5, check: () => {} },
    });
    const bytes = download("https://files.shop.test/a.jpg?signature=x")[Symbol.asyncIterator]();
    await expect(bytes.next()).rejects.toMatchObject({
      message: `the proxy ${proxy.url} requires a user name and password (GET /a.jpg)`,
    });
    const post = poster({ connections, clock });
    const event = { url: new URL(`${plain}/hook`), headers: [], body: Buffer.from("{}"), timeoutMs: 1_000 };
    expect(await post(event)).toMatchObject({
      status: null,
      why: `the proxy ${proxy.url} requires a user name and password`,
    });
    expect(proxy.seen).toEqual(["CONNECT files.shop.test:443", `POST ${plain}/hook`]);
  });
});

describe.skipIf(!hasOpenssl)("a certificate (needs openssl)", () => {
  /** A TLS server with a certificate of its own authority; its port. */
  async function tlsServer(hosts: string[], days?: number): Promise<number> {
    const { key, cert } = ownAuthority(hosts, days);
    const server = createServer({ key, cert }, (_, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  test("of an unknown authority fails with the variable that makes it known, without a retry", async () => {
    const port = await tlsServer(["api.shop.test"]);
    const why = "its certificate is not trusted, UNABLE_TO_VERIFY_LEAF_SIGNATURE";
    const hint =
      "If your network or service has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file.";
    const direct = await get(`https://127.0.0.1:${port}`, {}, 6);
    expect(direct.outcome).toMatchObject({
      ...{ code: "tls", transient: false, hint },
      message: `cannot connect securely to https://127.0.0.1:${port}: ${why} (GET /v1/x)`,
    });
    expect(direct.clock.slept).toEqual([]);
    const proxy = await forwardProxy({ route: () => port });
    const proxied = await get(api, { HTTPS_PROXY: proxy.url });
    expect(proxied.outcome).toMatchObject({
      hint,
      message: `cannot connect securely to ${api}, through the proxy ${proxy.url}: ${why} (GET /v1/x)`,
    });
  });
});
