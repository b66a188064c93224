import { expect, test } from "vitest";
import type { Client } from "../../../../src/client/client.ts";
import type { ImportRowResult } from "../../../../src/contract/resources/import.ts";
import {
  type EndedBatch,
  PrefetchedResults,
} from "../../../../src/flows/import/results/prefetched-results.ts";
import { BadAnswerError } from "../../../../src/http/errors.ts";

const concurrency = 4;

const callOf = (index: number): EndedBatch => ({
  ...{ kind: "accepted", index, jobs: [`import-${index}`], bytes: 100 },
  ...{ rows: Uint32Array.of(index), lines: Uint32Array.of(index + 2) },
});

const resultOf = (importId: string): ImportRowResult => ({
  ...{ line: 1, reference: `of ${importId}`, status: "succeeded", action: "created" },
  ...{ product_id: "01JGZZ0000000000000000000A", images: [], error: null },
});

const lost = () => new BadAnswerError("nothing to be had", { code: "download_refused", status: 404 });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Reads the results of eight batches in order. The service has no results of `failing`, by link or list. */
async function readEight(failing: readonly number[]) {
  const isLost = (importId: string) => failing.some((index) => importId === `import-${index}`);
  const underWay = new Set<string>();
  /** Number of reads in flight when each one started. */
  const begun = new Map<string, number>();
  const client = {
    imports: {
      async get({ import_id: id }: { import_id: string }) {
        underWay.add(id);
        if (!begun.has(id)) begun.set(id, underWay.size);
        return { results_url: id };
      },
    },
    withoutKey: (text: string) => text,
    async *download(id: string) {
      await nextTurn();
      underWay.delete(id);
      if (isLost(id)) throw lost();
      yield Buffer.from(`${JSON.stringify(resultOf(id))}\n`);
    },
    // biome-ignore lint/correctness/useYield: it yields nothing
    async *paginate() {
      throw lost();
    },
  } as unknown as Client;
  const calls = Array.from({ length: 8 }, (_, index) => callOf(index));
  const ahead = new PrefetchedResults(calls, { client, concurrency, signal: new AbortController().signal });
  const read: (string | null)[] = [];
  for (const call of calls) {
    read.push(
      await ahead.of(call).then(
        ([result]) => result!.reference,
        () => null,
      ),
    );
  }
  return { read, begun: [...begun.values()] };
}

const references = (failing: readonly number[] = []) =>
  Array.from({ length: 8 }, (_, index) => (failing.includes(index) ? null : `of import-${index}`));

test("reads the maximum number at once after the first success, and returns each to its reader", async () => {
  const { read, begun } = await readEight([]);
  expect(read).toEqual(references());
  expect(begun.slice(0, 5)).toEqual([1, 1, 2, 3, 4]);
  expect(Math.max(...begun)).toBe(concurrency);
});

test("reads one by one until one succeeds", async () => {
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  expect(await readEight(all)).toEqual({ read: references(all), begun: all.map(() => 1) });
});

test("reads the next one alone after failures, then several at once again", async () => {
  const { read, begun } = await readEight([1, 2, 3, 4]);
  expect(read).toEqual(references([1, 2, 3, 4]));
  expect(begun).toEqual([1, 1, 2, 3, 4, 1, 1, 2]);
});
