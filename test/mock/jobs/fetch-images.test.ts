import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as realWait } from "node:timers/promises";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import type { MockOptions } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { publicAddress, startOutside } from "../outside.ts";
import { monday, row, startWorld, tinyPng } from "../world.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const megabytes = 1024 * 1024;

const picture = (type: "jpeg" | "png" | "webp") =>
  sharp({ create: { width: 31, height: 17, channels: 3, background: "red" } })
    .toFormat(type)
    .toBuffer();

/** A mock that fetches images from a local server, which serves every public host name. */
async function fetchingWorld(
  answer: Answer,
  options: MockOptions = {},
  addresses?: (host: string) => string[],
) {
  const outside = await startOutside(answer, addresses);
  const network = { ...outside.network, ...options.network };
  const world = await startWorld({ fetchImages: true, ...options, network });
  const { send, importRows } = world;
  const advance = (ms: number) => send("/_mock/clock", { json: { advance_ms: ms }, key: null });
  const job = async (id: string) => (await send(`/v1/imports/${id}`)).body;
  const results = async (id: string) => (await send(`/v1/imports/${id}/rows?limit=100`)).body.data;
  /** Runs an import until it ends and returns the job and the row results. */
  const run = async (rows: unknown[], more: Record<string, unknown> = {}) => {
    const { body } = await importRows(rows, more);
    await advance(60_000);
    return { job: await job(body.id), results: await results(body.id) };
  };
  return { ...world, outside, advance, job, results, run };
}

const url = (path = "photo.jpg", host = "cdn.example.com") => `https://${host}/${path}`;
const withImages = (reference: string, ...urls: string[]) =>
  row(reference, { images: urls.map((url) => ({ url })) });

test.each(sampled([["jpeg"], ["png"], ["webp"]] as const, 1))(
  "a %s is fetched and stored, with the type of its bytes, not that of the server",
  async (type) => {
    const bytes = await picture(type);
    const { run, send, outside } = await fetchingWorld((_request, response) =>
      response.setHeader("content-type", "text/html").end(bytes),
    );
    const { job, results } = await run([withImages("A", url("photo.gif?size=1#top"))]);
    expect(job).toMatchObject({ status: "completed", counts: { succeeded: 1, failed: 0 } });
    const { image_id } = results[0].images[0];
    const { body: image } = await send(`/v1/images/${image_id}`);
    expect(image.mime_type).toBe(`image/${type}`);
    const got = await fetch(image.url);
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
    expect(outside.paths).toEqual(["/photo.gif?size=1"]);
    expect(outside.requests[0]!.headers).toMatchObject({
      host: "cdn.example.com",
      "accept-encoding": "identity",
    });
    expect(outside.requests[0]!.headers).not.toHaveProperty("authorization");
  },
);

