import { afterEach, expect, test } from "vitest";
import { checkDownloadUrl } from "../../src/client/base-url.ts";
import type { Clock } from "../../src/clock.ts";
import { openConnections } from "../../src/http/connections.ts";
import { downloader } from "../../src/http/download.ts";
import type { ExchangeLog } from "../../src/http/exchange-log.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";
import { closeAll, stillClock } from "./core.ts";
import {
  bytes,
  json,
  reset,
  type ScriptedServer,
  type Step,
  scriptedServer,
  silence,
} from "./scripted-server.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connections) => connections.close()));
  await closeAll();
});

async function against(steps: Step[], clock: Clock = new TestClock()) {
  const server = await scriptedServer(...steps);
  const connections = openConnections({ isDirect: () => true });
  open.push(connections);
  const lines: ExchangeLog[] = [];
  const download = downloader({
    ...{ connections, clock, random: () => 0.5, userAgent: "test", silenceMs: 30_000 },
    check: checkDownloadUrl,
    onExchange: (line) => lines.push(line),
  });
  return {
    server,
    download,
    lines,
    read: (path = "/file?signature=s", options = {}) => read(download, server, path, options),
  };
}

async function read(
  download: ReturnType<typeof downloader>,
  server: ScriptedServer,
  path: string,
  options: object,
) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of download(`${server.origin}${path}`, options)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("a download has the bytes, and sends no credentials, IDs or keys", async () => {
  const { read, server } = await against([bytes(200, "a,b\n", {})]);
  expect(await read()).toBe("a,b\n");
  expect(server.requests[0]!.path).toBe("/file?signature=s");
  const { host: _, ...headers } = server.requests[0]!.headers;
  expect(headers).toEqual({
    "user-agent": "test",
    accept: "*/*",
    "accept-encoding": "identity",
    connection: "keep-alive",
  });
});

test("retries opening after a reset and a 503, and logs each attempt without the signature", async () => {
  const { read, server, lines } = await against([reset, bytes(503, "", {}), bytes(200, "whole", {})]);
  expect(await read()).toBe("whole");
  expect(server.requests).toHaveLength(3);
  expect(lines.map((line) => [line.path, line.attempt, line.status, line.error])).toEqual([
    ["/file?signature=…", 1, null, "connection_cut"],
    ["/file?signature=…", 2, 503, null],
    ["/file?signature=…", 3, 200, null],
  ]);
});

test.each([403, 404, 410])(
  "throws a SignedUrlError for %i, so that the caller can ask for a fresh URL",
  async (status) => {
    const { read, server } = await against([json(status, { error: {} })]);
    const error = await read().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "SignedUrlError", status });
    expect((error as Error).message).not.toContain("signature");
    expect(server.requests).toHaveLength(1);
  },
);

test("a download does not follow a redirect", async () => {
  const elsewhere = await scriptedServer(bytes(200, "other", {}));
  const { read } = await against([bytes(302, "", { location: `${elsewhere.origin}/x` })]);
  await expect(read()).rejects.toMatchObject({ name: "BadResponseError", status: 302 });
  expect(elsewhere.requests).toEqual([]);
});

test("a download reports a truncated file as an error, never as a normal end", async () => {
  const cut: Step = (response) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write("half", () => response.socket?.destroy());
  };
  const { read } = await against([cut]);
  await expect(read()).rejects.toMatchObject({ name: "NetworkError", code: "connection_cut" });
});

test("a download cuts off a file larger than allowed", async () => {
  const { read } = await against([bytes(200, "x".repeat(2000), {})]);
  await expect(read("/file", { maxBytes: 1000 })).rejects.toMatchObject({ code: "response_too_large" });
});

test("a download rejects an unrequested compressed file", async () => {
  const { read } = await against([bytes(200, "x", { "content-encoding": "gzip" })]);
  await expect(read()).rejects.toMatchObject({ name: "BadResponseError", code: "not_a_file" });
});

test("a download gives up on a stream that falls silent", async () => {
  const clock = stillClock();
  const stalls: Step = (response) => {
    response.writeHead(200);
    response.write("some");
  };
  const { read, server } = await against([stalls], clock);
  const outcome = read().catch((error: unknown) => error);
  await until(() => server.requests.length === 1);
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(30_000);
  expect(await outcome).toMatchObject({ name: "TimeoutError" });
});

test("a download closes the connection if the reader stops early", async () => {
  const endless: Step = (response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(10_000)));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  };
  const { download, server } = await against([endless]);
  for await (const _ of download(`${server.origin}/`)) break;
  await until(() => server.inFlight() === 0);
});

test("a download ends on an abort, before the response and in the middle", async () => {
  const { read, server } = await against([silence]);
  const abort = new AbortController();
  const outcome = read("/", { signal: abort.signal }).catch((error: unknown) => error);
  await until(() => server.requests.length === 1);
  abort.abort(new Error("stop"));
  expect(await outcome).toMatchObject({ message: "stop" });
});

test.each(["http://files.example.com/x", "file:///etc/passwd", "ftp://127.0.0.1/x", "not a url"])(
  "a download does not fetch %s",
  async (url) => {
    const { download } = await against([json(200, {})]);
    const first = download(url)[Symbol.asyncIterator]().next();
    await expect(first).rejects.toMatchObject({ type: "bad_response", code: "invalid_url" });
  },
);
