import { describe, expect, test } from "vitest";
import { OutputError } from "../../../../src/flows/files/disk.ts";
import { FakeCatalogue } from "./fake-catalogue.ts";
import { mirrorWorld, tree } from "./mirror-world.ts";

/** A mirror of one product, made with the key "key". */
async function mirrored() {
  const world = mirrorWorld();
  world.catalogue.add("A", ["source"]);
  const stored = world.newMirror();
  await world.run(stored);
  world.clock.advance(600_000);
  const state = () => JSON.parse(String(stored.files.get(".catalogue-sync/all/state.json")));
  return { ...world, stored, state, other: new FakeCatalogue(world.clock).client };
}

describe("a mirror belongs to an organization", () => {
  test("the key of another one changes nothing, and moves no mark", async () => {
    const { run, stored, state, other } = await mirrored();
    const before = [tree(stored), state()];
    const ran = await run(stored, { full: true }, { client: other, keyFingerprint: "other" });
    expect(ran.stopped).toMatchObject({
      type: "conflict",
      code: "another_key",
      message: "mirror was mirrored with another API key, and this one does not see its products",
    });
    expect([tree(stored), state()]).toEqual(before);
  });

  test("a new key of the same one is accepted from then on", async () => {
    const { run, stored, state, catalogue } = await mirrored();
    expect(await run(stored, {}, { keyFingerprint: "new" })).toMatchObject({ stopped: undefined });
    expect(state().key).toBe("new");
    catalogue.products[0]!.deletedAt = 0;
    expect(await run(stored, {}, { keyFingerprint: "new" })).toMatchObject({ stopped: undefined });
  });

  test("a new key is accepted if only removed products are gone", async () => {
    const { run, stored, catalogue, clock } = await mirrored();
    for (const name of ["B", "C", "D"]) catalogue.add(name, ["source"]);
    clock.advance(600_000);
    await run(stored);
    for (const at of [0, 3]) catalogue.products[at]!.deletedAt = clock.now();
    clock.advance(600_000);
    expect((await run(stored)).summary).toMatchObject({ removed: 2 });
    expect(await run(stored, {}, { keyFingerprint: "new" })).toMatchObject({ stopped: undefined });
  });

  test("a new key that sees no product of the mirror needs --same-organization", async () => {
    const { run, stored, catalogue } = await mirrored();
    catalogue.products[0]!.deletedAt = 0;
    const flags = { sameOrganization: true, delete: true, maxDelete: 1 };
    expect((await run(stored, {}, { keyFingerprint: "new" })).stopped).toMatchObject({ code: "another_key" });
    expect(await run(stored, flags, { keyFingerprint: "new" })).toMatchObject({
      stopped: undefined,
    });
  });
});

describe("a first run that saved nothing", () => {
  test("does not bind the folder to its flags", async () => {
    const { run, newMirror, catalogue } = mirrorWorld();
    catalogue.add("A", ["source"]);
    const stored = newMirror();
    const client = { ...catalogue.client, poll: () => Promise.reject(new Error("wrong role")) } as never;
    await run(stored, { roles: ["tryno"] }, { client });
    expect((await run(stored, { roles: ["tryon"] })).summary).toMatchObject({ total: 0 });
    expect((await run(stored, { roles: ["source"] })).summary).toMatchObject({ added: 1 });
    await expect(run(stored, { roles: null })).rejects.toMatchObject({ code: "another_mirror" });
  });
});

test("an image that is listed again is downloaded if the user has deleted its kept file", async () => {
  const { run, newMirror, catalogue, clock } = mirrorWorld();
  const product = catalogue.add("A", ["source"]);
  catalogue.add("B", ["source"]);
  const stored = newMirror();
  await run(stored);
  const assets = product.assets.splice(0);
  await run(stored, { full: true });
  stored.files.delete("A_source.jpg");
  product.assets.push(...assets);
  clock.advance(600_000);
  catalogue.touch(product);
  expect((await run(stored)).summary).toMatchObject({ added: 1, failed: 0 });
  expect(stored.files.has("A_source.jpg")).toBe(true);
});

test.for(["EISDIR", "EACCES", "EROFS", "EPERM", "EBUSY", "EIO"])(
  "a removed image whose file cannot be deleted (%s) is listed, and the others are deleted",
  async (code) => {
    const { run, newMirror, catalogue, clock } = mirrorWorld();
    const products = ["A", "B", "C"].map((reference) => catalogue.add(reference, ["source"]));
    const stored = newMirror();
    await run(stored);
    clock.advance(600_000);
    for (const product of products.slice(0, 2)) {
      catalogue.touch(product);
      product.deletedAt = product.changedAt;
    }
    const onChange = (change: string) => {
      if (change !== "remove A_source.jpg") return;
      throw new OutputError("A_source.jpg", Object.assign(new Error("not possible"), { code }));
    };
    const { summary, stopped } = await run(stored, { delete: true, maxDelete: 2 }, { onChange });
    expect({ ...summary, stopped }).toMatchObject({
      removed: 1,
      failed: 1,
      unchanged: 1,
      stopped: undefined,
    });
    expect(summary.failures).toMatchObject([
      {
        reference: "A",
        code: "file_not_deletable",
        message: expect.stringMatching(/^cannot delete A_source\.jpg: /),
      },
    ]);
    expect(Object.keys(tree(stored))).toEqual(["A_source.jpg", "C_source.jpg", "catalogue.ndjson"]);
    expect((await run(stored, { delete: true })).summary).toMatchObject({ removed: 1, failed: 0 });
  },
);
