import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Judge as AnyJudge, Refusal } from "../../support/gateway.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { importWorld } from "./run-import.ts";

const row = (n: number, name = "Dress") => `R-${n},${name},https://cdn.example.com/${n}.jpg\n`;
const sheet = (rows: readonly string[]) => `reference,name,images\n${rows.join("")}`;
const dresses = (count: number) => sheet(Array.from({ length: count }, (_, at) => row(at)));

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

type Judge = (bytes: number, attempt: number) => Refusal | null;

/** An import through a gateway that judges each POST /v1/imports. */
async function behind(decide: Judge) {
  const world = await importWorld();
  const posts = () => world.requestsTo("/v1/imports");
  const judge: AnyJudge = ({ path, bytes }) =>
    path === "/v1/imports" ? decide(bytes, posts().length) : null;
  const products = async () => (await world.products()).toSorted();
  return { ...world, products, by: { judge }, posts };
}

const over =
  (limit: number): Judge =>
  (bytes) =>
    bytes > limit ? { status: 413 } : null;

const oneEach = (count: number) => Array.from({ length: count }, (_, at) => `R-${at} Dress 1`).toSorted();

describe("a batch that a gateway rejects as too large", () => {
  test("is sent in halves with new keys, each body once", async () => {
    const { write, import: run, by, posts, products } = await behind(over(400));
    await write("a.csv", dresses(16));
    const { summary, stopped } = await run("a.csv", { concurrency: 1 }, by);
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ submitted: 16, succeeded: 16, created: 16, failed: 0 });
    expect(await products()).toEqual(oneEach(16));
    // After each 413 the service says that it has not had the key.
    expect(posts().map(({ status }) => status)).toEqual([413, 400, 413, 400, 202, 202, 413, 400, 202, 202]);
    const bodies = posts().filter(({ status }) => status !== 400);
    expect(new Set(bodies.map(({ key }) => key)).size).toBe(bodies.length);
  });

  longTest("makes the next batches smaller, so that they are not sent in vain", async () => {
    const { write, import: run, by, posts } = await behind(over(400));
    await write("a.csv", dresses(64));
    const { summary } = await run("a.csv", { concurrency: 1, batch: 16 }, by);
    expect(summary).toMatchObject({ succeeded: 64 });
    expect(posts().filter(({ status }) => status === 413)).toHaveLength(3);
  });

  test("fails a row that is too large alone, with its line and code, and imports the others", async () => {
    const { write, import: run, by, products, failed } = await behind(over(250));
    const long = "D".repeat(190);
    await write("a.csv", sheet([row(0), row(1, `${long}${long}`.slice(0, 200)), row(2), row(3)]));
    const { summary, stopped } = await run("a.csv", {}, by);
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ total: 4, submitted: 4, succeeded: 3, failed: 1 });
    expect((await failed()).split("\n").slice(1)).toEqual([
      expect.stringMatching(/^R-1,D+,\S+,body_too_large,.*rejects the row as too large \(status 413\)/),
      "",
    ]);
    expect(await products()).toEqual(["R-0 Dress 1", "R-2 Dress 1", "R-3 Dress 1"]);
  });

  test("stays as it is if an attempt before may have been carried out: nothing is imported twice", async () => {
    const {
      write,
      import: run,
      by,
      posts,
      products,
    } = await behind((bytes, attempt) => (attempt === 1 ? { lost: true } : over(400)(bytes, attempt)));
    await write("a.csv", dresses(16));
    const { summary, stopped } = await run("a.csv", {}, by);
    expect(stopped).toMatchObject({ status: 413, message: expect.stringContaining("client_max_body_size") });
    expect(summary).toMatchObject({ submitted: 0, unknown: [{ rows: 16 }] });
    expect(posts().map(({ status }) => status)).toEqual([null, 413, 422]);
    // The gateway was set right: the response under the same key comes again.
    const again = await run("a.csv");
    expect(again.summary).toMatchObject({ succeeded: 16, failed: 0 });
    expect(await products()).toEqual(oneEach(16));
  });

  test("is not sent again with another key if the gateway has passed it on: nothing is imported twice", async () => {
    const {
      write,
      import: run,
      by,
      posts,
      products,
    } = await behind((bytes) => (bytes > 400 ? { status: 413, lost: true } : null));
    await write("a.csv", dresses(16));
    const { summary } = await run("a.csv", {}, by);
    expect(summary).toMatchObject({ submitted: 0, unknown: [{ rows: 16 }] });
    expect(posts().map(({ status }) => status)).toEqual([413, 422]);
    expect((await run("a.csv")).summary).toMatchObject({ succeeded: 16, failed: 0 });
    expect(await products()).toEqual(oneEach(16));
  });

  longTest("of a killed run is cut again once the service says that it has not got it", async () => {
    let isKilled = false;
    const world = await behind((bytes, attempt) => {
      if (attempt > 1 || isKilled) return over(400)(bytes, attempt);
      isKilled = true;
      world.interrupt();
      // Nothing comes back for longer than an interrupt waits.
      return { status: 503 };
    });
    await world.write("a.csv", dresses(16));
    const { by } = world;
    await world.import("a.csv", {}, by);
    const second = await world.import("a.csv", {}, by);
    const { summary } = second.stopped === undefined ? second : await world.import("a.csv", {}, by);
    expect(summary).toMatchObject({ total: 16, succeeded: 16, failed: 0 });
    expect(await world.products()).toEqual(oneEach(16));
  });

  longTest("is imported by the next run if one was stopped after its question", async () => {
    const world = await behind((_, attempt) => {
      // The service hears the question, but its response is lost.
      if (attempt > 1) world.interrupt();
      return attempt === 1 ? { status: 413 } : { lost: true };
    });
    await world.write("a.csv", dresses(3));
    const { summary } = await world.import("a.csv", {}, world.by);
    expect(summary).toMatchObject({ unknown: [{ rows: 3 }] });
    expect((await world.import("a.csv")).summary).toMatchObject({ succeeded: 3, failed: 0 });
    expect(await world.products()).toEqual(oneEach(3));
  });

  test("is cut again by a run that was stopped between the halves", async () => {
    const world = await behind((bytes, attempt) => {
      if (attempt === 3) world.interrupt();
      return over(400)(bytes, attempt);
    });
    await world.write("a.csv", dresses(16));
    const { by } = world;
    const first = await world.import("a.csv", { concurrency: 1 }, by);
    expect(first.stopped).toMatchObject({ type: "interrupted" });
    const { summary } = await world.import("a.csv", { concurrency: 1, batch: 3 }, by);
    expect(summary).toMatchObject({ total: 16, failed: 0 });
    expect(await world.products()).toEqual(oneEach(16));
  });

  test("never doubles nor loses a row, whatever the limit, losses and stops", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 150, max: 900 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.constantFrom("lost", "403", "413", "stop", "pass"), { maxLength: 4 }),
        async (rows, limit, batch, troubles) => {
          const world = await behind((bytes, attempt) => {
            const trouble = troubles[attempt - 1];
            if (trouble === "lost") return { lost: true };
            if (trouble === "413") return { status: 413, lost: true };
            if (trouble === "403") return { status: 403 };
            if (trouble === "stop") world.interrupt();
            return over(limit)(bytes, attempt);
          });
          await world.write("a.csv", dresses(rows));
          for (let tries = 0; tries < 6; tries++) {
            // Later the gateway takes every body.
            const { stopped } = await world.import("a.csv", { batch }, tries < 4 ? world.by : {});
            if (stopped === undefined) break;
          }
          expect(await world.products()).toEqual(oneEach(rows));
        },
      ),
      { numRuns: repetitions(2, 60) },
    );
  });
});

