import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { refusal, startWorld } from "../world.ts";

const events = ["import.completed", "task.failed"];
const url = "https://hooks.example.com/in";

async function worldWithWebhook(fields: Record<string, unknown> = {}) {
  const world = await startWorld();
  const { body: webhook } = await world.send("/v1/webhooks", { json: { url, events, ...fields } });
  const path = `/v1/webhooks/${webhook.id}`;
  const patch = (json: unknown) => world.send(path, { method: "PATCH", json });
  return { ...world, webhook, path, patch };
}

test("a webhook is created, and its secret is shown only then", async () => {
  const { webhook, send, path, clock } = await worldWithWebhook({ description: "Stock" });
  expect(webhook).toEqual({
    id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
    url,
    events,
    status: "active",
    description: "Stock",
    last_delivery_at: null,
    created_at: "2026-01-05T09:00:00.000Z",
    signing_secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/),
  });
  const { signing_secret, ...rest } = webhook;
  expect((await send(path)).body).toEqual(rest);
  expect((await send("/v1/webhooks")).body).toEqual({ data: [rest], next_cursor: null, has_more: false });
  clock.advance(1);
  for (const shown of ["/_mock/requests", "/_mock/deliveries", "/v1/webhooks", path]) {
    expect(JSON.stringify((await send(shown)).body)).not.toContain(signing_secret);
  }
});

test("a replay of the creation shows the secret again, for a day", async () => {
  const { send, clock } = await startWorld();
  const headers = { "idempotency-key": "k" };
  const create = () => send("/v1/webhooks", { json: { url, events }, headers });
  const first = await create();
  const again = await create();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  expect(again.body).toEqual(first.body);
  clock.advance(24 * 3_600_000);
  const next = await create();
  expect(next.headers.get("idempotent-replayed")).toBe(null);
  expect(next.body.signing_secret).not.toBe(first.body.signing_secret);
});

describe("the URL of a webhook", () => {
  test.each([
    ["https://hooks.example.com/in", null],
    ["https://hooks.example.com:443/in", null],
    ["https://8.8.8.8/in", null],
    ["http://hooks.example.com/in", "https"],
    ["https://hooks.example.com:8443/in", "port"],
    ["https://user:secret@hooks.example.com/in", "user name"],
    ["https://10.0.0.1/in", "public"],
    ["https://169.254.169.254/latest", "public"],
    ["https://[::ffff:10.0.0.1]/in", "public"],
    ["https://printer.local/in", "public"],
    ["http://0.0.0.0:80/", "https"],
    ["ftp://127.0.0.1/in", "https"],
    ["hooks.example.com", "not a URL"],
    ["", "not a URL"],
    // Loopback, which only a strict mock rejects.
    ["http://127.0.0.1:4242/in", "loopback"],
    ["https://127.0.0.1:9/in", "loopback"],
    ["http://localhost:4242", "loopback"],
    ["http://shop.localhost/in", "loopback"],
    ["http://[::1]:4242/in", "loopback"],
    ["http://[::ffff:127.0.0.1]:4242/in", "loopback"],
    ["http://2130706433/in", "loopback"],
    ["http://me@127.0.0.1:4242/in", "user name"],
    ["http://@127.0.0.1:4242/in", "user name"],
    ["http:/\\127.0.0.1/in", "not a URL"],
    ["http://127.0.0.1:4242/in\n", "not a URL"],
    ["http://127.0.0.1.example.com/in", "https"],
  ])("follows the URL policy: %s", async (url, why) => {
    for (const strict of [false, true]) {
      const { send } = await startWorld({ strict });
      const { status, body } = await send("/v1/webhooks", { json: { url, events } });
      if (why === null || (why === "loopback" && !strict)) {
        expect([status, body.url]).toEqual([201, url]);
      } else {
        expect([status, body]).toEqual([400, refusal("invalid_request", "invalid_request", "url")]);
        if (!strict) expect(body.error.message).toContain(why);
      }
    }
  });

  test.each([
    ["http://app:3000/in", true],
    ["https://APP.:3000/in", true],
    ["http://10.0.0.7/in", true],
    ["https://app/in", true],
    ["http://127.0.0.1:4242/in", true],
    ["http://app.example.com/in", false],
    ["http://other/in", false],
    ["http://me@app:3000/in", false],
    ["ftp://app/in", false],
  ])("may have an allowed host, unless the mock is strict: %s", async (url, isAllowed) => {
    for (const strict of [false, true]) {
      const { send } = await startWorld({ strict, allowHosts: ["app", "10.0.0.7"] });
      const { status, body } = await send("/v1/webhooks", { json: { url, events } });
      expect(status).toBe(isAllowed && !strict ? 201 : 400);
      const showsFlag = !isAllowed && !url.includes("@") && !strict;
      if (status === 400) expect(body.error.message.includes("--allow-host")).toBe(showsFlag);
    }
  });

  test("is immutable", async () => {
    const { patch } = await worldWithWebhook();
    const { status, body } = await patch({ url: "https://hooks.example.com/other" });
    expect([status, body]).toEqual([400, refusal("invalid_request", "invalid_request", "url")]);
  });
});

