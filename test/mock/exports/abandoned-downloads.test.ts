import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { setTimeout as realWait } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { startWorld, tinyPng } from "../world.ts";

/** Number of pictures drawn. */
const pen = vi.hoisted(() => ({ drawn: 0 }));
vi.mock("sharp", async (importOriginal) => {
  const { default: sharp } = await importOriginal<typeof import("sharp")>();
  const counting = (input: Buffer) => {
    pen.drawn++;
    return sharp(input);
  };
  return { default: counting };
});
beforeEach(() => {
  pen.drawn = 0;
});

/** Far longer than a picture takes, in milliseconds. */
const manyPicturesMs = 100;
const drawnMoreThan = (count: number) => until(() => pen.drawn > count);
/** Counts the pictures drawn from now on. */
async function drawnAfterwards(): Promise<number> {
  const { drawn } = pen;
  await realWait(manyPicturesMs);
  return pen.drawn - drawn;
}

/** Sends a request and returns its end: "cut", or the bytes of the response. */
function ask(url: string) {
  const request = httpGet(url, { agent: false });
  const end = (async () => {
    try {
      const [response] = (await once(request, "response")) as [IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("latin1");
    } catch {
      return "cut";
    }
  })();
  return { end, leave: () => request.destroy() };
}

/** A catalogue with a ZIP that was never downloaded. */
async function withZip() {
  const world = await startWorld({ demo: 25 });
  const accepted = (await world.send("/v1/exports", { json: { format: "zip" } })).body;
  world.clock.advance(60_000);
  const { url, total_assets } = (await world.send(`/v1/exports/${accepted.id}`)).body;
  return { ...world, url: url as string, total: total_assets as number };
}

type Zip = Awaited<ReturnType<typeof withZip>>;
const ends: [string, (world: Zip) => unknown][] = [
  ["a reset", ({ mock }) => mock.reset()],
  [
    "another state",
    async ({ mock, send }) => send("/_mock/state", { method: "PUT", json: mock.state(), key: null }),
  ],
  ["the end of the mock", ({ mock }) => mock.stop()],
];

describe("a ZIP stops drawing", () => {
  test.each(sampled(ends, 1))("after %s, which cuts the download", async (_what, end) => {
    const world = await withZip();
    const reader = ask(world.url);
    await drawnMoreThan(5);
    await end(world);
    expect(await reader.end).toBe("cut");
    expect(await drawnAfterwards()).toBeLessThanOrEqual(1);
  });
});

longTest("a reset cuts the download of a ZIP", async () => {
  const world = await startWorld();
  const large = new Uint8Array(9_000_000);
  large.set(tinyPng);
  const images = [{ image_id: (await world.upload(large)).body.id, orientation: "front" }];
  for (const reference of ["A", "B", "C"]) await world.createProduct({ reference, images });
  const { id } = (await world.send("/v1/exports", { json: { format: "zip" } })).body;
  world.clock.advance(60_000);
  const response = await fetch((await world.send(`/v1/exports/${id}`)).body.url);
  expect(Number(response.headers.get("content-length"))).toBeGreaterThan(27_000_000);
  world.mock.reset();
  await expect(response.arrayBuffer()).rejects.toThrow();
});

longTest(
  "a ZIP with several readers draws each picture once, also for a reader that disconnects",
  async () => {
    const { url, total } = await withZip();
    const [one, other] = [ask(url), ask(url)];
    await drawnMoreThan(5);
    one.leave();
    expect(await other.end).toMatch(/^PK/);
    // Some products share a picture.
    expect(pen.drawn).toBeLessThanOrEqual(total);
  },
);

test("queued images are not drawn once the mock stops", async () => {
  const { mock, send } = await startWorld({ demo: 50 });
  const { data } = (await send("/v1/exports?limit=100")).body;
  const urls: string[] = data.flatMap(({ assets }: { assets: { url: string }[] }) =>
    assets.map(({ url }) => url),
  );
  const readers = urls.map(ask);
  await drawnMoreThan(5);
  await mock.stop();
  expect(await drawnAfterwards()).toBeLessThanOrEqual(4);
  expect(await readers.at(-1)!.end).toBe("cut");
});
