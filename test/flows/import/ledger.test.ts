import { describe, expect, test } from "vitest";
import { json } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { cdn, fileOf, once, worldWith } from "./import-fixtures.ts";
import { type By, type ImportWorld, importWorld } from "./run-import.ts";

const head = "reference,name,description,sex,image_1,image_1_orientation,image_2\n";
const dress = (
  row: Partial<Record<"reference" | "name" | "description" | "sex" | "one" | "orientation" | "two", string>>,
) => {
  const { reference = "A", name = "Dress", description = "long", sex = "female" } = row;
  const { one = `${cdn}/1.jpg`, orientation = "front", two = `${cdn}/2.jpg` } = row;
  return `${head}${[reference, name, description, sex, one, orientation, two].join(",")}\n`;
};

/** Imports a file, changes the products, and imports the next file. */
async function again(
  first: string,
  second: string,
  {
    meanwhile,
    by = () => ({}),
    file = "second.csv",
  }: {
    meanwhile?: (world: World) => Promise<unknown>;
    by?: (world: World) => By;
    /** The name of the next file: another one has no known rows. */
    file?: "first.csv" | "second.csv";
  } = {},
) {
  const world = await importWorld();
  await world.write("first.csv", first);
  await world.import("first.csv");
  await meanwhile?.(world);
  const before = world.writes().length;
  await world.write(file, second);
  const ran = await world.import(file, {}, by(world));
  const products = (await world.client.products.list()).data;
  const writes = world.writes().slice(before);
  return { ...ran, world, writes, products, product: products.find(({ reference }) => reference === "A")! };
}
type World = ImportWorld;

const productOf = async (world: World, reference: string) => world.productOf(reference);
const edit = (reference: string, body: object) => async (world: World) =>
  world.client.products.update({
    product_id: (await productOf(world, reference)).id,
    body: body as { name: string },
  });
const remove = (reference: string) => async (world: World) =>
  world.client.products.delete({ product_id: (await productOf(world, reference)).id });

const patched = [expect.stringMatching(/^PATCH \/v1\/products\/\w+ 200$/)];
const upserted = ["POST /v1/imports 202"];
const asUnchanged = { submitted: 0, succeeded: 0, updated: 0, created: 0, unchanged: 1, imports: [] };
const asPatched = { submitted: 1, succeeded: 1, updated: 1, created: 0, unchanged: 0, imports: [] };
const asSent = { submitted: 1, succeeded: 1, updated: 1, created: 0, unchanged: 0 };

