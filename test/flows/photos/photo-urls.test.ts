import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { imageErrorCodes } from "../../../src/contract/value-sets.ts";
import { KnownUrls } from "../../../src/flows/photos/known-urls.ts";
import { PhotoUrls } from "../../../src/flows/photos/photo-urls.ts";
import { judgeHead } from "../../../src/flows/photos/url-verdict.ts";
import { blockedHost, NetworkError, TimeoutError } from "../../../src/http/errors.ts";
import { lookupAllowed } from "../../../src/http/local-names.ts";
import type { OutsideExchange, OutsideRequest } from "../../../src/http/outside-exchange.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TestClock } from "../../support/test-clock.ts";

/** A black square of 200 pixels. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAMgAAADIAQAAAACFI5MzAAAAHElEQVR42u3BgQAAAADDoPlTX+EAVQEAAAAAfAYUUAABxFrmKwAAAABJRU5ErkJggg==",
  "base64",
);

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly bytes?: Uint8Array;
}

/** A check whose requests get what `respond` gives. */
async function urlsWith(
  respond: (request: OutsideRequest) => Answer | Promise<Answer>,
  clock = new TestClock(),
  sendBody?: () => AsyncGenerator<Uint8Array[]>,
) {
  const stop = new AbortController();
  const asked: { at: number; host: string; method: string }[] = [];
  const send: OutsideExchange = async (request) => {
    asked.push({ at: clock.now(), host: new URL(request.origin).host, method: request.method });
    const { status = 200, headers = {}, bytes = png } = await respond(request);
    const body =
      sendBody ??
      async function* () {
        yield [bytes];
      };
    return { status, headers, [Symbol.asyncIterator]: body, close() {} } as unknown as Awaited<
      ReturnType<OutsideExchange>
    >;
  };
  const known = await KnownUrls.open(null, clock);
  return {
    urls: new PhotoUrls({ send, clock, signal: stop.signal, userAgent: "test", known }),
    asked,
    clock,
    stop,
  };
}

