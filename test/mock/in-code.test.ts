import { connect } from "node:net";
import { setTimeout as realWait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type MockOptions, MovableClock, startMock } from "../../src/mock/index.ts";
import { startReceiver } from "./receiver.ts";
import { monday, row } from "./world.ts";
import { day, worldWithHook } from "./world-with-hook.ts";

/** A mock as a user's test starts it: on a free port, with the default limits and timers. */
async function started(options: MockOptions = {}) {
  const mock = await startMock(options);
  onTestFinished(() => mock.stop());
  const headers = { authorization: `Bearer ${mock.apiKey}`, "content-type": "application/json" };
  const call = async (method: string, path: string, json?: unknown) => {
    const body = json === undefined ? null : JSON.stringify(json);
    const answer = await fetch(`${mock.baseUrl}${path}`, { method, headers, body });
    return {
      status: answer.status,
      headers: answer.headers, // biome-ignore lint/suspicious/noExplicitAny: the scenario reads fields of any response.
      body: (await answer.json()) as any,
    };
  };
  return { mock, call };
}

test("a mock listens on a free port of loopback only", async () => {
  const { mock, call } = await started();
  expect(mock.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(mock.apiKey).toBe("ak_mock");
  expect(await call("GET", "/v1/products")).toMatchObject({ status: 200, body: { data: [] } });
});

test("several mocks in one process have separate ports, data, clocks, rate limit windows and logs", async () => {
  const [a, b, c] = await Promise.all([
    started({ clock: new MovableClock({ frozenAt: monday }), rateLimit: { reads: 9, writes: 1 } }),
    started({ clock: new MovableClock({ frozenAt: monday + 86_400_000 }), demo: 2 }),
    started(),
  ]);
  expect(new Set([a, b, c].map(({ mock }) => mock.baseUrl)).size).toBe(3);

  const { body: job } = await a.call("POST", "/v1/imports", { rows: [row("ONLY-A")] });
  expect(job.created_at).toBe("2026-01-05T09:00:00.000Z");
  expect((await a.call("POST", "/v1/imports", {})).status).toBe(429);
  expect((await b.call("POST", "/v1/imports", {})).status).toBe(400);
  expect((await b.call("GET", `/v1/imports/${job.id}`)).status).toBe(404);

  b.mock.clock.advance(60_000);
  expect((await a.call("GET", `/v1/imports/${job.id}`)).body.status).toBe("validating");
  a.mock.clock.advance(60_000);
  expect((await a.call("GET", `/v1/imports/${job.id}`)).body.status).toBe("completed");
  expect((await b.call("GET", "/v1/products")).headers.get("date")).toBe("Tue, 06 Jan 2026 09:01:00 GMT");

  const listed = async ({ call }: typeof a) => (await call("GET", "/v1/products")).body.data.length;
  expect([await listed(a), await listed(b), await listed(c)]).toEqual([1, 2, 0]);
  const told = ({ mock }: typeof a) =>
    mock.requests().map(({ method, path, status }) => [method, path, status]);
  expect(told(c)).toEqual([["GET", "/v1/products", 200]]);
  expect(told(b)).toHaveLength(4);

  a.mock.reset();
  expect([await listed(a), await listed(b)]).toEqual([0, 2]);
  await b.mock.stop();
  await expect(b.call("GET", "/v1/products")).rejects.toThrow("fetch failed");
  expect(await listed(a)).toBe(0);
});

test("a port in use rejects with its error code, and leaves nothing open", async () => {
  const { mock } = await started();
  const port = Number(new URL(mock.baseUrl).port);
  await expect(startMock({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("a state with pending deliveries does not start if the port is in use", async () => {
  const { url, received } = await startReceiver(500);
  const first = await worldWithHook(url);
  await first.runImport();
  await first.importRows([row("UNDER-WAY")]);
  const state = first.mock.state();
  expect([received.length, state.deliveries[0]!.state]).toEqual([1, "pending"]);
  // Its next attempt is overdue, so a started mock would make it at once.
  const clock = new MovableClock({ frozenAt: monday + day });
  const port = Number(new URL(first.mock.baseUrl).port);
  await expect(startMock({ port, state, clock })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect([clock.now(), clock.nextDue()]).toEqual([monday + day, null]);
  clock.advance(day);
  await realWait(50);
  expect(received).toHaveLength(1);

  const { mock } = await started({ state, clock });
  await mock.settled();
  // The overdue attempt, and the event of the import.
  expect(received).toHaveLength(3);
});

test("a mock can be stopped twice", async () => {
  const { mock } = await started();
  await mock.stop();
  await expect(mock.stop()).resolves.toBeUndefined();
});

test("signed URLs and links start with `baseUrl`, and the mock is still reached at its own address", async () => {
  const { mock, call } = await started({ demo: 1, baseUrl: "https://mock.example.com/imaging/" });
  const [product] = (await call("GET", "/v1/products")).body.data;
  const { url } = (await call("GET", `/v1/images/${product.images[0].id}`)).body;
  expect(url).toMatch(/^https:\/\/mock\.example\.com\/imaging\/_signed\/images\/\w+\?expires=/);
  const { preview_url } = (await call("GET", "/v1/models")).body.data[0];
  expect(preview_url).toMatch(/^https:\/\/mock\.example\.com\/imaging\/_signed\//);
  const exported = (await call("POST", "/v1/exports", { format: "manifest" })).body;
  expect(exported.url).toMatch(/^https:\/\/mock\.example\.com\/imaging\/_signed\//);
  const { servers } = (await call("GET", "/openapi.json")).body;
  expect(servers).toEqual([expect.objectContaining({ url: "https://mock.example.com/imaging" })]);
  expect(mock.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  // What the proxy in front of it would request.
  const { status } = await fetch(url.replace("https://mock.example.com/imaging", mock.baseUrl));
  expect(status).toBe(200);
});

test("an event is delivered to an allowed host at any address; a mock that does not allow it blocks it", async () => {
  const receiver = await startReceiver();
  const asked: string[] = [];
  const network = {
    resolve: async (host: string) => {
      asked.push(host);
      return ["10.1.2.3"];
    },
    connect: (addresses: readonly string[], port: number) => {
      expect(addresses).toEqual(["10.1.2.3"]);
      return connect(port, "127.0.0.1");
    },
  };
  const clock = new MovableClock({ frozenAt: monday });
  const first = await started({ clock, network, allowHosts: ["app"] });
  const hook = { url: `http://app:${receiver.port}/hooks`, events: ["import.completed"] };
  expect((await first.call("POST", "/v1/webhooks", hook)).status).toBe(201);
  await first.call("POST", "/v1/imports", { rows: [row("A")] });
  const state = first.mock.state();
  clock.advance(10_000);
  await first.mock.settled();
  expect(first.mock.deliveries().map((delivery) => delivery.attempts[0]!.status)).toEqual([200]);
  expect(receiver.received.map(({ headers, path }) => [headers.host, path])).toEqual([
    [`app:${receiver.port}`, "/hooks"],
  ]);
  expect(asked).toEqual(["app"]);

  for (const options of [{}, { allowHosts: ["other"] }, { allowHosts: ["app"], strict: true }]) {
    const later = await started({
      ...{ clock: new MovableClock({ frozenAt: monday }), network, state },
      ...options,
    });
    later.mock.clock.advance(10_000);
    await later.mock.settled();
    expect(later.mock.deliveries()[0]!.attempts[0]!.error).toBe("blocked_host");
  }
  expect(receiver.received).toHaveLength(1);
});

test("await using stops the mock at the end of the block", async () => {
  let baseUrl = "";
  {
    await using mock = await startMock();
    baseUrl = mock.baseUrl;
    expect((await fetch(`${baseUrl}/openapi.json`)).status).toBe(200);
  }
  await expect(fetch(`${baseUrl}/openapi.json`)).rejects.toThrow("fetch failed");
});

test("faults are added, listed and removed by typed calls; mistakes throw all at once", async () => {
  const { mock, call } = await started();
  const fault = { match: { path: "/v1/products" }, times: 1, status: 418, body: { tea: true } };
  expect(mock.faults.add(fault)).toEqual({ id: 1, ...fault, acted: 0 });
  fault.status = 500;
  expect(await call("GET", "/v1/products")).toMatchObject({ status: 418, body: { tea: true } });
  expect((await call("GET", "/v1/products")).status).toBe(200);
  expect(mock.faults.list()).toMatchObject([{ id: 1, status: 418, acted: 1 }]);
  expect(await call("GET", "/_mock/faults")).toMatchObject({ body: mock.faults.list() });
  mock.faults.add({ match: {}, delay_ms: 1 });
  mock.faults.add({ match: {}, delay_ms: 2 });
  expect([mock.faults.remove(2), mock.faults.remove(2)]).toEqual([true, false]);
  expect(mock.faults.list().map(({ id }) => id)).toEqual([1, 3]);
  expect(mock.faults.clear()).toBe(2);
  expect(mock.faults.list()).toEqual([]);
  const wrong = () => mock.faults.add({ match: {}, times: 0, status: 99 });
  expect(wrong).toThrow(
    new TypeError("mock.faults.add: times: must be at least 1; status: must be at least 200"),
  );
  expect(() => mock.faults.add(undefined as never)).toThrow("mock.faults.add: the body must be an object");
});

test("credits are read and assigned", async () => {
  const { mock, call } = await started();
  expect(mock.credits).toBeNull();
  mock.credits = 0;
  expect((await call("GET", "/_mock/account")).body).toEqual({ organization: "main", credits: 0 });
  await call("POST", "/_mock/account", { credits: 7 });
  expect(mock.credits).toBe(7);
  expect(() => {
    mock.credits = -1;
  }).toThrow(new TypeError("mock.credits: credits: must be at least 0"));
  expect(mock.credits).toBe(7);
});

test("a delivery is sent once more by a typed call", async () => {
  const { url, received } = await startReceiver(200);
  const { mock, runImport } = await worldWithHook(url);
  await runImport();
  const [delivery] = mock.deliveries();
  const again = await mock.deliveries.resend(delivery!.id);
  expect([received.length, again.attempts.length, again.id]).toEqual([2, 2, delivery!.id]);
  expect(mock.deliveries()).toEqual([again]);
  await expect(mock.deliveries.resend("x")).rejects.toThrow("delivery not found");
});

test("onRequest gets every request to the service, and those that a fault cuts", async () => {
  const seen: unknown[] = [];
  const clock = new MovableClock({ frozenAt: monday });
  const { mock, call } = await started({ seed: 1, clock, onRequest: (request) => seen.push(request) });
  await call("GET", "/v1/models?limit=1");
  mock.faults.add({ match: {}, drop: "before" });
  await expect(call("POST", "/v1/exports", {})).rejects.toThrow("fetch failed");
  await call("GET", "/_mock/faults");
  expect(seen).toEqual([
    {
      method: "GET",
      path: "/v1/models?limit=1",
      status: 200,
      ms: 0,
      replayed: false,
      request_id: expect.any(String),
    },
    {
      method: "POST",
      path: "/v1/exports",
      status: null,
      ms: 0,
      replayed: false,
      request_id: expect.any(String),
    },
  ]);
});
