import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { batchesOf } from "./batch-rows.ts";
import { cdn, fileOf, hour, nothingArrives, once, responsesLost, worldWith } from "./import-fixtures.ts";
import { beforeBatch, type Imported } from "./run-import.ts";

batchesOf(2);

describe("what an earlier import of another file left", () => {
  /** A first file whose batch got no response, and a second one with one of its rows. */
  async function lostAnd(fault: typeof responsesLost | typeof nothingArrives = responsesLost) {
    const world = await worldWith("A", "B", "C");
    await world.fault(fault);
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    await world.write("b.csv", fileOf("X", "B"));
    return world;
  }

  test.each(sampled([responsesLost, nothingArrives], 1))("is sent again with its key (%j)", async (fault) => {
    const world = await lostAnd(fault);
    const { summary } = await world.import("b.csv");
    expect(summary).toMatchObject({ submitted: 1, created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "X"));
    // The first file still has a row to send.
    const first = await world.import("a.csv");
    expect(first.summary).toMatchObject({ submitted: 1, created: 1, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X"));
  });

  longTest("is sent again before rows are sent as is", async () => {
    const world = await lostAnd(nothingArrives);
    const { summary } = await world.import("b.csv", { photos: "all" });
    expect(summary).toMatchObject({ submitted: 2, created: 1, updated: 1 });
    expect((await world.products()).sort()).toEqual(["A Dress 1", "B Dress 2", "X Dress 1"]);
  });

  test("needs a choice after a day, also if the file has none of its rows", async () => {
    const world = await lostAnd();
    await world.write("b.csv", fileOf("X", "Y"));
    world.clock.advance(25 * hour);
    const before = world.writes().length;
    const { stopped } = await world.import("b.csv");
    expect(stopped).toMatchObject({
      ...{ type: "conflict", code: "unknown_outcome" },
      message: expect.stringMatching(/2 rows of a\.csv sent at .*; 2 of their products exist\. /),
    });
    expect(world.writes().slice(before)).toEqual([]);
  });

  test.each(
    sampled(
      [
        ["imported", responsesLost, ["A Dress 1", "B Dress 1", "X Dress 1"]],
        ["not-imported", nothingArrives, ["B Dress 1", "X Dress 1"]],
        ["resend", nothingArrives, ["A Dress 1", "B Dress 1", "X Dress 1"]],
      ] as const,
      1,
    ),
  )("is decided by --unknown %s (%j)", async (unknown, fault, products) => {
    const world = await lostAnd(fault);
    world.clock.advance(25 * hour);
    const { stopped } = await world.import("b.csv", { unknown });
    expect(stopped).toBeUndefined();
    expect((await world.products()).sort()).toEqual(products);
    const first = await world.import("a.csv");
    expect(first.stopped).toBeUndefined();
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X"));
  });

  longTest("is waited for if the service has it, so that its photos are known", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv", { wait: false });
    await world.write(
      "b.csv",
      `reference,name,images\nB,Coat,${cdn}/B.jpg|${cdn}/2.jpg\nC,Dress,${cdn}/C.jpg\n`,
    );
    const { summary } = await world.import("b.csv");
    expect(summary).toMatchObject({ submitted: 1, updated: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(["A Dress 1", "B Coat 2", "C Dress 1"]);
  });

  test("needs a choice if the service lost its import", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv", { wait: false });
    world.clock.advance(48 * hour);
    await world.fault({ match: { method: "GET", path: "/v1/imports/" }, status: 404 });
    await world.write("b.csv", fileOf("B", "X"));
    expect((await world.import("b.csv")).stopped).toMatchObject({ code: "unknown_outcome" });
    await world.fault();
    await world.fault({ match: { method: "GET", path: "/v1/imports/" }, status: 404, times: 1 });
    const { summary } = await world.import("b.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "X"));
  });
});

test("a second import fails while another process imports with the same ledger, and names its file", async () => {
  const world = await worldWith("A", "B", "C");
  await world.write("b.csv", fileOf("X", "B"));
  let second: Imported | undefined;
  const first = await world.import(
    "a.csv",
    { ledger: "ledger.db", concurrency: 1 },
    beforeBatch(1, async () => {
      second = await world.import("b.csv", { ledger: "ledger.db" }, { machine: "two" });
    }),
  );
  expect(second!.stopped).toMatchObject({
    ...{ type: "conflict", code: "run_alive" },
    message: expect.stringMatching(
      /^process 4711 has been working on a\.csv since 2026-01-05T09:00:\d\dZ\. Wait for it to finish, or stop it and run the command again\.$/,
    ),
  });
  expect(first.summary).toMatchObject({ created: 3 });
  const again = await world.import("b.csv", { ledger: "ledger.db" }, { machine: "two" });
  expect(again.summary).toMatchObject({ created: 1, unchanged: 1 });
  expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X"));
});

test("an import resumes on any machine with a ledger file", async () => {
  const world = await worldWith("A", "B", "C");
  const flags = { ledger: "ledger.db", concurrency: 1 };
  await world.fault(responsesLost);
  await world.import("a.csv", flags);
  await world.fault();
  expect(await world.files()).toEqual(["a.csv", "ledger.db"]);
  const second = { machine: "two" };
  const { summary } = await world.import("a.csv", flags, second);
  expect(summary).toMatchObject({ run_id: "run_1", submitted: 3, created: 3 });
  expect((await world.import("a.csv", flags, second)).summary).toMatchObject({ unchanged: 3 });
});
