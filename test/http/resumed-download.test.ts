import { afterEach, describe, expect, test } from "vitest";
import { checkDownloadUrl } from "../../src/client/base-url.ts";
import type { Clock } from "../../src/clock.ts";
import { openConnections } from "../../src/http/connections.ts";
import { resumableDownloader } from "../../src/http/download.ts";
import type { DownloadTarget, FileVersion, ResumableDownload } from "../../src/http/download-options.ts";
import type { Wait } from "../../src/http/retry.ts";
import { TransferLimit } from "../../src/http/transfer-limit.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";
import { closeAll, stillClock } from "./core.ts";
import { bytes, json, reset, type Step, scriptedServer, silence } from "./scripted-server.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connections) => connections.close()));
  await closeAll();
});

const whole = "0123456789abcdef";
const etag = '"v1"';

/** A target in memory. */
class Memory implements DownloadTarget {
  kept: DownloadTarget["kept"] = null;
  text = "";
  readonly begun: FileVersion[] = [];

  static with(text: string, value = etag): Memory {
    const memory = new Memory();
    memory.text = text;
    memory.kept = { bytes: text.length, etag: value, total: whole.length };
    return memory;
  }

  async begin(version: FileVersion): Promise<void> {
    this.begun.push(version);
    this.text = "";
  }

  async write(chunks: readonly Uint8Array[]): Promise<void> {
    this.text += Buffer.concat(chunks).toString("latin1");
  }
}

async function against(steps: Step[], clock: Clock = new TestClock()) {
  const server = await scriptedServer(...steps);
  const connections = openConnections({ isDirect: () => true });
  open.push(connections);
  const waits: Wait[] = [];
  const into = resumableDownloader({
    ...{ connections, clock, random: () => 0.5, userAgent: "test", silenceMs: 30_000 },
    check: checkDownloadUrl,
    onWait: (wait) => waits.push(wait),
    transfers: new TransferLimit(),
  });
  const memory = new Memory();
  return {
    server,
    memory,
    waits,
    get: (more: Partial<ResumableDownload> = {}, target: Memory = memory) =>
      into(target, { url: `${server.origin}/file?signature=s`, ...more }),
    /** `Range` and `If-Range` of every request. */
    asked: () =>
      server.requests.map(({ headers }) =>
        headers.range === undefined ? null : `${headers.range} if ${headers["if-range"]}`,
      ),
  };
}

/** The complete file, cut after `sent` bytes. */
const cutAfter =
  (sent: number, headers: Record<string, string> = { etag }, text = whole): Step =>
  (response) => {
    response.writeHead(200, { "content-length": text.length, ...headers });
    response.write(text.slice(0, sent), () => setImmediate(() => response.socket?.destroy()));
  };

const all = (headers: Record<string, string> = { etag }, text = whole): Step =>
  bytes(200, text, { "content-length": text.length, ...headers });

/** The rest from that byte on, as a 206. */
const rest = (from: number, headers: Record<string, string> = {}, text = whole): Step =>
  bytes(206, text.slice(from), {
    etag,
    "content-length": text.length - from,
    "content-range": `bytes ${from}-${text.length - 1}/${text.length}`,
    ...headers,
  });

const brief = [
  ["a cut connection", reset],
  ["a 503", bytes(503, "", {})],
  ["a 429", bytes(429, "", {})],
] as const;

