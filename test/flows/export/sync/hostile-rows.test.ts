import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../../../src/client/client.ts";
import { LocalFolder } from "../../../../src/flows/export/sync/local-folder.ts";
import { longTest } from "../../../support/long-test.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { mirrorWorld, tree } from "./mirror-world.ts";

describe("a row of the service", () => {
  /** The error of a run whose first asset is another one. */
  async function problemOf(asset: unknown) {
    const { catalogue, run, newMirror } = mirrorWorld();
    catalogue.add("A", ["source"]);
    const { client } = catalogue;
    const spoiled = {
      ...client,
      poll: async (...args: Parameters<Client["poll"]>) => {
        const page = (await client.poll(...args)) as unknown as { data: { assets: unknown[] }[] };
        page.data[0]!.assets[0] =
          asset === null ? null : { ...(page.data[0]!.assets[0] as object), ...(asset as object) };
        return page;
      },
    } as Client;
    const stored = newMirror();
    const { stopped } = await run(stored, {}, { client: spoiled });
    expect(tree(stored)).toEqual({});
    return stopped;
  }

  test.for([
    ["../../../../up", "the invalid asset ID"],
    ["a/b", "the invalid asset ID"],
    ["a b", "the invalid asset ID"],
    [5, "the invalid asset ID 5"],
  ])("is not used if an asset has the ID %j", async ([id, what]) => {
    expect(await problemOf({ id })).toMatchObject({
      type: "bad_response",
      code: "bad_row",
      message: expect.stringContaining(String(what)),
    });
  });

  test("is not used if an asset is missing", async () => {
    expect(await problemOf(null)).toMatchObject({
      type: "bad_response",
      message: expect.stringMatching(/^the service sent product \w+ with a missing asset$/),
    });
  });

  test("is used with a reference like the name of an index, which gets another folder", async () => {
    const { catalogue, run, newMirror, clock } = mirrorWorld();
    for (const reference of ["catalogue.ndjson", "Catalogue.1-of-2.NDJSON"])
      catalogue.add(reference, ["tryon"]);
    const stored = newMirror();
    const template = "{reference}/{role}{ext}";
    expect((await run(stored, { template })).summary).toMatchObject({ added: 2, failed: 0 });
    expect(Object.keys(tree(stored))).toEqual([
      "_Catalogue.1-of-2.NDJSON/tryon.jpg",
      "_catalogue.ndjson/tryon.jpg",
      "catalogue.ndjson",
    ]);
    clock.advance(600_000);
    expect((await run(stored, { template })).summary).toMatchObject({ unchanged: 2, failed: 0 });
  });
});

/** A client whose images have 17 MB and an unknown length. */
function largeImages(client: Client, tail: readonly number[], log: unknown[] = []): Client {
  const bytes = Buffer.alloc(17_000_000, 1);
  Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2]).copy(bytes);
  Buffer.from(tail).copy(bytes, bytes.length - tail.length);
  return {
    ...client,
    downloadInto: async (target: Parameters<Client["downloadInto"]>[0]) => {
      log.push(target.kept?.bytes ?? 0);
      if (target.kept === null) await target.begin({ etag: '"1"', total: null });
      // A second download of the same part would begin meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      await target.write([bytes.subarray(target.kept?.bytes ?? 0)]);
      return bytes.length;
    },
  } as unknown as Client;
}

describe("large images", () => {
  test("of one asset that belongs to several products are all saved", async () => {
    const { catalogue, run, newMirror } = mirrorWorld();
    const [one, other] = [catalogue.add("A", ["source"]), catalogue.add("B", [])];
    other.assets.push(one.assets[0]!);
    const scratch = temporaryFolder();
    const client = largeImages(catalogue.client, [0xff, 0xd9]);
    const stored = newMirror();
    expect((await run(stored, {}, { client, scratch })).summary).toMatchObject({ added: 2, failed: 0 });
    expect(readdirSync(scratch)).toEqual([]);
  });

  longTest("that end too early are not saved, also without a length", async () => {
    const { catalogue, run, newMirror } = mirrorWorld();
    catalogue.add("A", ["source"]);
    const scratch = temporaryFolder();
    const stored = newMirror();
    const { summary } = await run(stored, {}, { client: largeImages(catalogue.client, [0]), scratch });
    expect(summary).toMatchObject({ failed: 1, failures: [{ code: "wrong_content" }] });
    expect(tree(stored)).toEqual({ "catalogue.ndjson": "" });
  });
});

test("the next run resumes the large image of a killed one", async () => {
  const work = ".catalogue-sync/all";
  const folder = temporaryFolder();
  const parts = join(folder, work, "parts");
  mkdirSync(parts, { recursive: true });
  for (const name of ["put-7", ".large-a.part", ".large-a.part.state"]) writeFileSync(join(parts, name), "x");
  const lock = await new LocalFolder(folder, work).lock({ pid: 1, since: "" });
  expect(readdirSync(parts).sort()).toEqual([".large-a.part", ".large-a.part.state"]);
  if ("release" in lock) await lock.release();
});
