import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Page, readPages } from "../../src/client/pages.ts";
import { SeenTexts } from "../../src/client/seen-texts.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions } from "../support/repetitions.ts";

const path = "/v1/products";

/** Reads a list whose pages come in this order; resolves to the IDs, the number of requests, and the error. */
async function read(pages: readonly Page<unknown>[], isAhead = false, of = path) {
  let requests = 0;
  const entries: unknown[] = [];
  const error = await (async () => {
    const list = readPages(
      of,
      {},
      async () => pages[requests++] ?? Promise.reject(new Error("too far")),
      isAhead,
    );
    for await (const page of list) entries.push(...page);
    return null;
  })().catch((thrown: unknown) => thrown);
  return { entries, requests, error };
}

const ids = (...numbers: number[]) => numbers.map((id) => ({ id: `P${id}` }));

/** Pages of entries, with the cursors of a list that is complete. */
const toPages = (pages: readonly (readonly unknown[])[]): Page<unknown>[] =>
  pages.map((data, index) => {
    const isLast = index === pages.length - 1;
    return { data, has_more: !isLast, next_cursor: isLast ? null : `c${index}` };
  });

const faulty = (fault: string) => ({
  name: "BadResponseError",
  code: "bad_cursor",
  message: `the list of GET /v1/products contradicts itself: ${fault}`,
  hint: "Run the command again. If it fails again, report this message to the service.",
});

describe.each([false, true])("a list (read ahead: %j)", (isAhead) => {
  test("ends when has_more is false and next_cursor is null", async () => {
    const pages = toPages([ids(1, 2), [], ids(3)]);
    expect(await read(pages, isAhead)).toEqual({ entries: ids(1, 2, 3), requests: 3, error: null });
  });

  test.each<[string, Page<unknown>, string]>([
    [
      "has_more is false beside a cursor",
      { data: ids(3), has_more: false, next_cursor: "c9" },
      "has_more is false, but next_cursor has a value",
    ],
    [
      "has_more is false beside an empty cursor",
      { data: ids(3), has_more: false, next_cursor: "" },
      "has_more is false, but next_cursor has a value",
    ],
    [
      "has_more is true without a cursor",
      { data: ids(3), has_more: true, next_cursor: null },
      "has_more is true, but next_cursor is missing",
    ],
    [
      "a cursor repeats",
      { data: ids(3), has_more: true, next_cursor: "c0" },
      "its next_cursor repeats an earlier one",
    ],
  ])("fails after the entries that came if %s", async (_, page, fault) => {
    const [first] = toPages([ids(1, 2), []]);
    const { entries, requests, error } = await read([first!, page], isAhead);
    expect([entries, requests]).toEqual([ids(1, 2, 3), 2]);
    expect(error).toMatchObject(faulty(fault));
  });

  test("fails at the 20th of pages in a row that are empty, and counts anew after an entry", async () => {
    const empty = (count: number) => Array.from({ length: count }, () => []);
    const few = toPages([ids(1), ...empty(19), ids(2), ...empty(19), ids(3)]);
    expect(await read(few, isAhead)).toEqual({ entries: ids(1, 2, 3), requests: 41, error: null });
    const many = await read(toPages([ids(1), ...empty(50), ids(2)]), isAhead);
    expect(many).toMatchObject({
      entries: ids(1),
      requests: 21,
      error: faulty("20 pages in a row are empty"),
    });
  });

  test("fails for a page that repeats an earlier one, also a part of it, and however long ago", async () => {
    const many = Array.from({ length: 500 }, (_, index) => ids(index * 2, index * 2 + 1));
    for (const repeated of [many[0]!, [...many[7]!, ...many[300]!], ids(4)]) {
      const { entries, requests, error } = await read(toPages([...many, repeated, ids(5000)]), isAhead);
      expect([entries.length, requests]).toEqual([1000, 501]);
      expect(error).toMatchObject(faulty("a page repeats earlier entries"));
    }
  });

  test("gives an entry once that comes twice", async () => {
    const pages = toPages([ids(1, 2), ids(2, 3), ids(1, 4, 4), ids(5)]);
    expect(await read(pages, isAhead)).toEqual({ entries: ids(1, 2, 3, 4, 5), requests: 4, error: null });
  });
});

