import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { operations } from "../../../src/contract/client-operations.ts";
import type { Model } from "../../../src/contract/resources/tasks.ts";
import { findProduct, modelsNamed, productsByReference } from "../../../src/flows/catalogue/lookups.ts";
import { startMock } from "../../../src/mock/index.ts";

/** A catalogue of `demo` products, and the requests that read it. */
async function catalogue(demo: number) {
  const mock = await startMock({ seed: 1, demo, rateLimit: false });
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey });
  onTestFinished(async () => {
    await client.close();
    await mock.stop();
  });
  const references: string[] = [];
  for await (const { reference } of client.paginate(operations.products.list)) references.push(reference!);
  const before = mock.requests().length;
  const { signal } = new AbortController();
  return {
    references,
    service: { client, signal, concurrency: 4 },
    reads: () =>
      mock
        .requests()
        .slice(before)
        .map(({ path }) => (path.includes("q=") ? "search" : path.includes("?") ? "list" : "get")),
  };
}

const count = (reads: string[]) => [
  reads.filter((one) => one === "list").length,
  reads.filter((one) => one === "search").length,
];

test.each([
  ["m1", ["m1"]],
  ["Mia", ["m1"]],
  ["MIA", ["m2"]],
  // Two fit: neither is guessed.
  ["mia", ["m1", "m2"]],
  ["zoé", ["m3"]],
  [" ZOÉ ", ["m3"]],
  // A composed letter, and the same as a letter and its accent.
  ["Zoe\u0301", ["m3"]],
  ["Zoe", []],
  ["", []],
])("the models named %j are %j", (name, ids) => {
  const models = [
    { id: "m1", name: "Mia" },
    { id: "m2", name: "MIA" },
    { id: "m3", name: "Zoé" },
    { id: "m4", name: null },
  ] as unknown as Model[];
  expect(modelsNamed(name, models).map(({ id }) => id)).toEqual(ids);
});

test("a few references are searched for, one read each", async () => {
  const { references, service, reads } = await catalogue(1000);
  const wanted = [references[0]!, references[999]!, "none"];
  const found = await productsByReference(wanted, service);
  expect([...found.keys()].sort()).toEqual(wanted.slice(0, 2).sort());
  expect(count(reads())).toEqual([0, 3]);
});

test("many references are found by listing a catalogue of ten pages", async () => {
  const { references, service, reads } = await catalogue(1000);
  const found = await productsByReference([...references, "none"], service);
  expect(found.size).toBe(1000);
  expect([...found].every(([reference, product]) => product.reference === reference)).toBe(true);
  expect(count(reads())).toEqual([10, 0]);
});

test("only the first pages of a long catalogue are listed", async () => {
  const { references, service, reads } = await catalogue(1000);
  // The oldest products are on the last pages.
  const wanted = references.slice(-4);
  const found = await productsByReference(wanted, service);
  expect([...found.keys()].sort()).toEqual([...wanted].sort());
  expect(count(reads())).toEqual([2, 4]);
});

test("a product is found by its ID or its reference, and not by a part of it", async () => {
  const { references, service } = await catalogue(24);
  const reference = references[5]!;
  const byReference = await findProduct(` ${reference} `, service);
  expect(byReference?.reference).toBe(reference);
  expect((await findProduct(byReference!.id, service))?.reference).toBe(reference);
  expect(await findProduct(reference.slice(0, -1), service)).toBe(null);
  expect(await findProduct("01JGZZ0000000000000000000A", service)).toBe(null);
});
