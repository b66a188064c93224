import { afterEach, expect } from "vitest";
import { MovableClock } from "../../src/clock.ts";
import { type Mock, type MockOptions, startMock } from "../../src/mock/index.ts";
import { World } from "../../src/mock/world/world.ts";

/** A Monday morning, on the minute. */
export const monday = Date.UTC(2026, 0, 5, 9, 0, 0);

/** What a mock knows, without a server: seed 1, empty, as quick as the service, without a rate limit. */
export const silentWorld = (clock: MovableClock): World =>
  new World({
    clock,
    seed: 1,
    demo: 0,
    speed: 1,
    rateLimit: null,
    latencyMs: 0,
    strict: false,
    fetchImages: false,
  });

const running: Mock[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((mock) => mock.stop()));
});

/** What a request of a test may have beside its path. */
export interface Send {
  method?: string;
  key?: string | null;
  json?: unknown;
  body?: string | Uint8Array | FormData;
  headers?: Record<string, string>;
}

/** An answer, its body parsed where it is JSON. */
export interface Got {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads the fields it is about.
  body: any;
  headers: Headers;
}

/** A mock on a clock that stands still, with seed 1 and no rate limit unless told; it is stopped after the test. */
export async function startWorld(options: MockOptions = {}) {
  const clock = options.clock ?? new MovableClock({ frozenAt: monday });
  const mock = await startMock({ seed: 1, rateLimit: false, ...options, clock });
  running.push(mock);

  async function send(
    path: string,
    { method, key = "ak_mock", json, body, headers }: Send = {},
  ): Promise<Got> {
    const content = json === undefined ? body : JSON.stringify(json);
    const response = await fetch(path.startsWith("http") ? path : `${mock.baseUrl}${path}`, {
      method: method ?? (content === undefined ? "GET" : "POST"),
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content as string }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return {
      status: response.status,
      body: isJson && text !== "" ? JSON.parse(text) : text,
      headers: response.headers,
    };
  }

  const upload = async (bytes: Uint8Array = tinyPng, more: Send = {}) => {
    const form = new FormData();
    form.append("file", new Blob([bytes as Uint8Array<ArrayBuffer>]), "photo.png");
    return send("/v1/images", { body: form, ...more });
  };
  const imageId = async (key = "ak_mock"): Promise<string> => (await upload(tinyPng, { key })).body.id;
  const createProduct = async (fields: Record<string, unknown> = {}, more: Send = {}) => {
    const images = fields.images ?? [
      { image_id: await imageId(more.key ?? "ak_mock"), orientation: "front" },
    ];
    return send("/v1/products", {
      json: { name: "A dress", reference: "DRESS", ...fields, images },
      ...more,
    });
  };
  const importRows = (rows: unknown[], options: Record<string, unknown> = {}, more: Send = {}) =>
    send("/v1/imports", { json: { rows, ...options }, ...more });
  /** Submits rows, lets the clock run until all are done, and gives the rows' results. */
  const runImport = async (rows: unknown[], options: Record<string, unknown> = {}) => {
    const { body: accepted } = await importRows(rows, options);
    mock.clock.advance(60_000);
    const job = (await send(`/v1/imports/${accepted.id}`)).body;
    const results = (await send(`/v1/imports/${accepted.id}/rows?limit=100`)).body.data;
    return { job, results };
  };
  return { mock, clock, send, upload, imageId, createProduct, importRows, runImport };
}

/** A row that the service accepts. */
export const row = (reference: string, more: Record<string, unknown> = {}) => ({
  reference,
  name: `Product ${reference}`,
  images: [{ url: "https://cdn.example.com/photo.jpg", orientation: "front" }],
  ...more,
});

/** The smallest PNG: one pixel. */
export const tinyPng = new Uint8Array(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);

/** The body of a refusal, as the envelope must have it. */
export const refusal = (type: string, code: string, param?: string) => ({
  error: {
    type,
    code,
    message: expect.stringMatching(/./) as string,
    ...(param !== undefined && { param }),
  },
});
