import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { photo } from "../photos/photo-folder.ts";
import { blind, importWorld, withCreate, withoutExports, withoutProducts } from "./run-import.ts";
import { cdn, fileOf, once } from "./small-world.ts";

describe("a service that was put back", () => {
  test.each([3, 310])(
    "a service that was put back to what it was has again what it lost, of %i rows",
    async (count) => {
      const world = await importWorld();
      const later = Array.from({ length: count }, (_, at) => `L${at}`);
      await world.write("old.csv", fileOf("A", "B"));
      await world.import("old.csv");
      const state = world.mock.state();
      world.clock.advance(60_000);
      await world.write("new.csv", fileOf("A", ...later).replace("A,Dress", "A,Coat"));
      expect((await world.import("new.csv")).summary).toMatchObject({ updated: 1, created: count });
      await world.putBack(state);
      expect((await world.products()).sort()).toEqual(once("A", "B"));
      // One of the lost ones comes with a new photo: it is to have the first one, too.
      const text = (await world.read("new.csv")).replace(`${cdn}/L1.jpg`, `${cdn}/L1.jpg|${cdn}/more.jpg`);
      await world.write("new.csv", text);
      const { summary, notes } = await world.import("new.csv");
      expect(notes).toContain(
        "The service was put back to what it had been: products are looked at anew. Photos that they lost are sent with --photos all alone.",
      );
      expect(summary).toMatchObject({ updated: 1, created: count, unchanged: 0, failed: 0, partial: 0 });
      const all = ["A Coat 1", ...once("B", ...later)].map((one) =>
        one.startsWith("L1 ") ? "L1 Dress 2" : one,
      );
      expect((await world.products()).sort()).toEqual(all.sort());
      const again = await world.import("new.csv");
      expect(again.summary).toMatchObject({ submitted: 0, unchanged: count + 1 });
      expect(again.notes).toEqual([]);
    },
  );

  test("what a service lost that was put back is sent, also after a file that it had nothing to do with", async () => {
    const world = await importWorld();
    await world.write("old.csv", fileOf("A"));
    await world.import("old.csv");
    const state = world.mock.state();
    world.clock.advance(60_000);
    await world.write("new.csv", fileOf("A", "B", "C").replace("A,Dress", "A,Coat"));
    await world.import("new.csv");
    await world.putBack(state);
    world.clock.advance(60_000);
    await world.write("other.csv", fileOf("D"));
    const other = await world.import("other.csv", { photos: "all" });
    expect(other.notes).toHaveLength(1);
    const { summary, notes } = await world.import("new.csv");
    expect(summary).toMatchObject({ updated: 1, created: 2, unchanged: 0 });
    expect(notes).toEqual([]);
    expect((await world.products()).sort()).toEqual(["A Coat 1", ...once("B", "C", "D")]);
  });

  test("a service that was put back is refused where the key may not read products", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("A"));
    await world.import("a.csv");
    const state = world.mock.state();
    world.clock.advance(60 * 60_000);
    await world.write("b.csv", fileOf("B"));
    await world.import("b.csv");
    world.clock.advance(60 * 60_000);
    // Now the ledger has looked since B was made, and the next look begins after it.
    expect((await world.import("b.csv", {}, withoutProducts)).summary).toMatchObject({ unchanged: 1 });
    await world.putBack(state);
    const ran = world.import("b.csv", {}, withoutProducts);
    await expect(ran).rejects.toMatchObject({
      ...{ type: "conflict", code: "service_put_back" },
      message: `${world.mock.baseUrl} does not know a product that was imported before, and this key may not read products (scope products:read), so it cannot be told what else is lost`,
    });
    expect(await world.products()).toEqual(once("A"));
    expect((await world.import("b.csv")).summary).toMatchObject({ created: 1 });
    expect((await world.import("b.csv", {}, withoutProducts)).summary).toMatchObject({ unchanged: 1 });
  });

  test.each(["all", "create", "skip_existing"] as const)(
    "and is not where nothing is asked of the ledger: %s",
    async (what) => {
      const world = await importWorld();
      const state = world.mock.state();
      await world.write("a.csv", fileOf("A"));
      await world.import("a.csv");
      await world.putBack(state);
      const flags = what === "all" ? ({ photos: "all" } as const) : ({ mode: what, photos: "all" } as const);
      await world.write("b.csv", fileOf("B"));
      expect((await world.import("b.csv", flags, withoutProducts)).summary).toMatchObject({ created: 1 });
      expect((await world.import("a.csv", flags, withoutProducts)).summary).toMatchObject({ created: 1 });
    },
  );

  test("a service that was put back while an import was on its way is seen the next time", async () => {
    // Without a seed, which would give the ids of what was lost to what comes after.
    const world = await importWorld({ seed: undefined });
    await world.write("old.csv", fileOf("A"));
    await world.import("old.csv");
    const state = world.mock.state();
    world.clock.advance(60_000);
    await world.write("lost.csv", fileOf("B", "C"));
    await world.import("lost.csv");
    world.clock.advance(60_000);
    await world.write("new.csv", fileOf("D"));
    const meanwhile = (client: Client) =>
      withCreate(client, async (...args) => {
        await world.putBack(state);
        return client.imports.create(...args);
      });
    expect((await world.import("new.csv", {}, meanwhile)).summary).toMatchObject({ created: 1 });
    const { summary, notes } = await world.import("lost.csv");
    expect(notes).toHaveLength(1);
    expect(summary).toMatchObject({ created: 2, unchanged: 0 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
  });

  test("what a service lost is sent by a key that may not read exports, too", async () => {
    const world = await importWorld();
    await world.write("old.csv", fileOf("A"));
    await world.import("old.csv");
    const state = world.mock.state();
    await world.write("new.csv", fileOf("A", "B"));
    await world.import("new.csv");
    await world.putBack(state);
    const { summary, notes } = await world.import("new.csv", {}, withoutExports);
    expect(notes).toEqual([]);
    expect(summary).toMatchObject({ created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("references are doubted, too: a rename that the file had followed may be undone", async () => {
    const world = await importWorld({ seed: undefined });
    await world.write("a.csv", fileOf("X", "Z"));
    await world.import("a.csv");
    const state = world.mock.state();
    const product_id = world.state.ledger.get(1, "X")!.productId;
    await world.client.products.update({ product_id, body: { reference: "Y" } });
    await world.write("b.csv", fileOf("X", "Z", "Q").replace("X,", "Y,"));
    await world.import("b.csv");
    world.clock.advance(60 * 60_000);
    await world.import("b.csv");
    await world.putBack(state);
    await world.write("c.csv", fileOf("X", "Z", "Q"));
    expect((await world.import("c.csv")).summary).toMatchObject({ created: 1, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("Q", "X", "Z"));
  });

  test("what was lost in between is found, though what was made before and after is there", async () => {
    const world = await importWorld({ seed: undefined });
    for (const one of ["A", "B", "C", "D"]) await world.write(`${one}.csv`, fileOf(one));
    await world.import("A.csv");
    await world.import("B.csv");
    const state = world.mock.state();
    await world.import("C.csv");
    await world.putBack(state);
    // Nothing is asked by this key, which may not.
    await world.import("D.csv", {}, blind);
    expect((await world.import("C.csv")).summary).toMatchObject({ created: 1, unchanged: 0 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
  });

  test("photos of this machine are uploaded again to a service that was put back", async () => {
    const world = await importWorld();
    await world.write("old.csv", fileOf("A"));
    await world.import("old.csv");
    const state = world.mock.state();
    writeFileSync(join(world.folder, "b.png"), photo("b"));
    await world.write("new.csv", "reference,name,images\nB,Dress,b.png\n");
    await world.import("new.csv");
    await world.putBack(state);
    expect((await world.import("new.csv")).summary).toMatchObject({ created: 1, failed: 0 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });
});