describe("an image that cannot be fetched", () => {
  const whole =
    (status: number, body: string | Uint8Array = tinyPng, headers: Record<string, string> = {}): Answer =>
    (_request, response) =>
      void response.writeHead(status, headers).end(body);
  test.each<[string, string, Answer]>(
    sampled(
      [
        ["a 404", "http_error", whole(404)],
        ["a 500", "http_error", whole(500)],
        ["a redirect", "http_error", whole(302, "", { location: url("moved.jpg") })],
        ["a page", "not_an_image", whole(200, "<!doctype html>")],
        ["nothing", "not_an_image", whole(200, "")],
        ["a 204", "not_an_image", whole(204, "")],
        ["a GIF", "not_an_image", whole(200, "GIF89a.............")],
        ["a PNG of a few bytes", "not_an_image", whole(200, tinyPng.subarray(0, 12))],
        [
          "a truncated response",
          "http_error",
          (_request, response) => {
            response.writeHead(200, { "content-length": tinyPng.length }).write(tinyPng.subarray(0, 40));
            setImmediate(() => response.destroy());
          },
        ],
        ["no response", "http_error", (_request, response) => void response.destroy()],
        [
          "one byte too many",
          "too_large",
          (_request, response) =>
            void response.writeHead(200, { "content-length": 10 * megabytes + 1 }).write(tinyPng),
        ],
        [
          "an endless response",
          "too_large",
          (_request, response) => {
            const more = () => {
              while (!response.destroyed && response.write(Buffer.alloc(65_536)));
            };
            response.on("drain", more);
            more();
          },
        ],
      ],
      4,
    ),
  )("fails: %s gives %s", async (_name, code, answer) => {
    const { run, outside } = await fetchingWorld(answer);
    const { job, results } = await run([withImages("A", url())]);
    expect(job.status).toBe("completed_with_errors");
    expect(results[0]).toMatchObject({
      status: "failed",
      action: "none",
      product_id: null,
      images: [{ index: 0, source: url(), status: "failed", error: { code } }],
      error: { code: "image_failed" },
    });
    expect(outside.paths).toEqual(["/photo.jpg"]);
  });

  longTest("may have exactly 10 MB", async () => {
    const { run } = await fetchingWorld((_request, response) =>
      response.end(Buffer.concat([tinyPng, Buffer.alloc(10 * megabytes - tinyPng.length)])),
    );
    expect((await run([withImages("A", url())])).job.status).toBe("completed");
  });

  test.each([
    ["an unknown host name", "dns_failed", [] as string[]],
    ["a private address behind a public name", "blocked_host", ["192.168.1.1"]],
    ["loopback behind a public name", "blocked_host", [publicAddress, "::ffff:127.0.0.1"]],
  ])("fails: %s gives %s", async (_name, code, addresses) => {
    const { run, outside } = await fetchingWorld(whole(200), {}, () => addresses);
    const { results } = await run([withImages("A", url())]);
    expect(results[0].images).toMatchObject([{ status: "failed", error: { code } }]);
    expect(outside.connections).toEqual([]);
  });

  test.each([
    ["never responds", (_response: ServerResponse) => {}],
    ["never stops", (response: ServerResponse) => void response.write(tinyPng)],
  ])("times out after 10 seconds from a server that %s", async (_name, answer) => {
    const time = new MovableClock({ frozenAt: 0 });
    const world = await fetchingWorld((_request, response) => answer(response), { network: { time } });
    const { mock, clock, importRows, outside, job, results } = world;
    const { body } = await importRows([withImages("A", url())]);
    clock.advance(60_000);
    await until(() => outside.paths.length > 0);
    time.advance(9_999);
    await realWait(10);
    // The clock of the mock has moved on, but images are fetched in real time.
    expect(await job(body.id)).toMatchObject({ status: "processing", counts: { pending: 1 } });
    time.advance(1);
    await mock.settled();
    expect((await results(body.id))[0].images).toMatchObject([{ error: { code: "timeout" } }]);
    expect((await job(body.id)).finished_at).toBe(new Date(monday + 60_000).toISOString());
  });

  test("is not requested if its name asks for a failure, and fails with that code", async () => {
    const { run, outside } = await fetchingWorld(whole(200));
    const { results } = await run([withImages("A", url("fail-too_large.jpg"), url())]);
    expect(results[0]).toMatchObject({
      status: "partial",
      images: [{ error: { code: "too_large" } }, { status: "attached" }],
    });
    expect(outside.paths).toEqual(["/photo.jpg"]);
  });
});

describe("rows", () => {
  const byName: Answer = (request, response) =>
    request.url!.includes("good") ? void response.end(tinyPng) : void response.writeHead(404).end();

  test("are partial or failed, depending on on_image_error", async () => {
    const rows = [
      withImages("A", url("good-1"), url("bad")),
      withImages("B", url("bad"), url("bad-2")),
      withImages("C", url("good-2")),
    ];
    const outcome = async (on_image_error: string) => {
      const { run, send } = await fetchingWorld(byName);
      const { results } = await run(rows, { on_image_error });
      const products = (await send("/v1/products")).body.data.map(
        ({ reference, images }: { reference: string; images: unknown[] }) => `${reference}${images.length}`,
      );
      return [results.map(({ status }: { status: string }) => status), products];
    };
    expect(await outcome("skip")).toEqual([
      ["partial", "failed", "succeeded"],
      ["C1", "A1"],
    ]);
    expect(await outcome("fail_row")).toEqual([["failed", "failed", "succeeded"], ["C1"]]);
  });

  test("finish in input order, while several images are fetched at once", async () => {
    const waiting = new Map<string, ServerResponse>();
    const world = await fetchingWorld((request, response) => void waiting.set(request.url!, response));
    const { importRows, clock, mock, job, send } = world;
    const { body } = await importRows(["A", "B", "C", "D"].map((name) => withImages(name, url(name))));
    clock.advance(60_000);
    await until(() => waiting.size === 4);
    for (const path of ["/D", "/B", "/C"]) waiting.get(path)!.end(tinyPng);
    await realWait(20);
    expect((await job(body.id)).counts).toMatchObject({ pending: 4, succeeded: 0 });
    waiting.get("/A")!.end(tinyPng);
    await mock.settled();
    expect((await job(body.id)).counts).toMatchObject({ pending: 0, succeeded: 4 });
    const { data } = (await send("/v1/products")).body;
    expect(data.map(({ reference }: { reference: string }) => reference)).toEqual(["D", "C", "B", "A"]);
  });

  longTest("fetch at most 16 images at once", async () => {
    let most = 0;
    let received = 0;
    let open: ServerResponse[] = [];
    const { run } = await fetchingWorld((_request, response) => {
      open.push(response);
      received++;
      most = Math.max(most, open.length);
      if (open.length !== 16 && received !== 50) return;
      // Long enough for one more request to arrive.
      setTimeout(() => {
        const all = open;
        open = [];
        for (const one of all) one.end(tinyPng);
      }, 50);
    });
    const rows = Array.from({ length: 10 }, (_, index) =>
      withImages(`R${index}`, ...Array.from({ length: 5 }, (_, image) => url(`${index}-${image}`))),
    );
    expect((await run(rows)).job.status).toBe("completed");
    expect(most).toBe(16);
  });

  test("fetch no images that they do not need", async () => {
    const { run, createProduct, outside } = await fetchingWorld(byName);
    await createProduct({ reference: "A" });
    const rows = [withImages("A", url("good"))];
    expect((await run(rows, { mode: "skip_existing" })).results[0].action).toBe("skipped");
    expect((await run(rows, { mode: "create" })).results[0].error.code).toBe("reference_already_exists");
    expect(outside.paths).toEqual([]);
    expect((await run(rows, { mode: "upsert" })).results[0].action).toBe("updated");
    expect(outside.paths).toEqual(["/good"]);
  });

  test("fetch what they need if a product was deleted meanwhile", async () => {
    const waiting: ServerResponse[] = [];
    const world = await fetchingWorld((request, response) => {
      if (request.url === "/slow") waiting.push(response);
      else response.end(tinyPng);
    });
    const { importRows, createProduct, clock, mock, send, results } = world;
    const { body: product } = await createProduct({ reference: "B" });
    const rows = [withImages("A", url("slow")), withImages("B", url("good"))];
    const { body } = await importRows(rows, { mode: "create" });
    clock.advance(60_000);
    await until(() => waiting.length > 0);
    await send(`/v1/products/${product.id}`, { method: "DELETE" });
    waiting[0]!.end(tinyPng);
    await mock.settled();
    expect((await results(body.id)).map(({ action }: { action: string }) => action)).toEqual([
      "created",
      "created",
    ]);
  });
});

