import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { json, refusal } from "../../http/scripted-server.ts";
import { killedAfter } from "../../support/killed-command.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { aroundStatements, diskFull } from "../../support/sqlite-statements.ts";
import { until } from "../../support/until.ts";
import { batchesOf } from "./batch-rows.ts";
import { fileOf, hour, once, responsesLost, worldWith } from "./import-fixtures.ts";
import {
  type By,
  beforeBatch,
  type Imported,
  type ImportFlags,
  type ImportWorld,
  importWorld,
  isBatch,
  onBatch,
} from "./run-import.ts";

batchesOf(2);

type World = ImportWorld;

const five = ["A", "B", "C", "D", "E"];
const keysOf = (world: World) =>
  world.mock
    .requests()
    .filter(({ method, path }) => method === "POST" && path.startsWith("/v1/imports"))
    .map((request) => request.idempotency_key);
const importsOf = (world: World) => Object.values(world.mock.state().organizations.main!.imports);

const whole = {
  ...{ total: 5, submitted: 5, succeeded: 5, created: 5, failed: 0, unchanged: 0, failed_file: null },
  imports: [
    { id: expect.any(String), status: "completed", rows: 2 },
    { id: expect.any(String), status: "completed", rows: 2 },
    { id: expect.any(String), status: "completed", rows: 1 },
  ],
};

