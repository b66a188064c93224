import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import type { MockOptions } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { startReceiver } from "../receiver.ts";
import { row, startWorld, tinyPng } from "../world.ts";

type World = Awaited<ReturnType<typeof startWorld>>;
/** Uses `n` of the limit and returns the outcome: a status, or a value that the limit bounds. */
type Attempt = (world: World, n: number) => Promise<unknown>;
interface Line {
  /** The entry of `limits` that is tested. */
  readonly limit: keyof typeof limits;
  readonly what: string;
  /** Outcomes beside the limit. */
  readonly cases: readonly (readonly [n: number, outcome: unknown])[];
  readonly attempt: Attempt;
  readonly options?: MockOptions;
}

const withRates: MockOptions = { rateLimit: { reads: 600, writes: 60 } };
const oneImage = async (world: World) => [{ image_id: await world.imageId(), orientation: "front" }];
/** The two cases beside a limit; in `npm run test:long` also the one within. */
const at = (highest: number, inside: unknown, outside: unknown) =>
  (
    [
      [highest - 1, inside],
      [highest, inside],
      [highest + 1, outside],
    ] as const
  ).slice(repetitions(1, 0));
const from = (lowest: number, outside: unknown, inside: unknown) =>
  (
    [
      [lowest - 1, outside],
      [lowest, inside],
      [lowest + 1, inside],
    ] as const
  ).slice(0, repetitions(2, 3));

/** The statuses of all requests but the last, and that of the last. */
const statuses = async (world: World, method: string, times: number) => {
  const send = async () => (await world.send("/v1/products/none", { method })).status;
  return [...new Set(await Promise.all(Array.from({ length: times - 1 }, send))), await send()];
};
const last = async (world: World, method: string, times: number) => {
  const send = () => world.send("/v1/products/none", { method });
  await Promise.all(Array.from({ length: times - 1 }, send));
  return (await send()).status;
};
const page: Attempt = async ({ send }, n) => (await send(`/v1/products?limit=${n}`)).status;
const rows: Attempt = async ({ importRows }, n) =>
  (await importRows(Array.from({ length: n }, (_, index) => row(`R${index}`)))).status;
const idsOf = async (world: World, count: number): Promise<string[]> => {
  const { body } = await world.importRows(Array.from({ length: count }, (_, index) => row(`R${index}`)));
  world.clock.advance(60_000);
  const ids: string[] = [];
  for (let cursor = ""; ids.length < count; ) {
    const read = await world.send(`/v1/imports/${body.id}/rows?limit=100${cursor}`);
    ids.push(...read.body.data.map(({ product_id }: { product_id: string }) => product_id));
    cursor = `&cursor=${read.body.next_cursor}`;
  }
  return ids;
};
/** Ways to set a field of a product. A character is a code point, so each emoji counts once. */
const fields = (field: string, character = "🧥"): Record<string, Attempt> => ({
  "created product": async (world, n) =>
    (await world.createProduct({ [field]: character.repeat(n) })).status === 201,
  "changed product": async (world, n) => {
    const { id } = (await world.createProduct()).body;
    const json = { [field]: character.repeat(n) };
    const headers = { "content-type": "application/merge-patch+json" };
    const patch = { method: "PATCH", body: JSON.stringify(json), headers };
    return (await world.send(`/v1/products/${id}`, patch)).status === 200;
  },
  "import row": async (world, n) =>
    (await world.importRows([row("R", { [field]: character.repeat(n) })])).status === 202,
});
const textLines = (
  limit: Line["limit"],
  field: string,
  { min, max }: { min?: number; max: number },
): Line[] =>
  Object.entries(fields(field)).flatMap(([what, attempt]) => [
    { limit, what: `maximum characters of the ${field} of a ${what}`, cases: at(max, true, false), attempt },
    ...(min === undefined
      ? []
      : [{ limit, what: `… and minimum, ${what}`, cases: from(min, false, true), attempt }]),
  ]);