test.each([
  ["/v1/exports", (n: number) => ({ product: { id: `P${n}` }, assets: [] })],
  ["/v1/imports/IMP/rows", (n: number) => ({ line: n, reference: "same" })],
  ["/v1/tasks", (n: number) => ({ id: `T${n}`, product: { id: "same" }, line: 1 })],
])("an entry of %s is known by its own key", async (of, entry) => {
  const pages = toPages([
    [entry(1), entry(2)],
    [entry(2), entry(3)],
  ]);
  expect(await read(pages, false, of)).toMatchObject({
    entries: [entry(1), entry(2), entry(3)],
    error: null,
  });
  expect(await read(toPages([[entry(1)], [entry(1)]]), false, of)).toMatchObject({
    error: { code: "bad_cursor" },
  });
});

test("entries without a key, as of a list of a later version, all come", async () => {
  const entries = [null, 1, "a", {}, { id: null }, [], { product: 1 }];
  for (const of of [path, "/v1/exports", "/v1/imports/IMP/rows"])
    expect(await read(toPages([entries, entries]), false, of)).toMatchObject({
      entries: [...entries, ...entries],
      error: null,
    });
});

test("any list gives each entry once in order, or fails", () => {
  const page = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 5 });
  return fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 8 }), fc.boolean(), async (pages, isAhead) => {
      const { entries, error } = await read(toPages(pages.map((page) => ids(...page))), isAhead);
      const known = new Set<number>();
      const repeats = pages.some((page) => {
        const isRepeated = page.length > 0 && page.every((id) => known.has(id));
        if (!isRepeated) for (const id of page) known.add(id);
        return isRepeated;
      });
      expect([entries, error !== null]).toEqual([ids(...known), repeats]);
    }),
  );
});

describe("seen keys", () => {
  test("are those that were added, whatever their texts", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: "binary", maxLength: 3 }), fc.string())), (keys) => {
        const [seen, expected] = [new SeenTexts(Math.random), new Set<string>()];
        for (const key of keys) {
          expect(seen.add(key, 1) === null).toBe(!expected.has(key));
          expected.add(key);
        }
      }),
      { numRuns: repetitions(20, 100) },
    );
  });

  longTest("of 100,000 IDs that differ in a few characters are all distinct, in a few MB", () => {
    const before = process.memoryUsage().arrayBuffers;
    const seen = new SeenTexts(Math.random);
    const id = (n: number) =>
      `01JGZZ${String(n).padStart(10, "0")}${String((n * 7919) % 100003).padStart(10, "A")}`;
    const repeats = (from: number) => {
      let count = 0;
      for (let n = from; n < from + 100_000; n++) if (seen.add(id(n), 1) !== null) count++;
      return count;
    };
    expect([repeats(0), repeats(0), repeats(50_000)]).toEqual([0, 100_000, 50_000]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(15e6);
  });
});

test("only the client, cat api, the tools of agents and the check of a service read the cursors of lists", () => {
  const readers = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (name) =>
      /\.ts$/.test(name) &&
      !/^(?:contract|mock|mock-page|client\/api)\//.test(name.replaceAll("\\", "/")) &&
      /\b(?:next_cursor|has_more)\b/.test(
        readFileSync(join("src", name), "utf8").replace(/^\s*(?:\/\/|\/?\*).*$/gm, ""),
      ),
  );
  expect(readers.sort()).toEqual([
    join("cli", "commands", "api", "run.ts"),
    // Each call of an agent reads one page.
    join("cli", "commands", "mcp", "run-rows.ts"),
    join("cli", "commands", "mcp", "tools.ts"),
    join("client", "pages.ts"),
    // It asks a service how it responds.
    join("flows", "catalogue", "service-check", "request-clauses.ts"),
  ]);
});
