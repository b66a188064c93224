import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { catalogueServer, rowOf } from "../../flows/export/live/catalogue-server.ts";
import { until } from "../../support/until.ts";
import { exportWorld, idsOf } from "./export-world.ts";

const minute = 60_000;

/** A world at 09:00 with 3 products, an hour after they were created. */
async function sinceWorld(options: Parameters<typeof exportWorld>[0] = {}) {
  const world = await exportWorld({ demo: 3, ...options });
  world.clock.advance(60 * minute);
  return {
    ...world,
    /** The `since` of every read, in order. */
    asked: () =>
      world
        .requests()
        .filter(({ path }) => path.startsWith("/v1/exports"))
        .map(({ path }) => new URLSearchParams(path.split("?")[1]).get("since")),
    /** Changes a product through the service. */
    async rename(id: string): Promise<void> {
      await call(world, "PATCH", id, { name: "Renamed" });
    },
    async remove(id: string): Promise<void> {
      await call(world, "DELETE", id);
    },
  };
}

async function call(
  { mock }: { mock: { baseUrl: string; apiKey: string } },
  method: string,
  id: string,
  body?: object,
): Promise<void> {
  const response = await fetch(`${mock.baseUrl}/v1/products/${id}`, {
    method,
    headers: {
      authorization: `Bearer ${mock.apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/merge-patch+json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
}

const everything =
  "No earlier export with --since last, this API key and these roles: exporting everything.\n";

describe("--since TIME", () => {
  test("exports what changed since then, deletions included", async () => {
    const world = await sinceWorld();
    const [oldest, , newest] = world.products();
    await world.rename(oldest!.id);
    await world.remove(newest!.id);
    const ran = await world.cat("export --since 2026-01-05T12:00:00+02:00");
    expect(ran.stderr).toBe("Exported 2 products with 2 images (1 product deleted) in 0.0 s.\n");
    const rows = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ product }) => [product.id, product.deleted_at])).toEqual(
      expect.arrayContaining([
        [newest!.id, "2026-01-05T10:00:00.000Z"],
        [oldest!.id, null],
      ]),
    );
    expect(world.asked()).toEqual(["2026-01-05T10:00:00.000Z"]);
    const csv = await world.cat("export --since 2026-01-05T10:00:00Z --format csv");
    expect(csv.stdout).toMatch(new RegExp(`^${newest!.id},[^\\n]*,2026-01-05T10:00:00\\.000Z,{20}$`, "m"));
    const json = await world.cat("export --since 2026-01-05T10:00:00Z --out a.ndjson --json");
    expect(JSON.parse(json.stdout)).toMatchObject({ products: 2, deleted: 1 });
  });

  test("is earlier by --margin, and by nothing without it", async () => {
    const world = await sinceWorld();
    await world.cat("export --since 2026-01-05T09:30:00.500Z");
    await world.cat("export --since 2026-01-05T09:30:00.500Z --margin 90s");
    expect(world.asked()).toEqual(["2026-01-05T09:30:00.500Z", "2026-01-05T09:28:30.500Z"]);
  });

  test.for([
    "2026-01-05",
    "2026-01-05T09:00:00",
    "2026-02-30T09:00:00Z",
    "2026-13-01T09:00:00Z",
    "2026-01-05T24:30:00Z",
    "yesterday",
    "",
  ])("exits with 2 and an example for %j", async (time) => {
    const world = await sinceWorld();
    expect(await world.cat(["export", "--since", time])).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: invalid --since ${JSON.stringify(time)}: use a time with an offset, for example 2026-01-05T09:00:00Z\nSee: cat export --help\n`,
    });
  });

  test("is needed for --margin", async () => {
    const world = await sinceWorld();
    expect(await world.cat("export --margin 5m")).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: --margin needs --since\nAdd --since last or --since TIME, or remove --margin.\n",
    });
  });
});