const images: Record<string, Attempt> = {
  "a created product": async (world, n) => {
    const [image] = await oneImage(world);
    return (await world.createProduct({ images: Array(n).fill(image) })).status === 201;
  },
  "an attachment": async (world, n) => {
    const { id } = (await world.createProduct()).body;
    const [image] = await oneImage(world);
    return (
      (await world.send(`/v1/products/${id}/images`, { json: { images: Array(n).fill(image) } })).status ===
      201
    );
  },
  "an import row": async (world, n) =>
    (await world.importRows([row("R", { images: Array(n).fill(row("R").images[0]) })])).status === 202,
};
const tryon = async (world: World, inputs: (ids: string[]) => object[]) => {
  const [product_id, ...others] = await idsOf(world, 14);
  const base = { product_id, model_id: "mdl_001", background: "studio", angle_shot: "full-front" };
  const json = { inputs: inputs(others).map((more) => ({ ...base, ...more })) };
  return (await world.send("/v1/tasks/tryon", { json })).status;
};

const table: Line[] = [
  {
    limit: "readsPerMinute",
    what: "reads per minute",
    options: withRates,
    // The last one has the requests of the others.
    cases: at(600, [404, 404], [404, 429]).slice(repetitions(1, 0)),
    attempt: (world, n) => statuses(world, "GET", n),
  },
  {
    limit: "writesPerMinute",
    what: "writes per minute",
    options: withRates,
    cases: at(60, [404, 404], [404, 429]).slice(repetitions(1, 0)),
    attempt: (world, n) => statuses(world, "DELETE", n),
  },
  {
    limit: "rateWindowMs",
    what: "milliseconds after the start of the minute",
    options: withRates,
    cases: from(60_000, 429, 404),
    attempt: async (world, n) => {
      // Requests late in the minute share its window with the earlier ones.
      world.clock.advance(30_000);
      await last(world, "DELETE", 60);
      world.clock.advance(n - 30_000);
      return last(world, "DELETE", 1);
    },
  },
  { limit: "page", what: "minimum on a page", cases: from(1, 400, 200), attempt: page },
  { limit: "page", what: "maximum on a page", cases: at(100, 200, 400), attempt: page },
  {
    limit: "page",
    what: "on a page by default; has_more",
    cases: at(25, false, true),
    attempt: async (world, n) => {
      await idsOf(world, n);
      return (await world.send("/v1/products")).body.has_more;
    },
  },
  { limit: "importRows", what: "minimum rows", cases: from(1, 400, 202), attempt: rows },
  { limit: "importRows", what: "maximum rows", cases: at(2_000, 202, 400), attempt: rows },
  {
    limit: "importBodyBytes",
    what: "bytes of an import",
    cases: at(8 * 1024 * 1024, 202, 413),
    attempt: async ({ send }, n) => {
      const body = Buffer.alloc(n, " ");
      body.write(JSON.stringify(row("R")));
      return (await send("/v1/imports", { body, headers: { "content-type": "application/x-ndjson" } }))
        .status;
    },
  },
  ...Object.entries(images).flatMap(([what, attempt]): Line[] => [
    { limit: "imagesPerProduct", what: `minimum images of ${what}`, cases: from(1, false, true), attempt },
    { limit: "imagesPerProduct", what: `maximum images of ${what}`, cases: at(20, true, false), attempt },
  ]),
  ...textLines("referenceLength", "reference", { min: 1, max: 100 }),
  ...textLines("nameLength", "name", { min: 1, max: 200 }),
  ...textLines("descriptionLength", "description", { max: 2_000 }),
  {
    limit: "imageBytes",
    what: "bytes of an image",
    cases: at(10 * 1024 * 1024, 201, 413).slice(repetitions(1, 0)),
    attempt: async ({ upload }, n) => {
      const bytes = Buffer.alloc(n);
      bytes.set(tinyPng);
      return (await upload(bytes)).status;
    },
  },
  {
    limit: "exportProducts",
    what: "products of an export job",
    cases: at(500, 202, 400),
    attempt: async (world, n) => {
      const product_ids = await idsOf(world, n);
      return (await world.send("/v1/exports", { json: { product_ids } })).status;
    },
  },
  {
    limit: "tryonInputs",
    what: "minimum try-on inputs",
    cases: from(1, 400, 202),
    attempt: (world, n) => tryon(world, () => Array(n).fill({})),
  },
  {
    limit: "tryonInputs",
    what: "maximum try-on inputs",
    cases: at(20, 202, 400),
    attempt: (world, n) => tryon(world, () => Array(n).fill({})),
  },
  {
    limit: "stylings",
    what: "styling products",
    cases: at(10, 202, 400),
    attempt: (world, n) => tryon(world, (ids) => [{ styling_product_ids: ids.slice(0, n) }]),
  },
  {
    limit: "signedUrlMs",
    what: "milliseconds after a URL was signed",
    cases: from(3_600_000, 200, 403),
    attempt: async (world, n) => {
      const { url } = (await world.send(`/v1/images/${await world.imageId()}`)).body;
      world.clock.advance(n);
      return (await world.send(url, { key: null })).status;
    },
  },
  {
    limit: "idempotencyKeyLength",
    what: "characters of an idempotency key",
    cases: at(255, 404, 400),
    attempt: async ({ send }, n) => {
      const headers = { "idempotency-key": "k".repeat(n) };
      return (await send("/v1/products/none", { method: "DELETE", headers })).status;
    },
  },
  {
    limit: "idempotencyKeyMs",
    what: "milliseconds after the first request with a key; replayed?",
    cases: from(86_400_000, "true", null),
    attempt: async ({ send, clock }, n) => {
      const again = { method: "DELETE", headers: { "idempotency-key": "k" } };
      await send("/v1/products/none", again);
      clock.advance(n);
      return (await send("/v1/products/none", again)).headers.get("idempotent-replayed");
    },
  },
  {
    limit: "requestIdLength",
    what: "characters of a request ID; echoed?",
    cases: at(128, true, false),
    attempt: async ({ send }, n) => {
      const id = "aZ0._:-".padEnd(n, "x");
      return (
        (await send("/v1/models", { headers: { "x-request-id": id } })).headers.get("x-request-id") === id
      );
    },
  },
  ...limits.webhookRetryMs.map(
    (wait, index): Line => ({
      limit: "webhookRetryMs",
      what: `milliseconds before retry ${index + 1}; attempts`,
      cases: from(wait, index + 1, index + 2),
      attempt: async ({ send, clock, importRows, mock }, n) => {
        const { received, url } = await startReceiver(500);
        await send("/v1/webhooks", { json: { url, events: ["import.completed"] } });
        await importRows([row("R")]);
        // The first attempt is made when the import ends; from then on, each one is awaited to the
        // millisecond.
        while (received.length === 0) {
          clock.advance(clock.nextDue()! - clock.now());
          await mock.settled();
        }
        for (const ms of limits.webhookRetryMs.slice(0, index)) {
          clock.advance(ms);
          await mock.settled();
        }
        clock.advance(n);
        await mock.settled();
        return received.length;
      },
    }),
  ),
];

