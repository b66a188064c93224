import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { type Client, createClient } from "../../../src/client/client.ts";
import { photo as photoOf } from "../photos/photo-folder.ts";
import { importWorld, mayNot, withCreate } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";

type World = Awaited<ReturnType<typeof importWorld>>;

const photo = (world: World, name: string, mark: string) =>
  writeFileSync(join(world.folder, name), photoOf(mark));

const deleteProduct = async (world: World, reference: string) => {
  const [product] = (await world.client.products.list({ q: reference })).data;
  await world.client.products.delete({ product_id: product!.id });
};

/** The client, which has something happen once before the first upload. */
const beforeUpload = (client: Client, happens: () => Promise<void>): Client => {
  let happened = false;
  const upload: Client["images"]["upload"] = async (...call) => {
    if (!happened) await happens();
    happened = true;
    return client.images.upload(...call);
  };
  return { ...client, images: { ...client.images, upload } };
};

describe("a product that others delete while the import runs", () => {
  test("during the uploads is created anew with all its photos", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg\n`);
    await world.import("a.csv");
    photo(world, "3.png", "three");
    await world.write("b.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg|3.png\n`);
    const { summary, stopped } = await world.import("b.csv", {}, (client) =>
      beforeUpload(client, () => deleteProduct(world, "A")),
    );
    expect([stopped, summary!.created]).toEqual([undefined, 1]);
    expect(await world.products()).toEqual(["A Dress 3"]);
  });

  test("after the last look is told as partial, with the photos that are missing in the failed file", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg\n`);
    await world.import("a.csv");
    await world.write("b.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg|${cdn}/3.jpg\n`);
    const { summary } = await world.import("b.csv", {}, (client) =>
      withCreate(client, async (...call) => {
        await deleteProduct(world, "A");
        return client.imports.create(...call);
      }),
    );
    expect(summary).toMatchObject({ created: 1, succeeded: 0, partial: 1, failed_file: "failed" });
    expect(await world.products()).toEqual(["A Dress 1"]);
    const failed = await world.read("failed");
    expect(failed.split("\n")[1]).toMatch(
      /^A,Dress,https:\/\/cdn\.example\.com\/1\.jpg\|https:\/\/cdn\.example\.com\/2\.jpg,photos_missing,/,
    );
    await world.write("failed.csv", failed);
    expect((await world.import("failed.csv")).summary).toMatchObject({ updated: 1, succeeded: 1 });
    expect(await world.products()).toEqual(["A Dress 3"]);
  });
});

