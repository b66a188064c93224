import { afterEach, describe, expect, test } from "vitest";
import { CatalogueError } from "../../src/errors.ts";
import { openConnections } from "../../src/http/connections.ts";
import { BadResponseError, NetworkError } from "../../src/http/errors.ts";
import { describeExchange, type ExchangeLog } from "../../src/http/exchange-log.ts";
import { exchange } from "../../src/http/http-core.ts";
import { maskedKey, maskedPath } from "../../src/http/mask.ts";
import { networkFailure } from "../../src/http/network-failure.ts";
import { checkedKey } from "../../src/http/request-headers.ts";
import { type HttpRequest, multipartForm } from "../../src/http/send.ts";
import { until } from "../support/until.ts";
import { closeAll, coreAgainst } from "./core.ts";
import { bytes, json, reset, type Step, scriptedServer, silence } from "./scripted-server.ts";

afterEach(closeAll);

const once = { retry: { attempts: 1 } };

test("the client ignores informational responses before the final one", async () => {
  const early: Step = (response, seen) => {
    response.writeProcessing();
    response.socket!.write("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nContent-Length: 5000\r\n\r\n");
    json(200, { done: true })(response, seen);
  };
  const { get } = await coreAgainst([early], { ...once, maxAnswerBytes: 1000 });
  const answer = await get();
  expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([200, { done: true }]);
  expect(answer.headers).not.toHaveProperty("link");
});

test("the client does not send a request that is aborted while it waits for a connection, so its outcome is certain", async () => {
  const server = await scriptedServer(silence);
  const connections = openConnections({ isDirect: () => true });
  const doubts: boolean[] = [];
  const request = (signal: AbortSignal): HttpRequest => ({
    ...{ method: "POST", path: "/v1/things", origin: server.origin, headers: {}, body: null, signal },
    call: {
      ...{
        order: 0,
        attempt: 1,
        inDoubt: false,
        remainingMs: () => 60_000,
        hold: () => () => {},
        onEnd: () => {},
        hasShared: false,
        giveBack: () => {},
      },
      doubt: (inDoubt) => void doubts.push(inDoubt),
    },
  });
  const send = exchange(connections, 1000);
  const leaving = new AbortController();
  const ending = send(request(leaving.signal));
  // It is queued: none of the connections is open yet.
  for (let turn = 0; turn < 5; turn++) await null;
  leaving.abort(new Error("not any more"));
  await expect(ending).rejects.toThrow("not any more");
  // A later request gets its connection, as the first one would have.
  const later = new AbortController();
  const second = send({ ...request(later.signal), path: "/v1/later" });
  await until(() => server.requests.length > 0);
  later.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await connections.close();
  expect(server.requests.map(({ path }) => path)).toEqual(["/v1/later"]);
  expect(doubts).toEqual([true]);
});

