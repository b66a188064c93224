import { afterEach, expect, test } from "vitest";
import { MovableClock } from "../../src/clock.ts";
import { type ClientOptions, createClient, operations, type Wait } from "../../src/index.ts";
import { type Mock, type MockOptions, startMock } from "../../src/mock/index.ts";

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function clientOfMock(mockOptions: MockOptions = {}, options: Partial<ClientOptions> = {}) {
  const mock: Mock = await startMock({ demo: 1, ...mockOptions });
  const waits: Wait[] = [];
  const client = createClient({
    ...{ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock: mock.clock.autoAdvance },
    onWait: (wait) => waits.push(wait),
    ...options,
  });
  opened.push(mock.stop, client.close);
  return { mock, client, waits };
}

const body = { name: "Coat", reference: "A", images: [{ url: "https://cdn.example.com/a.jpg" }] };
const isOver = ({ status }: { status: string }) => status !== "validating" && status !== "processing";

test("a poll of a job moves the clock of the mock instead of waiting", async () => {
  const { mock, client, waits } = await clientOfMock();
  const real = Date.now();
  const begun = mock.clock.now();
  const { id } = await client.imports.create({ body: { rows: [body] } });
  const job = await client.poll(operations.imports.get, { import_id: id }, { done: isOver });
  expect(job.status).toBe("completed");
  expect(waits.length).toBeGreaterThan(0);
  const waited = waits.reduce((sum, { ms }) => sum + ms, 0);
  expect(mock.clock.now() - begun).toBeGreaterThanOrEqual(waited);
  expect(waited).toBeGreaterThan(3_000);
  expect(Date.now() - real).toBeLessThan(waited);
});

test("waits at the same time end together", async () => {
  const { mock } = await clientOfMock();
  const begun = mock.clock.now();
  const { sleep } = mock.clock.autoAdvance;
  await Promise.all([sleep(600_000), sleep(600_000), sleep(300_000)]);
  const passed = mock.clock.now() - begun;
  expect(passed).toBeGreaterThanOrEqual(600_000);
  expect(passed).toBeLessThan(700_000);
});

test("the wait after a 429, and one that is cancelled, follow it as well", async () => {
  const { mock, client } = await clientOfMock({ rateLimit: { reads: 2, writes: 60 } });
  const begun = mock.clock.now();
  for (let at = 0; at < 5; at++) await client.models.list();
  expect(mock.clock.now() - begun).toBeGreaterThan(60_000);
  const before = mock.clock.now();
  const cancelled = mock.clock.autoAdvance.sleep(600_000, AbortSignal.abort("stop"));
  await expect(cancelled).rejects.toBe("stop");
  expect(mock.clock.now() - before).toBeLessThan(60_000);
});

test("parallel requests and polls do not run into their limits by the waits of others", async () => {
  const { client } = await clientOfMock({ rateLimit: { reads: 3, writes: 60 } });
  const job = await client.imports.create({ body: { rows: [body] } });
  const poll = () =>
    client.poll(operations.imports.get, { import_id: job.id }, { done: isOver, timeoutMs: 3_600_000 });
  const lists = await Promise.all(Array.from({ length: 20 }, () => client.models.list()));
  expect(lists.map(({ data }) => data.length)).toEqual(Array.from({ length: 20 }, () => 14));
  const jobs = await Promise.all(Array.from({ length: 5 }, poll));
  expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(["completed"]));
});

test("a poll that is never done ends by its timeout in the time of the mock", async () => {
  const { client } = await clientOfMock();
  const { id } = await client.imports.create({ body: { rows: [body] } });
  const real = Date.now();
  const never = client.poll(
    operations.imports.get,
    { import_id: id },
    { done: () => false, timeoutMs: 600_000 },
  );
  await expect(never).rejects.toMatchObject({ name: "TimeoutError", code: "wait_timeout" });
  expect(Date.now() - real).toBeLessThan(30_000);
});

test("a request that a frozen mock delays ends by its limit in real time", async () => {
  const { mock, client } = await clientOfMock({
    clock: new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") }),
  });
  mock.faults.add({ match: { path: "/v1/models" }, delay_ms: 60_000 });
  await expect(client.models.list({}, { timeoutMs: 50 })).rejects.toMatchObject({ name: "TimeoutError" });
});
