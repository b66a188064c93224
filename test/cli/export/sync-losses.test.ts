import { describe, expect, test } from "vitest";
import type { MockState } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { serviceInFront } from "../every-command/service-in-front.ts";
import { syncWorld } from "./sync-world.ts";

const day = 24 * 3_600_000;

/** A mirror of 18 images, and a service that can forget products for a while. */
async function mirrored() {
  const world = await syncWorld();
  await world.addAll(
    [4, 5, 6, 7, 8, 9].map((number) => `DRESS-${number}`),
    ["front", "back"],
  );
  world.clock.advance(day);
  expect((await world.sync("images")).counts).toEqual({ total: 18, added: 18 });
  const healthy = (await world.send("GET", "/_mock/state")) as MockState;
  const complete = world.tree("images");
  return {
    ...world,
    complete,
    /** The service lists only so many products. */
    async list(count: number) {
      const { main } = healthy.organizations;
      const faulty = { ...main, products: main.products.slice(0, count) };
      await world.send("PUT", "/_mock/state", {
        ...healthy,
        organizations: { ...healthy.organizations, main: faulty },
      });
      world.clock.advance(day);
    },
    /** Whether the last command read changes only. */
    since: () =>
      world
        .requests()
        .map(({ path }) => path)
        .findLast((path) => path.startsWith("/v1/exports"))!
        .includes("since="),
  };
}

describe("a list that lacks most of the mirror", () => {
  test.for(repetitions([1], [0, 1, 4]))(
    "of %i products removes nothing, and the next run reads everything",
    async (count) => {
      const world = await mirrored();
      const lost = 18 - 2 * count;
      await world.list(count);
      const ran = await world.cat("export sync images --delete --full");
      expect(ran).toEqual({
        exit: 8,
        stdout: "",
        stderr:
          "Mirrored 18 images in images in 0.0 s: 18 unchanged.\n" +
          `error: ${lost} of 18 files are no longer in the catalogue; none was deleted\n` +
          `Check the API key and the catalogue. To delete the files, add --delete --max-delete ${lost}.\n`,
      });
      expect(world.tree("images")).toEqual(world.complete);
      // The list stays faulty: without --full, everything is read.
      world.clock.advance(day);
      expect((await world.sync("images --delete")).exit).toBe(8);
      expect(world.since()).toBe(false);
      await world.list(9);
      expect(await world.sync("images --delete")).toEqual({
        exit: 0,
        stderr: "",
        counts: { total: 18, unchanged: 18 },
      });
      expect(world.since()).toBe(false);
      expect(world.tree("images")).toEqual(world.complete);
      await world.sync("images --delete");
      expect(world.since()).toBe(true);
    },
  );

  longTest(
    "that comes twice and is short by less loses nothing: --delete reads everything before it deletes",
    async () => {
      const world = await mirrored();
      await world.list(6);
      expect((await world.sync("images --full")).counts).toMatchObject({ removed: 6 });
      await world.list(6);
      expect((await world.sync("images")).exit).toBe(0);
      await world.list(9);
      expect((await world.sync("images")).exit).toBe(0);
      expect(world.since()).toBe(true);
      expect((await world.sync("images --delete")).exit).toBe(0);
      expect(world.since()).toBe(false);
      expect(world.tree("images")).toEqual(world.complete);
    },
  );

  test("that comes twice, the second time with --delete, is read again until it is healthy", async () => {
    const world = await mirrored();
    await world.list(7);
    expect((await world.sync("images --full")).counts).toMatchObject({ removed: 4 });
    await world.list(7);
    expect((await world.sync("images --delete")).counts).toMatchObject({ total: 14, removed: 4 });
    await world.list(9);
    expect((await world.sync("images")).counts).toMatchObject({ total: 18, added: 4 });
    expect(world.since()).toBe(false);
    expect(world.tree("images")).toEqual(world.complete);
  });

  longTest("without --delete marks nothing as removed: exit 8", async () => {
    const world = await mirrored();
    await world.list(0);
    expect(await world.cat("export sync images --full")).toEqual({
      exit: 8,
      stdout: "",
      stderr:
        "Mirrored 18 images in images in 0.0 s: 18 unchanged.\n" +
        "error: the catalogue no longer has 18 of 18 images of the mirror; none was marked as removed\n" +
        "Check the API key and the catalogue. To delete the files, add --delete --max-delete 18. " +
        "To keep them, mirror the catalogue into a new folder.\n",
    });
    expect(world.tree("images")).toEqual(world.complete);
    await world.list(9);
    expect((await world.sync("images --delete")).counts).toEqual({ total: 18, unchanged: 18 });
    expect(world.tree("images")).toEqual(world.complete);
  });

  longTest("is reported by --dry-run, which leaves the state as it is", async () => {
    const world = await mirrored();
    const state = world.read("images/.catalogue-sync/all/state.json");
    await world.list(0);
    for (const line of ["--delete", ""])
      expect((await world.sync(`images --full --dry-run ${line}`)).exit).toBe(8);
    expect(world.read("images/.catalogue-sync/all/state.json")).toBe(state);
    expect(world.tree("images")).toEqual(world.complete);
  });

  longTest("is believed with the number that the message names", async () => {
    const world = await mirrored();
    await world.list(2);
    expect((await world.sync("images --delete --full --max-delete 13")).exit).toBe(8);
    expect((await world.sync("images --delete --max-delete 14")).counts).toEqual({
      total: 4,
      removed: 14,
      unchanged: 4,
    });
  });

  longTest("removes nothing from a shard, and --merge joins complete indexes", async () => {
    const world = await mirrored();
    for (const shard of ["1/2", "2/2"]) await world.sync(`shards --shard ${shard}`);
    await world.list(0);
    for (const shard of ["1/2", "2/2"])
      expect((await world.sync(`shards --shard ${shard} --delete --full`)).exit).toBe(8);
    expect((await world.sync("shards --merge")).counts).toEqual({ total: 18, unchanged: 18 });
    expect(world.read("shards/catalogue.ndjson")).toBe(world.complete["catalogue.ndjson"]);
  });
});