describe("a broken download", () => {
  test("resumes with Range and If-Range", async () => {
    const { get, memory, asked, waits } = await against([cutAfter(5), rest(5)]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, `bytes=5- if ${etag}`]);
    expect(memory.begun).toEqual([{ etag, total: 16 }]);
    expect(waits.map(({ reason, ms, path }) => [reason, ms, path])).toEqual([
      ["network", 250, "/file?signature=…"],
    ]);
  });

  test.each(brief)("resumes after %s, too", async (_, step) => {
    const { get, memory, asked } = await against([cutAfter(5), step, rest(5)]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, `bytes=5- if ${etag}`, `bytes=5- if ${etag}`]);
  });

  test.each<[string, Record<string, string>]>([
    ["no ETag", {}],
    ["a weak ETag", { etag: 'W/"v1"' }],
    ["a weak ETag and a date", { etag: 'W/"v1"', "last-modified": "Mon, 05 Jan 2026 08:00:00 GMT" }],
    ["an ETag without quotes", { etag: "v1" }],
  ])("starts over with %s", async (_, headers) => {
    const { get, memory, asked } = await against([cutAfter(5, headers), all(headers)]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, null]);
    expect(memory.begun).toEqual([
      { etag: null, total: 16 },
      { etag: null, total: 16 },
    ]);
  });

  test("starts over after a 200: bytes of two versions never mix", async () => {
    const { get, memory } = await against([cutAfter(5), all({ etag: '"v2"' }, "NEWBYTES")]);
    expect(await get()).toBe(8);
    expect(memory.text).toBe("NEWBYTES");
  });

  test.each<[string, Step]>([
    ["a wrong start", rest(4)],
    ["no Content-Range", bytes(206, whole.slice(5), { etag })],
    ["an unreadable Content-Range", rest(5, { "content-range": "bytes 5-15" })],
    ["a Content-Range without a total", rest(5, { "content-range": "bytes 5-15/*" })],
    ["an end after the total", rest(5, { "content-range": "bytes 5-16/16" })],
    ["another total", rest(5, { "content-range": "bytes 5-15/17" })],
    ["another ETag", rest(5, { etag: '"v2"' })],
    ["a weak ETag", rest(5, { etag: `W/${etag}` })],
    ["a 416", bytes(416, "", { "content-range": "bytes */3" })],
  ])("starts over immediately after a 206 with %s", async (_, step) => {
    const { get, memory, asked, waits } = await against([cutAfter(5), step, all()]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, `bytes=5- if ${etag}`, null]);
    expect(waits).toHaveLength(1);
  });

  test("starts over after a 206 without an ETag", async () => {
    const step = bytes(206, whole.slice(5), { "content-range": "bytes 5-15/16" });
    const { get, memory, asked } = await against([cutAfter(5), step, all()]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, `bytes=5- if ${etag}`, null]);
  });

  test("requests what is still missing after a 206 with part of the rest", async () => {
    const some = bytes(206, whole.slice(5, 9), { etag, "content-range": "bytes 5-8/16" });
    const { get, memory, asked } = await against([cutAfter(5), some, rest(9)]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, `bytes=5- if ${etag}`, `bytes=9- if ${etag}`]);
  });

  test("continues as long as each attempt brings bytes", async () => {
    const parts = Array.from({ length: 12 }, (_, at): Step => {
      const from = at + 1;
      return (response) => {
        response.writeHead(206, {
          etag,
          "content-length": whole.length - from,
          "content-range": `bytes ${from}-15/16`,
        });
        response.write(whole[from], () => setImmediate(() => response.socket?.destroy()));
      };
    });
    const { get, memory } = await against([cutAfter(1), ...parts, rest(13)]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
  });

  test("ends with the sixth consecutive failure", async () => {
    const { get, server, waits } = await against([cutAfter(5), reset]);
    await expect(get()).rejects.toMatchObject({ name: "NetworkError", code: "connection_cut" });
    expect(server.requests).toHaveLength(6);
    expect(waits.map(({ ms }) => ms)).toEqual([250, 500, 1000, 2000, 4000]);
  });

  test("makes no progress by starting over each time", async () => {
    const { get, server } = await against([cutAfter(5, {})]);
    await expect(get()).rejects.toMatchObject({ code: "connection_cut" });
    expect(server.requests).toHaveLength(6);
  });

  test("waits as long as the server asks, but no longer than a window", async () => {
    const { get, waits } = await against([
      cutAfter(5),
      bytes(503, "", { "retry-after": 7 }),
      bytes(429, "", { "retry-after": 3600 }),
      rest(5),
    ]);
    expect(await get()).toBe(16);
    expect(waits.map(({ reason, ms }) => [reason, ms])).toEqual([
      ["network", 250],
      ["server_error", 7000],
      ["rate_limited", 60_000],
    ]);
  });
});

describe("a download kept by an earlier process", () => {
  test("resumes if the version is the same", async () => {
    const { get, asked } = await against([rest(9)]);
    const target = Memory.with(whole.slice(0, 9));
    expect(await get({}, target)).toBe(16);
    expect([target.text, target.begun]).toEqual([whole, []]);
    expect(asked()).toEqual([`bytes=9- if ${etag}`]);
  });

  test("starts over if the version is another", async () => {
    const { get, asked } = await against([all({ etag: '"v2"' }, "NEW")]);
    const target = Memory.with(whole.slice(0, 9));
    expect(await get({}, target)).toBe(3);
    expect(target.text).toBe("NEW");
    expect(asked()).toEqual([`bytes=9- if ${etag}`]);
  });
});

