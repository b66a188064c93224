import fc from "fast-check";
import { expect, test } from "vitest";
import { keepBody, shownBody } from "../../../src/mock/world/requests.ts";
import { startWorld, tinyPng } from "../world.ts";

test("requests have no bodies and no responses unless they are asked for", async () => {
  const { send, mock } = await startWorld();
  await send("/v1/products", { json: { name: "A" } });
  expect(Object.keys(mock.requests()[0]!)).toEqual([
    "at",
    "method",
    "path",
    "status",
    "request_id",
    "idempotency_key",
    "replayed",
    "headers",
    "faults",
  ]);
});

test("requests have their bodies, headers and responses with `bodies`", async () => {
  const { send, mock } = await startWorld({ bodies: true });
  const sent = await send("/v1/products", {
    body: '{"name": "É"}',
    headers: { "content-type": "text/plain" },
  });
  await send("/v1/products?limit=1");
  const [post, get] = mock.requests();
  expect(post!.body).toEqual({ content: '{"name": "É"}', encoding: "utf8", bytes: 14 });
  const { headers, body } = post!.response!;
  expect(JSON.parse(body!.content)).toEqual(sent.body);
  expect([post!.status, body!.bytes]).toEqual([415, Number(headers["content-length"])]);
  expect(headers["x-request-id"]).toBe(sent.headers.get("x-request-id"));
  expect(get!.body).toBeNull();
  expect(get!.response!.body!.content).toBe('{"data":[],"next_cursor":null,"has_more":false}');
  expect((await send("/_mock/requests", { key: null })).body).toEqual(mock.requests());
});

test("bytes that are not text are kept as base64, and an empty response as none", async () => {
  const { send, mock, createProduct } = await startWorld({ bodies: true });
  const { id } = (await createProduct()).body;
  await send(`/v1/products/${id}`, { method: "DELETE" });
  const [upload, , removal] = mock.requests();
  const kept = Buffer.from(upload!.body!.content, "base64");
  expect([upload!.body!.encoding, kept.includes(Buffer.from(tinyPng)), kept.length]).toEqual([
    "base64",
    true,
    upload!.body!.bytes,
  ]);
  expect(removal).toMatchObject({ status: 204, body: null, response: { body: null } });
});

test("a body over 64 kB is cut, and says so; a body over the limit of the service was not read", async () => {
  const { send, mock } = await startWorld({ bodies: true });
  const name = "é".repeat(40_000);
  await send("/v1/products", { json: { name } });
  await send("/v1/products", { body: "x".repeat(1024 * 1024 + 1) });
  const [cut, rejected] = mock.requests();
  const start = `{"name":"${"é".repeat(32_763)}`;
  expect(cut!.body).toEqual({
    content: start,
    encoding: "utf8",
    bytes: 80_011,
    note: "cut after 65536 of 80011 bytes",
  });
  expect(Buffer.byteLength(start)).toBe(65_535);
  expect(rejected!.body).toEqual({
    content: "",
    encoding: "utf8",
    bytes: 1_048_577,
    note: "the body is larger than 1048576 bytes",
  });
});

test("a request names the faults that hit it, and what was lost of its response", async () => {
  const { send, mock } = await startWorld({ bodies: true });
  const order = (json: unknown) => send("/_mock/faults", { json, key: null });
  await order({ match: { path: "/v1/models" }, delay_ms: 0 });
  await order({ match: { path: "/v1/models" }, times: 1, truncate: 9 });
  await order({ match: { path: "/v1/products" }, drop: "before" });
  await expect(send("/v1/models?limit=1")).rejects.toThrow();
  await expect(send("/v1/products")).rejects.toThrow();
  await send("/v1/models?limit=1");
  await send("/v1/webhooks");
  const [truncated, dropped, delayed, spared] = mock.requests();
  expect([truncated!.faults, dropped!.faults, delayed!.faults, spared!.faults]).toEqual([
    [1, 2],
    [3],
    [1],
    [],
  ]);
  const whole = delayed!.response!.body!;
  expect(truncated!.response!.body).toEqual({
    content: '{"data":[',
    encoding: "utf8",
    bytes: 9,
    note: `a fault cut it after 9 of ${whole.bytes} bytes`,
  });
  expect(dropped).toMatchObject({ status: null, response: null });
});

test("only the last 200 requests keep their bodies", async () => {
  const { send, mock } = await startWorld({ bodies: true });
  for (let sent = 0; sent < 203; sent++) await send(`/v1/nothing/${sent}`);
  const kept = mock.requests().map((request) => request.response !== undefined);
  expect([kept.length, kept.indexOf(true), kept.lastIndexOf(false)]).toEqual([203, 3, 2]);
});

test("any body is shown complete, or as the start that its size says", () => {
  const bodies = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.uint8Array(),
    fc
      .tuple(fc.string({ unit: "binary" }), fc.constantFrom("a", "é", "€", "😀"))
      .map(([start, more]) => start + more.repeat(66_000 / Buffer.byteLength(more))),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      const all = Buffer.from(body as string);
      const shown = shownBody(keepBody(body));
      if (all.length === 0) {
        expect(shown).toBeNull();
        return;
      }
      const { content, encoding, bytes, note } = shown!;
      const got = Buffer.from(content, encoding);
      expect([bytes, got.equals(all.subarray(0, got.length))]).toEqual([all.length, true]);
      expect(note === undefined).toBe(all.length <= 65_536);
      expect(got.length).toBeGreaterThan(Math.min(all.length, 65_536) - 4);
    }),
  );
});
