import { describe, expect, test, vi } from "vitest";
import { type Client, createClient } from "../../../src/client/client.ts";
import { MovableClock } from "../../../src/clock.ts";
import type { ImportInput } from "../../../src/flows/import/run/import-input.ts";
import { importWorld, mayNot, withoutProducts } from "./run-import.ts";
import { answersLost, cdn, fileOf, hour, nothingArrives, once, worldWith } from "./small-world.ts";

// Two rows a call, so that few rows are many calls.
vi.mock("../../../src/contract/limits.ts", async (original) => {
  const { limits } = await original<typeof import("../../../src/contract/limits.ts")>();
  return { limits: { ...limits, importRows: { min: 1, max: 2 } } };
});

/** Sends one call whose answer is lost, lets time pass, and gives the command again. */
async function dayLater(
  fault: typeof answersLost | typeof nothingArrives,
  { passes = 25 * hour, ...flags }: Partial<ImportInput> & { passes?: number } = {},
) {
  const world = await worldWith("A", "B", "C");
  await world.fault(fault);
  const { mode = "upsert", photos = mode === "upsert" ? "new" : "all" } = flags;
  await world.import("a.csv", { concurrency: 1, mode, photos });
  await world.fault();
  world.clock.advance(passes);
  const before = world.writes().length;
  const again = await world.import("a.csv", { concurrency: 1, ...flags }).catch((error: unknown) => error);
  const products = (await world.products()).sort();
  return { world, again, products, writes: world.writes().slice(before) };
}

const created = "POST /v1/imports 202";
const replayed = "POST /v1/imports replayed";

