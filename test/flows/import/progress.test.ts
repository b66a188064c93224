import { describe, expect, test } from "vitest";
import { ImportProgress } from "../../../src/flows/import/follow.ts";
import type { ProgressEvent } from "../../../src/flows/progress-event.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { batchesOf } from "./batch-rows.ts";
import { fileOf, responsesLost, worldWith } from "./import-fixtures.ts";
import { beforeBatch, importWorld } from "./run-import.ts";

batchesOf(2);

/** The last state of each progress bar with a total; each step has its own bar. */
const endsOf = (events: readonly ProgressEvent[]): string[] =>
  events
    .filter(({ total }) => total !== null)
    .filter(({ step }, at, all) => step !== all[at + 1]?.step)
    .map(({ step, done, total }) => `${step}: ${done} of ${total}`);

const ended = (rows: number) => [
  `sending rows: ${rows} of ${rows}`,
  `importing rows: ${rows} of ${rows}`,
  `reading results: ${rows} of ${rows}`,
];

describe("the totals of the progress", () => {
  test("do not count unchanged rows as sent or read", async () => {
    const world = await worldWith("A", "B", "C", "D", "E");
    expect(endsOf((await world.import("a.csv")).events)).toEqual(ended(5));
    await world.write("a.csv", fileOf("A", "B", "C", "D", "E", "F", "G", "H"));
    expect(endsOf((await world.import("a.csv")).events)).toEqual(ended(3));
  });

  longTest("are not shown without changes, except for reading into a results file", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv");
    expect(endsOf((await world.import("a.csv")).events)).toEqual([]);
    expect(endsOf((await world.import("a.csv", { results: "results.ndjson" })).events)).toEqual([
      "reading results: 3 of 3",
    ]);
  });

  test("do not count rows with changed fields only as rows to send", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv");
    await world.write("a.csv", fileOf("A", "B", "C", "D").replace("B,Dress", "B,Skirt"));
    const ends = endsOf((await world.import("a.csv")).events);
    // The import of the new row may end while the other row is changed.
    expect(ends.filter((end) => end !== "importing rows: 1 of 1")).toEqual([
      "sending rows: 1 of 1",
      "updating products: 1 of 1",
      "reading results: 2 of 2",
    ]);
    await world.write("a.csv", fileOf("A", "B", "C", "D"));
    expect(endsOf((await world.import("a.csv")).events)).toEqual([
      "updating products: 1 of 1",
      "reading results: 1 of 1",
    ]);
  });

  test("cover only the sending with --no-wait", async () => {
    const world = await worldWith("A", "B", "C");
    expect(endsOf((await world.import("a.csv", { wait: false })).events)).toEqual(["sending rows: 3 of 3"]);
  });

  test("do not count rows that the check rejected", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("A", "B", "C").replace("B,Dress", "B,"));
    const { events, summary } = await world.import("a.csv", { skipInvalid: true });
    expect(summary).toMatchObject({ invalid: 1, created: 2 });
    expect(endsOf(events)).toEqual(ended(2));
  });

  test.each(sampled(["new", "all"] as const, 1))(
    "start at the rows sent before in a resumed run (--photos %s)",
    async (photos) => {
      const world = await worldWith("A", "B", "C", "D", "E");
      const stop = () => world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
      const first = await world.import("a.csv", { photos, concurrency: 1 }, beforeBatch(2, stop));
      expect(endsOf(first.events)).toEqual([
        "sending rows: 2 of 5",
        "importing rows: 2 of 2",
        "reading results: 2 of 2",
      ]);
      await world.fault();
      const second = await world.import("a.csv", { photos, concurrency: 1 });
      expect(second.events.find(({ step }) => step === "sending rows")).toEqual({
        ...{ step: "sending rows", done: 2, total: 5 },
      });
      expect(endsOf(second.events)).toEqual(ended(5));
    },
  );

  longTest("count batches that are sent again after a lost response as rows to send", async () => {
    const world = await worldWith("A", "B", "C", "D", "E");
    await world.fault(responsesLost);
    const first = await world.import("a.csv", { concurrency: 1 });
    expect(endsOf(first.events)).toEqual(["sending rows: 0 of 5"]);
    await world.fault();
    expect(endsOf((await world.import("a.csv", { concurrency: 1 })).events)).toEqual(ended(5));
  });

  longTest("cover only following the imports and reading results if everything was sent before", async () => {
    const world = await worldWith("A", "B", "C");
    const photos = "all";
    await world.import("a.csv", { photos, wait: false });
    expect(endsOf((await world.import("a.csv", { photos })).events)).toEqual([
      "importing rows: 3 of 3",
      "reading results: 3 of 3",
    ]);
  });

  test("count unsent rows of a stopped run, which are read for the failed file", async () => {
    const world = await worldWith("A", "B", "C", "D", "E");
    const stop = () => world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    const { events } = await world.import(
      "a.csv",
      { concurrency: 1 },
      { piped: true, ...beforeBatch(2, stop) },
    );
    expect(endsOf(events)).toEqual([
      "sending rows: 2 of 5",
      "importing rows: 2 of 2",
      "reading results: 5 of 5",
    ]);
  });
});

test("the progress of an import shows imports in progress as a note while rows are sent or changed, not as a step", () => {
  const events: ProgressEvent[] = [];
  const progress = new ImportProgress((event) => events.push(event));
  progress.begin(3, 2);
  progress.followed("processing", 1);
  progress.accepted(3);
  progress.written();
  progress.writing({ step: "updating products", done: 0, total: 2 });
  progress.followed("processing", 4);
  progress.writing({ step: "updating products", done: 1, total: 2 });
  progress.writing({ step: "updating products", done: 1, total: 1 });
  progress.written();
  progress.followed("processing", 5);
  expect(events).toEqual([
    { step: "sending rows", done: 2, total: 5 },
    { step: "sending rows", done: 2, total: 5, note: "1 imported" },
    { step: "sending rows", done: 5, total: 5, note: "1 imported" },
    { step: "updating products", done: 0, total: 2, note: "1 imported" },
    { step: "updating products", done: 0, total: 2, note: "4 imported" },
    { step: "updating products", done: 1, total: 2, note: "4 imported" },
    { step: "updating products", done: 1, total: 1, note: "4 imported" },
    { step: "importing rows", done: 5, total: 5 },
  ]);
});