describe("a smaller loss", () => {
  test("of at most 20 files is deleted, and the next run reads everything again", async () => {
    const world = await mirrored();
    await world.list(5);
    expect((await world.sync("images --delete --full")).counts).toEqual({
      total: 10,
      removed: 8,
      unchanged: 10,
    });
    await world.list(9);
    expect((await world.sync("images --delete")).counts).toEqual({ total: 18, added: 8, unchanged: 10 });
    expect(world.tree("images")).toEqual(world.complete);
  });

  longTest("of more than a tenth and 20 files is not deleted without --max-delete", async () => {
    const world = await syncWorld();
    const rows = Array.from({ length: 38 }, (_, at) => ({
      reference: `SHIRT-${at}`,
      name: "Shirt",
      images: [{ url: `https://cdn.example.com/${at}.jpg` }],
    }));
    world.write("shirts.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await world.cat("import shirts.ndjson");
    await world.sync("images");
    world.clock.advance(day);
    for (const { id } of world.products().slice(-21)) await world.send("DELETE", `/v1/products/${id}`);
    expect(await world.cat("export sync images --delete")).toEqual({
      exit: 8,
      stdout: "",
      stderr:
        "Mirrored 44 images in images in 0.0 s: 44 unchanged.\n" +
        "error: 21 of 44 files are no longer in the catalogue; none was deleted\n" +
        "Check the API key and the catalogue. To delete the files, add --delete --max-delete 21.\n",
    });
    expect((await world.sync("images --delete --max-delete 21")).counts).toEqual({
      total: 23,
      removed: 21,
      unchanged: 23,
    });
  });
});

test("changes that list products without their images are followed by a complete read", async () => {
  const world = await mirrored();
  const front = await serviceInFront(world.mock.baseUrl);
  const sync = () => world.cat("export sync other --delete", { env: { CAT_BASE_URL: front.origin } });
  expect((await sync()).exit).toBe(0);
  const complete = world.names("other");
  world.clock.advance(day);
  await world.send("PATCH", `/v1/products/${world.products()[0]!.id}`, { description: "Changed" });
  front.change = ({ json }) => {
    const { data = [] } = (json ?? {}) as { data?: { assets?: unknown[] }[] };
    for (const row of data) if (row.assets !== undefined) row.assets = [];
  };
  expect(await sync()).toMatchObject({ exit: 0, stderr: expect.stringContaining("2 removed") });
  front.change = null;
  world.clock.advance(day);
  expect((await sync()).exit).toBe(0);
  expect(world.since()).toBe(false);
  expect(world.names("other")).toEqual(complete);
});
