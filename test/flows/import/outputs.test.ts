import { mkdir, rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { nowBatchesOf } from "./batch-rows.ts";
import { afterBatch, type By, beforeFirst, type ImportWorld, importWorld } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const half = `${head}OK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

type World = ImportWorld;

const isResults = (path: string) => path.startsWith("/_signed/imports/");

/** Acts before the results are read. */
const beforeResults = (act: () => Promise<unknown>): By => ({
  async judge({ path }) {
    if (isResults(path)) await act();
    return null;
  },
});

describe("output files", () => {
  test.each([
    ["is truncated", head],
    ["has a different row on that line", half.replace("BAD", "SPOILT")],
    ["is not text any more", "\0\0\0\0"],
  ])("contain no rows of an input that %s before they are written", async (_, later) => {
    const world = await importWorld();
    await world.write("a.csv", half);
    const { summary, stopped } = await world.import(
      "a.csv",
      { results: "results.ndjson" },
      beforeResults(() => world.write("a.csv", later)),
    );
    expect(stopped).toMatchObject({ type: "input", code: "file_changed" });
    // Output that does not depend on the input is written, and no unfinished file remains.
    expect(summary).toMatchObject({
      succeeded: 1,
      failed: 1,
      failed_file: null,
      results_file: "results.ndjson",
    });
    expect(summary?.unwritten).toEqual([expect.stringContaining("a.csv changed during")]);
    expect((await world.read("results.ndjson")).trimEnd().split("\n")).toHaveLength(2);
    expect(summary?.results_rows).toBe(2);
    expect(await world.files()).toEqual(["a.csv", "results.ndjson"]);
  });

  test("are written even if the other one fails", async () => {
    const world = await importWorld();
    await world.write("a.csv", half);
    await mkdir(`${world.folder}/out`);
    const { summary, stopped } = await world.import(
      "a.csv",
      { results: "out/results.ndjson" },
      beforeResults(() => rm(`${world.folder}/out`, { recursive: true })),
    );
    expect(stopped).toMatchObject({ type: "output", code: "file_not_writable" });
    expect(summary).toMatchObject({
      succeeded: 1,
      failed: 1,
      failed_file: "a.failed.csv",
      results_file: null,
    });
    expect(await world.failed()).toContain("BAD,Coat,");
  });

  test("get the next name if it is a folder meanwhile, and no unfinished file stays", async () => {
    const world = await importWorld();
    await world.write("a.csv", half);
    const { summary } = await world.import(
      "a.csv",
      { results: "results.ndjson" },
      beforeResults(() => mkdir(`${world.folder}/results.ndjson`, { recursive: true })),
    );
    expect(summary).toMatchObject({ failed_file: "a.failed.csv", results_file: null });
    expect(await world.files()).toEqual(["a.csv", "a.failed.csv", "results-2.ndjson", "results.ndjson"]);
  });

  test.each([
    ["gone", "removed", (world: World) => rm(`${world.folder}/a.csv`)],
    [
      "now a folder",
      "changed",
      (world: World) => rm(`${world.folder}/a.csv`).then(() => mkdir(`${world.folder}/a.csv`)),
    ],
  ])("report an input that is %s as %s", async (_, what, change) => {
    const world = await importWorld();
    await world.write("a.csv", half);
    const { summary, stopped } = await world.import(
      "a.csv",
      {},
      beforeResults(() => change(world)),
    );
    const message = `a.csv ${what === "changed" ? what : `was ${what}`} during the import; the remaining rows were not sent`;
    expect(stopped).toMatchObject({
      ...{ type: "input", code: "file_changed" },
      message: expect.stringMatching(new RegExp(`^${message}\\. To resume, `)),
    });
    expect(summary).toMatchObject({ failed: 1, failed_file: null, unwritten: [message] });
  });

  test("report an input as removed if it is missing when a later batch is cut", async () => {
    nowBatchesOf(20);
    const world = await importWorld();
    await world.write(
      "a.csv",
      head + Array.from({ length: 21 }, (_, i) => `R-${i},Dress,${cdn}/1.jpg\n`).join(""),
    );
    const { summary, stopped } = await world.import(
      "a.csv",
      { concurrency: 1 },
      afterBatch(1, () => rm(`${world.folder}/a.csv`)),
    );
    expect(stopped).toMatchObject({
      ...{ type: "input", code: "file_changed" },
      message:
        "a.csv was removed during the import; the remaining rows were not sent. To resume, restore the file and run the command again.",
    });
    expect(summary).toMatchObject({ submitted: 20, succeeded: 20 });
  });
});

test("an import reports an input that is no longer text as changed, not as an internal error, and sends nothing", async () => {
  const world = await importWorld();
  await world.write("a.csv", half);
  const { summary, stopped } = await world.import(
    "a.csv",
    {},
    beforeFirst(() => world.write("a.csv", "\0\0\0\0")),
  );
  expect(stopped).toMatchObject({ type: "input", code: "file_changed" });
  expect(summary).toMatchObject({ submitted: 0 });
  expect(world.writes()).toEqual([]);
});

describe("results", () => {
  test("are read from the list if the link has expired", async () => {
    const world = await importWorld();
    await world.write("a.csv", half);
    let links = 0;
    const { summary, stopped } = await world.import(
      "a.csv",
      {},
      beforeResults(async () => {
        if (links++ === 0) world.clock.advance(3_600_001);
      }),
    );
    expect(stopped).toBeUndefined();
    expect(
      world.mock
        .requests()
        .slice(-3)
        .map(({ status }) => status),
    ).toEqual([403, 403, 200]);
    expect(world.mock.requests().at(-1)!.path).toMatch(/\/rows\?limit=100$/);
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
  });

  test("are read again if the connection breaks", async () => {
    const world = await importWorld();
    await world.write("a.csv", half);
    await world.fault({ match: { path: "/_signed/imports" }, truncate: 10, times: 1 });
    const { summary, stopped } = await world.import("a.csv");
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
  });
});
