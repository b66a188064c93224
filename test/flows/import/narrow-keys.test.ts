import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { photo } from "../photos/photo-folder.ts";
import { blind, importWorld, withoutExports, withoutProducts } from "./run-import.ts";
import { cdn, fileOf, once } from "./small-world.ts";

type World = Awaited<ReturnType<typeof importWorld>>;

const narrow = { machine: { fingerprint: "narrow" } };
const idOf = (world: World, reference: string) => world.state.ledger.get(1, reference)!.productId;
const call = (world: World, product_id: string, body: { name?: string; reference?: string }) =>
  world.client.products.update({ product_id, body: body as { name: string } });

describe("a key that may not read exports looks at products", () => {
  test.each([3, 310])("what others changed is found, of %i rows", async (count) => {
    const world = await importWorld();
    const rest = Array.from({ length: count - 3 }, (_, index) => `R${String(index).padStart(3, "0")}`);
    const text = fileOf("A", "B", "C", ...rest);
    await world.write("a.csv", text);
    await world.import("a.csv", {}, withoutExports);
    await world.client.products.delete({ product_id: idOf(world, "A") });
    await call(world, idOf(world, "B"), { name: "Theirs" });
    await call(world, idOf(world, "C"), { reference: "C9" });
    const { summary, notes } = await world.import("a.csv", {}, withoutExports);
    expect(summary).toMatchObject({ created: 2, updated: 1, unchanged: count - 3, failed: 0 });
    expect(notes).toEqual([]);
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "C9", ...rest).sort());
    const again = await world.import("a.csv", {}, withoutExports);
    expect(again.summary).toMatchObject({ submitted: 0, unchanged: count });
  });

  test("references that they swapped, also with a product that the file does not name", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("A", "B"));
    await world.write("b.csv", fileOf("C"));
    await world.import("a.csv");
    await world.import("b.csv");
    const [a, c] = [idOf(world, "A"), idOf(world, "C")];
    await call(world, a, { reference: "x" });
    await call(world, c, { reference: "A" });
    await call(world, a, { reference: "C" });
    await world.import("a.csv", {}, withoutExports);
    expect((await world.products()).sort()).toEqual(["A Dress 2", "B Dress 1", "C Dress 1"]);
    // What was attached to each is known still.
    await world.write("c.csv", `reference,name,images\nA,Dress,${cdn}/A.jpg|${cdn}/C.jpg\n`);
    const { summary } = await world.import("c.csv", {}, withoutExports);
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
  });

  test("and one that may not read them either hears that it sees nothing of it", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("A"));
    await world.import("a.csv");
    await call(world, idOf(world, "A"), { name: "Theirs" });
    const { summary, notes } = await world.import("a.csv", {}, blind);
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(notes).toEqual([
      "This key may read neither exports nor products (scopes exports:read, products:read): what others have changed at the service is not seen.",
    ]);
  });

  test("one that may read exports alone sees all but descriptions", async () => {
    const world = await importWorld();
    await world.write(
      "a.csv",
      `reference,name,description,images\nA,Dress,long,${cdn}/A.jpg\nB,Dress,long,${cdn}/B.jpg\n`,
    );
    await world.import("a.csv");
    const { summary, notes } = await world.import("a.csv", {}, withoutProducts);
    expect(summary).toMatchObject({ submitted: 0, unchanged: 2 });
    expect(notes).toEqual([
      "This key may not read products (scope products:read): descriptions that others have changed are not seen.",
    ]);
    await call(world, idOf(world, "B"), { name: "Theirs" });
    expect((await world.import("a.csv", {}, withoutProducts)).summary).toMatchObject({
      updated: 1,
      unchanged: 1,
    });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("and what it has not seen is seen by the next key that may", async () => {
    const world = await importWorld();
    await world.write("a.csv", `reference,name,description,images\nA,Dress,long,${cdn}/A.jpg\n`);
    await world.write("b.csv", fileOf("B"));
    await world.import("a.csv");
    world.clock.advance(60 * 60_000);
    const product_id = idOf(world, "A");
    await world.client.products.update({ product_id, body: { description: "theirs" } });
    for (const file of ["a.csv", "b.csv", "b.csv"]) {
      await world.import(file, {}, withoutProducts);
      world.clock.advance(60 * 60_000);
    }
    expect((await world.import("a.csv")).summary).toMatchObject({ updated: 1, unchanged: 0 });
    expect((await world.client.products.get({ product_id })).description).toBe("long");
  });

  test("and says what it lacks where a product has to be looked at", async () => {
    const world = await importWorld();
    await world.write("a.csv", `reference,name,description,images\nA,Dress,long,${cdn}/A.jpg\n`);
    await world.write("b.csv", fileOf("B"));
    await world.import("a.csv");
    world.clock.advance(60 * 60_000);
    await call(world, idOf(world, "A"), { name: "Theirs" });
    // This key hears that A was changed, and has no reason to look at it.
    await world.import("b.csv");
    world.clock.advance(60 * 60_000);
    await world.import("b.csv");
    const { stopped } = await world.import("a.csv", {}, withoutProducts);
    expect(stopped).toMatchObject({
      ...{ type: "forbidden", code: "insufficient_scope", status: 403 },
      message:
        "1 product has to be looked at before it can be said what their rows need, and this key may not read products (scope products:read)",
    });
  });

  test("a product that is not there any more fails its row alone, also where it cannot be asked for", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("A", "B"));
    await world.import("a.csv");
    await world.client.products.delete({ product_id: idOf(world, "A") });
    await world.write("b.csv", fileOf("A", "B").replaceAll("Dress", "Coat"));
    const { summary, stopped } = await world.import("b.csv", {}, blind);
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ failed: 1, updated: 1 });
    expect((await world.import("b.csv", {}, blind)).summary).toMatchObject({
      created: 1,
      unchanged: 1,
    });
    expect((await world.products()).sort()).toEqual(["A Coat 1", "B Coat 1"]);
  });
});

