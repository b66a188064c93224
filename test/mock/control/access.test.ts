import { request } from "node:http";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exactHost } from "../../../src/contract/url-policy.ts";
import { isLong } from "../../support/repetitions.ts";
import { refusal, startWorld } from "../world.ts";

/** Sends a request with these headers, also with a Host, which `fetch` does not allow. */
const ask = (baseUrl: string, headers: Record<string, string>, path = "/_mock/requests", method = "GET") =>
  new Promise<[number, string]>((resolve, reject) => {
    request(`${baseUrl}${path}`, { method, headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve([response.statusCode!, text]));
    })
      .on("error", reject)
      .end();
  });

const rejection = refusal("forbidden", "host_not_allowed");

describe("the Host of a request to the control routes", () => {
  test.each([
    ["localhost", 200],
    ["localhost:4010", 200],
    ["127.0.0.1:1", 200],
    ["127.8.9.1", 200],
    ["[::1]:4010", 200],
    ["mock.localhost", 200],
    // In a header, an IPv6 address needs brackets; without them, its port is ambiguous.
    ["::1", 403],
    ["::1:4010", 403],
    ["0:0:0:0:0:0:0:1:4010", 403],
    ["example.com", 403],
    ["127.0.0.1.example.com", 403],
    ["localhost.example.com:80", 403],
    ["192.168.0.1:4010", 403],
    ["0.0.0.0", 403],
    ["mock:4010", 403],
  ])("gets a response of this status: %s %d", async (host, status) => {
    const { mock } = await startWorld();
    const [got, text] = await ask(mock.baseUrl, { host });
    expect(got).toBe(status);
    if (status === 403) expect(JSON.parse(text)).toEqual(rejection);
    // The API itself accepts any Host.
    expect((await ask(mock.baseUrl, { host: "example.com" }, "/v1/products"))[0]).toBe(401);
  });

  test.each([
    ["mock", 200],
    ["mock:4010", 200],
    ["MOCK:80", 200],
    ["mock.:4010", 200],
    ["10.0.0.7:4010", 200],
    ["[fd00::7]", 200],
    ["[fd00:0:0:0:0:0:0:7]:4010", 200],
    ["localhost", 200],
    ["mock.example.com", 403],
    ["a.mock", 403],
    ["mock2", 403],
    ["10.0.0.8", 403],
    ["*", 403],
  ])("may be one of allowHosts, exactly: %s %d", async (host, status) => {
    const { mock } = await startWorld({ allowHosts: ["Mock", "10.0.0.7", "fd00::7"] });
    expect((await ask(mock.baseUrl, { host }))[0]).toBe(status);
  });
});