describe("an expired URL", () => {
  test.each([403, 404, 410])("(%i) is replaced, also in the middle", async (status) => {
    const { get, server, memory, waits } = await against([
      bytes(status, "", {}),
      cutAfter(5),
      bytes(status, "", {}),
      rest(5),
    ]);
    let fresh = 0;
    const freshUrl = async () => `${server.origin}/file?signature=${++fresh}`;
    expect(await get({ freshUrl })).toBe(16);
    expect(memory.text).toBe(whole);
    expect(server.requests.map(({ path, headers }) => [path, headers.range])).toEqual([
      ["/file?signature=s", undefined],
      ["/file?signature=1", undefined],
      ["/file?signature=1", "bytes=5-"],
      ["/file?signature=2", "bytes=5-"],
    ]);
    expect(waits).toHaveLength(1);
  });

  test("starts over at another path, even with the same ETag and length", async () => {
    const { get, memory, asked, server } = await against([cutAfter(5), bytes(403, "", {}), all()]);
    expect(await get({ freshUrl: async () => `${server.origin}/other?signature=t` })).toBe(16);
    expect([memory.text, asked()]).toEqual([whole, [null, `bytes=5- if ${etag}`, null]]);
  });

  test("is replaced three consecutive times at most", async () => {
    const { get, server } = await against([bytes(403, "", {})]);
    let fresh = 0;
    const freshUrl = async () => `${server.origin}/file?signature=${++fresh}`;
    const error = await get({ freshUrl }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "SignedUrlError", status: 403 });
    expect((error as Error).message).not.toContain("signature=");
    expect([fresh, server.requests.length]).toEqual([3, 4]);
  });

  test("ends the download if it cannot be replaced", async () => {
    const { get, server } = await against([bytes(404, "", {})]);
    await expect(get()).rejects.toMatchObject({ name: "SignedUrlError", status: 404 });
    expect(server.requests).toHaveLength(1);
  });

  test("ends the download with the reason for a failed replacement, and a fresh one is checked", async () => {
    const { get } = await against([bytes(403, "", {})]);
    const fails = async () => Promise.reject(new Error("gone"));
    await expect(get({ freshUrl: fails })).rejects.toThrow("gone");
    const odd = async () => "http://files.example.com/x";
    await expect(get({ freshUrl: odd })).rejects.toMatchObject({ type: "bad_response", code: "invalid_url" });
  });
});

describe("completeness", () => {
  const closes =
    (text: string): Step =>
    (response) => {
      response.removeHeader("transfer-encoding");
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { etag, connection: "close" });
      response.end(text);
    };

  test("rejects a body without a length before it starts", async () => {
    const { get, memory } = await against([closes(whole)]);
    await expect(get()).rejects.toMatchObject({ name: "BadResponseError", code: "unknown_length" });
    expect(memory.begun).toEqual([]);
  });

  test.each(["close", "keep-alive"])("accepts a chunked body (Connection: %s)", async (connection) => {
    const { get, memory } = await against([
      bytes(200, whole, { etag, "transfer-encoding": "chunked", connection }),
    ]);
    expect(await get()).toBe(16);
    expect(memory.text).toBe(whole);
    expect(memory.begun).toEqual([{ etag, total: null }]);
  });

  test.each(["close", "keep-alive"])("resumes a cut chunked body (Connection: %s)", async (connection) => {
    const cut: Step = (response) => {
      response.writeHead(200, { etag, "transfer-encoding": "chunked", connection });
      response.write(whole.slice(0, 5), () => setImmediate(() => response.socket?.end()));
    };
    const { get, memory, asked } = await against([cut, rest(5)]);
    expect(await get()).toBe(16);
    expect([memory.text, asked()]).toEqual([whole, [null, `bytes=5- if ${etag}`]]);
  });

  test("rejects another type than the expected one; parameters do not count", async () => {
    const html = await against([all({ etag, "content-type": "text/html" })]);
    await expect(html.get({ type: "image/jpeg" })).rejects.toMatchObject({
      code: "wrong_type",
    });
    const jpeg = await against([all({ etag, "content-type": "Image/JPEG; q=1" })]);
    expect(await jpeg.get({ type: "image/jpeg" })).toBe(16);
  });

  test("accepts a file of no bytes as complete", async () => {
    const { get, memory } = await against([all({ etag }, "")]);
    expect(await get()).toBe(0);
    expect(memory.begun).toHaveLength(1);
  });

  test("rejects a part that continues after its end", async () => {
    const long: Step = (response) => {
      response.writeHead(206, { etag, "content-range": "bytes 5-15/16" });
      response.end(`${whole.slice(5)}more`);
    };
    const { get } = await against([cutAfter(5), long]);
    await expect(get()).rejects.toMatchObject({ name: "BadResponseError", code: "response_too_large" });
  });

  test("rejects a file larger than allowed before its first byte", async () => {
    const { get, memory } = await against([all()]);
    await expect(get({ limits: { maxBytes: 15 } })).rejects.toMatchObject({ code: "file_too_large" });
    expect(memory.begun).toEqual([]);
  });
});