describe("--since last", () => {
  test("exports everything first, then what changed since the start of the last export, less 5 minutes", async () => {
    const world = await sinceWorld();
    const first = await world.cat("export --since last --out a.ndjson");
    expect(first.stderr).toBe(`${everything}Exported 3 products with 5 images to a.ndjson in 0.0 s.\n`);
    world.clock.advance(20 * minute);
    const [oldest] = world.products();
    await world.rename(oldest!.id);
    world.clock.advance(20 * minute);
    const second = await world.cat("export --since last --out a.ndjson --yes");
    expect(second.stderr).toMatch(/^Exported 1 product with \d images? to a\.ndjson in 0\.0 s\.\n$/);
    expect(idsOf(world.read("a.ndjson"))).toEqual([oldest!.id]);
    await world.cat("export --since last --margin 1h");
    await world.cat("export --since last --margin 0");
    expect(world.asked()).toEqual([
      null,
      "2026-01-05T09:55:00.000Z",
      "2026-01-05T09:40:00.000Z",
      "2026-01-05T10:40:00.000Z",
    ]);
  });

  test.for([
    ["the service's clock is behind", "07:30", "07:40", "07:25"],
    ["the local clock is behind", "11:30", "11:40", "08:55"],
  ] as const)("starts at the time before the first request; %s", async ([, first, second, since]) => {
    const world = await exportWorld({ demo: 0 });
    let at = `Mon, 05 Jan 2026 ${first}:00 GMT`;
    const service = await catalogueServer([rowOf(2), rowOf(1)], {
      pageSize: 1,
      respond: (url) => {
        // Minutes pass between the pages.
        if (url.searchParams.has("cursor")) at = `Mon, 05 Jan 2026 ${second}:00 GMT`;
        const { searchParams } = url;
        const has_more = !searchParams.has("cursor");
        const body = { data: [], has_more, next_cursor: has_more ? "next" : null };
        return { status: 200, body, headers: { date: at } };
      },
    });
    const env = { CAT_BASE_URL: service.baseUrl };
    await world.cat("export --since last", { env });
    await world.cat("export --since last", { env });
    const [hour, minute] = since.split(":");
    expect(service.requests.slice(2)).toEqual([
      // For the service's time: the stored one must not be in the future.
      "/v1/products?limit=1",
      `/v1/exports?limit=100&since=2026-01-05T${hour}%3A${minute}%3A00.000Z`,
      `/v1/exports?limit=100&cursor=next&since=2026-01-05T${hour}%3A${minute}%3A00.000Z`,
    ]);
  });

  test("has a mark of its own for each API key and each selection of roles", async () => {
    const world = await sinceWorld();
    const mark = (line: string, env = {}) => world.cat(line, { env }).then(({ stderr }) => stderr);
    expect(await mark("export --since last")).toContain(everything);
    expect(await mark("export --since last --role source")).toContain(everything);
    expect(await mark("export --since last", { CAT_API_KEY: "ak_mock_readonly" })).toContain(everything);
    expect(await mark("export --since last", { CAT_PROFILE: "other" })).toContain(everything);
    expect(await mark("export --since last --role source,tryon")).toContain(everything);
    expect(await mark("export --since last --role tryon,source")).not.toContain(everything);
    expect(await mark("export --since last --format csv")).not.toContain(everything);
  });

  test.for([
    ["the reader goes away", {}, { stdoutReads: 1 }],
    ["a page fails for good", { match: { path: "/v1/exports?limit=100&cursor=" }, status: 500 }, {}],
  ] as const)("does not move the mark when %s", async ([, fault, call]) => {
    const world = await sinceWorld({ demo: 150 });
    if ("match" in fault) await world.fault(fault);
    await world.cat("export --since last", call);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    const again = await world.cat("export --since last");
    expect(again.stderr).toContain(everything);
    expect(idsOf(again.stdout)).toHaveLength(150);
  });

  test("does not move the mark when the file cannot be finished", async () => {
    const world = await sinceWorld();
    world.write("folder/x", "");
    await world.fault({ match: { path: "/v1/exports" }, times: 1, delay_ms: 10_000 });
    const running = world.cat("export --since last --out folder/a.ndjson");
    await until(() => world.asked().length === 1);
    rmSync(join(world.folder, "folder"), { recursive: true });
    world.clock.advance(10_000);
    expect(await running).toMatchObject({ exit: 2, stdout: "" });
    expect((await running).stderr).toContain("folder/a.ndjson: no such file or folder\n");
    expect((await world.cat("export --since last")).stderr).toContain(everything);
  });

  test("keeps the later of two marks when two exports overlap", async () => {
    const world = await sinceWorld();
    await world.cat("export --since last");
    await world.fault({ match: { path: "/v1/exports" }, times: 1, delay_ms: 20_000 });
    const slow = world.cat("export --since last");
    await until(() => world.asked().length === 2);
    world.clock.advance(10_000);
    await world.cat("export --since last");
    world.clock.advance(10_000);
    expect((await slow).exit).toBe(0);
    await world.cat("export --since last");
    expect(world.asked()).toEqual([
      null,
      "2026-01-05T09:55:00.000Z",
      "2026-01-05T09:55:00.000Z",
      "2026-01-05T09:55:10.000Z",
    ]);
  });
});