describe("a web page of another origin", () => {
  test.each([
    "https://evil.example.com",
    "null",
    "http://localhost.example.com",
    // Another program on this machine, such as the development server of a page.
    "http://localhost:5173",
    "https://127.0.0.1:PORT",
    "http://mock:PORT",
  ])("can neither read nor change anything: %s", async (shown) => {
    const { mock } = await startWorld({ allowHosts: ["mock"], demo: 1 });
    const origin = shown.replace("PORT", new URL(mock.baseUrl).port);
    const before = mock.state();
    for (const [path, method] of [
      ["/_mock/state", "GET"],
      ["/_mock/state", "OPTIONS"],
      ["/_mock/reset", "POST"],
      ["/_mock/none", "POST"],
    ] as const) {
      const [status, text] = await ask(mock.baseUrl, { origin }, path, method);
      expect([status, JSON.parse(text)]).toEqual([403, rejection]);
    }
    expect(mock.state()).toEqual(before);
  });

  test("cannot load anything as a picture, script or frame, but can link to the page", async () => {
    const { mock } = await startWorld();
    const open = async (site: string, destination: string, path = "/_mock") =>
      (await ask(mock.baseUrl, { "sec-fetch-site": site, "sec-fetch-dest": destination }, path))[0];
    expect(await open("cross-site", "image", "/_mock/events?view=requests")).toBe(403);
    expect(await open("cross-site", "iframe", "/_mock/events?view=requests")).toBe(403);
    expect(await open("same-site", "script", "/_mock/requests")).toBe(403);
    expect(await open("cross-site", "document")).toBe(200);
    expect(await open("none", "document")).toBe(200);
    expect(await open("same-origin", "image", "/_mock/icon.svg")).toBe(200);
    // A form of a browser that sends no Origin with it.
    const post = { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" };
    expect((await ask(mock.baseUrl, post, "/_mock/reset", "POST"))[0]).toBe(403);
  });

  test("is the one that has neither the host of the request nor that of the base URL", async () => {
    const { mock } = await startWorld({ allowHosts: ["mock"], baseUrl: "https://mock.example.com/x/" });
    const reset = async (headers: Record<string, string>) =>
      (await ask(mock.baseUrl, headers, "/_mock/reset", "POST"))[0];
    expect(await reset({ origin: mock.baseUrl })).toBe(200);
    expect(await reset({ host: "mock:4010", origin: "http://mock:4010" })).toBe(200);
    expect(await reset({ host: "MOCK", origin: "http://mock" })).toBe(200);
    expect(await reset({ host: "mock", origin: "https://mock.example.com" })).toBe(200);
    expect(await reset({ host: "mock", origin: "https://mock" })).toBe(403);
    // The base URL allows no Host.
    expect(await reset({ host: "mock.example.com", origin: "https://mock.example.com" })).toBe(403);
  });
});

test("the control routes send no CORS headers", async () => {
  const { mock, send } = await startWorld();
  const origin = mock.baseUrl;
  const headers = { origin, "access-control-request-method": "PUT" };
  for (const path of ["/_mock/state", "/%5Fmock/state"]) {
    const asked = await send(path, { method: "OPTIONS", key: null, headers });
    expect([asked.status, asked.body]).toEqual([405, refusal("invalid_request", "method_not_allowed")]);
    const got = await send(path, { key: null, headers: { origin } });
    expect(got.status).toBe(200);
    for (const answer of [asked, got]) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
});

describe("an exact host", () => {
  test.each([
    ["mock", "mock"],
    ["Mock.Example.COM.", "mock.example.com"],
    ["imaging_mock-1", "imaging_mock-1"],
    ["10.0.0.7", "10.0.0.7"],
    ["fd00:0::7", "[fd00::7]"],
    ["[FD00::7]", "[fd00::7]"],
    ["*", null],
    ["*.example.com", null],
    [".example.com", null],
    ["mock:4010", null],
    ["http://mock", null],
    ["mock/", null],
    ["me@mock", null],
    ["mock mock", null],
    ["1234", null],
    ["127.1", null],
    ["0x7f000001", null],
    ["b\u00fccher.example", null],
    ["[mock]", null],
    ["-mock", null],
    ["", null],
    [".", null],
    ["@.:/", null],
  ])("has one form: %j is %j", (text, host) => {
    expect(exactHost(text)).toBe(host);
  });

  test("is what the URL parser finds in a URL with it, and has no wildcard", () => {
    const texts = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6(),
      fc.webAuthority({ withPort: true, withUserInfo: true }),
      fc.string({
        unit: fc.constantFrom("a", "1", ".", "*", ":", "[", "]", "-", "_", "%", "@", "/"),
        maxLength: 8,
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const host = exactHost(text);
        if (host === null) return;
        expect(exactHost(host)).toBe(host);
        expect(exactHost(`${host.toUpperCase()}.`.replace("].", "]"))).toBe(host);
        expect(new URL(`http://${host}:81/`).host).toBe(`${host}:81`);
        expect(host).toMatch(/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/);
      }),
      { numRuns: isLong ? 20_000 : 100 },
    );
  });
});