test("a reset cancels downloads in flight, and they leave no result", async () => {
  const waiting: ServerResponse[] = [];
  const world = await fetchingWorld((_request, response) => void waiting.push(response));
  const { importRows, clock, mock, send } = world;
  await importRows([withImages("A", url())]);
  clock.advance(60_000);
  await until(() => waiting.length > 0);
  mock.reset();
  await mock.settled();
  waiting[0]!.end(tinyPng);
  await realWait(10);
  expect((await send("/v1/products")).body.data).toEqual([]);
});

test("a state saved while images are in flight fetches them again after loading", async () => {
  const waiting: ServerResponse[] = [];
  const world = await fetchingWorld((_request, response) => void waiting.push(response));
  const { importRows, clock, mock, send, job, advance } = world;
  const { body } = await importRows([withImages("A", url("1")), withImages("B", url("2"))]);
  clock.advance(60_000);
  await until(() => waiting.length === 2);
  waiting[0]!.end(tinyPng);
  await until(async () => (await job(body.id)).counts.succeeded > 0);
  const state = mock.state();
  await send("/_mock/state", { method: "PUT", json: state, key: null });
  const moved = advance(1);
  await until(() => waiting.length === 3);
  waiting[2]!.end(tinyPng);
  await moved;
  expect(await job(body.id)).toMatchObject({ status: "completed", counts: { total: 2, succeeded: 2 } });
});

test.each([
  "http://cdn.example.com/photo.jpg",
  "https://cdn.example.com:8443/photo.jpg",
  "https://user:secret@cdn.example.com/photo.jpg",
])("a URL from a loaded state is not fetched if the URL policy forbids it: %s", async (forbidden) => {
  const world = await fetchingWorld((_request, response) => void response.end(tinyPng));
  const { importRows, mock, send, advance, results, outside } = world;
  const { body } = await importRows([withImages("A", url())]);
  const state = JSON.parse(JSON.stringify(mock.state()).replaceAll(url(), forbidden));
  expect((await send("/_mock/state", { method: "PUT", json: state, key: null })).status).toBe(200);
  await advance(60_000);
  expect((await results(body.id))[0].images).toMatchObject([
    { source: forbidden, error: { code: "blocked_host" } },
  ]);
  expect([outside.asked, outside.connections]).toEqual([[], []]);
});

test("no image is fetched without --fetch-images", async () => {
  const { run, outside } = await fetchingWorld((_request, response) => void response.end(tinyPng), {
    fetchImages: false,
    bodies: false,
  });
  expect((await run([withImages("A", url())])).job.status).toBe("completed");
  expect([outside.asked, outside.connections]).toEqual([[], []]);
});
