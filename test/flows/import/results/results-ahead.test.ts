import { expect, test } from "vitest";
import type { Client } from "../../../../src/client/client.ts";
import type { ImportRowResult } from "../../../../src/contract/resources/import.ts";
import { type ReadCall, ResultsAhead } from "../../../../src/flows/import/results/results-ahead.ts";
import { BadAnswerError } from "../../../../src/http/errors.ts";

const concurrency = 4;

const callOf = (index: number): ReadCall => ({
  ...{ kind: "accepted", index, jobs: [`import-${index}`], bytes: 100 },
  ...{ rows: Uint32Array.of(index), lines: Uint32Array.of(index + 2) },
});

const resultOf = (importId: string): ImportRowResult => ({
  ...{ line: 1, reference: `of ${importId}`, status: "succeeded", action: "created" },
  ...{ product_id: "01JGZZ0000000000000000000A", images: [], error: null },
});

const lost = () => new BadAnswerError("nothing to be had", { code: "download_refused", status: 404 });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Reads the results of eight calls in order, from a service that has none of `failing`, neither by a link nor in a list. */
async function readEight(failing: readonly number[]) {
  const isLost = (importId: string) => failing.some((index) => importId === `import-${index}`);
  const underWay = new Set<string>();
  /** How many were under way as each was begun. */
  const begun = new Map<string, number>();
  const client = {
    imports: {
      async get({ import_id: id }: { import_id: string }) {
        underWay.add(id);
        if (!begun.has(id)) begun.set(id, underWay.size);
        return { results_url: id };
      },
    },
    async *download(id: string) {
      await nextTurn();
      underWay.delete(id);
      if (isLost(id)) throw lost();
      yield Buffer.from(`${JSON.stringify(resultOf(id))}\n`);
    },
    // biome-ignore lint/correctness/useYield: it has nothing to give
    async *paginate() {
      throw lost();
    },
  } as unknown as Client;
  const calls = Array.from({ length: 8 }, (_, index) => callOf(index));
  const ahead = new ResultsAhead(calls, { client, concurrency, signal: new AbortController().signal });
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

test("once one was read, as many are under way as may be, each told to who asks for it", async () => {
  const { read, begun } = await readEight([]);
  expect(read).toEqual(references());
  expect(begun.slice(0, 5)).toEqual([1, 1, 2, 3, 4]);
  expect(Math.max(...begun)).toBe(concurrency);
});

test("as long as none could be read they are read one by one", async () => {
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  expect(await readEight(all)).toEqual({ read: references(all), begun: all.map(() => 1) });
});

test("after some that could not be read the next is read alone, and several again once it was", async () => {
  const { read, begun } = await readEight([1, 2, 3, 4]);
  expect(read).toEqual(references([1, 2, 3, 4]));
  expect(begun).toEqual([1, 1, 2, 3, 4, 1, 1, 2]);
});
