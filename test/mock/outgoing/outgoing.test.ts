import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { setTimeout as realWait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { isPublicAddress } from "../../../src/contract/url-policy.ts";
import { type Network, realNetwork } from "../../../src/mock/outgoing/network.ts";
import { type OutgoingRequest, sendOutgoing } from "../../../src/mock/outgoing/outgoing-request.ts";
import { WorkInProgress } from "../../../src/mock/work/work-in-progress.ts";
import { until } from "../../support/until.ts";
import { publicAddress, startOutside } from "../outside.ts";

const call = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: "GET",
  url,
  headers: () => ({}),
  isAllowed: isPublicAddress,
  timeoutMs: 10_000,
  mostBytes: 1_000,
  ...more,
});
const out = (network: Partial<Network>, url: string, more: Partial<OutgoingRequest> = {}) =>
  sendOutgoing({ ...realNetwork(), ...network }, call(url, more), new AbortController().signal);

test("a request goes to the checked address, with the requested host name", async () => {
  const outside = await startOutside((_request, response) => response.end("hello"));
  const got = await out(outside.network, "https://shop.example.com/a%20b?c=d#e");
  expect(got).toEqual({ status: 200, bytes: Buffer.from("hello"), end: "whole" });
  expect(outside.asked).toEqual(["shop.example.com"]);
  expect(outside.connections).toEqual([{ addresses: [publicAddress], port: 443 }]);
  expect(outside.paths).toEqual(["/a%20b?c=d"]);
  expect(outside.requests[0]!.headers).toEqual({ host: "shop.example.com", connection: "close" });
});

test("a request uses the port of the URL, or the default of its protocol", async () => {
  const outside = await startOutside((_request, response) => response.end());
  const ports = ["https://a.example.com/", "https://a.example.com:443/", "https://a.example.com:8443/"];
  for (const url of [...ports, "https://a.example.com:0/"]) await out(outside.network, url);
  expect(outside.connections.map(({ port }) => port)).toEqual([443, 443, 8443, 0]);
});

test("an address in the URL is not resolved", async () => {
  const outside = await startOutside((_request, response) => response.end());
  expect(await out(outside.network, `https://${publicAddress}/`)).toMatchObject({ status: 200 });
  expect([outside.asked, outside.connections]).toEqual([[], [{ addresses: [publicAddress], port: 443 }]]);
});

describe("a forbidden address", () => {
  test.each([
    ["loopback", ["127.0.0.1"]],
    ["private", ["10.1.2.3"]],
    ["of the local network", ["192.168.1.1"]],
    ["a cloud metadata service", ["169.254.169.254"]],
    ["carrier-grade NAT", ["100.64.0.1"]],
    ["unspecified", ["0.0.0.0"]],
    ["loopback in IPv6", ["::1"]],
    ["IPv4 mapped to IPv6", ["::ffff:127.0.0.1"]],
    ["IPv4 mapped to IPv6 in hexadecimal", ["::ffff:7f00:1"]],
    ["NAT64 of a private address", ["64:ff9b::10.0.0.1"]],
    ["6to4 of a private address", ["2002:0a00:0001::"]],
    ["link-local", ["fe80::1"]],
    ["unique local", ["fd00::1"]],
    ["one among public addresses", [publicAddress, "10.0.0.1", "1.1.1.1"]],
  ])("is not contacted: %s", async (_name, addresses) => {
    const outside = await startOutside(
      (_request, response) => response.end(),
      () => addresses,
    );
    expect(await out(outside.network, "https://rebound.example.com/")).toEqual({ fault: "blocked_host" });
    expect(outside.connections).toEqual([]);
  });

  test.each(["https://127.0.0.1/", "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://localhost/"])(
    "is not contacted as the host of %s",
    async (url) => {
      const outside = await startOutside((_request, response) => response.end());
      expect(await out(outside.network, url)).toEqual({ fault: "blocked_host" });
      expect([outside.asked, outside.connections]).toEqual([[], []]);
    },
  );

  test("cannot be reached by a name that resolves differently later: each request resolves it once", async () => {
    let times = 0;
    const outside = await startOutside(
      (_request, response) => response.end(),
      () => (times++ === 0 ? [publicAddress] : ["127.0.0.1"]),
    );
    expect(await out(outside.network, "https://rebound.example.com/")).toMatchObject({ status: 200 });
    expect(outside.connections).toEqual([{ addresses: [publicAddress], port: 443 }]);
    expect(await out(outside.network, "https://rebound.example.com/")).toEqual({ fault: "blocked_host" });
    expect(outside.connections).toHaveLength(1);
  });

  test("cannot be reached by a second lookup: the real network connects only to the given addresses", async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const socket = realNetwork().connect(["127.0.0.1", "::1"], port);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    expect(socket.remoteAddress).toBe("127.0.0.1");
    socket.destroy();
    server.close();
  });
});

