import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { photo as photoOf } from "../photos/photo-folder.ts";
import { type ImportWorld, importWorld, withoutExports } from "./run-import.ts";

type World = ImportWorld;
type Other = ReturnType<typeof createClient>;

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const posts = { method: "POST", path: "/v1/imports" };

/** Another client, which acts once: as soon as a request of the import waits. */
function whileItWaits(world: World, act: (other: Other) => Promise<unknown>): void {
  const { clock, mock } = world;
  const sleep = clock.sleep.bind(clock);
  let acted: Promise<unknown> | null = null;
  clock.sleep = async (ms, signal) => {
    if (acted === null) {
      const other = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock });
      acted = act(other).finally(() => other.close());
    }
    await acted;
    return sleep(ms, signal);
  };
}

const idOf = async (other: Other, reference: string): Promise<string> => {
  const { data } = await other.products.list({ q: reference });
  return data.find((product) => product.reference === reference)!.id;
};

const rename = (reference: string, name: string) => async (other: Other) =>
  other.products.update({ product_id: await idOf(other, reference), body: { name } });

/** Products A and B of an imported sheet; then a sheet that gives both another name and a second photo. */
async function edited(lines = ["A,Gown", "B,Cap"]) {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\nB,Hat,${cdn}/2.jpg\n`);
  await world.import("a.csv");
  const rows = lines.map((line, at) => `${line},${cdn}/${at + 1}.jpg|${cdn}/${at + 1}-back.jpg\n`);
  await world.write("a.csv", head + rows.join(""));
  return { world, sent: world.writes().length };
}

/** How a batch comes to wait. */
const waits: [string, FaultOrder, probes: string[]][] = [
  ["responses 429", { match: posts, status: 429, times: 2 }, []],
  ["responses 503", { match: posts, status: 503, times: 5 }, ["400"]],
  ["requests that never arrive", { match: posts, drop: "before", times: 5 }, ["400"]],
];

describe.each(sampled(waits, 1))("a batch that waits after %s", (_, fault, probes) => {
  test("overwrites nothing that another client writes meanwhile: the row is left out, the others are sent", async () => {
    const { world, sent } = await edited();
    await world.fault(fault);
    whileItWaits(world, rename("A", "Coat"));
    const { summary, stopped } = await world.import("a.csv");
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ submitted: 1, updated: 1, conflicts: 1, failed: 0 });
    expect(await world.products()).toEqual(["A Coat 1", "B Cap 2"]);
    expect(await world.failed()).toMatch(/^.*\nA,Gown,.*,changed_since,"?name changed at the service/);
    const answers = world
      .writes()
      .slice(sent)
      .filter((line) => /imports (202|400)/.test(line));
    expect(answers).toEqual([...probes, "202"].map((status) => `POST /v1/imports ${status}`));
  });

  test("is sent once, as it was, if nobody writes meanwhile", async () => {
    const { world } = await edited();
    await world.fault(fault);
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 2, updated: 2, conflicts: 0 });
    expect(await world.products()).toEqual(["A Gown 2", "B Cap 2"]);
    const keys = world.mock
      .requests()
      .filter(({ method, path }) => method === "POST" && path.startsWith("/v1/imports"))
      .map(({ idempotency_key }) => idempotency_key);
    expect(new Set(keys.slice(1)).size).toBe(1);
  });
});

const limited: FaultOrder = { match: posts, status: 429, times: 2 };

longTest.each([{ conflicts: "sheet" as const }, { exact: true }])(
  "a batch that waits is sent as it is with %o, whoever wrote meanwhile",
  async (flags) => {
    const { world } = await edited();
    await world.fault(limited);
    whileItWaits(world, rename("A", "Coat"));
    expect((await world.import("a.csv", flags)).summary).toMatchObject({ updated: 2, conflicts: 0 });
    expect(await world.products()).toEqual(["A Gown 2", "B Cap 2"]);
  },
);

test("a product that another client deletes while its batch waits is not created again", async () => {
  const { world } = await edited();
  await world.fault(limited);
  whileItWaits(world, async (other) => other.products.delete({ product_id: await idOf(other, "A") }));
  const { summary } = await world.import("a.csv");
  expect(summary).toMatchObject({ created: 0, updated: 1, conflicts: 1 });
  expect(await world.products()).toEqual(["B Cap 2"]);
  expect(await world.failed()).toContain(",product_deleted,");
});

test("a product that another client creates while its batch waits gets no photo twice, and keeps its name", async () => {
  const world = await importWorld();
  for (const name of ["a", "b"]) writeFileSync(join(world.folder, `${name}.png`), photoOf(name));
  await world.write("a.csv", `${head}A,Dress,a.png\nB,Hat,b.png\n`);
  await world.fault(limited);
  whileItWaits(world, async (other) => {
    for (const [reference, name, file] of [
      ["A", "Dress", "a"],
      ["B", "Cap", "b"],
    ] as const) {
      const image = await other.images.upload({ file: { bytes: photoOf(file), filename: `${file}.png` } });
      const images = [{ image_id: image.id, orientation: "front" as const }];
      await other.products.create({ body: { reference, name, images } });
    }
  });
  const { summary } = await world.import("a.csv");
  expect(summary).toMatchObject({ created: 0, updated: 0, unchanged: 1, conflicts: 1 });
  expect(await world.products()).toEqual(["A Dress 1", "B Cap 1"]);
});

test("a batch that was carried out, though its response was lost, is not taken for the work of others", async () => {
  const { world } = await edited();
  await world.fault({ match: posts, drop: "after", times: 1 });
  await world.fault({ match: posts, status: 503, times: 4 });
  const { summary } = await world.import("a.csv");
  expect(summary).toMatchObject({ updated: 2, conflicts: 0 });
  expect(await world.products()).toEqual(["A Gown 2", "B Cap 2"]);
});

describe("of many rows that wait", () => {
  const count = 30;
  const rows = (name: string, photos: string) =>
    Array.from(
      { length: count },
      (_, at) => `R-${at},${name},${[...photos].map((photo) => `${cdn}/${at}-${photo}.jpg`).join("|")}\n`,
    ).join("");

  async function many() {
    const world = await importWorld();
    await world.write("a.csv", head + rows("Dress", "1"));
    await world.import("a.csv");
    await world.write("a.csv", head + rows("Gown", "12"));
    await world.fault(limited);
    whileItWaits(world, rename("R-7", "Coat"));
    return world;
  }

  test("one read finds what others changed, and the products that did are read again", async () => {
    const world = await many();
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ updated: count - 1, conflicts: 1 });
    const products = await world.products();
    expect(products.filter((product) => !product.endsWith("Gown 2"))).toEqual(["R-7 Coat 1"]);
    const after = world.mock.requests().findIndex(({ status }) => status === 429);
    const looks = world.mock
      .requests()
      .slice(after)
      .filter(({ path }) => path.startsWith("/v1/exports") && path.includes("since="));
    expect(looks).toHaveLength(1);
  });

  longTest("each is read again with a key that may not read exports", async () => {
    const world = await many();
    const { summary } = await world.import("a.csv", {}, withoutExports);
    expect(summary).toMatchObject({ updated: count - 1, conflicts: 1 });
  });
});

describe("a change of a product that waits", () => {
  const patches = { method: "PATCH", path: "/v1/products" };

  /** A and B get other names; the first request waits over a second, in which another client does something. */
  async function renaming(act: (other: Other) => Promise<unknown>) {
    const { world } = await edited();
    await world.import("a.csv");
    await world.write("a.csv", (await world.read("a.csv")).replace("Gown", "Coat").replace("Cap", "Beret"));
    await world.fault({ match: patches, status: 429, times: 4 });
    whileItWaits(world, async (other) => {
      // The rate limit of the fault is not for this client.
      await world.fault();
      await act(other);
      world.clock.advance(3_000);
    });
    const { summary } = await world.import("a.csv", { concurrency: 1 });
    return { world, summary };
  }

  test("writes nothing to a product to which another client gave another reference", async () => {
    const { world, summary } = await renaming(async (other) =>
      other.products.update({ product_id: await idOf(other, "A"), body: { reference: "AA" } as object }),
    );
    expect(summary).toMatchObject({ updated: 1, failed: 0, conflicts: 1 });
    expect(await world.products()).toEqual(["AA Gown 2", "B Beret 2"]);
    expect(await world.failed()).toContain(
      ",reference_changed,another client gave the product the reference AA",
    );
  });

  longTest("is a conflict if another client deletes the product", async () => {
    const { world, summary } = await renaming(async (other) =>
      other.products.delete({ product_id: await idOf(other, "A") }),
    );
    expect(summary).toMatchObject({ created: 0, updated: 1 });
    expect(await world.products()).toEqual(["B Beret 2"]);
    expect(await world.failed()).toContain(",product_deleted,");
  });
});

longTest(
  "a photo to which another client gave another side while its move waited keeps that side",
  async () => {
    const world = await importWorld();
    const header = "reference,name,image_front,image_back\n";
    await world.write("a.csv", `${header}A,Dress,${cdn}/1.jpg,${cdn}/2.jpg\n`);
    await world.import("a.csv");
    await world.write("a.csv", `${header}A,Dress,${cdn}/2.jpg,${cdn}/1.jpg\n`);
    await world.fault({ match: { method: "POST", path: "/v1/products" }, status: 429, times: 2 });
    whileItWaits(world, async (other) => {
      const product_id = await idOf(other, "A");
      const { images } = await other.products.get({ product_id });
      const image_id = images.find(({ orientation }) => orientation === "front")!.id;
      await world.fault();
      await other.products.attach({ product_id, body: { images: [{ image_id, orientation: "left" }] } });
      world.clock.advance(3_000);
    });
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ updated: 0, failed: 0, conflicts: 1 });
    const { data } = await world.client.products.list({ q: "A" });
    expect(data[0]!.images.map(({ orientation }) => orientation).sort()).toEqual(["back", "left"]);
    expect(await world.failed()).toContain(",changed_since,");
  },
);
