import { describe, expect, test, vi } from "vitest";
import { openState } from "../../../src/state/open-state.ts";
import {
  beforeBatch,
  cdn,
  fileOf,
  hour,
  nothingArrives,
  once,
  responsesLost,
  worldWith,
} from "./import-fixtures.ts";

// Two rows per batch, so that few rows make many batches.
vi.mock("../../../src/contract/limits.ts", async (original) => {
  const contract = await original<typeof import("../../../src/contract/limits.ts")>();
  return { ...contract, limits: { ...contract.limits, importRows: { min: 1, max: 2 } } };
});

describe("rows that another run has in flight", () => {
  /** A first file whose batch got no response, and a second one with one of its rows. */
  async function lostAnd(
    second: string,
    fault: typeof responsesLost | typeof nothingArrives = responsesLost,
  ) {
    const world = await worldWith("A", "B", "C");
    await world.fault(fault);
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    await world.write("b.csv", second);
    return world;
  }

  test("are not sent if their outcome is unknown, and the user gets the choices", async () => {
    const world = await lostAnd(fileOf("X", "B"));
    const before = world.writes().length;
    const ran = await world.import("b.csv").catch((error: unknown) => error);
    expect(ran).toMatchObject({ type: "conflict", code: "unknown_outcome" });
    expect((ran as Error).message).toMatch(/2 rows of \S+a\.csv sent at .*; 2 of their products exist$/);
    expect(world.writes().slice(before)).toEqual([]);
  });

  test.each([
    ["imported", responsesLost, ["A Dress 1", "B Dress 1", "X Dress 1"]],
    ["not-imported", nothingArrives, ["B Dress 1", "X Dress 1"]],
    // Resent unchanged with its key: nothing is duplicated.
    ["resend", responsesLost, ["A Dress 1", "B Dress 1", "X Dress 1"]],
    ["resend", nothingArrives, ["A Dress 1", "B Dress 1", "X Dress 1"]],
  ] as const)("are imported with --unknown %s (%j)", async (unknown, fault, products) => {
    const world = await lostAnd(fileOf("X", "B"), fault);
    const { stopped } = await world.import("b.csv", { unknown });
    expect(stopped).toBeUndefined();
    expect((await world.products()).sort()).toEqual(products);
    // The first file still has rows to send, but no batch with an unknown outcome.
    const first = await world.import("a.csv");
    expect(first.stopped).toBeUndefined();
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X"));
  });

  test("need one choice for all files, which applies to nothing else", async () => {
    const world = await worldWith("A", "B");
    await world.write("b.csv", fileOf("S", "T"));
    await world.write("both.csv", fileOf("A", "S"));
    await world.fault(nothingArrives);
    await world.import("a.csv");
    await world.fault();
    await world.fault(responsesLost);
    await world.import("b.csv");
    await world.fault();
    world.clock.advance(60_000);
    const asked = await world.import("both.csv").catch((error: unknown) => error);
    expect((asked as Error).message).toMatch(
      /4 rows of \S+a\.csv, \S+b\.csv sent at .*; 2 of their products exist$/,
    );
    const { summary } = await world.import("both.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "S", "T"));
  });

  test("need a separate choice from the batches of the file itself", async () => {
    const world = await worldWith("A");
    await world.write("b.csv", fileOf("A", "S"));
    await world.fault(responsesLost);
    await world.import("a.csv");
    await world.fault();
    await world.fault(nothingArrives);
    // Rows sent as is may include one that another run has in flight.
    await world.import("b.csv", { photos: "all" });
    await world.fault();
    world.clock.advance(25 * hour);
    const first = await world.import("a.csv", { unknown: "imported" }).catch((error: unknown) => error);
    expect((first as Error).message).toMatch(/2 rows of \S+b\.csv sent at .*; 1 of their products exists$/);
    const second = await world.import("a.csv", { unknown: "not-imported" });
    expect(second.summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("are ignored if the file has none of them", async () => {
    const world = await lostAnd(fileOf("X", "Y"));
    const { summary } = await world.import("b.csv");
    expect(summary).toMatchObject({ submitted: 2, created: 2 });
    await world.import("a.csv");
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X", "Y"));
  });

  test("are waited for if the service has them, so that their photos are known", async () => {
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

  test("do not matter if rows are sent as is", async () => {
    const world = await lostAnd(fileOf("X", "B"));
    const { summary } = await world.import("b.csv", { photos: "all" });
    expect(summary).toMatchObject({ submitted: 2 });
    expect((await world.products()).sort()).toEqual(["A Dress 1", "B Dress 2", "X Dress 1"]);
  });

  test("stop the import if the other process is still running", async () => {
    const world = await worldWith("A", "B", "C");
    await world.write("b.csv", fileOf("X", "B"));
    const [path, clock] = [`${world.folder}/cat.state`, world.clock];
    const [ours, theirs] = [await openState(path, { clock }), await openState(path, { clock })];
    let second: unknown;
    const first = await world.import(
      "a.csv",
      { machine: { state: ours }, concurrency: 1 },
      beforeBatch(1, async () => {
        second = await world.import("b.csv", { machine: { state: theirs } }).catch((error: unknown) => error);
      }),
    );
    expect(second).toMatchObject({ type: "conflict", code: "import_under_way" });
    expect(first.summary).toMatchObject({ created: 3 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
    const again = await world.import("b.csv", { machine: { state: theirs } });
    expect(again.summary).toMatchObject({ created: 1, unchanged: 1 });
    ours.close();
    theirs.close();
  });

  test("are not sent if the other process sends them after the check of this one", async () => {
    const world = await worldWith("A", "B", "C");
    await world.write("b.csv", fileOf("X", "Y", "B"));
    const [path, clock] = [`${world.folder}/cat.state`, world.clock];
    const [ours, theirs] = [await openState(path, { clock }), await openState(path, { clock })];
    let second: Awaited<ReturnType<typeof world.import>> | undefined;
    // The other process has sent its first batch when this one starts; the rows of this one are in its
    // second.
    await world
      .import(
        "b.csv",
        { machine: { state: ours }, concurrency: 1 },
        beforeBatch(1, async () => {
          await world.fault({ ...responsesLost, times: 100 });
          second = await world.import("a.csv", { machine: { state: theirs }, concurrency: 1 });
          await world.fault();
        }),
      )
      .then(({ stopped, summary }) => {
        expect(stopped).toMatchObject({ type: "conflict", code: "import_under_way" });
        expect(summary).toMatchObject({ submitted: 2, created: 2 });
      });
    expect(second?.summary?.unknown).toEqual([{ first_line: 2, last_line: 3, rows: 2 }]);
    expect((await world.products()).sort()).toEqual(once("A", "B", "X", "Y"));
    await world.import("a.csv", { machine: { state: theirs } });
    await world.import("b.csv", { machine: { state: ours } });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X", "Y"));
    ours.close();
    theirs.close();
  });

  test("do not block other files forever if the service lost their import", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv", { wait: false });
    world.clock.advance(48 * hour);
    await world.fault({ match: { method: "GET", path: "/v1/imports/" }, status: 404, times: 1 });
    await world.write("b.csv", fileOf("B", "X"));
    const { summary } = await world.import("b.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "X"));
  });
});

test("resumes on any machine with a ledger file", async () => {
  const world = await worldWith("A", "B", "C");
  const [path, { clock }] = [`${world.folder}/ledger`, world];
  const first = await openState(path, { clock, folder: "theirs" });
  await world.fault(responsesLost);
  await world.import("a.csv", { machine: { state: first }, concurrency: 1 });
  first.close();
  await world.fault();
  expect(await world.files()).toEqual(["a.csv", "ledger"]);
  const second = await openState(path, { clock, folder: "theirs" });
  const { summary } = await world.import("a.csv", { machine: { state: second }, concurrency: 1 });
  expect(summary).toMatchObject({ run_id: "run_1", submitted: 3, created: 3 });
  expect((await world.import("a.csv", { machine: { state: second } })).summary).toMatchObject({
    unchanged: 3,
  });
  second.close();
  expect(world.state.runs.open(1)).toEqual([]);
});