describe("a file that is imported again", () => {
  test.each<[string, string, string]>(
    sampled(
      [
        ["if it is unchanged", dress({}), dress({})],
        ["without a description, which an upsert leaves", dress({}), dress({ description: "" })],
        ["without a sex, which an upsert leaves", dress({}), dress({ sex: "" })],
        ["without a photo", dress({}), dress({ two: "" })],
        [
          "with its photos in another order, if none has a side",
          dress({ orientation: "" }),
          dress({ orientation: "", one: `${cdn}/2.jpg`, two: `${cdn}/1.jpg` }),
        ],
        ["with a duplicate photo", dress({ two: `${cdn}/1.jpg` }), dress({ two: `${cdn}/1.jpg` })],
        ["with spaces around its reference", dress({}), dress({ reference: "  A " })],
      ],
      3,
    ),
  )("sends nothing %s", async (_, first, second) => {
    const { summary, writes } = await again(first, second);
    expect(summary).toMatchObject(asUnchanged);
    expect(writes).toEqual([]);
  });

  test.each(
    sampled(
      [
        ["another side of a photo", dress({ orientation: "back" }), ["back", "unlabeled"]],
        ["another photo for a side", dress({ one: `${cdn}/2.jpg`, two: `${cdn}/1.jpg` }), ["front", "front"]],
      ],
      1,
    ),
  )("moves a photo if it names %s", async (_, second, sides) => {
    const { summary, writes, product } = await again(dress({}), second);
    expect(summary).toMatchObject({ ...asPatched, photos: { added: 0, replaced: 0, removed: 0, moved: 1 } });
    expect(writes).toEqual([expect.stringMatching(/^POST \/v1\/products\/\w+\/images 20\d$/)]);
    expect(product.images.map(({ orientation }) => orientation)).toEqual(sides);
  });

  test.each<[string, string, object]>(
    sampled(
      [
        ["a name", dress({ name: "Coat" }), { name: "Coat", description: "long", sex: "female" }],
        [
          "a description",
          dress({ description: "short" }),
          { name: "Dress", description: "short", sex: "female" },
        ],
        ["a sex", dress({ sex: "kid" }), { name: "Dress", description: "long", sex: "kid" }],
        [
          "all fields",
          dress({ name: "1", description: "2", sex: "male" }),
          { name: "1", description: "2", sex: "male" },
        ],
        [
          "one field, and lacks others",
          dress({ name: "Coat", description: "", sex: "" }),
          { name: "Coat", description: "long", sex: "female" },
        ],
      ],
      1,
    ),
  )("sends one PATCH if it changes %s", async (_, second, fields) => {
    const { summary, writes, product, world } = await again(dress({}), second);
    expect(summary).toMatchObject(asPatched);
    expect(writes).toEqual(patched);
    expect(product).toMatchObject(fields);
    expect(product.images).toHaveLength(2);
    expect((await world.import("second.csv")).summary).toMatchObject(asUnchanged);
  });

  longTest("sets fields that the product did not have", async () => {
    const { writes, product } = await again(dress({ description: "", sex: "" }), dress({}));
    expect(writes).toEqual(patched);
    expect(product).toMatchObject({ description: "long", sex: "female" });
  });

  test("sends only its new photo, with the fields", async () => {
    const { summary, writes, product, world } = await again(
      dress({}),
      dress({ name: "Coat", one: `${cdn}/3.jpg`, orientation: "back" }),
    );
    expect(summary).toMatchObject(asSent);
    expect(writes).toEqual(upserted);
    expect(product).toMatchObject({ name: "Coat", description: "long" });
    expect(product.images.map(({ orientation }) => orientation)).toEqual(["front", "unlabeled", "back"]);
    // What the first file says was not edited.
    expect((await world.import("first.csv")).summary).toMatchObject({
      ...asUnchanged,
      unchanged: 0,
      kept: 1,
    });
    expect(await world.products()).toEqual(["A Coat 3"]);
  });

  longTest("sends every row as is with --photos all", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    const { summary } = await world.import("a.csv", { photos: "all" });
    expect(summary).toMatchObject(asSent);
    expect(await world.products()).toEqual(["A Dress 2"]);
    expect((await world.import("a.csv")).summary).toMatchObject(asUnchanged);
  });
});