test("--batch limits the rows of a request, and a stopped run resumes with another number", async () => {
  const world = await behind((_, attempt) => {
    if (attempt === 2) world.interrupt();
    return null;
  });
  await world.write("a.csv", dresses(10));
  const { by } = world;
  await world.import("a.csv", { batch: 2, concurrency: 1 }, by);
  const before = world.posts().length;
  const { summary } = await world.import("a.csv", { batch: 5, concurrency: 1 }, by);
  expect(summary?.imports.map(({ rows }) => rows)).toEqual([2, 2, 5, 1]);
  expect(world.posts().length - before).toBe(2);
  expect(await world.products()).toEqual(oneEach(10));
});

test("a photo that a gateway rejects as too large fails alone, after one attempt", async () => {
  const world = await importWorld();
  const { folder } = world;
  const judge: AnyJudge = ({ path, bytes }) =>
    path === "/v1/images" && bytes > 1_000 ? { status: 413 } : null;
  await writeFile(join(folder, "small.png"), png);
  await writeFile(join(folder, "large.png"), Buffer.concat([png, Buffer.alloc(2_000)]));
  await world.write("a.csv", "reference,name,images\nA,Dress,large.png\nB,Shirt,small.png\n");
  const { summary, stopped } = await world.import("a.csv", {}, { judge });
  expect(stopped).toBeUndefined();
  expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
  expect((await world.failed()).split("\n").slice(1)).toEqual([
    expect.stringMatching(
      /^A,.*a gateway in front of the service rejects the photo as too large \(status 413\)/,
    ),
    "",
  ]);
  const uploads = world.requestsTo("/v1/images").map(({ status }) => status);
  expect(uploads.toSorted()).toEqual([201, 413]);
});
