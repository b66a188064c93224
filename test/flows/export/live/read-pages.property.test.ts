import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClient } from "../../../../src/client/client.ts";
import { exportLive, type RowSink } from "../../../../src/flows/export/live/export-live.ts";
import { rowFormat } from "../../../../src/flows/export/live/row-format.ts";
import { repetitions } from "../../../support/repetitions.ts";
import { TestClock } from "../../../support/test-clock.ts";
import {
  type CatalogueServerOptions,
  catalogueServer,
  idOf,
  rowOf,
  type Trouble,
} from "./catalogue-server.ts";

/** What a request meets: nothing, an error of the service, a cut response, or a change of the catalogue before it. */
type Event = "ok" | 500 | 503 | 429 | "cut" | "create" | "delete";

interface Scenario {
  readonly products: number;
  readonly pageSizes: readonly number[];
  readonly events: readonly Event[];
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  products: fc.integer({ min: 0, max: 60 }),
  pageSizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 }),
  events: fc.array(fc.constantFrom<Event>("ok", "ok", "ok", 500, 503, 429, "cut", "create", "delete"), {
    maxLength: 30,
  }),
});

/** The IDs that an export writes, and those that existed all the time, both in order. */
async function exported(
  { products, pageSizes, events }: Scenario,
  wrong: Pick<CatalogueServerOptions, "startOf" | "cursorAt"> & { twice?: boolean } = {},
) {
  const rows = Array.from({ length: products }, (_, index) => rowOf(1_000 - index));
  const always = new Set(rows.map(({ product }) => product.id));
  // A host that has never responded is not waited for.
  const left: Event[] = ["ok", ...events];
  const sizes = [...pageSizes];
  let created = 1_000;
  const respond = (): Trouble | undefined => {
    const event = left.shift() ?? "ok";
    // The order of creation is that of IDs; the newest comes first.
    if (event === "create") rows.unshift(rowOf(++created));
    if (event === "delete") {
      const [gone] = rows.splice(Math.floor(rows.length / 3), 1);
      if (gone !== undefined) always.delete(gone.product.id);
    }
    if (event === "cut") return { cutAt: 20 };
    if (typeof event !== "number") return undefined;
    const error = { type: "internal", code: "internal_error", message: "failed" };
    return { status: event, body: { error }, headers: { "retry-after": "1" } };
  };
  const pageSize = () => {
    const size = sizes.shift()!;
    sizes.push(size);
    return size;
  };
  const server = await catalogueServer(rows, { respond, pageSize, ...wrong });
  const clock = new TestClock();
  const client = createClient({ baseUrl: server.baseUrl, apiKey: "ak_test", clock, random: () => 0.5 });
  let text = "";
  const sink: RowSink = {
    write: async (lines) => {
      text += lines;
    },
    commit: async () => {},
    discard: async () => {
      text = "";
    },
  };
  const safe = { json: (line: string) => line, cell: (cell: string) => cell };
  const { signal } = new AbortController();
  try {
    const result = await exportLive({ roles: null, since: null }, rowFormat("ndjson", safe), {
      ...{ client, clock, signal, sink },
      onProgress: () => {},
    });
    const lines = text.split("\n").slice(0, -1);
    const ids = lines.map((line) => JSON.parse(line).product.id as string);
    if (result.products !== ids.length) throw new Error(`${result.products} counted, ${ids.length} written`);
    const known = [...always].sort().reverse();
    return { ids, ofAlways: ids.filter((id) => always.has(id)), known };
  } finally {
    await client.close();
    await server.stop();
  }
}

const isInOrder = (ids: readonly string[]) => ids.every((id, at) => at === 0 || id < ids[at - 1]!);

test("every product is written exactly once and in order, whatever the pages, errors and changes", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { ids, ofAlways, known } = await exported(given);
      expect(ofAlways).toEqual(known);
      expect(isInOrder(ids)).toBe(true);
    }),
    { numRuns: repetitions(20, 1_000) },
  );
});

describe("the same check finds", () => {
  const isRight = async (given: Scenario, wrong: Parameters<typeof exported>[1]) => {
    const { ids, ofAlways, known } = await exported(given, wrong).catch(() => ({
      ids: [],
      ofAlways: [],
      known: ["failed"],
    }));
    return isInOrder(ids) && ofAlways.join() === known.join();
  };
  const given = (events: Event[]): Scenario => ({ products: 30, pageSizes: [10], events });

  test("cursors that are offsets: a deletion shifts the pages, so a product is lost; one that comes twice is written once", async () => {
    const offsets = {
      startOf: (cursor: string) => Number(cursor),
      cursorAt: (index: number) => String(index + 1),
    };
    expect(await isRight(given([]), offsets)).toBe(true);
    expect(await isRight(given(["create"]), offsets)).toBe(true);
    expect(await isRight(given(["ok", "delete"]), offsets)).toBe(false);
  });

  test("a page that is read from the start again", async () => {
    const isFirst = (cursor: string) => cursor === idOf(991);
    const startOver = {
      startOf: (cursor: string) => (isFirst(cursor) ? 0 : 20),
      cursorAt: (index: number) => idOf(1_000 - index),
    };
    expect(await isRight(given([]), startOver)).toBe(false);
  });
});