describe("requests for photos", () => {
  test("are at most 16 at once, and 2 per host and second, whatever the hosts", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 4_000 }),
        async (hosts, ms) => {
          const clock = new TestClock();
          let [now, most] = [0, 0];
          const { urls, asked } = await urlsWith(async () => {
            most = Math.max(most, ++now);
            await clock.sleep(ms);
            now--;
            return {};
          }, clock);
          const checks = hosts.map((host, at) => urls.check(`https://h${host}.example.com/${at}.jpg`)!);
          const verdicts = await Promise.all(checks);
          expect(verdicts.every(({ problem }) => problem === null)).toBe(true);
          expect(most).toBeLessThanOrEqual(16);
          expect(asked).toHaveLength(2 * hosts.length);
          for (const host of new Set(asked.map((one) => one.host))) {
            const times = asked.filter((one) => one.host === host).map(({ at }) => at);
            for (const [index, time] of times.slice(2).entries())
              expect(time - times[index]!).toBeGreaterThanOrEqual(1000);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("are two for each URL, however many rows have it, and none for one that its row rejects", async () => {
    const { urls, asked } = await urlsWith(() => ({}));
    const url = "https://cdn.example.com/a.jpg";
    expect([urls.check(url), urls.check(url)].map((one) => one !== null)).toEqual([true, true]);
    await urls.check(url);
    for (const wrong of [
      "http://cdn.example.com/a.jpg",
      "https://127.0.0.1/a.jpg",
      "https://a:b@example.com/",
      "https://x.internal/",
    ])
      expect(urls.check(wrong)).toBeNull();
    urls.stop();
    expect(urls.check("https://cdn.example.com/b.jpg")).toBeNull();
    expect(asked.map(({ method }) => method)).toEqual(["HEAD", "GET"]);
  });

  test("are repeated for a busy server, as it asks, and are no more if it stays busy", async () => {
    let left = 2;
    const { urls, asked } = await urlsWith(() =>
      left-- > 0 ? { status: 429, headers: { "retry-after": "7" } } : {},
    );
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toBeNull();
    expect(asked.map(({ at }) => at - asked[0]!.at)).toEqual([0, 7000, 14000]);
    left = 99;
    const problem = { code: "http_error", message: "responds with status 429" };
    const checks = Array.from({ length: 40 }, (_, at) => urls.check(`https://cdn.example.com/${at}.jpg`)!);
    expect((await Promise.all(checks)).map((one) => one.problem)).toEqual(checks.map(() => problem));
    expect(asked.length).toBeLessThan(40);
  });

  test("to a host wait as the host asks, whichever photo it rejects", async () => {
    const clock = new TestClock();
    const begin = clock.now();
    const { urls, asked } = await urlsWith(
      () => (clock.now() - begin < 30_000 ? { status: 429, headers: { "retry-after": "30" } } : {}),
      clock,
    );
    const checks = ["a", "b", "c"].map((name) => urls.check(`https://cdn.example.com/${name}.jpg`)!);
    expect((await Promise.all(checks)).map(({ problem }) => problem)).toEqual([null, null, null]);
    expect(asked.filter(({ at }) => at - begin < 30_000)).toHaveLength(1);
  });

  const cut = () => new NetworkError("cut", { code: "connection_cut", transient: true });
  test.each<[string, () => Answer | Promise<Answer>]>([
    ["405", () => ({ status: 405 })],
    ["404", () => ({ status: 404 })],
    ["a connection that ends", () => Promise.reject(cut())],
    ["silence", () => Promise.reject(new TimeoutError("silent", { code: "attempt_timeout" }))],
  ])("go on with GET where a server responds to HEAD with %s", async (_, respond) => {
    const { urls } = await urlsWith(({ method }) => (method === "HEAD" ? respond() : {}));
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toBeNull();
  });

  test("are repeated when the connection ends", async () => {
    let left = 3;
    const { urls } = await urlsWith(() => (left-- > 0 ? Promise.reject(cut()) : {}));
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toBeNull();
    left = 4;
    expect((await urls.check("https://cdn.example.com/b.jpg")!).problem?.code).toBe("http_error");
  });

  test("end one photo before many more begin", async () => {
    const { urls, asked } = await urlsWith(() => ({}));
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => urls.check(`https://cdn.example.com/${at}.jpg`)!),
    );
    expect(asked.findIndex(({ method }) => method === "GET")).toBeLessThan(20);
  });

  test("end for a server that sends a byte now and then", async () => {
    const clock = new TestClock();
    const { urls } = await urlsWith(
      () => ({}),
      clock,
      async function* () {
        for (;;) {
          yield [png.subarray(0, 1)];
          await clock.sleep(1000);
        }
      },
    );
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toEqual({
      code: "timeout",
      message: "is sent too slowly",
    });
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["BR", brotliCompressSync],
    ["constructor", (bytes) => bytes],
  ])("read what a server has compressed with %s, also its start alone", async (encoding, compress) => {
    const problemOf = async (bytes: Buffer) => {
      const sent = compress(bytes);
      const headers = { "content-encoding": encoding, "content-length": String(sent.length) };
      const { urls } = await urlsWith(() => ({ headers, bytes: sent.subarray(0, 64 * 1024) }));
      return (await urls.check("https://cdn.example.com/a.jpg")!).problem;
    };
    expect(await problemOf(png)).toBeNull();
    expect(await problemOf(Buffer.concat([png.subarray(0, 60), randomBytes(99_000)]))).toBeNull();
    expect((await problemOf(Buffer.from("<html>")))?.message).toBe("is a web page, not a photo");
  });

  test("get less than they ask for of a photo that is complete", async () => {
    const { urls } = await urlsWith(({ method }) =>
      method === "HEAD"
        ? {}
        : { status: 206, headers: { "content-range": "bytes 0-39/5000" }, bytes: png.subarray(0, 40) },
    );
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toBeNull();
  });

  test("end with an interrupt, also those that wait", async () => {
    const { urls, stop, asked } = await urlsWith(() => {
      stop.abort(new Error("interrupted"));
      return {};
    });
    const checks = ["a", "b", "c"].map((name) => urls.check(`https://cdn.example.com/${name}.jpg`)!);
    const ended = await Promise.allSettled(checks);
    expect(ended.map((one) => (one as PromiseRejectedResult).reason.message)).toEqual(
      ended.map(() => "interrupted"),
    );
    expect(asked).toHaveLength(1);
  });

  const network = (code: NetworkError["code"]) => new NetworkError("cannot", { code, transient: true });
  const silentHost = new NetworkError("cannot", {
    ...{ code: "unreachable", transient: true },
    cause: Object.assign(new Error("Connect Timeout Error"), { code: "UND_ERR_CONNECT_TIMEOUT" }),
  });
  test.each<[string, unknown, (typeof imageErrorCodes)[number], string]>([
    ["an unknown host", network("host_not_found"), "dns_failed", "has an unknown host"],
    ["a host that the proxy rejects", network("proxy_refused"), "http_error", "cannot be fetched: cannot"],
    ["a refused connection", network("unreachable"), "http_error", "cannot be fetched: cannot"],
    ["a silent connection", silentHost, "timeout", "does not respond"],
    ["silence", new TimeoutError("silent", { code: "attempt_timeout" }), "timeout", "does not respond"],
    [
      "an address that is not public",
      Object.assign(new Error("no"), { code: blockedHost }),
      "blocked_host",
      "is on a host whose address is not public",
    ],
  ])("that fail are a problem of the photo: %s", async (_, error, code, message) => {
    const { urls } = await urlsWith(() => Promise.reject(error));
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toEqual({ code, message });
  });

  const password = "the proxy requires a user name and password";
  const signIn = new NetworkError(password, { code: "proxy_refused", transient: false });
  test.each([network("proxy_unreachable"), signIn, network("too_many_open_files"), new TypeError("a bug")])(
    "that fail because of this machine stop the command: %s",
    async (error) => {
      const { urls } = await urlsWith(() => Promise.reject(error));
      await expect(urls.check("https://cdn.example.com/a.jpg")).rejects.toBe(error);
    },
  );

  test("stop at the sixth redirect", async () => {
    const { urls, asked } = await urlsWith(() => ({ status: 302, headers: { location: "b.jpg" } }));
    expect((await urls.check("https://cdn.example.com/a.jpg")!).problem).toEqual({
      code: "http_error",
      message: "redirects without an end",
    });
    expect(asked).toHaveLength(6);
  });
});

