import { Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifyWebhook } from "../../src/index.ts";
import { MovableClock, startMock } from "../../src/mock/index.ts";
import { startReceiver } from "./receiver.ts";
import { monday, row } from "./world.ts";

const hour = 3_600_000;

/** A mock that delivers the end of an import to a handler which checks the signature by the mock's clock. */
async function withImport(handle: () => number) {
  const mock = await startMock({ clock: new MovableClock({ frozenAt: monday }) });
  onTestFinished(() => mock.stop());
  const call = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${mock.apiKey}`, "content-type": "application/json" };
    const response = await fetch(mock.baseUrl + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as { signing_secret: string };
  };
  const verified: { at: number; type: string }[] = [];
  const receiver = await startReceiver((response) => {
    const { headers, raw: rawBody } = receiver.received.at(-1)!;
    const header = headers["service-signature"] as string;
    const now = mock.clock.now();
    verified.push({ at: now - monday, type: verifyWebhook({ header, rawBody, secret, now }).type });
    response.writeHead(handle()).end();
  });
  const { signing_secret: secret } = await call("/v1/webhooks", {
    url: receiver.url,
    events: ["import.completed"],
  });
  await call("/v1/imports", { rows: [row("A")] });
  return { mock, verified };
}

test("a move of the clock in code waits for deliveries, which arrive at their own time with a recent signature", async () => {
  const { mock, verified } = await withImport(() => 200);
  await mock.clock.advance(hour);
  expect(verified).toEqual([{ at: 1_010, type: "import.completed" }]);
  expect(mock.deliveries()[0]!.attempts.map(({ status }) => status)).toEqual([200]);
  expect(mock.clock.now()).toBe(monday + hour);
});

test("retries within one move of the clock in code each have their own time", async () => {
  let attempts = 0;
  const { mock, verified } = await withImport(() => (++attempts < 3 ? 503 : 200));
  await mock.clock.advanceTo(new Date(monday + 24 * hour));
  const times = mock.deliveries()[0]!.attempts.map(({ at, status }) => [Date.parse(at) - monday, status]);
  expect(times.map(([, status]) => status)).toEqual([503, 503, 200]);
  expect(verified.map(({ at }) => at)).toEqual(times.map(([at]) => at));
  expect(mock.clock.now()).toBe(monday + 24 * hour);
});

test.each([
  ["advance", -1],
  ["advance", Number.NaN],
  ["advance", "1000"],
  ["advanceTo", monday - 1],
  ["advanceTo", new Date("x")],
  ["advanceTo", "2027-01-01T00:00:00Z"],
  ["advance", "5"],
  ["advance", true],
  ["advanceTo", Number.POSITIVE_INFINITY],
] as const)("%s of a mock's clock by %s rejects, and the clock stays", async (move, value) => {
  const mock = await startMock({ clock: new MovableClock({ frozenAt: monday }) });
  onTestFinished(() => mock.stop());
  await expect(mock.clock[move](value as number)).rejects.toThrow(
    /^(?:a clock only moves forward, by milliseconds|mock\.clock\.advanceTo takes )/,
  );
  expect(mock.clock.now()).toBe(monday);
});

test("a mock whose start is rejected closes its port", async () => {
  const listen = vi.spyOn(Server.prototype, "listen");
  onTestFinished(() => listen.mockRestore());
  const times = [monday];
  const now = () => {
    if (times.length > 0) return times.pop()!;
    throw new Error("the clock is broken");
  };
  const start = startMock({ demo: 1, clock: Object.assign(new MovableClock(), { now }) });
  await expect(start).rejects.toThrow("the clock is broken");
  const [server] = listen.mock.contexts as Server[];
  expect(server!.listening).toBe(false);
});

test("a mock at the first moment of 1970 has IDs of that time", async () => {
  const mock = await startMock({ clock: new MovableClock({ frozenAt: 0 }), demo: 1 });
  onTestFinished(() => mock.stop());
  const [product] = mock.state().organizations.main.products;
  expect(product!.id).toMatch(/^0000000001/);
});