describe("the same command again", () => {
  test("creates one import if the response was lost after the work was done, and counts the entire run", async () => {
    const world = await worldWith(...five);
    await world.fault(responsesLost);
    const first = await world.import("a.csv", { concurrency: 1 });
    expect(first.stopped).toMatchObject({ type: "network" });
    expect(first.summary).toMatchObject({
      ...{ submitted: 0, imports: [], failed_file: null },
      unknown: [{ first_line: 2, last_line: 3, rows: 2 }],
    });
    await world.fault();
    const second = await world.import("a.csv", { concurrency: 1 });
    expect(second.stopped).toBeUndefined();
    expect(second.summary).toMatchObject(whole);
    expect(second.summary?.run_id).toBe("run_1");
    expect(second.summary?.unknown).toBeUndefined();
    expect(importsOf(world)).toHaveLength(3);
    expect(new Set(keysOf(world)).size).toBe(3);
    expect((await world.products()).sort()).toEqual(once(...five));
  });

  test.each(sampled([400, 401, 402, 403, 409, 500, 503]))(
    "after a %i, sends the batch with a new key, and no accepted batch again",
    async (status) => {
      const world = await worldWith(...five);
      const meet = () => world.fault({ match: { method: "POST", path: "/v1/imports" }, status });
      const first = await world.import("a.csv", { concurrency: 1 }, beforeBatch(2, meet));
      expect(first.stopped).toMatchObject({ status });
      expect(first.summary).toMatchObject({ submitted: 2, created: 2 });
      await world.fault();
      const keys = new Set(keysOf(world));
      const second = await world.import("a.csv", { concurrency: 1 });
      expect(second.summary).toMatchObject(whole);
      expect((await world.products()).sort()).toEqual(once(...five));
      const fresh = new Set(keysOf(world).filter((one) => !keys.has(one)));
      expect(fresh.size).toBe(2);
      expect(importsOf(world)).toHaveLength(3);
    },
  );

  longTest(
    "sends rows with a new key at once after a rejection that the service stored under the old one",
    async () => {
      const world = await worldWith(...five);
      // The first response is lost, and the service repeats the stored rejection.
      await world.fault({ match: { method: "POST", path: "/v1/imports" }, drop: "before", times: 1 });
      await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402, times: 1 });
      const first = await world.import("a.csv", { concurrency: 1 });
      expect(first.summary).toMatchObject({ submitted: 0, unknown: [{ rows: 2 }] });
      const [key] = keysOf(world);
      const second = await world.import("a.csv", { concurrency: 1 });
      expect(second.summary).toMatchObject(whole);
      expect(keysOf(world).at(-3)).not.toBe(key);
    },
  );

  longTest(
    "still reports batches with an unknown outcome if it stops before sending them again",
    async () => {
      const world = await worldWith(...five, "F", "G");
      let sent = 0;
      const judge: By["judge"] = async (request) => {
        // The first one shows the rate limit, and the others go out together.
        if (!isBatch(request) || ++sent === 1) return null;
        await until(() => sent >= 3);
        return { lost: true };
      };
      await world.import("a.csv", { concurrency: 2 }, { piped: true, judge });
      await world.fault({ match: { method: "POST", path: "/v1/imports" }, drop: "before" });
      const { summary } = await world.import("a.csv", { concurrency: 1 }, { piped: true });
      expect(summary?.unknown).toEqual([
        { first_line: 4, last_line: 5, rows: 2 },
        { first_line: 6, last_line: 7, rows: 2 },
      ]);
      expect((await world.failed()).match(/^[A-Z],/gm)).toEqual(["G,"]);
    },
  );

  test("asks again after the body of a batch was rejected, even if the failed file has all remaining rows", async () => {
    const world = await worldWith(...five);
    const errors = [{ line: 1, code: "invalid_row", message: "no such thing" }];
    const first = await world.import(
      "a.csv",
      { concurrency: 1 },
      onBatch(2, () => json(400, { errors })),
    );
    expect(first.summary).toMatchObject({
      submitted: 2,
      refused: [{ first_line: 4, last_line: 5, rows: 2 }],
    });
    expect((await world.failed()).match(/^[A-Z],/gm)).toEqual(["C,", "D,", "E,"]);
    expect(await world.failed()).toContain("E,Dress,https://cdn.example.com/E.jpg,not_sent,");
    const second = await world.import("a.csv");
    expect(second.summary).toMatchObject(whole);
    expect((await world.products()).sort()).toEqual(once(...five));
  });

  longTest(
    "is not needed after the body of a batch was rejected: the failed file has all remaining rows",
    async () => {
      const world = await worldWith(...five);
      await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 400, times: 1 });
      const first = await world.import("a.csv", { concurrency: 1 });
      expect(first.summary).toMatchObject({ submitted: 0, failed_file: "a.failed.csv" });
      await world.write("mended.csv", await world.failed());
      expect((await world.import("mended.csv")).summary).toMatchObject({ submitted: 5, created: 5 });
      expect((await world.products()).sort()).toEqual(once(...five));
    },
  );

  longTest(
    "is not needed if another batch was rejected for another reason: its rows are in the failed file, too",
    async () => {
      const world = await worldWith(...five);
      const statuses = [422, 402];
      let sent = 0;
      const judge: By["judge"] = async (request) => {
        // The first one shows the rate limit, and the others go out together.
        if (!isBatch(request) || ++sent === 1) return null;
        const status = statuses.shift()!;
        await until(() => statuses.length === 0);
        return refusal(status, "refused");
      };
      const first = await world.import("a.csv", { concurrency: 2 }, { judge });
      expect(first.summary).toMatchObject({ submitted: 2, failed_file: "a.failed.csv" });
      expect(first.summary?.refused).toHaveLength(2);
      await world.write("mended.csv", await world.failed());
      expect((await world.import("mended.csv")).summary).toMatchObject({ submitted: 3, created: 3 });
      expect((await world.products()).sort()).toEqual(once(...five));
    },
  );

  longTest(
    "starts over if the file has changed, and reports that with any error that stopped the run",
    async () => {
      const world = await worldWith(...five);
      const text = fileOf(...five);
      const refuse = async () => {
        await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
        await world.write("a.csv", `${text}F,Dress,https://cdn.example.com/F.jpg\n`);
      };
      const first = await world.import("a.csv", { concurrency: 1 }, beforeBatch(2, refuse));
      expect(first.stopped).toMatchObject({ status: 402 });
      // Rewritten with the same bytes, it is the same file.
      await world.write("a.csv", text);
      const again = () => world.write("a.csv", text);
      const second = await world.import("a.csv", { concurrency: 1 }, beforeBatch(1, again));
      expect(second.stopped).toMatchObject({ status: 402 });
      await world.fault();
      expect((await world.import("a.csv")).summary).toMatchObject({ ...whole, run_id: "run_1" });
    },
  );

  test("follows the sent batches after --no-wait, and sends nothing", async () => {
    const world = await worldWith(...five);
    await world.import("a.csv", { wait: false });
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject(whole);
    expect(world.writes()).toHaveLength(3);
    expect((await world.products()).sort()).toEqual(once(...five));
  });

  describe.each(
    sampled([
      ["--no-wait", { wait: false }, undefined],
      ["--timeout", { timeout: "1ms" }, undefined],
      ["a results file that could not be written", { results: "out/r.ndjson" }, undefined],
      ["a batch that was rejected for missing credits", { concurrency: 1 }, 402],
    ] as const),
  )("after %s, if another file has changed its products", (_, flags, status) => {
    const later = [
      { wait: true, photos: "new" },
      { wait: false, photos: "all" },
      { wait: false, photos: "new" },
      { wait: true, photos: "all" },
    ] as const;
    test.each(sampled(later, 1))(
      "compares the rows again ($photos, wait $wait)",
      async ({ wait, photos }) => {
        const world = await worldWith(...five);
        await world.write("b.csv", fileOf("A", "B").replaceAll("Dress", "Coat"));
        world.clock.isIdle = () => !("timeout" in flags) || world.writes().length === 3;
        const out = join(world.folder, "out");
        await mkdir(out);
        const meanwhile = async () => {
          await rm(out, { recursive: true });
          if (status !== undefined) await world.fault({ match: { path: "/v1/imports" }, status });
        };
        await world.import("a.csv", flags, beforeBatch(2, meanwhile));
        await world.fault();
        world.clock.isIdle = () => true;
        world.clock.advance(60_000);
        await world.import("b.csv", { wait, photos });
        world.clock.advance(60_000);
        const before = (await world.products()).filter((product) => product.startsWith("A "));
        expect(before).toEqual([`A Coat ${photos === "all" ? 2 : 1}`]);
        const lines = await world.lines("a.csv");
        expect(lines[0]).toMatch(
          / did not finish, and another import has run since\. Comparing its rows again\.$/,
        );
        // What the other file has written is kept: these rows were not edited.
        expect(lines[1]).toMatch(
          status === undefined
            ? /^Nothing to do: all 5 rows of a\.csv are not edited\.$/
            : /^Imported 5 rows from a\.csv in .*: 3 created, 2 kept\.$/,
        );
        const after = (await world.products()).sort();
        const count = photos === "all" ? 2 : 1;
        expect(after).toEqual([`A Coat ${count}`, `B Coat ${count}`, ...once("C", "D", "E")]);
      },
    );
  });

  longTest("resumes after another file that changed nothing", async () => {
    const world = await worldWith(...five);
    await world.write("b.csv", fileOf("A", "B"));
    await world.import("a.csv", { wait: false });
    world.clock.advance(60_000);
    expect((await world.import("b.csv")).summary).toMatchObject({ unchanged: 2, submitted: 0 });
    expect((await world.import("a.csv")).summary).toMatchObject({ ...whole, run_id: "run_1" });
  });

  longTest("after two runs with --no-wait, compares the rows again once the imports have ended", async () => {
    const world = await worldWith(...five);
    const first = await world.import("a.csv", { wait: false });
    const second = await world.import("a.csv", { wait: false });
    expect(second.summary).toMatchObject({ run_id: first.summary!.run_id, imports: first.summary!.imports });
    world.clock.advance(60_000);
    await world.client.products.delete({ product_id: world.productOf("D").id });
    const third = await world.lines("a.csv", { wait: false });
    expect(third).toEqual([
      expect.stringMatching(/ has finished at the service\. Comparing its rows again\.$/),
      "Nothing to do: all 5 rows of a.csv are not edited.",
      "  1 product was deleted at the service since (D); to create it again, add --exact",
    ]);
    expect(await world.products()).toHaveLength(4);
    const fourth = await world.import("a.csv", { wait: false });
    expect(fourth.summary).toMatchObject({ submitted: 0, unchanged: 4, deleted: 1, imports: [] });
    // A run that waits reports the results of the run with --no-wait.
    await world.write("b.csv", fileOf("F"));
    const { runId } = await world.import("b.csv", { wait: false });
    world.clock.advance(60_000);
    expect(await world.import("b.csv")).toMatchObject({ runId, summary: { created: 1, succeeded: 1 } });
  });

  longTest("finishes the run after --timeout", async () => {
    const world = await worldWith(...five);
    world.clock.isIdle = () => world.writes().length === 3;
    const first = await world.import("a.csv", { timeout: "500ms" });
    expect(first.stopped).toMatchObject({ type: "timeout", code: "wait_timeout" });
    expect(first.summary).toMatchObject({ submitted: 5, succeeded: 0 });
    const second = await world.import("a.csv");
    expect(second.summary).toMatchObject(whole);
    expect(world.writes()).toHaveLength(3);
  });

  longTest("starts a new run after the end, which finds every row unchanged", async () => {
    const world = await worldWith(...five);
    await world.import("a.csv");
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ run_id: "run_2", submitted: 0, unchanged: 5, imports: [] });
    expect(world.writes()).toHaveLength(3);
  });

  test("does not resume a run with other options or another file", async () => {
    const world = await worldWith("A");
    await world.import("a.csv", { wait: false });
    const { summary } = await world.import("a.csv", { wait: false, onImageError: "fail_row" });
    expect(summary).toMatchObject({ run_id: "run_2", unchanged: 1 });
    await world.write("a.csv", fileOf("A", "B"));
    const third = await world.import("a.csv", { wait: false });
    expect(third.summary).toMatchObject({ run_id: "run_3", submitted: 1, unchanged: 1 });
  });
});