describe("a webhook is rejected", () => {
  test.each([
    ["no URL", { events }, "url"],
    ["no events", { url }, "events"],
    ["empty events", { url, events: [] }, "events"],
    ["an unknown event", { url, events: ["import.completed", "order.paid"] }, "events"],
    ["an event that is not a string", { url, events: [1] }, "events"],
    ["events that are not a list", { url, events: "import.completed" }, "events"],
    ["a description that is not a string", { url, events, description: 1 }, "description"],
    ["a description that is too long", { url, events, description: "d".repeat(2_001) }, "description"],
    ["a status, which a client cannot choose", { url, events, status: "paused" }, "status"],
  ])("on creation with %s", async (_name, json, param) => {
    const { send } = await startWorld();
    const got = await send("/v1/webhooks", { json });
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
    expect((await send("/v1/webhooks")).body.data).toEqual([]);
  });

  test.each([
    ["status disabled, which only the service sets", { status: "disabled" }, "status"],
    ["empty events", { events: [] }, "events"],
    ["an unknown event", { events: ["order.paid"] }, "events"],
    ["null events", { events: null }, "events"],
    ["a rotation that is not true or false", { rotate_secret: "yes" }, "rotate_secret"],
  ])("on update with %s", async (_name, json, param) => {
    const { patch, send, path, webhook } = await worldWithWebhook();
    const got = await patch(json);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
    const { signing_secret: _secret, ...rest } = webhook;
    expect((await send(path)).body).toEqual(rest);
  });
});

test("a duplicate event type counts once", async () => {
  const { webhook } = await worldWithWebhook({ events: ["task.failed", "import.failed", "task.failed"] });
  expect(webhook.events).toEqual(["task.failed", "import.failed"]);
});

test("an update changes only the given fields", async () => {
  const { webhook, patch } = await worldWithWebhook({ description: "d".repeat(2_000) });
  const { signing_secret: _secret, ...before } = webhook;
  expect((await patch({})).body).toEqual(before);
  const paused = { ...before, status: "paused", events: ["export.failed"] };
  expect((await patch({ status: "paused", events: ["export.failed"] })).body).toEqual(paused);
  expect((await patch({ description: null, rotate_secret: false })).body).toEqual({
    ...paused,
    description: null,
  });
  expect((await patch({ status: "active" })).body.status).toBe("active");
});

test("each rotation creates a new secret, shown once", async () => {
  const { webhook, patch, send, path } = await worldWithWebhook();
  const first = (await patch({ rotate_secret: true })).body.signing_secret;
  const second = (await patch({ rotate_secret: true })).body.signing_secret;
  expect(first).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(new Set([webhook.signing_secret, first, second]).size).toBe(3);
  expect((await send(path)).body).not.toHaveProperty("signing_secret");
});

test("a deleted webhook is not found", async () => {
  const { send, path, patch } = await worldWithWebhook();
  const gone = await send(path, { method: "DELETE" });
  expect([gone.status, gone.body]).toEqual([204, ""]);
  for (const got of [await send(path), await send(path, { method: "DELETE" }), await patch({})]) {
    expect([got.status, got.body]).toEqual([404, refusal("not_found", "webhook_not_found")]);
  }
});

test("the list has the newest webhooks first, in stable pages while others are added and deleted", async () => {
  const { send } = await startWorld();
  const make = async (name: string): Promise<string> =>
    (await send("/v1/webhooks", { json: { url: `${url}/${name}`, events } })).body.id;
  const ids: string[] = [];
  for (const name of ["a", "b", "c", "d", "e"]) ids.unshift(await make(name));
  const page = async (query: string) => (await send(`/v1/webhooks?limit=2${query}`)).body;
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
  const first = await page("");
  expect([idsOf(first), first.has_more]).toEqual([ids.slice(0, 2), true]);
  await send(`/v1/webhooks/${ids[1]}`, { method: "DELETE" });
  await make("f");
  const second = await page(`&cursor=${first.next_cursor}`);
  expect(idsOf(second)).toEqual(ids.slice(2, 4));
  const third = await page(`&cursor=${second.next_cursor}`);
  expect([idsOf(third), third.next_cursor, third.has_more]).toEqual([ids.slice(4), null, false]);
  const foreign = await send(`/v1/webhooks?cursor=${first.next_cursor}`, { key: "ak_mock_other" });
  expect([foreign.status, foreign.body.error.code]).toEqual([400, "invalid_cursor"]);
});