describe("the other server", () => {
  test("may have an unknown name", async () => {
    const none = await startOutside(
      () => {},
      () => [],
    );
    expect(await out(none.network, "https://none.example.com/")).toEqual({ fault: "dns_failed" });
    const failing = { resolve: () => Promise.reject(new Error("SERVFAIL")) };
    expect(await out(failing, "https://none.example.com/")).toEqual({ fault: "dns_failed" });
  });

  test("may have an untrusted certificate, or one for another name", async () => {
    const outside = await startOutside((_request, response) => response.end());
    expect(await out(outside.network, "https://other.example.net/")).toEqual({ fault: "unreachable" });
    const { authorities: _own, ...usual } = outside.network;
    expect(await out(usual, "https://shop.example.com/")).toEqual({ fault: "unreachable" });
    expect(outside.paths).toEqual([]);
  });

  test("may redirect, which is not followed", async () => {
    const outside = await startOutside((_request, response) =>
      response.writeHead(302, { location: "https://other.example.com/" }).end(),
    );
    expect(await out(outside.network, "https://shop.example.com/")).toMatchObject({ status: 302 });
    expect(outside.connections).toHaveLength(1);
  });

  test.each([
    [999, "whole"],
    [1_000, "whole"],
    [1_001, "too_long"],
  ])(
    "may send %d bytes with a limit of 1,000: %s, with or without a declared length",
    async (length, end) => {
      for (const declared of [true, false]) {
        const outside = await startOutside((_request, response) => {
          if (declared) response.setHeader("content-length", length);
          response.write(Buffer.alloc(1));
          response.end(Buffer.alloc(length - 1));
        });
        const got = await out(outside.network, "https://shop.example.com/");
        expect(got).toMatchObject({ status: 200, end });
        if (end === "whole") expect((got as { bytes: Buffer }).bytes).toHaveLength(length);
      }
    },
  );

  test("may close before its response is complete", async () => {
    const outside = await startOutside((_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("half");
      setImmediate(() => response.destroy());
    });
    const got = await out(outside.network, "https://shop.example.com/");
    expect(got).toMatchObject({ status: 200, end: "broken" });
  });

  test("may end its response by closing, like HTTP/1.0", async () => {
    const outside = await startOutside((_request, response) => {
      response.socket!.end("HTTP/1.0 200 OK\r\n\r\nhello");
    });
    const got = await out(outside.network, "https://shop.example.com/");
    expect(got).toEqual({ status: 200, bytes: Buffer.from("hello"), end: "whole" });
  });

  test("may close without a response, which does not affect other requests", async () => {
    const outside = await startOutside((request, response) =>
      request.url === "/rude" ? response.destroy() : response.end(request.url),
    );
    const get = (path: string) => out(outside.network, `https://shop.example.com${path}`);
    for (let time = 0; time < 3; time++) expect(await get("/rude")).toEqual({ fault: "connection_lost" });
    const paths = Array.from({ length: 10 }, (_, index) => `/${index}`);
    const got = await Promise.all(paths.map(get));
    expect(got.map((one) => ("bytes" in one ? one.bytes.toString() : one.fault))).toEqual(paths);
  });

  test("may refuse the connection", async () => {
    const network = { resolve: async () => [publicAddress], connect: () => connect(1, "127.0.0.1") };
    expect(await out(network, "https://shop.example.com/")).toEqual({ fault: "unreachable" });
  });
});

describe("a request ends", () => {
  const hang = () => new Promise<never>(() => {});
  test.each([
    ["during the name lookup", { resolve: hang }],
    ["during the connect", { resolve: async () => [publicAddress], connect: () => new Socket() }],
  ])("with a timeout %s", async (_name, part) => {
    const time = new MovableClock({ frozenAt: 0 });
    const result = out({ time, ...part }, "https://shop.example.com/");
    await until(() => time.nextDue() !== null);
    time.advance(9_999);
    expect(await Promise.race([result, realWait(5, "waiting")])).toBe("waiting");
    time.advance(1);
    expect(await result).toEqual({ fault: "timeout" });
    expect(time.nextDue()).toBeNull();
  });

  test("with the end of the mock, which also cancels the name lookup", async () => {
    const ending = new AbortController();
    const life = ending.signal;
    let gaveUp = false;
    const resolve: Network["resolve"] = (_host, whenGivenUp) => {
      whenGivenUp(() => {
        gaveUp = true;
      });
      return hang();
    };
    const result = sendOutgoing({ ...realNetwork(), resolve }, call("https://shop.example.com/"), life);
    ending.abort();
    expect([await result, gaveUp]).toEqual([{ fault: "ended" }, true]);
    const late = sendOutgoing({ ...realNetwork(), resolve }, call("https://shop.example.com/"), life);
    expect(await late).toEqual({ fault: "ended" });
  });
});

test("outgoing work is idle only after its follow-up work has ended too", async () => {
  const workInProgress = new WorkInProgress();
  expect(await workInProgress.idle()).toBe(true);
  const steps: string[] = [];
  const work = async (name: string) => {
    await realWait(2);
    steps.push(name);
  };
  workInProgress.track(work("first").then(() => void workInProgress.track(work("second"))));
  expect(await workInProgress.idle()).toBe(true);
  expect(steps).toEqual(["first", "second"]);
  const time = new MovableClock({ frozenAt: 0 });
  workInProgress.track(new Promise(() => {}));
  const idle = workInProgress.idle({ time, latest: 100 });
  time.advance(100);
  expect(await idle).toBe(false);
});

describe("a custom network that throws", () => {
  const boom = () => {
    throw new Error("a fault of somebody's");
  };
  const resolve = async () => [publicAddress];
  test.each<[string, unknown, string]>([
    ["connect throws", { resolve, connect: boom }, "unreachable"],
    ["resolve throws", { resolve: boom }, "dns_failed"],
  ])("makes the request fail: %s", async (_name, network, fault) => {
    expect(await out(network as Partial<Network>, "https://shop.example.com/")).toEqual({ fault });
  });
});
