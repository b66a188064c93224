import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { photo as photoOf } from "../photos/photo-folder.ts";
import { type By, beforeBatch, type ImportWorld, importWorld } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";

type World = ImportWorld;

const photo = (world: World, name: string, mark: string) =>
  writeFileSync(join(world.folder, name), photoOf(mark));

const deleteProduct = async (world: World, reference: string) => {
  const [product] = (await world.client.products.list({ q: reference })).data;
  await world.client.products.delete({ product_id: product!.id });
};

/** Acts before the first upload. */
function beforeUpload(act: () => Promise<void>): By {
  let uploads = 0;
  return {
    async judge({ path }) {
      if (path === "/v1/images" && ++uploads === 1) await act();
      return null;
    },
  };
}

describe("a product that another client deletes during the import", () => {
  longTest(
    "is partial if deleted during the uploads, with its missing photos in the failed file",
    async () => {
      const world = await importWorld();
      await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg\n`);
      await world.import("a.csv");
      photo(world, "3.png", "three");
      await world.write("b.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg|3.png\n`);
      const { summary, stopped } = await world.import(
        "b.csv",
        {},
        beforeUpload(() => deleteProduct(world, "A")),
      );
      expect(stopped).toBeUndefined();
      expect(summary).toMatchObject({ created: 1, partial: 1 });
      await world.write("failed.csv", await world.failed());
      expect((await world.import("failed.csv")).summary).toMatchObject({ updated: 1, succeeded: 1 });
      expect(await world.products()).toEqual(["A Dress 3"]);
    },
  );

  test("is partial if deleted after the last check, with its missing photos in the failed file", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg\n`);
    await world.import("a.csv");
    await world.write("b.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/2.jpg|${cdn}/3.jpg\n`);
    const { summary } = await world.import(
      "b.csv",
      {},
      beforeBatch(1, () => deleteProduct(world, "A")),
    );
    expect(summary).toMatchObject({ created: 1, succeeded: 0, partial: 1, failed_file: "b.failed.csv" });
    expect(await world.products()).toEqual(["A Dress 1"]);
    const failed = await world.failed();
    expect(failed.split("\n")[1]).toMatch(
      /^A,Dress,https:\/\/cdn\.example\.com\/1\.jpg\|https:\/\/cdn\.example\.com\/2\.jpg,photos_missing,/,
    );
    await world.write("failed.csv", failed);
    expect((await world.import("failed.csv")).summary).toMatchObject({ updated: 1, succeeded: 1 });
    expect(await world.products()).toEqual(["A Dress 3"]);
  });

  longTest(
    "has its row in the failed file if deleted after its batch, when its replaced photo is to be detached",
    async () => {
      const world = await importWorld();
      const sheet = (photo: number) => `reference,name,image_front\nA,Dress,${cdn}/${photo}.jpg\n`;
      await world.write("a.csv", sheet(1));
      await world.import("a.csv");
      await world.write("a.csv", sheet(2));
      let isImported = false;
      const judge: By["judge"] = async ({ method, path }) => {
        if (path.startsWith("/_signed/imports/")) isImported = true;
        const isLook = isImported && method === "GET" && /^\/v1\/products\/\w+$/.test(path);
        if (isLook && (await world.products()).length > 0) await deleteProduct(world, "A");
        return null;
      };
      const { exit, summary } = await world.import("a.csv", { conflicts: "service" }, { judge });
      expect(exit).toBe(8);
      expect(summary).toMatchObject({
        submitted: 1,
        failed: 1,
        partial: 0,
        photos: { added: 0, replaced: 0 },
      });
      expect(await world.failed()).toContain(`\nA,Dress,${cdn}/2.jpg,product_not_found,`);
    },
  );
});

describe("local photos with new content", () => {
  test("start another run, which sends them", async () => {
    const world = await importWorld();
    photo(world, "1.png", "one");
    await world.write("a.csv", `${head}A,Dress,1.png\n`);
    await world.import("a.csv", { wait: false });
    photo(world, "1.png", "another");
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ created: 0, updated: 1 });
    expect(await world.products()).toEqual(["A Dress 2"]);
  });

  longTest("start no other run if the content is the same", async () => {
    const world = await importWorld();
    photo(world, "1.png", "one");
    await world.write("a.csv", `${head}A,Dress,1.png\n`);
    await world.import("a.csv", { wait: false });
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ created: 1, updated: 0 });
    expect(await world.products()).toEqual(["A Dress 1"]);
  });
});

longTest("an import keeps the known photos of an existing product whose PATCH returns 404", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
  await world.import("a.csv");
  await world.write("b.csv", `${head}A,Long dress,${cdn}/1.jpg\n`);
  await world.fault({ match: { method: "PATCH" }, status: 404, times: 1 });
  expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 1, failed: 1 });
  expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 1, updated: 1 });
  expect(await world.products()).toEqual(["A Long dress 1"]);
});

test("an import replaces the unfinished files of a killed process when the run is resumed", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/fail-timeout.jpg\n`);
  const { runId } = await world.import("a.csv", { wait: false });
  await world.write(`.${runId}.failed_${"0".repeat(32)}.part`, "half a fi");
  expect((await world.import("a.csv")).summary).toMatchObject({ failed: 1, failed_file: "a.failed.csv" });
  expect(await world.files()).toEqual(["a.csv", "a.failed.csv"]);
});

test("an import writes a batch to the failed file only if it was rejected for its rows", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
  for (const [status, failedFile] of [
    [402, null],
    [400, "a.failed.csv"],
  ] as const) {
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status, times: 1 });
    expect((await world.import("a.csv")).summary).toMatchObject({ failed_file: failedFile });
  }
});

test("an import sends a batch under another key once the service repeats a rejection of another time", async () => {
  const world = await importWorld();
  await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\n`);
  const posts = { method: "POST", path: "/v1/imports" };
  // Its outcome stays unknown, so its key is asked about; the 402 is stored under it.
  await world.fault({ match: posts, drop: "before", times: 20 });
  await world.import("a.csv");
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
  await world.fault({ match: posts, status: 402, times: 1 });
  const before = world.writes().length;
  const { summary, stopped } = await world.import("a.csv");
  expect([summary!.created, stopped]).toEqual([1, undefined]);
  const answers = ["402", "422", "replayed", "202"];
  expect(world.writes().slice(before)).toEqual(answers.map((answer) => `POST /v1/imports ${answer}`));
});

test("an import reports a rejected upload with the summary", async () => {
  const world = await importWorld();
  photo(world, "1.png", "one");
  await world.write("a.csv", `${head}A,Dress,1.png\n`);
  await world.fault({ match: { path: "/v1/images" }, status: 402, times: 1 });
  const { summary, stopped } = await world.import("a.csv");
  expect([summary!.submitted, (stopped as { status: number }).status]).toEqual([0, 402]);
});
