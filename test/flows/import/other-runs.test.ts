import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { openState } from "../../../src/state/open-state.ts";
import type { RunHold } from "../../../src/state/runs.ts";
import { newAccount } from "../../support/new-account.ts";
import { blind, importWorld, withoutProducts } from "./run-import.ts";
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

type World = Awaited<ReturnType<typeof importWorld>>;

const clientWith = (world: World, apiKey: string) =>
  createClient({ baseUrl: world.mock.baseUrl, apiKey, clock: world.clock, random: () => 0.5 });

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

describe("what is remembered of an organization", () => {
  test("is found again with another key of it", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    const { summary } = await world.import("a.csv", { machine: { fingerprint: "renewed" } });
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("is one for two keys of it, also where the first of them had nothing taken up", async () => {
    const world = await worldWith("A");
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    expect((await world.import("a.csv")).stopped).toMatchObject({ status: 402 });
    await world.fault();
    const second = await world.import("a.csv", { machine: { fingerprint: "second" } });
    expect(second.summary).toMatchObject({ created: 1 });
    const third = await world.import("a.csv");
    expect(third.summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("is nothing that another organization's key is asked by", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    const client = clientWith(world, "ak_mock_other");
    const theirs = { client, fingerprint: "other" };
    const first = await world.import("a.csv", { machine: theirs });
    expect(first.summary).toMatchObject({ submitted: 1, created: 1 });
    const second = await world.import("a.csv", { machine: theirs });
    expect(second.summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect((await client.products.list()).data).toHaveLength(1);
    await client.close();
    // Whose it is was asked of five products and what came after them, not of all that there is.
    const looks = world.mock.requests().filter(({ path }) => path.startsWith("/v1/exports"));
    const since = looks.flatMap(({ path }) => new URLSearchParams(path.split("?")[1]).get("since") ?? []);
    expect(since).toEqual(["2026-01-05T08:55:00.000Z", "2026-01-05T08:55:05.000Z"]);
    // And ours is as it was.
    expect((await world.import("a.csv")).summary).toMatchObject({ unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("is nobody's to say of two organizations that a key may be of", async () => {
    const world = await worldWith("A");
    const theirs = { client: clientWith(world, "ak_mock_other"), fingerprint: "other" };
    await world.import("a.csv");
    await world.import("a.csv", { machine: theirs });
    const machine = { fingerprint: "blind" };
    const ran = world.import("a.csv", { machine, sameOrganization: true }, blind);
    await expect(ran).rejects.toMatchObject({
      code: "another_key",
      hint: "It may be of 2 organizations: let this key read products (scope products:read), or give it a profile (--profile NAME) or a ledger (--ledger FILE) of its own, which knows of no photos that are attached.",
    });
    // Exports tell of products, too.
    const other = { machine: { fingerprint: "narrow" } };
    const { summary } = await world.import("a.csv", other, withoutProducts);
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    await theirs.client.close();
  });

  test("does not stand in the way of a key that is known, when the service was started anew", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    const theirs = { client: clientWith(world, "ak_mock_other"), fingerprint: "other" };
    await world.fault(answersLost);
    await world.import("a.csv", { machine: theirs });
    await world.fault();
    world.mock.reset();
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 2, created: 2 });
    await theirs.client.close();
  });

  const [one, other] = [{ machine: { fingerprint: "one" } }, { machine: { fingerprint: "other" } }];

  /** A service that was started anew when one of two keys had begun to import a first file, of two. */
  async function begunByOne() {
    const world = await importWorld({ seed: undefined });
    await world.write("f.csv", fileOf("F"));
    await world.write("g.csv", fileOf("G"));
    await world.import("f.csv", { ...one, wait: false });
    world.mock.reset();
    return world;
  }

  test.each(["f.csv", "g.csv"])(
    "is one for two keys, of which one has only begun %s when the service is started anew",
    async (second) => {
      const world = await begunByOne();
      await world.import("g.csv", other);
      await world.import("f.csv", other);
      // Whether the import that is gone was carried out is still the user's to say.
      const ran = world.import("f.csv", one);
      await expect(ran).rejects.toMatchObject({ code: "unknown_outcome" });
      await world.import(second, { ...one, unknown: "not-imported" });
      await world.import("f.csv", { ...one, unknown: "not-imported" });
      expect((await world.import("g.csv", one)).summary).toMatchObject({ submitted: 0, unchanged: 1 });
      expect((await world.import("g.csv", other)).summary).toMatchObject({ submitted: 0, unchanged: 1 });
      expect((await world.products()).sort()).toEqual(once("F", "G"));
    },
  );

  test("is one where both have begun the same import, which goes on", async () => {
    const world = await begunByOne();
    await world.import("f.csv", { ...other, wait: false });
    world.clock.advance(hour);
    await world.import("g.csv", one);
    for (const key of [one, other]) {
      const { summary } = await world.import("f.csv", key);
      expect(summary!.succeeded + summary!.unchanged).toBe(1);
    }
    expect((await world.products()).sort()).toEqual(once("F", "G"));
  });

  test("is not made for a new key while another process is about to send for one that is there", async () => {
    const world = await begunByOne();
    let meanwhile: unknown;
    await world.import(
      "f.csv",
      { ...one, unknown: "not-imported" },
      beforeCall(1, async () => {
        meanwhile = await world.import("g.csv", other).catch((error: unknown) => error);
      }),
    );
    expect(meanwhile).toMatchObject({ type: "conflict", code: "another_key" });
    await world.import("g.csv", other);
    expect((await world.import("g.csv", one)).summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("F", "G"));
  });

  test("is looked for among a few others, however often a service was started anew", async () => {
    const world = await worldWith("A");
    const requests: number[] = [];
    for (let time = 0; time < 14; time++) {
      await world.import("a.csv");
      requests.push(world.mock.requests().length);
      world.mock.reset();
    }
    expect(requests.at(-1)).toBe(requests.at(-2));
    expect(await world.import("a.csv")).toMatchObject({ summary: { created: 1, unchanged: 0 } });
  });

  test("is looked for by one process at a time, so that two new keys do not miss each other", async () => {
    const world = await worldWith("A");
    const { clock, mock } = world;
    const path = join(world.folder, "state.db");
    const [first, second] = [await openState(path, { clock }), await openState(path, { clock })];
    const turn = second.runs.hold(0, `claiming at ${mock.baseUrl}`, { pid: 1, since: clock.now() });
    let isOver = false;
    const ran = world.import("a.csv", { machine: { state: first } }).finally(() => {
      isOver = true;
    });
    for (let time = 0; time < 200; time++) await new Promise(setImmediate);
    expect([isOver, first.accounts.at(mock.baseUrl), world.writes()]).toEqual([false, [], []]);
    (turn as RunHold).release();
    expect((await ran).summary).toMatchObject({ created: 1 });
    // A key that is known waits for nobody, and one that is not not for ever.
    second.runs.hold(0, `claiming at ${mock.baseUrl}`, { pid: 4712, since: clock.now() });
    expect((await world.import("a.csv", { machine: { state: first } })).summary).toMatchObject({
      unchanged: 1,
    });
    const late = world.import("a.csv", { machine: { state: first, fingerprint: "new" } });
    await expect(late).rejects.toMatchObject({
      code: "import_under_way",
      message: `process 4712 is beginning an import at ${mock.baseUrl} and does not get on`,
    });
    for (const state of [first, second]) state.close();
  });

  test("is not told apart while another process is about to send what was never sent before", async () => {
    const world = await worldWith("A");
    const { clock } = world;
    const path = join(world.folder, "state.db");
    const [first, second] = [await openState(path, { clock }), await openState(path, { clock })];
    let meanwhile: unknown;
    const { summary } = await world.import(
      "a.csv",
      { machine: { state: first, fingerprint: "old" } },
      (client) => ({
        ...client,
        imports: {
          ...client.imports,
          create: async (...call) => {
            const { batches } = second;
            // As it is before the call is written down: photos may be uploaded for hours.
            const state = { ...second, batches: { ...batches, of: () => [], unsettledElsewhere: () => [] } };
            const ran = world.import("a.csv", { machine: { state, fingerprint: "new" } });
            meanwhile = await ran.catch((error: unknown) => error);
            return client.imports.create(...call);
          },
        },
      }),
    );
    expect(meanwhile).toMatchObject({ code: "another_key" });
    expect(summary).toMatchObject({ created: 1 });
    for (const state of [first, second]) state.close();
  });

  test("is nothing to a service that was started anew at the same address", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    world.mock.reset();
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 2, created: 2, unchanged: 0 });
    expect(await world.products()).toEqual(once("A", "B"));
    expect((await world.import("a.csv")).summary).toMatchObject({ unchanged: 2 });
  });

  test("is kept where all its products were deleted: the service tells so", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    for (const { id } of (await world.client.products.list()).data)
      await world.client.products.delete({ product_id: id });
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 2, created: 2 });
    expect(world.state.accounts.at(world.mock.baseUrl)).toHaveLength(1);
  });

  test("is one, when two processes meet a service for the first time at once", async () => {
    const world = await worldWith("A");
    const { accounts } = world.state;
    const service = [world.mock.baseUrl, "fingerprint"] as const;
    let theirs = 0;
    // Between our look and our making one the other process has made its own.
    const find: typeof accounts.find = (...key) => {
      const found = accounts.find(...key);
      if (theirs === 0) {
        theirs = newAccount({ accounts }, world.mock.baseUrl);
        accounts.bind(...service, theirs);
      }
      return found;
    };
    await world.import("a.csv", { machine: { state: { ...world.state, accounts: { ...accounts, find } } } });
    expect([accounts.at(world.mock.baseUrl), accounts.find(...service)]).toEqual([[theirs], theirs]);
    expect((await world.import("a.csv")).summary).toMatchObject({ unchanged: 1 });
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
