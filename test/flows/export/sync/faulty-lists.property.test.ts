import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Client } from "../../../../src/client/client.ts";
import type { ExportRow } from "../../../../src/contract/resources/exports.ts";
import { repetitions } from "../../../support/repetitions.ts";
import type { FakeCatalogue } from "./fake-catalogue.ts";
import type { StoredFiles } from "./memory-store.ts";
import { Killed, mirrorWorld, tree } from "./mirror-world.ts";

interface Page {
  data: ExportRow[];
  next_cursor: string | null;
  has_more: boolean;
}

/** A client whose lists lack all products from a place on, of which the service says that they are all. */
function cutShort({ client }: FakeCatalogue, share: number, count: number): Client {
  let left = Math.floor(share * count);
  const poll = async (...args: unknown[]) => {
    const page = await (client.poll as unknown as (...args: unknown[]) => Promise<Page>)(...args);
    const data = page.data.slice(0, left);
    left -= data.length;
    return left > 0 ? { ...page, data } : { data, next_cursor: null, has_more: false };
  };
  return { ...client, poll } as unknown as Client;
}

/** A client that lists every product as deleted. */
function allDeleted({ client }: FakeCatalogue): Client {
  const poll = async (...[operation, input, ...rest]: unknown[]) => {
    const all = client.poll as unknown as (...args: unknown[]) => Promise<Page>;
    const page = await all(operation, { ...(input as object), since: undefined }, ...rest);
    const data = page.data.map(({ product }) => ({
      product: { ...product, deleted_at: "2026-01-05T09:00:00.000Z" },
      assets: [],
    }));
    return { ...page, data };
  };
  return { ...client, poll } as unknown as Client;
}

const step = fc.record({
  list: fc.oneof(
    fc.constant("healthy" as const),
    fc.constant("all deleted" as const),
    // The share of the products that are listed.
    fc.double({ min: 0, max: 0.99, noNaN: true }),
  ),
  delete: fc.boolean(),
  full: fc.boolean(),
  verify: fc.boolean(),
  killAt: fc.option(fc.integer({ min: 1, max: 60 }), { freq: 4 }),
  /** Products that appear in the catalogue before a healthy run. */
  added: fc.nat(3),
});
const scenario = fc.record({
  products: fc.integer({ min: 1, max: 60 }),
  shards: fc.constantFrom(null, 2),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer One> ? One : never;

const imagesOf = (stored: StoredFiles) => Object.keys(tree(stored)).filter((path) => path.endsWith(".jpg"));

/** Plays a scenario; returns the mirror after a last run that reads a healthy list, and a new mirror. */
async function play({ products, shards, steps }: Scenario) {
  const { catalogue, clock, run, newMirror } = mirrorWorld();
  const shard = shards === null ? null : { number: 1, of: shards };
  const stored = newMirror();
  const add = (count: number) => {
    for (let at = 0; at < count; at++) catalogue.add(`P-${catalogue.products.length}`, ["source", "tryon"]);
  };
  add(products);
  await run(stored, { shard });
  for (const { list, added, killAt, ...flags } of steps) {
    clock.advance(600_000);
    if (list === "healthy") add(added);
    const before = imagesOf(stored).length;
    const client = {
      healthy: () => catalogue.client,
      "all deleted": () => allDeleted(catalogue),
    };
    const count = catalogue.products.length;
    try {
      await run(
        stored,
        { shard, ...flags },
        {
          client: typeof list === "number" ? cutShort(catalogue, list, count) : client[list](),
          // New products come only if the healthy run that lists them ends.
          ...(killAt !== null && (list !== "healthy" || added === 0) && { killAt }),
        },
      );
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      stored.holder = null;
    }
    const lost = before - imagesOf(stored).length;
    expect(lost).toBeLessThanOrEqual(Math.max(20, before / 10));
    if (before > 0) expect(lost).toBeLessThanOrEqual(before / 2);
  }
  clock.advance(600_000);
  const { stopped } = await run(stored, { shard });
  const fresh = newMirror();
  await run(fresh, { shard });
  return { stopped, mirror: tree(stored), fresh: tree(fresh) };
}

describe("after lists of the service that were empty, cut short or all deleted", () => {
  test("a healthy run gives the mirror of the catalogue, and none removes more than a tenth and 20 files", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const { stopped, mirror, fresh } = await play(given);
        expect(stopped).toBeUndefined();
        expect(mirror).toEqual(fresh);
      }),
      { numRuns: repetitions(8, 1_200) },
    );
  });
});
