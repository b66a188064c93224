import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { aroundStatements } from "../../support/sqlite-statements.ts";
import { batchesOf } from "./batch-rows.ts";
import { cdn, fileOf, hour, nothingArrives, once, responsesLost, worldWith } from "./import-fixtures.ts";
import { type By, type ImportFlags, importWorld, withoutProducts } from "./run-import.ts";

batchesOf(2);

/** Sends one batch whose response is lost, lets time pass, and runs the command again. */
async function dayLater(
  fault: typeof responsesLost | typeof nothingArrives,
  flags: ImportFlags = {},
  passes = 25 * hour,
) {
  const world = await worldWith("A", "B", "C");
  await world.fault(fault);
  const { mode, photos } = flags;
  await world.import("a.csv", { concurrency: 1, mode, photos });
  await world.fault();
  world.clock.advance(passes);
  const before = world.writes().length;
  const again = await world.import("a.csv", { concurrency: 1, ...flags });
  const products = (await world.products()).sort();
  return { world, again, products, writes: world.writes().slice(before) };
}

const created = "POST /v1/imports 202";
/** The service says that it has had the key, and repeats its response. */
const replayed = ["POST /v1/imports 422", "POST /v1/imports replayed"];
/** The service says that it has not had the key. */
const unused = "POST /v1/imports 400";