describe("the rules of every download", () => {
  test("exclude credentials, redirects and compressed bodies, and make a rejection final", async () => {
    const elsewhere = await scriptedServer(all());
    const { get, server } = await against([
      bytes(302, "", { location: `${elsewhere.origin}/x` }),
      all({ etag, "content-encoding": "gzip" }),
      json(400, {}),
      rest(0),
    ]);
    for (const code of ["download_refused", "not_a_file", "download_refused", "not_a_file"]) {
      await expect(get()).rejects.toMatchObject({ name: "BadResponseError", code });
    }
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests).toHaveLength(4);
    const { host: _, ...headers } = server.requests[0]!.headers;
    expect(headers).toEqual({
      "user-agent": "test",
      accept: "*/*",
      "accept-encoding": "identity",
      connection: "keep-alive",
    });
  });

  test("end it in the middle on an abort, without a retry", async () => {
    const { get, server, memory } = await against([
      (response) => {
        response.writeHead(200, { etag, "content-length": 16 });
        response.write("0123");
      },
    ]);
    const abort = new AbortController();
    const outcome = get({ signal: abort.signal }).catch((error: unknown) => error);
    await until(() => memory.text === "0123");
    abort.abort(new Error("stop"));
    expect(await outcome).toMatchObject({ message: "stop" });
    await until(() => server.inFlight() === 0);
    expect(server.requests).toHaveLength(1);
  });
});

describe("deadlines", () => {
  test("give up on a server that falls silent, and the download resumes", async () => {
    const clock = stillClock();
    const { get, memory, asked, server } = await against(
      [
        (response) => {
          response.writeHead(200, { etag, "content-length": 16 });
          response.write("01234");
        },
        silence,
        rest(5),
      ],
      clock,
    );
    const outcome = get();
    await until(() => memory.text === "01234");
    clock.advance(29_999);
    expect(server.inFlight()).toBe(1);
    clock.advance(1);
    await until(() => clock.nextDue() === clock.now() + 250);
    clock.advance(250);
    await until(() => server.requests.length === 2);
    clock.advance(30_000);
    await until(() => clock.nextDue() === clock.now() + 500);
    clock.advance(500);
    expect(await outcome).toBe(16);
    expect(memory.text).toBe(whole);
    expect(asked()).toEqual([null, `bytes=5- if ${etag}`, `bytes=5- if ${etag}`]);
  });

  test("end a slow drip after the time that its size allows", async () => {
    const clock = stillClock();
    // 640 bytes at 32 per millisecond add 20 ms.
    let drip = () => {};
    const { get, memory } = await against(
      [
        (response) => {
          response.writeHead(200, { etag, "content-length": 640 });
          drip = () => void response.write("x");
          drip();
        },
      ],
      clock,
    );
    const outcome = get({ limits: { totalMs: 100_000 } }).catch((error: unknown) => error);
    for (let came = 1; came <= 5; came++) {
      await until(() => memory.text.length === came);
      clock.advance(20_000);
      drip();
    }
    await until(() => memory.text.length === 6);
    clock.advance(19);
    expect(clock.nextDue()).toBe(clock.now() + 1);
    clock.advance(1);
    expect(await outcome).toMatchObject({
      name: "TimeoutError",
      code: "deadline",
      message: "the download was not complete after 100 s (6 bytes received)",
    });
  });
});
