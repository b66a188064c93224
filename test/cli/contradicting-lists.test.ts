import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";
import { serviceInFront } from "./every-command/service-in-front.ts";

interface ListPage {
  data: unknown[];
  next_cursor: string | null;
  has_more: boolean;
}

/** What is wrong with the lists of a service, by the path of a request, with the reason that is reported. */
const faults: readonly [fault: string, change: (page: ListPage, path: string) => void, reason: string][] = [
  [
    "has_more is false beside a next_cursor",
    (page) => {
      page.has_more = false;
    },
    "has_more is false, but next_cursor has a value",
  ],
  [
    "has_more is true without a next_cursor",
    (page) => {
      page.has_more = true;
      page.next_cursor = null;
    },
    "has_more is true, but next_cursor is missing",
  ],
  ["a page repeats the one before", () => {}, "a page repeats earlier entries"],
];

/** Commands that read a complete list, its path, and the file that they must not leave. */
const commands: readonly [line: string, path: string, file?: string][] = [
  ["products list --all --json", "/v1/products"],
  ["products list --all", "/v1/products"],
  ["products export all.csv", "/v1/products", "all.csv"],
  ["products coverage", "/v1/exports"],
  ["export", "/v1/exports"],
  ["export --out rows.ndjson", "/v1/exports", "rows.ndjson"],
  ["export --format csv --out rows.csv", "/v1/exports", "rows.csv"],
  ["export sync mirror", "/v1/exports", "mirror/catalogue.ndjson"],
  ["serve --mock --clone --port 0 --save clone.json", "/v1/products", "clone.json"],
  ["api GET /products --paginate", "/v1/products"],
  ["api GET /v1/exports --paginate", "/v1/exports"],
];

describe.each(faults)("a service whose list contradicts itself: %s", (fault, change, reason) => {
  test.each(sampled(commands, 3))("exits with 7 in cat %s", async (line, path, file) => {
    const world = await createWorld({ mock: { demo: 230 } });
    const front = await serviceInFront(world.mock.baseUrl);
    let first: unknown[] | null = null;
    front.change = (passing) => {
      const page = passing.json as ListPage;
      if (!Array.isArray(page?.data) || page.data.length < 100) return;
      if (first !== null && fault.startsWith("a page repeats")) page.data = first;
      first ??= page.data;
      change(page, passing.path);
    };
    const ran = await world.cat(line, { env: { CAT_BASE_URL: front.origin } });
    expect(ran).toMatchObject({ exit: 7 });
    expect(ran.stderr).toContain(`the list of GET ${path} contradicts itself: ${reason}`);
    if (file !== undefined) expect(existsSync(join(world.folder, file))).toBe(false);
  });
});

test("a product that comes twice is printed and exported once", async () => {
  const world = await createWorld({ mock: { demo: 230 } });
  const front = await serviceInFront(world.mock.baseUrl);
  const env = { CAT_BASE_URL: front.origin };
  const lines = ["products list --all --json", "export", "api GET /products --paginate"];
  const withoutUrls = (text: string) => text.replace(/"url(?:_expires_at)?":"[^"]*"/g, "");
  const expected = await Promise.all(lines.map((line) => world.cat(line, { env })));
  let last: unknown;
  front.change = (passing) => {
    const page = passing.json as ListPage;
    if (!Array.isArray(page?.data)) return;
    const own = page.data.at(-1);
    if (last !== undefined) page.data.unshift(last);
    last = page.next_cursor === null ? undefined : own;
  };
  for (const [index, line] of lines.entries()) {
    const ran = await world.cat(line, { env });
    expect([ran.exit, withoutUrls(ran.stdout)]).toEqual([0, withoutUrls(expected[index]!.stdout)]);
  }
});

test("a limit that the first page reaches reads no further", async () => {
  const world = await createWorld({ mock: { demo: 230 } });
  const front = await serviceInFront(world.mock.baseUrl);
  front.change = ({ json }) => {
    (json as ListPage).has_more = false;
  };
  const ran = await world.cat("products list --limit 5 --json", { env: { CAT_BASE_URL: front.origin } });
  expect([ran.exit, ran.stdout.split("\n").length - 1, front.count]).toEqual([0, 5, 1]);
});