describe("a key that was changed for a new one", () => {
  test("before anything is in the ledger leads to the imports that the old one sent", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.import("a.csv", { wait: false, machine: { fingerprint: "old" } });
    const { summary, notes } = await world.import("a.csv", { machine: { fingerprint: "new" } });
    expect(notes[0]).toMatch(/^Going on with the import of /);
    expect(summary).toMatchObject({ created: 1, updated: 0 });
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  test("while nothing was heard of what the old one sent is refused, until the user says whose it is", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, drop: "after" });
    const first = await world.import("a.csv", { machine: { fingerprint: "old" } });
    expect(first.summary!.unknown).toHaveLength(1);
    await world.fault();
    const writes = world.writes().length;
    // What is said of the calls' outcome says nothing of whose they are.
    for (const unknown of [undefined, "resend", "imported", "not-imported"] as const) {
      const again = world.import("a.csv", { machine: { fingerprint: "new" }, unknown });
      await expect(again).rejects.toMatchObject({ type: "conflict", code: "another_key" });
    }
    expect(world.writes()).toHaveLength(writes);
    await world.import("a.csv", { machine: { fingerprint: "new" }, sameOrganization: true });
    expect(await world.products()).toEqual(["A Dress 1"]);
    // Said once, it is known.
    expect((await world.import("a.csv", { machine: { fingerprint: "new" } })).summary).toMatchObject({
      unchanged: 1,
    });
  });

  test("is not told apart either by next week's file, of which nothing was ever sent", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.write("b.csv", `${head}A,Silk dress,${cdn}/1.jpg\n`);
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, drop: "after" });
    await world.import("a.csv", { machine: { fingerprint: "old" } });
    await world.fault();
    const machine = { fingerprint: "new" };
    await expect(world.import("b.csv", { machine })).rejects.toMatchObject({ code: "another_key" });
    const told = world.import("b.csv", { machine, sameOrganization: true });
    await expect(told).rejects.toMatchObject({ code: "unknown_outcome" });
    await world.import("b.csv", { machine, unknown: "resend" });
    expect(await world.products()).toEqual(["A Silk dress 1"]);
  });

  test("is known by an import that ended with nothing in the ledger", async () => {
    const world = await importWorld();
    const rows = Array.from({ length: 2_001 }, (_, at) => {
      const photo = at < 2_000 ? "fail-timeout.jpg" : "1.jpg";
      return `R${at},Dress,${cdn}/${photo}\n`;
    });
    await world.write("a.csv", head + rows.join(""));
    let calls = 0;
    const { summary } = await world.import(
      "a.csv",
      { machine: { fingerprint: "old" }, concurrency: 1 },
      (client) =>
        withCreate(client, async (...asked) => {
          if (++calls === 2) await world.fault({ match: { path: "/v1/imports" }, drop: "after" });
          return client.imports.create(...asked);
        }),
    );
    expect(summary).toMatchObject({ submitted: 2_000, unknown: [{ rows: 1 }] });
    await world.fault();
    const again = await world.import("a.csv", { machine: { fingerprint: "new" } });
    expect(again.summary).toMatchObject({ created: 1, failed: 2_000 });
    expect(await world.products()).toEqual(["R2000 Dress 1"]);
  });

  test("and that the service does not let in is told so, not asked whose it is", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, drop: "after" });
    await world.import("a.csv", { machine: { fingerprint: "old" } });
    await world.fault();
    for (const [fingerprint, apiKey, status] of [
      ["revoked", "ak_mock_revoked", 401],
      ["user", "ak_mock_user", 403],
    ] as const) {
      const client = createClient({
        baseUrl: world.mock.baseUrl,
        apiKey,
        clock: world.clock,
        random: () => 0.5,
      });
      onTestFinished(() => client.close());
      await expect(world.import("a.csv", { machine: { fingerprint, client } })).rejects.toMatchObject({
        status,
      });
    }
  });

  test("and may not read is believed to be of nobody's organization", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.import("a.csv");
    const narrow = (client: Client): Client => ({
      ...client,
      products: { ...client.products, get: async () => mayNot(), list: async () => mayNot() },
      // biome-ignore lint/correctness/useYield: it ends before the first page.
      paginate: async function* () {
        mayNot();
      } as never,
    });
    const other = { fingerprint: "narrow" };
    const ran = world.import("a.csv", { machine: other }, narrow);
    await expect(ran).rejects.toMatchObject({ type: "conflict", code: "another_key" });
    const { summary } = await world.import("a.csv", { machine: other, sameOrganization: true }, narrow);
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    // One that was seen before is what it was.
    expect((await world.import("a.csv", {}, narrow)).summary).toMatchObject({ submitted: 0, unchanged: 1 });
  });

  test("to that of another organization leaves what the first one has under way to the first", async () => {
    const world = await importWorld();
    const { baseUrl } = world.mock;
    const [clock, random] = [world.clock, () => 0.5];
    const client = createClient({ baseUrl, apiKey: "ak_mock_other", clock, random });
    onTestFinished(() => client.close());
    const other = { fingerprint: "other", client };
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.import("a.csv", { wait: false });
    expect((await world.import("a.csv", { machine: other })).summary).toMatchObject({ created: 1 });
    expect((await world.import("a.csv")).summary).toMatchObject({ created: 1, updated: 0 });
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  test("to that of another organization begins anew", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
    await world.import("a.csv", { machine: { fingerprint: "old" } });
    const unknown: Client["products"]["get"] = async () => {
      throw new ApiError({
        ...{ request: "GET /v1/products/ID", status: 404 },
        body: { type: "not_found", code: "product_not_found", message: "there is no such product" },
      });
    };
    const other = (client: Client): Client => ({
      ...client,
      products: { ...client.products, get: unknown },
      paginate: async function* () {} as never,
    });
    const { summary } = await world.import("a.csv", { machine: { fingerprint: "other" } }, other);
    expect(summary).toMatchObject({ submitted: 1, unchanged: 0 });
  });
});

describe("photos on this machine that are other ones by now", () => {
  test("make another run, which sends them", async () => {
    const world = await importWorld();
    photo(world, "1.png", "one");
    await world.write("a.csv", `${head}A,Dress,1.png\n`);
    await world.import("a.csv", { wait: false });
    photo(world, "1.png", "another");
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ created: 0, updated: 1 });
    expect(await world.products()).toEqual(["A Dress 2"]);
  });

  test("and the same ones do not", async () => {
    const world = await importWorld();
    photo(world, "1.png", "one");
    await world.write("a.csv", `${head}A,Dress,1.png\n`);
    await world.import("a.csv", { wait: false });
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ created: 1, updated: 0 });
    expect(await world.products()).toEqual(["A Dress 1"]);
  });
});

test("a PATCH that is answered with a 404 for a product that is there forgets none of its photos", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
  await world.import("a.csv");
  await world.write("b.csv", `${head}A,Long dress,${cdn}/1.jpg\n`);
  await world.fault({ match: { method: "PATCH" }, status: 404, times: 1 });
  expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 1, failed: 1 });
  expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 1, updated: 1 });
  expect(await world.products()).toEqual(["A Long dress 1"]);
});

test("what a killed process left unfinished beside the file is taken over by the one that goes on", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/fail-timeout.jpg\n`);
  await world.import("a.csv", { wait: false });
  await world.write(".run_1.failed.part", "half a fi");
  expect((await world.import("a.csv")).summary).toMatchObject({ failed: 1, failed_file: "failed" });
  expect(await world.files()).toEqual(["a.csv", "failed"]);
});

test("a call that is refused for what is wrong with its rows is in the failed file; for another reason it is not", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
  for (const [status, failedFile] of [
    [402, null],
    [400, "failed"],
  ] as const) {
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status, times: 1 });
    expect((await world.import("a.csv")).summary).toMatchObject({ failed_file: failedFile });
  }
});

test("an upload that is refused is told with a summary", async () => {
  const world = await importWorld();
  photo(world, "1.png", "one");
  await world.write("a.csv", `${head}A,Dress,1.png\n`);
  await world.fault({ match: { path: "/v1/images" }, status: 402, times: 1 });
  const { summary, stopped } = await world.import("a.csv");
  expect([summary!.submitted, (stopped as { status: number }).status]).toEqual([0, 402]);
});