describe("a batch whose outcome is unknown for longer than the service keeps keys", () => {
  test.each(
    sampled(
      [
        [
          responsesLost,
          "2 of their products exist",
          ["A Dress 1", "B Dress 1"],
          "Check a few products, then run the command again with --unknown imported, not-imported or resend (may add photos twice).",
        ],
        [
          nothingArrives,
          "none of their products exists",
          [],
          "To send these rows, run the command again with --unknown not-imported.",
        ],
      ],
      1,
    ),
  )(
    "is not resent without a choice in an upsert (%j): %s, and the user chooses",
    async (fault, exist, left, hint) => {
      const { again, products, writes } = await dayLater(fault);
      expect(again.stopped).toMatchObject({ type: "conflict", code: "unknown_outcome" });
      const [what, next] = again.stopped!.message.split(". ");
      expect(what).toMatch(
        new RegExp(`^no response for 2 rows of a\\.csv sent at 2026-01-05T09:0\\d:\\d\\dZ; ${exist}$`),
      );
      expect(`${next}`).toBe(hint);
      expect(writes).toEqual([]);
      expect(products).toEqual(left);
    },
  );

  longTest("is resent with its key as long as the service keeps it", async () => {
    const { products, writes } = await dayLater(responsesLost, {}, 22 * hour);
    expect(writes).toEqual([...replayed, created]);
    expect(products).toEqual(once("A", "B", "C"));
  });

  longTest("is not sent under another key when its key expires after it was looked at", async () => {
    const there = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
    const world = await importWorld({ clock: there });
    await world.write("a.csv", fileOf("A", "B", "C"));
    const flags = { concurrency: 1, wait: false };
    await world.fault(responsesLost);
    await world.import("a.csv", flags);
    await world.fault();
    const before = world.writes().length;
    // The machine sleeps for a day after it has read the batch.
    let hasSlept = false;
    aroundStatements({
      after(sql) {
        if (hasSlept || !sql.startsWith("SELECT body.bytes")) return;
        hasSlept = true;
        world.clock.advance(25 * hour);
      },
    });
    const { stopped } = await world.import("a.csv", flags);
    expect(stopped).toMatchObject({ type: "timeout", code: "key_expired" });
    // The question whether the service has had the key.
    const [asked] = replayed;
    expect(world.writes().slice(before)).toEqual([asked]);
    expect((await world.import("a.csv", flags)).stopped).toMatchObject({ code: "unknown_outcome" });
    expect(world.writes().slice(before)).toEqual([asked]);
  });

  test("is sent under the same new key until a response arrives, once the user has chosen to send it again", async () => {
    const world = await worldWith("A", "B");
    await world.fault(nothingArrives);
    await world.import("a.csv");
    await world.fault();
    world.clock.advance(25 * hour);
    await world.fault(responsesLost);
    await world.import("a.csv", { unknown: "resend" });
    await world.fault();
    const before = world.writes().length;
    await world.import("a.csv");
    expect(world.writes().slice(before)).toEqual(replayed);
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  longTest(
    "is repeated with its key while the service keeps it, whatever --unknown says: nothing is doubled or skipped",
    async () => {
      for (const fault of [responsesLost, nothingArrives]) {
        const world = await worldWith("A", "B");
        await world.fault(fault);
        await world.import("a.csv");
        await world.fault();
        const before = world.writes().length;
        const { summary } = await world.import("a.csv", { unknown: "imported" });
        expect(summary).toMatchObject({ created: 2, failed: 0 });
        expect(world.writes().slice(before)).toEqual(fault === responsesLost ? replayed : [unused, created]);
        expect((await world.products()).sort()).toEqual(once("A", "B"));
      }
    },
  );

  longTest(
    "can be decided without products:read, except for the choice that would duplicate photos",
    async () => {
      const world = await worldWith("A", "B");
      await world.fault(responsesLost);
      await world.import("a.csv");
      await world.fault();
      world.clock.advance(25 * hour);
      expect((await world.import("a.csv", {}, withoutProducts)).stopped).toMatchObject({
        code: "unknown_outcome",
        message: expect.stringMatching(
          /; this key lacks the scope products:read\. Check a few products, then run the command again with --unknown not-imported or resend \(may add photos twice\)\.$/,
        ),
      });
      expect((await world.import("a.csv", { unknown: "imported" }, withoutProducts)).stopped).toMatchObject({
        code: "unknown_outcome",
        message: expect.stringMatching(/\. Use a key with that scope, or another choice for --unknown\.$/),
      });
      expect(await world.products()).toEqual(once("A", "B"));
      const { summary } = await world.import(
        "a.csv",
        { unknown: "not-imported", photos: "all" },
        withoutProducts,
      );
      expect(summary).toMatchObject({ updated: 2, failed: 0 });
    },
  );

  test("sends the first batch even if responses have no Date", async () => {
    const world = await worldWith("A");
    const judge: By["judge"] = () => ({ headers: { date: null } });
    const { summary } = await world.import("a.csv", { photos: "all" }, { judge });
    expect(summary).toMatchObject({ created: 1 });
  });

  test("is as old as the service's clock says, however wrong the local clock is", async () => {
    const there = new MovableClock({ frozenAt: Date.parse("2026-01-06T10:00:00Z") });
    const world = await importWorld({ clock: there });
    await world.write("a.csv", fileOf("A", "B", "C"));
    await world.fault(responsesLost);
    await world.import("a.csv", { concurrency: 1, wait: false });
    expect(world.mock.requests()[0]).toMatchObject({ method: "GET", path: "/v1/products?limit=100&q=A" });
    await world.fault();
    const before = world.writes().length;
    const again = await world.import("a.csv", { concurrency: 1, wait: false });
    expect(again.stopped).toBeUndefined();
    expect(world.writes().slice(before)).toEqual([...replayed, created]);
  });

  test.each([
    ["is resent with its key", 22, undefined, [...replayed, created]],
    ["is not resent without a choice", 24, "unknown_outcome", []],
  ] as const)("%s if only the service's clock advanced, by %i hours", async (_, hours, code, expected) => {
    const there = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
    const world = await importWorld({ clock: there });
    await world.write("a.csv", fileOf("A", "B", "C"));
    await world.fault(responsesLost);
    await world.import("a.csv", { concurrency: 1, wait: false });
    await world.fault();
    there.advance(hours * hour);
    const before = world.writes().length;
    const { stopped } = await world.import("a.csv", { concurrency: 1, wait: false });
    expect(stopped?.code).toBe(code);
    expect(world.writes().slice(before)).toEqual(expected);
  });

  type Chosen = [string, typeof responsesLost | typeof nothingArrives, string, string[], string[]];
  const choices: readonly Chosen[] = [
    ["processed", responsesLost, "imported", [created], once("A", "B", "C")],
    ["not processed", nothingArrives, "not-imported", [created, created], once("A", "B", "C")],
    ["not processed", nothingArrives, "resend", [created, created], once("A", "B", "C")],
    ["processed", responsesLost, "resend", [created, created], ["A Dress 2", "B Dress 2", "C Dress 1"]],
    // The user was wrong; missing products are sent anyway.
    ["not processed", nothingArrives, "imported", [created, created], once("A", "B", "C")],
  ];
  test.each(repetitions(choices.slice(0, 2), choices))(
    "that was %s (%j) with --unknown %s sends %j",
    async (_, fault, unknown, expected, left) => {
      const { world, again, products, writes } = await dayLater(fault, { unknown });
      expect(again.stopped).toBeUndefined();
      expect(writes).toEqual(expected);
      expect(products).toEqual(left);
      const { summary } = await world.import("a.csv");
      expect(summary).toMatchObject({ unchanged: 3, submitted: 0 });
    },
  );

  test("that was processed doubles no photo with --unknown not-imported: rows whose photos cannot be compared are conflicts", async () => {
    const { world, again, products, writes } = await dayLater(responsesLost, { unknown: "not-imported" });
    expect(again.summary).toMatchObject({ created: 1, conflicts: 2, unchanged: 0 });
    expect(writes).toEqual([created]);
    expect(products).toEqual(once("A", "B", "C"));
    expect(await world.failed()).toMatch(/^A,Dress,\S+\/A\.jpg,photo_unknown,"cannot fetch /m);
  });

  longTest(
    "keeps its fields up to date if counted as imported, because their values are unknown",
    async () => {
      const { world } = await dayLater(responsesLost);
      const [product] = (await world.client.products.list({ q: "A" })).data;
      await world.client.products.update({ product_id: product!.id, body: { name: "Another" } });
      const { summary } = await world.import("a.csv", { unknown: "imported" });
      expect(summary).toMatchObject({ submitted: 2, updated: 1, created: 1, unchanged: 1 });
      expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
    },
  );

  test("is resolved by a prompt on a terminal", async () => {
    const { world } = await dayLater(responsesLost);
    const { ran, screen, type } = atTerminal(world, "import a.csv");
    await type("What happened to these rows?", "\r");
    expect((await ran).exit).toBe(0);
    expect(screen().replaceAll("\n", " ")).toContain(
      "No response for 2 rows of a.csv sent at 2026-01-05 09:00 UTC. 2 of their 2 products exist.",
    );
    expect(world.writes().slice(-1)).toEqual([created]);
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test.each(sampled(["create", "skip_existing"] as const, 1))(
    "can be resent in mode %s, with a new key",
    async (mode) => {
      const { again, products, writes } = await dayLater(responsesLost, { mode });
      expect(again.stopped).toBeUndefined();
      expect(writes).toEqual([created, created]);
      expect(products).toEqual(once("A", "B", "C"));
    },
  );

  longTest("has its products found by their exact reference among all search results", async () => {
    const world = await worldWith("A", "B");
    await world.write("others.csv", fileOf("AB", "BA", "xA"));
    await world.import("others.csv");
    await world.fault(nothingArrives);
    await world.import("a.csv");
    await world.fault();
    world.clock.advance(25 * hour);
    const { stopped } = await world.import("a.csv");
    expect(stopped!.message).toMatch(/none of their products exists\. /);
  });

  test("needs a choice if the service no longer knows its import, too", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv", { wait: false });
    world.clock.advance(60_000);
    const lost = { match: { method: "GET", path: "/v1/imports/" }, status: 404 };
    await world.fault(lost);
    expect((await world.import("a.csv")).stopped).toMatchObject({ code: "unknown_outcome" });
    // Its body was deleted, so it cannot be resent.
    expect((await world.import("a.csv", { unknown: "resend" })).stopped).toMatchObject({
      code: "unknown_outcome",
      message: expect.stringMatching(/--unknown imported or not-imported\.$/),
    });
    const { summary } = await world.import("a.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ submitted: 0, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("adds no photo twice with --photos all if counted as imported", async () => {
    const { again, products, writes } = await dayLater(responsesLost, { photos: "all", unknown: "imported" });
    expect(again).toMatchObject({ summary: { submitted: 3, updated: 2, created: 1 } });
    expect(writes).toEqual([created]);
    expect(products).toEqual(once("A", "B", "C"));
  });

  longTest("is not resent with --photos all if another file counted it as imported", async () => {
    const { world } = await dayLater(responsesLost, { photos: "all" });
    await world.write("b.csv", fileOf("A", "B"));
    const other = await world.import("b.csv", { unknown: "imported" });
    expect(other.summary).toMatchObject({ submitted: 0, unchanged: 2 });
    const { summary } = await world.import("a.csv", { photos: "all" });
    expect(summary).toMatchObject({ submitted: 3, updated: 2, created: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });
});

describe("--fresh", () => {
  test("starts over after the earlier run has ended: nothing is duplicated", async () => {
    const world = await worldWith("A", "B", "C");
    await world.fault(responsesLost);
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    const { summary } = await world.import("a.csv", { fresh: true, concurrency: 1 });
    expect(summary).toMatchObject({ run_id: "run_2", submitted: 1, created: 1, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test("waits for batches that were sent without waiting", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv", { wait: false });
    const { summary } = await world.import("a.csv", { fresh: true });
    expect(summary).toMatchObject({ run_id: "run_2", submitted: 0, unchanged: 3 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  longTest("starts at once if nothing was sent, or there is no earlier run", async () => {
    const world = await worldWith("A", "B", "C");
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    const first = await world.import("a.csv", { fresh: true });
    expect(first.summary).toMatchObject({ run_id: "run_2", submitted: 3, created: 3 });
    const second = await world.import("a.csv", { fresh: true });
    expect(second.summary).toMatchObject({ run_id: "run_3", submitted: 0, unchanged: 3 });
    expect(await world.lines("a.csv", { fresh: true })).toEqual([
      "Nothing to do: all 3 rows of a.csv are unchanged.",
    ]);
  });

  longTest("asks about an expired batch with an unknown outcome, as resuming does", async () => {
    const { again, writes } = await dayLater(responsesLost, { fresh: true });
    expect(again.stopped).toMatchObject({ code: "unknown_outcome" });
    expect(writes).toEqual([]);
    const other = await dayLater(responsesLost, { fresh: true, unknown: "imported" });
    expect(other.again.summary).toMatchObject({ run_id: "run_2", unchanged: 2, created: 1 });
    expect(other.products).toEqual(once("A", "B", "C"));
  });

  test("finds products that the earlier run created in mode create, and fails their rows", async () => {
    const world = await worldWith("A", "B", "C");
    await world.fault(responsesLost);
    await world.import("a.csv", { concurrency: 1, mode: "create" });
    await world.fault();
    const { summary } = await world.import("a.csv", { fresh: true, mode: "create", concurrency: 1 });
    expect(summary).toMatchObject({ submitted: 3, created: 1, failed: 2 });
    expect(await world.failed()).toContain(`A,Dress,${cdn}/A.jpg,reference_already_exists,`);
  });
});