longTest(
  "a resumed import does not restore deleted products in the ledger from results that were read before",
  async () => {
    const world = await worldWith("C");
    await world.import("a.csv");
    await world.write("b.csv", fileOf("A", "B", "C").replace("/C.jpg", "/C2.jpg"));
    const refused = { match: { method: "POST", path: "/v1/imports" }, status: 402 };
    const first = await world.import(
      "b.csv",
      { concurrency: 1 },
      beforeBatch(2, () => world.fault(refused)),
    );
    expect(first.summary).toMatchObject({ submitted: 2, created: 2 });
    await world.fault();
    const a = (await world.client.products.list({ q: "A" })).data.find(({ reference }) => reference === "A");
    await world.client.products.delete({ product_id: a!.id });
    world.clock.advance(hour);
    expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 3, updated: 1 });
    world.clock.advance(hour);
    expect((await world.import("b.csv")).summary).toMatchObject({ submitted: 0, unchanged: 2, deleted: 1 });
  },
);

test("a resumed import writes the files again if they could not be written, and sends nothing twice", async () => {
  const world = await worldWith("A", "B");
  const out = join(world.folder, "out");
  await mkdir(out);
  const flags = { photos: "all", results: "out/r.ndjson" };
  const first = await world.import(
    "a.csv",
    flags,
    beforeBatch(1, () => rm(out, { recursive: true })),
  );
  expect(first.stopped).toMatchObject({ type: "output" });
  expect(first.summary).toMatchObject({ created: 2, results_file: null });
  await mkdir(out);
  const second = await world.import("a.csv", flags);
  expect(second.summary).toMatchObject({
    ...{ run_id: first.summary!.run_id, created: 2, updated: 0, results_file: "out/r.ndjson" },
  });
  expect((await world.products()).sort()).toEqual(once("A", "B"));
  // After everything is reported the run has ended; the next command starts a new one.
  expect((await world.import("a.csv", { photos: "all" })).summary).toMatchObject({ updated: 2 });
});