describe("changes by other clients", () => {
  test("does not re-create a deleted product whose row was not edited", async () => {
    const { summary, writes, products } = await again(fileOf("A", "B"), fileOf("A", "B"), {
      meanwhile: remove("A"),
      file: "first.csv",
    });
    expect(summary).toMatchObject({ submitted: 0, created: 0, unchanged: 1, deleted: 1 });
    expect(writes).toEqual([]);
    expect(products.map(({ reference }) => reference)).toEqual(["B"]);
  });

  test("re-creates a deleted product with all its photos for a file that was not imported before", async () => {
    const { summary, writes, product } = await again(dress({}), dress({}), { meanwhile: remove("A") });
    expect(summary).toMatchObject({ submitted: 1, created: 1, unchanged: 0 });
    expect(writes).toEqual(upserted);
    expect(product.images).toHaveLength(2);
  });

  longTest(
    "re-creates a product if its reference changed, and leaves the renamed one unchanged",
    async () => {
      const { summary, products } = await again(dress({}), dress({}), {
        meanwhile: edit("A", { reference: "B" }),
      });
      expect(summary).toMatchObject({ submitted: 1, created: 1, unchanged: 0 });
      expect(products.map(({ reference, images }) => [reference, images.length])).toEqual([
        ["A", 2],
        ["B", 2],
      ]);
    },
  );

  longTest("sends the photos of both products if their references were swapped", async () => {
    const swap = async (world: World) => {
      const [a, b] = [await productOf(world, "A"), await productOf(world, "B")];
      const call = (product_id: string, reference: string) =>
        world.client.products.update({ product_id, body: { reference } });
      await call(a.id, "x");
      await call(b.id, "A");
      await call(a.id, "B");
    };
    const { summary, products, world } = await again(fileOf("A", "B"), fileOf("A", "B"), { meanwhile: swap });
    expect(summary).toMatchObject({ submitted: 2, updated: 2, unchanged: 0 });
    expect(products.map(({ images }) => images.length)).toEqual([2, 2]);
    expect((await world.import("first.csv")).summary).toMatchObject({ submitted: 0, unchanged: 2 });
  });

  test.each(
    sampled(
      [{ name: "Theirs" }, { description: "theirs" }, { description: null }, { sex: "male" }, { sex: null }],
      1,
    ),
  )("are kept in a file that was imported before (%j), and set back by another file", async (theirs) => {
    const kept = await again(dress({}), dress({}), { meanwhile: edit("A", theirs), file: "first.csv" });
    expect(kept.summary).toMatchObject({ ...asUnchanged, unchanged: 0, kept: 1 });
    expect(kept.writes).toEqual([]);
    expect(kept.product).toMatchObject(theirs);
    const { summary, writes, product } = await again(dress({}), dress({}), { meanwhile: edit("A", theirs) });
    expect(summary).toMatchObject(asPatched);
    expect(writes).toEqual(patched);
    expect(product).toMatchObject({ name: "Dress", description: "long", sex: "female" });
    expect(product.images).toHaveLength(2);
  });

  longTest("sends no PATCH for fields that were edited to the values in the file", async () => {
    const { summary, writes } = await again(dress({}), dress({ name: "Coat", description: "new" }), {
      meanwhile: edit("A", { name: "Coat", description: "new" }),
    });
    expect(summary).toMatchObject(asUnchanged);
    expect(writes).toEqual([]);
  });

  longTest("keeps edited fields that are not in the file", async () => {
    const { summary, product } = await again(
      dress({ description: "", sex: "" }),
      dress({ description: "", sex: "" }),
      {
        meanwhile: edit("A", { description: "theirs", sex: "kid" }),
      },
    );
    expect(summary).toMatchObject(asUnchanged);
    expect(product).toMatchObject({ description: "theirs", sex: "kid" });
  });

  test("keeps the side that others gave to a photo", async () => {
    const { summary, writes, product } = await again(dress({}), dress({}), {
      file: "first.csv",
      async meanwhile(world) {
        const { id, images } = await productOf(world, "A");
        await world.client.products.attach({
          product_id: id,
          body: { images: [{ image_id: images[0]!.id, orientation: "back" }] },
        } as never);
        world.clock.advance(600_000);
      },
    });
    expect(summary).toMatchObject(asUnchanged);
    expect(writes).toEqual([]);
    expect(product.images.map(({ orientation }) => orientation)).toEqual(["back", "unlabeled"]);
  });

  longTest(
    "finds changes long after the last import in a delta, and reads only newer ones (over 100 rows)",
    async () => {
      const others = Array.from({ length: 100 }, (_, index) => `R${index}`);
      const world = await worldWith(...others, "A");
      await world.import("a.csv");
      await world.import("a.csv");
      world.clock.advance(3_600_000);
      await remove("A")(world);
      world.clock.advance(3_600_000);
      const { summary } = await world.import("a.csv");
      expect(summary).toMatchObject({ submitted: 0, created: 0, unchanged: 100, deleted: 1 });
      const since = () =>
        world.mock.requests().flatMap(({ path }) => /since=([^&]+)/.exec(path)?.slice(1) ?? []);
      const minutes = () => since().map((time) => decodeURIComponent(time).slice(0, 16));
      expect(new Set(minutes())).toEqual(new Set(["2026-01-05T08:55"]));
      await world.import("a.csv");
      expect(minutes().at(-1)).toBe("2026-01-05T10:55");
    },
  );

  test("are read from each product, not from a delta, for up to 100 rows", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    const before = world.mock.requests().length;
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: 2 });
    const reads = world.mock.requests().slice(before);
    const ids = [await idOf(world, "A"), await idOf(world, "B")];
    expect(reads.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      ids.map((id) => `GET /v1/products/${id}`).sort(),
    );
  });

  longTest("sends nothing if the product of another file was deleted", async () => {
    const { world, writes } = await again(fileOf("A", "B"), fileOf("A"), { meanwhile: remove("B") });
    expect(writes).toEqual([]);
    expect(await world.products()).toEqual(once("A"));
  });

  longTest(
    "fails a row whose product is deleted just before its PATCH, and re-creates it the next time",
    async () => {
      const { summary, world } = await again(dress({}), dress({ name: "Coat" }), {
        by: (world) => ({
          async judge({ method }) {
            if (method === "PATCH") await remove("A")(world);
            return null;
          },
        }),
      });
      expect(summary).toMatchObject({
        submitted: 1,
        succeeded: 0,
        failed: 1,
        updated: 0,
        failed_file: "second.failed.csv",
      });
      expect(await world.failed()).toMatch(/^A,Coat,.*,product_not_found,/m);
      const next = await world.import("second.csv");
      expect(next.summary).toMatchObject({ submitted: 1, created: 1 });
      expect(await world.products()).toEqual(["A Coat 2"]);
    },
  );
});