describe("a call whose outcome is unknown for longer than the service keeps keys", () => {
  test.each([
    [answersLost, "2 exist", ["A Dress 1", "B Dress 1"]],
    [nothingArrives, "none exists", []],
  ])(
    "is not sent again on its own in an upsert (%j): %s, and the user chooses",
    async (fault, exist, left) => {
      const { again, products, writes } = await dayLater(fault);
      expect(again).toMatchObject({ type: "conflict", code: "unknown_outcome" });
      expect((again as Error).message).toMatch(
        new RegExp(
          `the service took up 2 rows of \\S+a\\.csv sent at 2026-01-05T09:0\\d:\\d\\dZ; of their products ${exist}$`,
        ),
      );
      expect(writes).toEqual([]);
      expect(products).toEqual(left);
    },
  );

  test("is sent again under its key as long as the service keeps it", async () => {
    const { products, writes } = await dayLater(answersLost, { passes: 22 * hour });
    expect(writes).toEqual([replayed, created]);
    expect(products).toEqual(once("A", "B", "C"));
  });

  test("is decided by who may not read products as well, but for one answer that would double photos", async () => {
    const world = await worldWith("A", "B");
    await world.fault(answersLost);
    await world.import("a.csv");
    await world.fault();
    world.clock.advance(25 * hour);
    const ran = world.import("a.csv", {}, withoutProducts);
    await expect(ran).rejects.toMatchObject({
      code: "unknown_outcome",
      message: expect.stringMatching(/; this key may not read their products \(scope products:read\)$/),
      hint: "Look at some of them, then give the command again with --unknown not-imported, or with --unknown resend (which may add photos a second time).",
    });
    await expect(world.import("a.csv", { unknown: "imported" }, withoutProducts)).rejects.toMatchObject({
      code: "unknown_outcome",
      hint: "Give the command again with a key that may read products, or with another choice.",
    });
    expect(await world.products()).toEqual(once("A", "B"));
    const { summary } = await world.import("a.csv", { unknown: "not-imported" }, withoutProducts);
    expect(summary).toMatchObject({ updated: 2, failed: 0 });
  });

  test("goes out all the same where the service tells no time", async () => {
    const world = await worldWith("A");
    const mayNotRead = (client: Client): Client => ({
      ...client,
      serviceNow: () => null,
      products: { ...client.products, list: async () => mayNot() },
    });
    expect((await world.import("a.csv", {}, mayNotRead)).summary).toMatchObject({ created: 1 });
  });

  test("whose age is told by the service's clock from the first one on, however far this machine's is from it", async () => {
    const there = new MovableClock({ frozenAt: Date.parse("2026-01-06T10:00:00Z") });
    const world = await importWorld({ clock: there });
    await world.write("a.csv", fileOf("A", "B", "C"));
    await world.fault(answersLost);
    await world.import("a.csv", { concurrency: 1, wait: false });
    expect(world.mock.requests()[0]).toMatchObject({ method: "GET", path: "/v1/products?limit=1" });
    await world.fault();
    const before = world.writes().length;
    const again = await world.import("a.csv", { concurrency: 1, wait: false });
    expect(again.stopped).toBeUndefined();
    expect(world.writes().slice(before)).toEqual([replayed, created]);
  });

  test.each([
    ["is sent again under its key", 22, undefined, [replayed, created]],
    ["is not sent again on its own", 24, "unknown_outcome", []],
  ] as const)("%s where only the service's clock went on, by %i hours", async (_, hours, code, expected) => {
    const there = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
    const world = await importWorld({ clock: there });
    await world.write("a.csv", fileOf("A", "B", "C"));
    await world.fault(answersLost);
    await world.import("a.csv", { concurrency: 1, wait: false });
    await world.fault();
    there.advance(hours * hour);
    const before = world.writes().length;
    // Another process, which the service has not told its time yet.
    const client = createClient({
      baseUrl: world.mock.baseUrl,
      apiKey: world.mock.apiKey,
      clock: world.clock,
    });
    const again = await world
      .import("a.csv", { concurrency: 1, wait: false, machine: { client } })
      .catch((error: unknown) => error);
    await client.close();
    expect(again).toMatchObject(code === undefined ? { stopped: undefined } : { code });
    expect(world.writes().slice(before)).toEqual(expected);
  });

  test.each<[string, typeof answersLost | typeof nothingArrives, ImportInput["unknown"], string[], string[]]>(
    [
      ["done", answersLost, "imported", [created], once("A", "B", "C")],
      ["not done", nothingArrives, "not-imported", [created, created], once("A", "B", "C")],
      ["not done", nothingArrives, "resend", [created, created], once("A", "B", "C")],
      ["done", answersLost, "resend", [created, created], ["A Dress 2", "B Dress 2", "C Dress 1"]],
      ["done", answersLost, "not-imported", [created, created], ["A Dress 2", "B Dress 2", "C Dress 1"]],
      // The user was wrong; what does not exist is sent all the same.
      ["not done", nothingArrives, "imported", [created, created], once("A", "B", "C")],
    ],
  )("that was %s (%j) with --unknown %s writes %j", async (_, fault, unknown, expected, left) => {
    const { world, again, products, writes } = await dayLater(fault, { unknown });
    expect(again).toMatchObject({ stopped: undefined });
    expect(writes).toEqual(expected);
    expect(products).toEqual(left);
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ unchanged: 3, submitted: 0 });
  });

  test("taken as imported keeps fields of the file up, as nobody knows what they are", async () => {
    const { world } = await dayLater(answersLost);
    const [product] = (await world.client.products.list({ q: "A" })).data;
    await world.client.products.update({ product_id: product!.id, body: { name: "Another" } });
    const { summary } = await world.import("a.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ submitted: 2, updated: 1, created: 1, unchanged: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test("is asked about where there is somebody to ask", async () => {
    const { world } = await dayLater(answersLost);
    const asked: unknown[] = [];
    const ask = async (question: object) => {
      asked.push(question);
      return "imported" as const;
    };
    await world.import("a.csv", { machine: { ask } });
    expect(asked).toEqual([
      {
        file: expect.stringMatching(/a\.csv$/),
        sentAt: expect.any(Number),
        rows: 2,
        existing: 2,
        resendsOnce: false,
        lost: [],
      },
    ]);
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test.each(["create", "skip_existing"] as const)(
    "may be sent again in mode %s, under a new key",
    async (mode) => {
      const { again, products, writes } = await dayLater(answersLost, { mode });
      expect(again).toMatchObject({ stopped: undefined });
      expect(writes).toEqual([created, created]);
      expect(products).toEqual(once("A", "B", "C"));
    },
  );

  test("whose products are found by their whole reference, whatever a search finds", async () => {
    const world = await worldWith("A", "B");
    await world.write("others.csv", fileOf("AB", "BA", "xA"));
    await world.import("others.csv");
    await world.fault(nothingArrives);
    await world.import("a.csv");
    await world.fault();
    world.clock.advance(25 * hour);
    const again = await world.import("a.csv").catch((error: unknown) => error);
    expect((again as Error).message).toMatch(/none exists$/);
  });

  test("of an import that the service does not know any more is asked about too", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv", { wait: false });
    world.clock.advance(60_000);
    const lost = { match: { method: "GET", path: "/v1/imports/" }, status: 404 };
    await world.fault(lost);
    const again = await world.import("a.csv").catch((error: unknown) => error);
    expect(again).toMatchObject({ code: "unknown_outcome" });
    // Its bytes are gone, so there is nothing to send again.
    const resent = await world.import("a.csv", { unknown: "resend" }).catch((error: unknown) => error);
    expect(resent).toMatchObject({
      code: "unknown_outcome",
      hint: expect.stringMatching(/--unknown imported, or with --unknown not-imported\.$/),
    });
    const { summary } = await world.import("a.csv", { unknown: "imported" });
    expect(summary).toMatchObject({ submitted: 0, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("of a run that sends all photos adds none again where it is taken as imported", async () => {
    const { again, products, writes } = await dayLater(answersLost, { photos: "all", unknown: "imported" });
    expect(again).toMatchObject({ summary: { submitted: 3, updated: 2, created: 1 } });
    expect(writes).toEqual([created]);
    expect(products).toEqual(once("A", "B", "C"));
  });

  test("of such a run is not sent again by it either when another file had it taken as imported", async () => {
    const { world } = await dayLater(answersLost, { photos: "all" });
    await world.write("b.csv", fileOf("A", "B"));
    const other = await world.import("b.csv", { unknown: "imported" });
    expect(other.summary).toMatchObject({ submitted: 0, unchanged: 2 });
    const { summary } = await world.import("a.csv", { photos: "all" });
    expect(summary).toMatchObject({ submitted: 3, updated: 2, created: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });
});

describe("--fresh", () => {
  test("begins anew after the earlier run was brought to its end: nothing is doubled", async () => {
    const world = await worldWith("A", "B", "C");
    await world.fault(answersLost);
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    const { summary } = await world.import("a.csv", { fresh: true, concurrency: 1 });
    expect(summary).toMatchObject({ run_id: "run_2", submitted: 1, created: 1, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test("waits for what was sent and not awaited", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv", { wait: false });
    const { summary } = await world.import("a.csv", { fresh: true });
    expect(summary).toMatchObject({ run_id: "run_2", submitted: 0, unchanged: 3 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
  });

  test("begins at once where nothing was sent, or nothing was begun", async () => {
    const world = await worldWith("A", "B", "C");
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    await world.import("a.csv", { concurrency: 1 });
    await world.fault();
    const first = await world.import("a.csv", { fresh: true });
    expect(first.summary).toMatchObject({ run_id: "run_2", submitted: 3, created: 3 });
    const second = await world.import("a.csv", { fresh: true });
    expect(second.summary).toMatchObject({ run_id: "run_3", submitted: 0, unchanged: 3 });
    expect(second.notes.some((note) => note.startsWith("Resuming"))).toBe(false);
  });

  test("asks about a call of unknown outcome that is too old, like the run itself", async () => {
    const { again, writes } = await dayLater(answersLost, { fresh: true });
    expect(again).toMatchObject({ code: "unknown_outcome" });
    expect(writes).toEqual([]);
    const other = await dayLater(answersLost, { fresh: true, unknown: "imported" });
    expect(other.again).toMatchObject({ summary: { run_id: "run_2", unchanged: 2, created: 1 } });
    expect(other.products).toEqual(once("A", "B", "C"));
  });

  test("of a create finds what the earlier run made, and fails these rows", async () => {
    const world = await worldWith("A", "B", "C");
    await world.fault(answersLost);
    await world.import("a.csv", { concurrency: 1, mode: "create" });
    await world.fault();
    const { summary } = await world.import("a.csv", { fresh: true, mode: "create", concurrency: 1 });
    expect(summary).toMatchObject({ submitted: 3, created: 1, failed: 2 });
    expect(await world.read("failed")).toContain(`A,Dress,${cdn}/A.jpg,reference_already_exists,`);
  });
});