describe("a piped row that was not sent", () => {
  test("is not counted as accepted, even if the disk is full", async () => {
    const world = await worldWith("A", "B");
    let isFull = true;
    aroundStatements({
      before(sql) {
        if (isFull && sql.startsWith("UPDATE batch SET state = 'accepted'")) throw diskFull();
      },
    });
    const { summary, stopped } = await world.import("a.csv", {}, { piped: true });
    expect(stopped).toMatchObject({ code: "state_full" });
    expect(summary).toMatchObject({ submitted: 2, failed_file: null, imports: [{ rows: 2 }] });
    isFull = false;
    const again = await world.import("a.csv", {}, { piped: true });
    expect(again.summary).toMatchObject({ submitted: 2, created: 2 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test("is in the failed file at any place, without unchanged rows", async () => {
    const world = await worldWith("A", "C", "E", "G");
    await world.import("a.csv");
    // A and G are unchanged, C has another name, B, D and F are new.
    const text = fileOf("A", "B", "C", "D", "E", "F", "G").replace("C,Dress", "C,Coat");
    await world.write("b.csv", text);
    const refused = { match: { method: "POST", path: "/v1/imports" }, status: 402 };
    const ran = await world.import(
      "b.csv",
      { concurrency: 1 },
      { piped: true, ...beforeBatch(2, () => world.fault(refused)) },
    );
    expect(ran.summary).toMatchObject({ submitted: 2, created: 2, unchanged: 3 });
    const failed = (await world.failed()).trim().split("\n").slice(1);
    expect(failed.map((line) => [line.split(",")[0], line.split(",")[3]])).toEqual([
      ["C", "not_sent"],
      ["F", "insufficient_credits"],
    ]);
    await world.fault();
    expect((await world.import("stdin.failed.csv")).summary).toMatchObject({
      submitted: 2,
      created: 1,
      updated: 1,
    });
  });
});

describe("a process that is killed", () => {
  /** Kills a run at its n-th step, for every n, each with its own products, and runs it again. */
  async function killedAtEveryStep(
    flags: ImportFlags,
    through: By = {},
    isEnough: (wrong: readonly string[]) => boolean = () => false,
    firstStep = 0,
    stride = repetitions(149, 1),
  ) {
    const world = await importWorld();
    const wrong: string[] = [];
    for (let steps = firstStep; ; steps += stride) {
      // Earlier imports are too old to be in the changes.
      world.clock.advance(10 * 60_000);
      const references = [`${steps}-A`, `${steps}-B`, `${steps}-C`];
      const name = `${steps}.csv`;
      await world.write(name, fileOf(...references));
      const life = killedAfter(steps, world.clock);
      await world.import(name, flags, { judge: life.judge });
      life.end();
      const { summary } = await world.import(name, flags, through);
      const found = (await world.products()).filter((product) => product.startsWith(`${steps}-`));
      const isRight =
        JSON.stringify([...found].sort()) === JSON.stringify(once(...references)) &&
        (!life.isOver || JSON.stringify([summary?.submitted, summary?.unchanged]) !== "[0,0]");
      if (!isRight) wrong.push(`${steps}: ${found.join(", ")} ${JSON.stringify(summary)}`);
      if (!life.isOver || isEnough(wrong)) return { steps, wrong };
    }
  }

  test.each<[string, ImportFlags]>(
    sampled<[string, ImportFlags]>(
      [
        ["an upsert", {}],
        ["a create", { mode: "create" }],
      ],
      1,
    ),
  )("at any step of %s loses and duplicates nothing when it runs again", async (_, flags) => {
    const { steps, wrong } = await killedAtEveryStep({ ...flags, concurrency: 2 });
    expect(wrong).toEqual([]);
    expect(steps).toBeGreaterThan(40);
  });

  longTest("would duplicate photos if resent batches had a new key", async () => {
    let keys = 0;
    const isDoubled = (wrong: readonly string[]) => wrong.some((one) => one.includes("Dress 2"));
    const { wrong } = await killedAtEveryStep(
      { concurrency: 2 },
      { judge: (request) => (isBatch(request) ? { key: `other-${++keys}` } : null) },
      isDoubled,
      // Runs killed before this step duplicate no photo.
      170,
      3,
    );
    expect(isDoubled(wrong)).toBe(true);
  });
});

describe("two processes", () => {
  test("cannot work on the same run: the second one reports the first", async () => {
    const world = await worldWith(...five);
    let second: Imported | undefined;
    const first = await world.import(
      "a.csv",
      {},
      beforeBatch(1, async () => {
        second = await world.import("a.csv");
      }),
    );
    expect(second!.stopped).toMatchObject({
      ...{ type: "conflict", code: "run_alive" },
      message: expect.stringMatching(
        /^process 4711 has been working on a\.csv since 2026-01-05T09:00:\d\dZ\./,
      ),
    });
    expect(first.summary).toMatchObject(whole);
    const third = await world.import("a.csv");
    expect(third.summary).toMatchObject({ unchanged: 5 });
    expect(world.writes()).toHaveLength(3);
  });
});