describe("invalid responses", () => {
  test("cuts off an endless body at the limit, without a retry", async () => {
    let open = 0;
    const endless: Step = (response) => {
      open++;
      response.on("close", () => open--);
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(64 * 1024, "a");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    };
    const { get, server } = await coreAgainst([endless], { maxAnswerBytes: 1024 * 1024 });
    await expect(get()).rejects.toMatchObject({
      name: "BadResponseError",
      code: "response_too_large",
      status: 200,
    });
    expect(server.requests).toHaveLength(1);
    await until(() => open === 0);
  });

  test("does not read a body announced as too large", async () => {
    const huge: Step = (response) => {
      response.writeHead(200, { "content-length": 10_000_000 });
      response.write("x");
    };
    const { get } = await coreAgainst([huge], { maxAnswerBytes: 1000 });
    await expect(get()).rejects.toMatchObject({ code: "response_too_large" });
  });

  test("reads a body of exactly the limit completely", async () => {
    const { get } = await coreAgainst([bytes(200, "x".repeat(1000), {})], { maxAnswerBytes: 1000 });
    expect((await get()).body.length).toBe(1000);
  });

  test("does not follow a redirect, and sends no header to it", async () => {
    const elsewhere = await scriptedServer(json(200, { stolen: true }));
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${elsewhere.origin}/take?secret=1`;
      const { post, server } = await coreAgainst([bytes(status, "", { location, "x-request-id": "req_1" })]);
      const error = await post().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(BadResponseError);
      expect(error).toMatchObject({ code: "redirect", status, requestId: "req_1" });
      expect((error as Error).message).toContain(` to ${elsewhere.origin}; redirects are not followed`);
      expect((error as Error).message).not.toContain("secret");
      expect(server.requests).toHaveLength(1);
    }
    expect(elsewhere.requests).toEqual([]);
  });

  test.each([
    ["less than announced", 10],
    ["more than announced", 2],
  ])("rejects a body of %s", async (_, length) => {
    const wrong: Step = (response) => {
      response.socket!.end(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n{"a":1`);
    };
    const { get } = await coreAgainst([wrong], once);
    const outcome = await get().then(
      (answer) => Buffer.from(answer.body).toString(),
      (error: unknown) => error,
    );
    // Bytes after the announced end of a body belong to no request; the body ends where announced.
    if (length === 2) expect(outcome).toBe('{"');
    else expect(outcome).toMatchObject({ name: "NetworkError", code: "connection_cut" });
  });

  test("rejects a chunked body that ends in the middle", async () => {
    const cut: Step = (response) => {
      response.socket!.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n');
    };
    const { get } = await coreAgainst([cut], once);
    await expect(get()).rejects.toMatchObject({ name: "NetworkError", code: "connection_cut" });
  });

  test("retries after half a JSON document that ends with the connection, but not after another kind of body", async () => {
    const until =
      (type: string, text: string): Step =>
      (response) => {
        response.socket!.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: ${type}\r\n\r\n${text}`);
      };
    const world = await coreAgainst([
      until("application/json", '{"data":[{"id'),
      until("application/json", '{"a":1}'),
    ]);
    expect(Buffer.from((await world.get()).body).toString()).toBe('{"a":1}');
    expect(world.server.requests).toHaveLength(2);

    const page = await coreAgainst([until("text/html", "<html>")]);
    expect((await page.get()).status).toBe(200);
    expect(page.server.requests).toHaveLength(1);
  });

  test("throws a BadResponseError for a response that is not HTTP, without a retry", async () => {
    const other: Step = (response) => response.socket!.end("220 smtp.example.com ESMTP\r\n");
    const { get, server } = await coreAgainst([other]);
    await expect(get()).rejects.toMatchObject({ name: "BadResponseError", code: "not_http" });
    expect(server.requests).toHaveLength(1);
  });

  test("throws a NetworkError with the request ID for a port without a listener", async () => {
    const { get, server } = await coreAgainst([json(200, {})], once);
    await server.stop();
    const error = await get().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: "unreachable", requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect((error as Error).message).toBe(
      `cannot connect to ${server.origin}: connection refused (GET /v1/things)`,
    );
  });

  test("names a firewall of this machine, which Windows reports as a denied connection", () => {
    const denied = Object.assign(new Error("connect"), { code: "EACCES", syscall: "connect" });
    const request = { method: "GET", path: "/v1/x", origin: "https://a.example", headers: {} } as const;
    expect(networkFailure(denied, request)).toMatchObject({
      code: "unreachable",
      message:
        "cannot connect to https://a.example: a firewall of this machine does not allow it (GET /v1/x)",
    });
  });

  test("throws a NetworkError for https to a plain server, without a retry", async () => {
    const { send, server, clock } = await coreAgainst([json(200, {})]);
    const origin = server.origin.replace("http:", "https:");
    const message = { method: "GET", path: "/", origin, headers: {}, body: null } as const;
    await expect(send(message)).rejects.toMatchObject({ name: "NetworkError", code: "tls" });
    expect(clock.slept).toEqual([]);
  });
});

describe("the API key", () => {
  test("is sent to the base URL's origin only", async () => {
    const other = await scriptedServer(json(200, {}));
    const { get, send, server } = await coreAgainst([json(200, {})], { apiKey: "  ak_secret_1234567890\n" });
    await get();
    await send({ method: "GET", origin: other.origin, path: "/", headers: {}, body: null });
    expect(server.requests[0]!.headers.authorization).toBe("Bearer ak_secret_1234567890");
    expect(other.requests[0]!.headers.authorization).toBeUndefined();
  });

  test("is looked up once for many concurrent requests", async () => {
    let asked = 0;
    const apiKey = async () => `ak_${++asked}_1234567890`;
    const { get, post } = await coreAgainst([json(200, {})], { apiKey });
    await Promise.all([get(), post(), get()]);
    expect(asked).toBe(1);
  });

  test("is looked up once, and again only after a failure", async () => {
    let asked = 0;
    const apiKey = async () => {
      asked++;
      if (asked === 1) throw new CatalogueError("locked", { type: "unauthorized", code: "locked" });
      return "ak_later_1234567890";
    };
    const { get, server } = await coreAgainst([json(200, {})], { apiKey });
    await expect(get()).rejects.toThrow("locked");
    await get();
    await get();
    expect(asked).toBe(2);
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ["ak_one\nak_two", "a line break or another control character"],
    ["ak_\u0000x", "a line break or another control character"],
    ["ak_schlüssel", "a character outside ASCII"],
    ["ak_one ak_two", "a space"],
  ])("is rejected without being shown: %j", (key, what) => {
    const error = (() => {
      try {
        return checkedKey(key);
      } catch (error) {
        return error;
      }
    })();
    expect(error).toMatchObject({ type: "unauthorized", code: "invalid_api_key" });
    expect((error as Error).message).toBe(`the API key contains ${what}`);
  });

  test("is reported as missing if empty", () => {
    expect(() => checkedKey(" \n")).toThrow("no API key");
  });
});

describe("the request log", () => {
  test("lists every attempt, with the server's request ID and without secrets", async () => {
    const lines: ExchangeLog[] = [];
    const { post, server } = await coreAgainst([reset, json(201, {}, { "idempotent-replayed": "true" })], {
      apiKey: "ak_live_abcdefghijklmnop1234",
      onExchange: (line) => lines.push(line),
    });
    await post("/v1/things?cursor=abc&signature=s3cr3t", "{}", { "idempotency-key": "0123456789abcdef" });
    const about = {
      method: "POST",
      origin: server.origin,
      path: "/v1/things?cursor=abc&signature=…",
      ms: 0,
      idempotencyKey: "01234567…",
      apiKey: "ak_…1234",
    };
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(lines).toEqual([
      { ...about, attempt: 1, status: null, error: "connection_cut", requestId: id, replayed: false },
      { ...about, attempt: 2, status: 201, error: null, requestId: "req_server", replayed: true },
    ]);
    expect(describeExchange(lines[1]!)).toBe(
      `POST ${server.origin}/v1/things?cursor=abc&signature=… 201 in 0 ms ` +
        "(attempt 2, request req_server, idempotency key 01234567…, as ak_…1234, replayed)",
    );
  });

  test.each([
    ["/f?a=1&b=2", "/f?a=1&b=2"],
    ["/f?X-Amz-Signature=abc&X-Amz-Expires=60", "/f?X-Amz-Signature=…&X-Amz-Expires=60"],
    ["/f?sig=abc", "/f?sig=…"],
    ["/f?access_token=abc=def", "/f?access_token=…"],
    ["/f", "/f"],
  ])("shows %s as %s", (path, shown) => {
    expect(maskedPath(path)).toBe(shown);
  });

  test("shows nothing of a short key", () => {
    expect(maskedKey("Bearer ak_mock")).toBe("ak_…");
    expect(maskedKey("Bearer secret")).toBe("…");
    expect(maskedKey(undefined)).toBeNull();
  });
});

test("the client encodes the same file as the same form, which an idempotency key needs", () => {
  const file = { bytes: new TextEncoder().encode("picture"), filename: 'a "b".jpg' };
  const form = multipartForm("file", file);
  expect(multipartForm("file", file)).toEqual(form);
  const boundary = form.contentType.split("boundary=")[1]!;
  expect(Buffer.from(form.body).toString()).toBe(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a %22b%22.jpg"\r\n` +
      `Content-Type: application/octet-stream\r\n\r\npicture\r\n--${boundary}--\r\n`,
  );
});