describe("the start of a photo", () => {
  test("that is cut off by the check is not damaged, whatever its length", async () => {
    const start = png.subarray(0, 40);
    for (const length of [null, 5_000]) expect((await judgeHead(start, length, false)).problem).toBeNull();
    expect((await judgeHead(start, 40, true)).problem?.code).toBe("damaged_image");
  });

  test("is never taken for another one: any bytes have a verdict", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(0, 3, 8, 12),
        fc.boolean(),
        async (rest, kept, isWhole) => {
          const bytes = Buffer.concat([png.subarray(0, kept), rest]);
          expect((await judgeHead(bytes, null, isWhole)).problem === null).toBe(
            kept >= 8 && !isWhole && sideOf(bytes) >= 16,
          );
        },
      ),
    );
  });
});

/** The shorter side of a PNG; a head without it is not judged. */
const sideOf = (bytes: Buffer): number =>
  bytes.length < 24 ? 99 : Math.min(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) || 99;

test("a host name is connected to only if all its addresses are allowed", async () => {
  const look = (isAllowed: (address: string) => boolean) =>
    new Promise((resolve) =>
      lookupAllowed(isAllowed)("a.localhost", { all: true }, (error, found) => resolve(error?.code ?? found)),
    );
  expect(await look(() => true)).toEqual([
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ]);
  expect(await look((address) => address !== "::1")).toBe(blockedHost);
});

test("what was found is kept on a new machine, whose folders do not exist", async () => {
  const clock = new TestClock();
  const path = join(temporaryFolder(), "share/catalogue/checked-photos.ndjson");
  const known = await KnownUrls.open(path, clock);
  const verdict = await judgeHead(png, null, false);
  known.add("https://cdn.example.com/a.jpg", '"one"', verdict);
  await known.save();
  const again = await KnownUrls.open(path, clock);
  expect(again.find("https://cdn.example.com/a.jpg", '"one"')).toEqual(verdict);
});
