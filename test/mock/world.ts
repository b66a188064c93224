import { afterEach, expect } from "vitest";
import { type Clock, MovableClock, systemClock } from "../../src/clock.ts";
import { type Mock, type MockOptions, startMock } from "../../src/mock/index.ts";
import { realNetwork } from "../../src/mock/outgoing/network.ts";
import { World } from "../../src/mock/world/world.ts";

/** A Monday morning at the start of a minute. */
export const monday = Date.UTC(2026, 0, 5, 9, 0, 0);

/** The state of a mock without a server: seed 1, empty, normal speed, no rate limit. */
export function silentWorld(clock: MovableClock, time: Clock = systemClock()): World {
  const world = new World({
    clock,
    seed: 1,
    demo: 0,
    speed: 1,
    rateLimit: false,
    latencyMs: 0,
    allowHosts: new Set(),
    strict: false,
    strictSlugs: true,
    fetchImages: false,
    bodies: false,
    network: { ...realNetwork(), time },
  });
  world.reset();
  return world;
}

const running: Mock[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((mock) => mock.stop()));
});

/** Options of a test request. */
export interface Send {
  method?: string;
  key?: string | null;
  json?: unknown;
  body?: string | Uint8Array | FormData;
  headers?: Record<string, string>;
}

/** A response; JSON bodies are parsed. */
export interface Got {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any response.
  body: any;
  headers: Headers;
}

/** A mock with a frozen clock, seed 1 and no rate limit by default; it is stopped after the test. */
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
  /** Imports rows, advances the clock until all are done, and returns the results. */
  const runImport = async (rows: unknown[], options: Record<string, unknown> = {}) => {
    const { body: accepted } = await importRows(rows, options);
    mock.clock.advance(60_000);
    const job = (await send(`/v1/imports/${accepted.id}`)).body;
    const results = (await send(`/v1/imports/${accepted.id}/rows?limit=100`)).body.data;
    return { job, results };
  };
  return { mock, clock, send, upload, imageId, createProduct, importRows, runImport };
}

/** A valid row. */
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

/** The expected body of an error response. */
export const refusal = (type: string, code: string, param?: string) => ({
  error: {
    type,
    code,
    message: expect.stringMatching(/./) as string,
    ...(param !== undefined && { param }),
  },
});
