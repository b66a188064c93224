import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { startMock } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { startReceiver } from "../receiver.ts";
import { monday, row, tinyPng } from "../world.ts";

interface Sent {
  json?: unknown;
  ndjson?: unknown[];
  patch?: unknown;
  png?: boolean;
  headers?: Record<string, string>;
}
interface Recorded {
  readonly what: string;
  readonly status: number;
  readonly headers: string[];
  readonly bytes: Buffer;
}

/**
 * One run of a script that uses every resource: all responses, byte by byte, and all deliveries to its
 * webhook.
 */
async function run(seed: number, startedAt: number, hook: Awaited<ReturnType<typeof startReceiver>>) {
  const mock = await startMock({ seed, demo: 24, clock: new MovableClock({ frozenAt: startedAt }) });
  const recorded: Recorded[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: the script reads IDs from responses.
  function ask(method: string, path: string, { json, ndjson, patch, png, headers }: Sent = {}): Promise<any> {
    const body = png
      ? Buffer.concat([
          Buffer.from('--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n'),
          tinyPng,
          Buffer.from("\r\n--x--"),
        ])
      : Buffer.from(
          ndjson?.map((one) => JSON.stringify(one)).join("\n") ?? JSON.stringify(patch ?? json) ?? "",
        );
    const type = png
      ? "multipart/form-data; boundary=x"
      : ndjson
        ? "application/x-ndjson"
        : patch
          ? "application/merge-patch+json"
          : "application/json";
    const url = new URL(path, mock.baseUrl);
    return new Promise((resolve, reject) => {
      const call = request(url, {
        method,
        headers: {
          ...(url.pathname.startsWith("/_signed") ? {} : { authorization: "Bearer ak_mock" }),
          ...(body.length > 0 && { "content-type": type, "content-length": body.length }),
          ...headers,
        },
      });
      call.on("error", reject);
      call.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          recorded.push({
            what: `${method} ${url.pathname}`,
            status: response.statusCode!,
            headers: response.rawHeaders,
            bytes,
          });
          const isJson = response.headers["content-type"]?.startsWith("application/json");
          resolve(isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : bytes);
        });
      });
      call.end(body);
    });
  }
  const pass = async (ms: number) => {
    mock.clock.advance(ms);
    await mock.settled();
  };

  const webhook = await ask("POST", "/v1/webhooks", {
    json: {
      url: hook.url,
      events: ["task.succeeded", "task.failed", "import.completed", "export.completed"],
    },
  });
  await ask("PATCH", `/v1/webhooks/${webhook.id}`, { json: { rotate_secret: true, description: "Stock" } });
  const image = await ask("POST", "/v1/images", { png: true, headers: { "x-request-id": "mine" } });
  const images = [{ image_id: image.id, orientation: "front" }];
  const create = { json: { name: "N", reference: "R", images }, headers: { "idempotency-key": "k" } };
  const product = await ask("POST", "/v1/products", create);
  await ask("POST", "/v1/products", create);
  await ask("POST", "/v1/products", { json: { ...create.json, name: 1 } });
  await ask("PATCH", `/v1/products/${product.id}`, {
    patch: { sex: "kid", reference: "fail-model_unsafe_content" },
  });
  const shown = await ask("GET", `/v1/images/${image.id}`);
  await ask("GET", shown.url);
  await ask("GET", shown.url, { headers: { range: "bytes=2-9" } });
  await pass(1_500);
  const job = await ask("POST", "/v1/imports?mode=upsert", {
    ndjson: [
      row("IMPORTED"),
      row("R2", { images: [{ url: "https://cdn.example.com/fail-timeout.jpg" }, ...row("x").images] }),
    ],
  });
  await pass(1_000);
  await ask("GET", `/v1/imports/${job.id}`);
  await ask("GET", `/v1/imports/${job.id}/rows?limit=1`);
  await pass(60_000);
  const done = await ask("GET", `/v1/imports/${job.id}`);
  await ask("GET", done.results_url);
  const page = await ask("GET", "/v1/products?limit=10");
  await ask("GET", `/v1/products?limit=100&cursor=${page.next_cursor}`);
  await ask("GET", "/v1/products?q=e&limit=3");
  const demo = page.data.at(-1);
  await ask("GET", (await ask("GET", `/v1/images/${demo.images[0].id}`)).url);
  const models = await ask("GET", "/v1/models");
  await ask(
    "GET",
    models.data.find(({ preview_url }: { preview_url: unknown }) => preview_url !== null).preview_url,
  );
  const clothing = {
    subtype: "clothing",
    inputs: { product_id: demo.id, background: "white", angle_shot: "front" },
  };
  await ask("POST", "/v1/tasks/beautifier", { json: clothing });
  await ask("POST", "/v1/tasks/beautifier", {
    json: { ...clothing, inputs: { ...clothing.inputs, product_id: product.id } },
  });
  const input = {
    product_id: demo.id,
    model_id: models.data[0].id,
    background: "studio",
    angle_shot: "full-front",
  };
  await ask("POST", "/v1/tasks/tryon", {
    json: { inputs: [input, { ...input, styling_product_ids: [product.id] }] },
  });
  await ask("POST", "/v1/tasks/tryon", { json: { inputs: [{ ...input, model_id: "nobody" }] } });
  await pass(120_000);
  const tasks = await ask("GET", "/v1/tasks");
  await ask(
    "GET",
    tasks.data.find(({ output_image }: { output_image: unknown }) => output_image !== null).output_image.url,
  );
  await ask("GET", "/v1/exports?limit=5");
  await ask("GET", "/v1/exports?role=tryon,beautifier&since=2024-01-01T00:00:00Z");
  const manifest = await ask("POST", "/v1/exports", { json: {} });
  await ask("GET", manifest.url);
  const zip = await ask("POST", "/v1/exports", {
    json: { format: "zip", product_ids: [product.id, demo.id] },
  });
  await ask("GET", `/v1/exports/${zip.id}`);
  await pass(600_000);
  await ask("GET", (await ask("GET", `/v1/exports/${zip.id}`)).url);
  await ask("DELETE", `/v1/products/${product.id}`);
  await ask("GET", `/v1/products/${product.id}`);
  await ask("GET", "/v1/webhooks");
  await ask("PUT", "/v1/nothing");
  const state = mock.printedState();
  const events = hook.received.splice(0).map(({ raw, headers }) => `${raw} ${headers["service-signature"]}`);
  await mock.stop();
  const home = (text: string) =>
    text.replaceAll(mock.baseUrl, "http://mock").replaceAll(new URL(mock.baseUrl).host, "mock");
  // The tag of a file with URLs, such as a manifest, depends on the port.
  const tagless = (headers: string[], bytes: Buffer) =>
    bytes.includes(mock.baseUrl)
      ? headers.map((one, at) => (headers[at - 1] === "ETag" ? "" : one))
      : headers;
  return {
    recorded: recorded.map(({ headers, bytes, ...rest }) => ({
      ...rest,
      headers: tagless(headers, bytes).map(home),
      body: isUtf8(bytes) ? home(bytes.toString()) : sha256(withoutTimes(bytes)),
      digest: isUtf8(bytes) ? "" : sha256(bytes),
    })),
    state: home(Buffer.concat(state).toString()),
    events,
  };
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** A ZIP without the times of its entries: those of local and central headers, and the extra field "UT". */
const withoutTimes = (bytes: Buffer): Buffer =>
  Buffer.from(
    bytes.toString("latin1").replaceAll(/(PK\x03\x04.{6}|PK\x01\x02.{8}|UT\x05\x00.).{4}/gs, "$1"),
    "latin1",
  );

