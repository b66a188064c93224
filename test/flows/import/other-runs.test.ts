import { describe, expect, test, vi } from "vitest";
import { openState } from "../../../src/state/open-state.ts";
import {
  answersLost,
  beforeCall,
  cdn,
  fileOf,
  hour,
  nothingArrives,
  once,
  worldWith,
} from "./small-world.ts";

// Two rows a call, so that few rows are many calls.
vi.mock("../../../src/contract/limits.ts", async (original) => {
  const { limits } = await original<typeof import("../../../src/contract/limits.ts")>();
  return { limits: { ...limits, importRows: { min: 1, max: 2 } } };
});

describe("rows that another file has under way", () => {
  /** A first file whose call is lost, and a second one with one of its rows. */
  async function lostAnd(second: string, fault: typeof answersLost | typeof nothingArrives = answersLost) {
    const world = await worldWith("A", "B", "C");
    await world.fault(fault);
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    await world.write("b.csv", second);
    return world;
  }

  test("in a call of unknown outcome: nothing is sent, and the user is told what to choose", async () => {
    const world = await lostAnd(fileOf("X", "B"));
    const before = world.writes().length;
    const ran = await world.import("b.csv").catch((error: unknown) => error);
    expect(ran).toMatchObject({ type: "conflict", code: "unknown_outcome" });
    expect((ran as Error).message).toMatch(/2 rows of \S+a\.csv sent at .*; of their products 2 exist$/);
    expect(world.writes().slice(before)).toEqual([]);
  });

  test.each([
    ["imported", answersLost, ["A Dress 1", "B Dress 1", "X Dress 1"]],
    ["not-imported", nothingArrives, ["B Dress 1", "X Dress 1"]],
    // Sent again as it was, under its key: nothing is doubled.
    ["resend", answersLost, ["A Dress 1", "B Dress 1", "X Dress 1"]],
    ["resend", nothingArrives, ["A Dress 1", "B Dress 1", "X Dress 1"]],
  ] as const)("with --unknown %s (%j) go on", async (unknown, fault, products) => {
    const world = await lostAnd(fileOf("X", "B"), fault);
    const { stopped } = await world.import("b.csv", { unknown });
    expect(stopped).toBeUndefined();
    expect((await world.products()).sort()).toEqual(products);
    // The first file has its rest yet to come, and its call no more in doubt.
    const first = await world.import("a.csv");
    expect(first.stopped).toBeUndefined();
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X"));
  });

  test("of several files are asked about at once, and none by an answer to another question", async () => {
    const world = await worldWith("A", "B");
    await world.write("b.csv", fileOf("S", "T"));
    await world.write("both.csv", fileOf("A", "S"));
    await world.fault(nothingArrives);
    await world.import("a.csv");
    await world.fault();
    await world.fault(answersLost);
    await world.import("b.csv");
    await world.fault();
    world.clock.advance(60_000);
    const asked = await world.import("both.csv").catch((error: unknown) => error);
    expect((asked as Error).message).toMatch(
      /4 rows of \S+a\.csv, \S+b\.csv sent at .*; of their products 2 exist$/,
    );
    const { summary } = await world.import("both.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "S", "T"));
  });

  test("are not answered by what was said of the file's own calls", async () => {
    const world = await worldWith("A");
    await world.write("b.csv", fileOf("A", "S"));
    await world.fault(answersLost);
    await world.import("a.csv");
    await world.fault();
    await world.fault(nothingArrives);
    // Sent as it stands, it may have a row that another run has under way.
    await world.import("b.csv", { photos: "all" });
    await world.fault();
    world.clock.advance(25 * hour);
    const first = await world.import("a.csv", { unknown: "imported" }).catch((error: unknown) => error);
    expect((first as Error).message).toMatch(/2 rows of \S+b\.csv sent at .*; of their products 1 exists$/);
    const second = await world.import("a.csv", { unknown: "not-imported" });
    expect(second.summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("of which none is in the file are left alone", async () => {
    const world = await lostAnd(fileOf("X", "Y"));
    const { summary } = await world.import("b.csv");
    expect(summary).toMatchObject({ submitted: 2, created: 2 });
    await world.import("a.csv");
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "X", "Y"));
  });

  test("are waited for where the service has them, and their photos are known then", async () => {
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

  test("do not matter where rows go as they stand", async () => {
    const world = await lostAnd(fileOf("X", "B"));
    const { summary } = await world.import("b.csv", { photos: "all" });
    expect(summary).toMatchObject({ submitted: 2 });
    expect((await world.products()).sort()).toEqual(["A Dress 1", "B Dress 2", "X Dress 1"]);
  });

  test("of a process that is at work: nothing is sent", async () => {
    const world = await worldWith("A", "B", "C");
    await world.write("b.csv", fileOf("X", "B"));
    const [path, clock] = [`${world.folder}/cat.state`, world.clock];
    const [ours, theirs] = [await openState(path, { clock }), await openState(path, { clock })];
    let second: unknown;
    const first = await world.import(
      "a.csv",
      { machine: { state: ours }, concurrency: 1 },
      beforeCall(1, async () => {
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

  test("of a process that begins them after we looked: our call does not go out", async () => {
    const world = await worldWith("A", "B", "C");
    await world.write("b.csv", fileOf("X", "Y", "B"));
    const [path, clock] = [`${world.folder}/cat.state`, world.clock];
    const [ours, theirs] = [await openState(path, { clock }), await openState(path, { clock })];
    let second: Awaited<ReturnType<typeof world.import>> | undefined;
    // The other process has sent its first call when this one begins, whose rows stand in its second.
    await world
      .import(
        "b.csv",
        { machine: { state: ours }, concurrency: 1 },
        beforeCall(1, async () => {
          await world.fault({ ...answersLost, times: 100 });
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

  test("whose import the service forgot do not keep others from going on for ever", async () => {
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

test("a ledger that is carried in a file goes on anywhere", async () => {
  const world = await worldWith("A", "B", "C");
  const [path, { clock }] = [`${world.folder}/ledger`, world];
  const first = await openState(path, { clock, folder: "theirs" });
  await world.fault(answersLost);
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