describe("many products", () => {
  test("are changed even if no refresh finds them: no row is skipped", async () => {
    const world = await importWorld();
    const count = repetitions(101, 301);
    const text = (name: string) =>
      `reference,name,description,images\n${Array.from({ length: count }, (_, index) => `R${index},${name},long,${cdn}/1.jpg\n`).join("")}`;
    await world.write("a.csv", text("Dress"));
    await world.import("a.csv");
    // The list of products, read once its rows were sent, is empty.
    const judge: By["judge"] = ({ method, path }) =>
      method === "GET" && path === "/v1/products"
        ? json(200, { data: [], has_more: false, next_cursor: null })
        : null;
    const { summary } = await world.import("a.csv", {}, { judge });
    expect(summary).toMatchObject({ submitted: count, updated: count, unchanged: 0 });
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: count });
  });

  longTest("keep their known photos if references were swapped far apart", async () => {
    const world = await importWorld();
    const references = Array.from({ length: 1200 }, (_, index) => `R${String(index).padStart(4, "0")}`);
    await world.write("a.csv", fileOf(...references));
    await world.import("a.csv");
    const { ledger } = await world.stateOf();
    const ids = new Map(references.map((one) => [one, ledger.get(1, one)!.productId]));
    const [first, last] = [ids.get("R0000")!, ids.get("R1199")!];
    // The newest changes are read first: a thousand others lie between these two.
    const call = (product_id: string, reference: string) =>
      world.client.products.update({ product_id, body: { reference } });
    await call(first, "x");
    await call(last, "R0000");
    for (let at = 1; at < 1100; at++) {
      world.clock.advance(1);
      await call(ids.get(references[at]!)!, references[at]!);
    }
    await call(first, "R1199");
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 2, updated: 2, unchanged: 1198 });
    const entries = ["R0000", "R1199"].map((one) => ledger.get(1, one)!);
    expect(entries.map(({ productId, photos }) => [productId, photos.length])).toEqual([
      [last, 2],
      [first, 2],
    ]);
  });
});

const idOf = async (world: World, reference: string) => world.productOf(reference).id;

