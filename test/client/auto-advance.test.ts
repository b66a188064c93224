import { afterEach, expect, test } from "vitest";
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
