import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { photo as photoOf } from "../photos/photo-folder.ts";
import { importWorld, withCreate } from "./run-import.ts";

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

  test("during the uploads and is found by a 404 alone has no photo uploaded twice", async () => {
    const world = await importWorld({ seed: undefined });
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\nB,Dress,${cdn}/2.jpg\n`);
    await world.import("a.csv");
    photo(world, "3.png", "three");
    await world.write("b.csv", `${head}A,Dress,${cdn}/1.jpg|3.png\n`);
    const looks: unknown[] = [];
    const { summary, stopped } = await world.import("b.csv", {}, (client) => {
      const told = beforeUpload(client, () => deleteProduct(world, "A"));
      return {
        ...told,
        exports: {
          ...told.exports,
          list: (...asked) => {
            looks.push(asked);
            return told.exports.list(...asked);
          },
        },
        async *paginate(operation, ...rest) {
          for await (const one of told.paginate(operation, ...rest)) {
            const { product } = one as { product?: { deleted_at: string | null } };
            if (product === undefined || product.deleted_at === null) yield one;
          }
        },
      };
    });
    expect([stopped, summary!.created, looks.length]).toEqual([undefined, 1, 2]);
    expect((await world.products()).sort()).toEqual(["A Dress 2", "B Dress 1"]);
    expect(world.writes().filter((write) => write.startsWith("POST /v1/images"))).toHaveLength(1);
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