describe("partial and failed rows", () => {
  const bad = `${cdn}/fail-timeout.jpg`;

  test("have only their failed photos in the failed file and in the next batch", async () => {
    const world = await importWorld();
    await world.write("a.csv", dress({ two: bad }));
    const first = await world.import("a.csv");
    expect(first.summary).toMatchObject({ partial: 1, created: 1 });
    const second = await world.import("a.csv", { failed: "2.csv" });
    // Only the failed photo was sent; the row of the failed file has all of them, for the case that one is removed.
    expect(second.summary).toMatchObject({ submitted: 1, failed: 1, partial: 0, unchanged: 0, created: 0 });
    const [line] = (await world.read("2.csv")).split("\n").slice(1);
    expect(line).toMatch(new RegExp(`^A,Dress,long,female,${cdn}/1.jpg,front,${bad},`));
    expect(await world.products()).toEqual(["A Dress 1"]);
    await world.write("mended.csv", (await world.read("a.failed.csv")).replace(bad, `${cdn}/good.jpg`));
    expect((await world.import("mended.csv")).summary).toMatchObject(asSent);
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 1, failed: 1 });
    expect(await world.products()).toEqual(["A Dress 2"]);
    await world.write("without.csv", (await world.read("2.csv")).replace(bad, ""));
    expect((await world.import("without.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
  });

  test.each(sampled(["skip", "fail_row"] as const, 1))(
    "fail with their fields if all new photos fail (%s): there is no second attempt",
    async (onImageError) => {
      const world = await worldWith("A", "B");
      await world.import("a.csv");
      const text = fileOf("A", "B").replace("A,Dress", "A,Coat").replaceAll(".jpg\n", `.jpg|${bad}\n`);
      await world.write("b.csv", text);
      const before = world.writes().length;
      const { stopped, summary } = await world.import("b.csv", { onImageError });
      expect(stopped).toBeUndefined();
      expect(summary).toMatchObject({
        submitted: 2,
        partial: 0,
        updated: 0,
        failed: 2,
        failed_file: "b.failed.csv",
      });
      expect(world.writes().slice(before)).toEqual(["POST /v1/imports 202"]);
      expect((await world.products()).sort()).toEqual(once("A", "B"));
      expect((await world.failed()).split("\n").slice(1, 3)).toEqual([
        expect.stringMatching(new RegExp(`^A,Coat,${cdn}/A\\.jpg\\|${bad},image_failed,`)),
        expect.stringMatching(new RegExp(`^B,Dress,${cdn}/B\\.jpg\\|${bad},image_failed,`)),
      ]);
      await world.write("mended.csv", (await world.failed()).replaceAll(`|${bad}`, ""));
      expect((await world.import("mended.csv")).summary).toMatchObject({ updated: 1, unchanged: 1 });
      expect((await world.products()).sort()).toEqual(["A Coat 1", "B Dress 1"]);
    },
  );

  test("number images by their place in the row, even if photos were skipped", async () => {
    const world = await importWorld();
    await world.write("a.csv", dress({}));
    await world.import("a.csv");
    await world.write(
      "b.csv",
      `reference,name,images\nA,Dress,${cdn}/1.jpg|${bad}|${cdn}/2.jpg|${cdn}/3.jpg\n`,
    );
    const { summary } = await world.import("b.csv", { results: "results.ndjson" });
    expect(summary).toMatchObject({ partial: 1 });
    expect(await world.failed()).toMatch(new RegExp(`^A,Dress,${bad},timeout,`, "m"));
    const result = JSON.parse(await world.read("results.ndjson"));
    expect(
      result.images.map(({ index, status }: { index: number; status: string }) => [index, status]),
    ).toEqual([
      [1, "failed"],
      [3, "attached"],
    ]);
  });

  test("are sent again as is if no part of them succeeded", async () => {
    const world = await importWorld();
    await world.write("a.csv", dress({ two: bad }));
    await world.import("a.csv", { onImageError: "fail_row" });
    expect(await world.products()).toEqual([]);
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 1, partial: 1, created: 1 });
  });

  longTest("are sent again if their import could not be run", async () => {
    const world = await worldWith("A", "B");
    await world.fault({ match: { job: "import" }, fail: { code: "internal", message: "no" } });
    const first = await world.import("a.csv");
    expect(first.summary).toMatchObject({ submitted: 2, failed: 2, imports: [{ status: "failed" }] });
    await world.fault();
    const second = await world.import("a.csv");
    expect(second.summary).toMatchObject({ run_id: "run_2", submitted: 2, created: 2 });
    expect(await world.products()).toEqual(once("A", "B"));
  });

  test("are in the failed file with all cells after a rejected PATCH, and other rows are not affected", async () => {
    const { world } = await again(fileOf("A", "B"), fileOf("A", "B"));
    await world.write("c.csv", fileOf("A", "B").replaceAll("Dress", "Coat"));
    const { id } = await productOf(world, "A");
    await world.fault({ match: { method: "PATCH", path: `/v1/products/${id}` }, status: 422 });
    const { summary } = await world.import("c.csv");
    expect(summary).toMatchObject({ submitted: 2, succeeded: 1, failed: 1, updated: 1 });
    expect(await world.failed()).toMatch(new RegExp(`^A,Coat,${cdn}/A.jpg,`, "m"));
    await world.fault();
    expect((await world.import("c.failed.csv")).summary).toMatchObject(asPatched);
    expect((await world.products()).sort()).toEqual(["A Coat 1", "B Coat 1"]);
  });

  longTest("stop at a PATCH during an outage, and are changed by the next run", async () => {
    const { world } = await again(fileOf("A", "B", "C"), fileOf("A", "B", "C"));
    await world.write("c.csv", fileOf("A", "B", "C").replaceAll("Dress", "Coat"));
    const { id } = await productOf(world, "B");
    await world.fault({ match: { method: "PATCH", path: `/v1/products/${id}` }, drop: "after" });
    const first = await world.import("c.csv", { concurrency: 1 });
    expect(first.stopped).toMatchObject({ type: "network" });
    expect(first.summary).toMatchObject({ submitted: 1, updated: 1, failed_file: null });
    await world.fault();
    const before = world.writes().length;
    const second = await world.import("c.csv", { concurrency: 1 });
    expect(second.summary).toMatchObject({
      run_id: first.summary!.run_id,
      // The lost response was for a completed write.
      ...{ submitted: 3, updated: 3, succeeded: 3, unchanged: 0 },
    });
    expect(world.writes().length - before).toBe(1);
    expect((await world.products()).sort()).toEqual(["A Coat 1", "B Coat 1", "C Coat 1"]);
  });
});