describe("a service that knows nothing any more", () => {
  test.each(["reset", "deleted"] as const)(
    "has all of it sent again by a key that may not read exports: %s",
    async (how) => {
      const world = await importWorld({ seed: undefined });
      await world.write("a.csv", fileOf("A", "B"));
      await world.import("a.csv", narrow, withoutExports);
      if (how === "reset") world.mock.reset();
      else for (const one of ["A", "B"]) await world.client.products.delete({ product_id: idOf(world, one) });
      const { summary } = await world.import("a.csv", narrow, withoutExports);
      expect(summary).toMatchObject({ created: 2, unchanged: 0 });
      // Another key of the organization finds that, and neither says that something is missing.
      const full = await world.import("a.csv");
      expect(full.summary).toMatchObject({ submitted: 0, unchanged: 2 });
      expect((await world.import("a.csv", narrow, withoutExports)).summary).toMatchObject({ unchanged: 2 });
      expect((await world.products()).sort()).toEqual(once("A", "B"));
    },
  );

  test("has photos of this machine uploaded again, too", async () => {
    const world = await importWorld({ seed: undefined });
    writeFileSync(join(world.folder, "b.png"), photo("b"));
    await world.write("b.csv", "reference,name,images\nB,Dress,b.png\n");
    await world.import("b.csv", narrow, withoutExports);
    world.mock.reset();
    const { summary } = await world.import("b.csv", narrow, withoutExports);
    expect(summary).toMatchObject({ created: 1, failed: 0, partial: 0 });
    expect(await world.products()).toEqual(once("B"));
  });

  test.each([
    ["may not read exports", "all", withoutExports],
    ["may not read exports", "create", withoutExports],
    ["may read neither", "all", blind],
  ] as const)("and after a key that %s has sent another file with %s", async (_, how, through) => {
    for (const last of [narrow, {}]) {
      const world = await importWorld({ seed: undefined });
      await world.write("a.csv", fileOf("A", "B"));
      await world.write("b.csv", fileOf("C"));
      await world.import("a.csv", narrow, through);
      await world.import("a.csv");
      world.mock.reset();
      const flags = how === "all" ? { photos: "all" as const } : { photos: "all" as const, mode: how };
      expect((await world.import("b.csv", { ...narrow, ...flags }, through)).summary).toMatchObject({
        created: 1,
      });
      const { summary } = await world.import("a.csv", last, last === narrow ? withoutExports : undefined);
      expect(summary).toMatchObject({ created: 2, unchanged: 0 });
      expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
    }
  });

  test("is not taken for whole by a key that may not read products, which has sent another file", async () => {
    const world = await importWorld({ seed: undefined });
    await world.write("a.csv", fileOf("A"));
    await world.write("b.csv", fileOf("B"));
    await world.import("a.csv", narrow, withoutProducts);
    world.mock.reset();
    await world.import("b.csv", { ...narrow, photos: "all" }, withoutProducts);
    const ran = world.import("a.csv", narrow, withoutProducts);
    await expect(ran).rejects.toMatchObject({ type: "conflict", code: "service_put_back" });
    expect((await world.import("a.csv")).summary).toMatchObject({ created: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("is one for all keys of an organization as soon as one of them has seen it", async () => {
    const world = await importWorld({ seed: undefined });
    await world.write("a.csv", fileOf("A"));
    await world.write("b.csv", fileOf("B"));
    await world.import("a.csv");
    await world.import("a.csv", { ...narrow, sameOrganization: true }, blind);
    world.mock.reset();
    await world.import("a.csv");
    // This one sees nothing of it, and yet its products are those of the other key.
    await world.import("b.csv", narrow, blind);
    expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("and was given an import since that nobody has followed, is still the same for all keys", async () => {
    const world = await importWorld({ seed: undefined });
    for (const one of ["A", "B", "C"]) await world.write(`${one}.csv`, fileOf(one));
    await world.import("A.csv");
    await world.import("A.csv", narrow, withoutExports);
    world.mock.reset();
    await world.import("B.csv", { ...narrow, wait: false }, withoutExports);
    await world.import("C.csv");
    world.clock.advance(60 * 60_000);
    expect((await world.import("B.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect((await world.import("A.csv")).summary).toMatchObject({ created: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test("is refused where it cannot be told which of two accounts is the key's", async () => {
    const world = await importWorld({ seed: undefined });
    await world.write("a.csv", fileOf("A"));
    await world.import("a.csv", narrow, withoutExports);
    world.mock.reset();
    // A key that was never seen might be of another organization.
    await world.import("a.csv", { machine: { fingerprint: "new" } });
    await world.client.products.delete({ product_id: (await world.client.products.list({})).data[0]!.id });
    const ran = world.import("a.csv", narrow, withoutExports);
    await expect(ran).rejects.toMatchObject({
      ...{ type: "conflict", code: "products_gone" },
      message: `${world.mock.baseUrl} has none of the products that were asked for of those imported before, and this key may not read exports (scope exports:read), which would tell what was deleted`,
    });
    expect(await world.products()).toEqual([]);
    await world.import("a.csv", { machine: { fingerprint: "new" } });
    const { summary } = await world.import("a.csv", narrow, withoutExports);
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });
});