/** Timestamps relative to the start, to compare runs with different start times. */
function fromStart(ran: Ran, startedAt: number): Ran {
  // Times before the start come from the seed.
  const since = (time: number) => (time < startedAt ? `${time}` : `+${time - startedAt}`);
  const recorded = ran.recorded.map((one) => ({ ...one, digest: "" }));
  const text = JSON.stringify({ ...ran, recorded })
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (moment) => since(Date.parse(moment)))
    .replaceAll(/signature=[0-9a-f]{64}/g, "signature=")
    .replaceAll(/"(?:Date|Last-Modified)","([^"]+)"/g, (_, moment) => `"${since(Date.parse(moment))}"`)
    // ZIPs, manifests and import results contain timestamps, so their tags differ.
    .replaceAll(/"ETag","[^,]*"/g, '"ETag",""')
    .replaceAll(/"X-RateLimit-Reset","(\d+)"/g, (_, moment) => `"${since(Number(moment) * 1_000)}"`)
    .replaceAll(/\bt=(\d+),v1=[0-9a-f]{64}/g, (_, moment) => since(Number(moment) * 1_000))
    // In milliseconds, as in the state and in signed URLs.
    .replaceAll(/\b1\d{12}\b/g, (moment) => since(Number(moment)));
  return JSON.parse(text);
}

type Ran = Awaited<ReturnType<typeof run>>;

/** Compared one by one, to show where a difference is. */
function same(one: Ran, other: Ran): void {
  for (const [at, answer] of one.recorded.entries()) expect(other.recorded[at]).toEqual(answer);
  expect(other.state.split("\n")).toEqual(one.state.split("\n"));
  expect(other).toEqual(one);
}

describe("two runs with one seed", () => {
  test("at the same time have identical responses, state and events, byte by byte", async () => {
    const hook = await startReceiver();
    const one = await run(7, monday, hook);
    const other = await run(7, monday, hook);
    expect(one.recorded.length).toBeGreaterThanOrEqual(40);
    expect(one.events.length).toBeGreaterThanOrEqual(6);
    expect(one.recorded.filter(({ status }) => status >= 500)).toEqual([]);
    same(one, other);
  });

  longTest("at different times differ only in timestamps and signatures", async () => {
    const hook = await startReceiver();
    const later = Date.UTC(2031, 6, 1, 23, 58, 0);
    const one = fromStart(await run(7, monday, hook), monday);
    const other = fromStart(await run(7, later, hook), later);
    same(one, other);
  });

  test("differ from a run with another seed", async () => {
    const hook = await startReceiver();
    const one = await run(7, monday, hook);
    const other = await run(8, monday, hook);
    expect(other.recorded.map(({ what }) => what.split("/", 3).join("/"))).toEqual(
      one.recorded.map(({ what }) => what.split("/", 3).join("/")),
    );
    expect(other.recorded.map(({ body }) => body)).not.toEqual(one.recorded.map(({ body }) => body));
  });
});