test("another organization cannot see a webhook", async () => {
  const { send, path } = await worldWithWebhook();
  const key = "ak_mock_other";
  expect((await send("/v1/webhooks", { key })).body.data).toEqual([]);
  for (const method of ["GET", "DELETE"]) expect((await send(path, { key, method })).status).toBe(404);
  expect((await send(path, { key, method: "PATCH", json: {} })).status).toBe(404);
  expect((await send(path)).status).toBe(200);
});

test("a seed repeats IDs and secrets, and another seed gives others", async () => {
  const make = async (seed: number) =>
    (await (await startWorld({ seed })).send("/v1/webhooks", { json: { url, events } })).body;
  expect(await make(1)).toEqual(await make(1));
  expect((await make(2)).signing_secret).not.toBe((await make(1)).signing_secret);
});

/** Posts with these headers, also with a Host and the Sec-Fetch-Site of a browser, which `fetch` does not allow. */
const post = (to: string, json: unknown, headers: Record<string, string>) =>
  new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const own = { authorization: "Bearer ak_mock", "content-type": "application/json" };
    request(to, { method: "POST", headers: { ...own, ...headers } }, async (response) => {
      const text = (await response.toArray()).join("");
      resolve({ status: response.statusCode!, body: JSON.parse(text) });
    })
      .on("error", reject)
      .end(JSON.stringify(json));
  });

describe("a request from a web page", () => {
  const near = [
    "http://127.0.0.1:4242/in",
    "https://localhost/in",
    "http://shop.localhost/in",
    "http://app:3000/in",
  ];
  /** The headers of a browser, with the status for a URL of this machine or of an allowed host. */
  const senders: [Record<string, string>, number][] = [
    [{}, 201],
    [{ origin: "OWN", "sec-fetch-site": "same-origin" }, 201],
    [{ "sec-fetch-site": "none" }, 201],
    [{ origin: "https://mock.example.com" }, 201],
    [{ origin: "https://evil.example.com", "sec-fetch-site": "cross-site" }, 400],
    [{ origin: "https://evil.example.com" }, 400],
    [{ origin: "null" }, 400],
    [{ origin: "" }, 400],
    [{ origin: "http://localhost:5173" }, 400],
    [{ origin: "http://127.0.0.1:1" }, 400],
    [{ origin: "http://127.0.0.1" }, 400],
    [{ origin: "https://OWNHOST" }, 400],
    [{ origin: "http://evil.localhost:PORT" }, 400],
    [{ origin: "OWN", "sec-fetch-site": "same-site" }, 400],
    [{ "sec-fetch-site": "cross-site" }, 400],
    [{ "sec-fetch-site": "unknown" }, 400],
    // A name of the page that resolves to this machine: the browser takes both for one origin.
    [
      {
        host: "evil.example.com:4010",
        origin: "http://evil.example.com:4010",
        "sec-fetch-site": "same-origin",
      },
      400,
    ],
  ];
  test.each(senders)(
    "names no target on this machine, unless the mock sent the page: %o %d",
    async (given, status) => {
      const { mock, send } = await startWorld({
        allowHosts: ["app"],
        baseUrl: "https://mock.example.com/shop",
      });
      const { host, port } = new URL(mock.baseUrl);
      const headers = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [
          name,
          value.replace("OWNHOST", host).replace("OWN", mock.baseUrl).replace("PORT", port),
        ]),
      );
      const create = (url: string) => post(`${mock.baseUrl}/v1/webhooks`, { url, events }, headers);
      for (const one of near) expect([one, (await create(one)).status]).toEqual([one, status]);
      // What the service accepts, a page can register as well.
      expect((await create(url)).status).toBe(201);
      const { data } = (await send("/v1/webhooks")).body;
      expect(data).toHaveLength(status === 201 ? near.length + 1 : 1);
      if (status === 400)
        expect((await create(near[0]!)).body).toEqual({
          error: {
            type: "invalid_request",
            code: "invalid_request",
            param: "url",
            message: "url must start with https:// in a request from a page of another origin",
          },
        });
    },
  );

  test("has the CORS headers of the service, and reads with the public key", async () => {
    const { send } = await startWorld();
    const headers = { origin: "https://evil.example.com" };
    const asked = await send("/v1/webhooks", { method: "OPTIONS", key: null, headers });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    const read = await send("/v1/products", { headers });
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  });
});