/** Limits that no request can exceed, with the tests that cover them. */
const elsewhere: Partial<Record<keyof typeof limits, string>> = {
  importBatchBytes: "test/flows/import",
  importUrlAvailabilityMs: "test/contract/tables.test.ts",
  jobPollSeconds: "test/mock/routes/imports.test.ts",
  webhookTimeoutMs: "test/mock/deliveries/deliveries.test.ts",
  signatureToleranceSeconds: "test/contract/signature.test.ts",
};

describe.each(table.map((row) => [row.limit, row.what, row] as const))(
  "the limit %s: %s",
  (limit, __, { cases, attempt, options }) => {
    // It sends 601 requests.
    const each = (limit === "readsPerMinute" ? longTest : test).each(cases);
    each("%d gives %j", async (n, outcome) => {
      expect(await attempt(await startWorld(options), n)).toEqual(outcome);
    });
  },
);

test("every limit is in the table or has a test elsewhere", () => {
  const shown = [...table.map(({ limit }) => limit), ...Object.keys(elsewhere)];
  expect(new Set(shown)).toEqual(new Set(Object.keys(limits)));
  for (const place of Object.values(elsewhere))
    expect(existsSync(new URL(`../../../${place}`, import.meta.url)), place).toBe(true);
});

test("a job sends Retry-After: 5 while it runs", async () => {
  const { importRows, send, clock } = await startWorld();
  const { body, headers } = await importRows([row("R")]);
  expect(headers.get("retry-after")).toBe("5");
  const later = async (ms: number) => {
    clock.advance(ms);
    return (await send(`/v1/imports/${body.id}`)).headers.get("retry-after");
  };
  expect([await later(1_009), await later(1)]).toEqual(["5", null]);
});
