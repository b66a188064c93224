import { mkdir, rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { NetworkError } from "../../../src/http/errors.ts";
import { importWorld, withCreate } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const half = `${head}OK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

type World = Awaited<ReturnType<typeof importWorld>>;
const target = (world: World, name: string) => ({ path: `${world.folder}/${name}`, name });

/** A client that runs `meet` before the results are read. */
const beforeResults =
  (work: () => Promise<unknown>) =>
  (client: Client): Client => ({
    ...client,
    download: async function* (...args) {
      await work();
      yield* client.download(...args);
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
      { resultsFile: target(world, "results.ndjson") },
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
    const { summary, stopped } = await world.import("a.csv", {
      resultsFile: target(world, "nowhere/results.ndjson"),
    });
    expect(stopped).toMatchObject({ type: "output", code: "file_not_writable" });
    expect(summary).toMatchObject({ succeeded: 1, failed: 1, failed_file: "failed", results_file: null });
    expect(await world.read("failed")).toContain("BAD,Coat,");
  });

  test("leave no unfinished file if they cannot be moved into place", async () => {
    const world = await importWorld();
    await world.write("a.csv", half);
    await mkdir(`${world.folder}/results.ndjson`);
    const { summary } = await world.import("a.csv", { resultsFile: target(world, "results.ndjson") });
    expect(summary).toMatchObject({ failed_file: "failed", results_file: null });
    expect(await world.files()).toEqual(["a.csv", "failed", "results.ndjson"]);
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
    expect(stopped).toMatchObject({ type: "input", code: "file_changed", message });
    expect(summary).toMatchObject({ failed: 1, failed_file: null, unwritten: [message] });
  });

  test("report an input as removed if it is missing when a later batch is cut", async () => {
    const world = await importWorld();
    await world.write(
      "a.csv",
      head + Array.from({ length: 2001 }, (_, i) => `R-${i},Dress,${cdn}/1.jpg\n`).join(""),
    );
    const { summary, stopped } = await world.import("a.csv", { concurrency: 1 }, (client) =>
      withCreate(client, async (...args) => {
        const answer = await client.imports.create(...args);
        await rm(`${world.folder}/a.csv`);
        return answer;
      }),
    );
    expect(stopped).toMatchObject({
      ...{ type: "input", code: "file_changed" },
      message: "a.csv was removed during the import; the remaining rows were not sent",
      hint: "To resume, restore the file and run the command again.",
    });
    expect(summary).toMatchObject({ submitted: 2000, succeeded: 2000 });
  });
});

test("an import reports an input that is no longer text as changed, not as an internal error, and sends nothing", async () => {
  const world = await importWorld();
  await world.write("a.csv", half);
  const later = async (client: Client) => {
    await world.write("a.csv", "\0\0\0\0");
    return client;
  };
  const { summary, stopped } = await world.import("a.csv", {}, later);
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
    expect(links).toBe(1);
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
  });

  test("are read again if the connection breaks", async () => {
    const world = await importWorld();
    await world.write("a.csv", half);
    let times = 0;
    const { summary, stopped } = await world.import("a.csv", {}, (client) => ({
      ...client,
      download: async function* (...args) {
        for await (const chunk of client.download(...args)) {
          yield chunk.subarray(0, 10);
          if (times++ === 0) throw new NetworkError("cut", { code: "connection_cut", transient: true });
          yield chunk.subarray(10);
        }
      },
    }));
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
  });
});
