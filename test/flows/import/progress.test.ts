import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ChangingProgress } from "../../../src/flows/import/fields/changing-progress.ts";
import { ImportProgress } from "../../../src/flows/import/run/progress.ts";
import type { ProgressEvent } from "../../../src/flows/progress-event.ts";
import { importWorld } from "./run-import.ts";
import { answersLost, beforeCall, fileOf, worldWith } from "./small-world.ts";

// Two rows a call, so that few rows are many calls.
vi.mock("../../../src/contract/limits.ts", async (original) => {
  const { limits } = await original<typeof import("../../../src/contract/limits.ts")>();
  return { limits: { ...limits, importRows: { min: 1, max: 2 } } };
});

/** What each bar of a known length said last: a new one begins with each change of the step. */
const endsOf = (events: readonly ProgressEvent[]): string[] =>
  events
    .filter(({ total }) => total !== null)
    .filter(({ step }, at, all) => step !== all[at + 1]?.step)
    .map(({ step, done, total }) => `${step}: ${done} of ${total}`);

const ended = (rows: number) => [
  `sending: ${rows} of ${rows}`,
  `processing: ${rows} of ${rows}`,
  `reading results: ${rows} of ${rows}`,
];

describe("each step of an import ends at its total:", () => {
  test("rows that are unchanged are neither sent nor read", async () => {
    const world = await worldWith("A", "B", "C", "D", "E");
    expect(endsOf((await world.import("a.csv")).events)).toEqual(ended(5));
    await world.write("a.csv", fileOf("A", "B", "C", "D", "E", "F", "G", "H"));
    expect(endsOf((await world.import("a.csv")).events)).toEqual(ended(3));
  });

  test("with nothing to do no step has a total, but the reading where a results file tells of all rows", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv");
    expect(endsOf((await world.import("a.csv")).events)).toEqual([]);
    const resultsFile = { path: join(world.folder, "results"), name: "results", overwrite: false };
    expect(endsOf((await world.import("a.csv", { resultsFile })).events)).toEqual([
      "reading results: 3 of 3",
    ]);
  });

  test("fields that are changed alone are no rows to send", async () => {
    const world = await worldWith("A", "B", "C");
    await world.import("a.csv");
    await world.write("a.csv", fileOf("A", "B", "C", "D").replace("B,Dress", "B,Skirt"));
    const ends = endsOf((await world.import("a.csv")).events);
    // The import of the one that is sent may end while the other one is changed.
    expect(ends.filter((end) => end !== "processing: 1 of 1")).toEqual([
      "sending: 1 of 1",
      "updating fields: 1 of 1",
      "reading results: 2 of 2",
    ]);
    await world.write("a.csv", fileOf("A", "B", "C", "D"));
    expect(endsOf((await world.import("a.csv")).events)).toEqual([
      "updating fields: 1 of 1",
      "reading results: 1 of 1",
    ]);
  });

  test("without waiting only the sending is told", async () => {
    const world = await worldWith("A", "B", "C");
    expect(endsOf((await world.import("a.csv", { wait: false })).events)).toEqual(["sending: 3 of 3"]);
  });

  test("without those that the check refused", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf("A", "B", "C").replace("B,Dress", "B,"));
    const { events, summary } = await world.import("a.csv", { skipInvalid: true });
    expect(summary).toMatchObject({ invalid: 1, created: 2 });
    expect(endsOf(events)).toEqual(ended(2));
  });

  test.each(["new", "all"] as const)(
    "a run that is gone on with begins at what was sent before (--photos %s)",
    async (photos) => {
      const world = await worldWith("A", "B", "C", "D", "E");
      const stop = () => world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
      const first = await world.import("a.csv", { photos, concurrency: 1 }, beforeCall(2, stop));
      expect(endsOf(first.events)).toEqual([
        "sending: 2 of 5",
        "processing: 2 of 2",
        "reading results: 2 of 2",
      ]);
      await world.fault();
      const second = await world.import("a.csv", { photos, concurrency: 1 });
      expect(second.events.find(({ step }) => step === "sending")).toEqual({
        ...{ step: "sending", done: 2, total: 5 },
      });
      expect(endsOf(second.events)).toEqual(ended(5));
    },
  );

  test("calls whose answers were lost are sent again, and are among the rows to send", async () => {
    const world = await worldWith("A", "B", "C", "D", "E");
    await world.fault(answersLost);
    const first = await world.import("a.csv", { concurrency: 1 });
    expect(endsOf(first.events)).toEqual(["sending: 0 of 5"]);
    await world.fault();
    expect(endsOf((await world.import("a.csv", { concurrency: 1 })).events)).toEqual(ended(5));
  });

  test("what was all sent before is followed and read, and nothing is sent", async () => {
    const world = await worldWith("A", "B", "C");
    const photos = "all";
    await world.import("a.csv", { photos, wait: false });
    expect(endsOf((await world.import("a.csv", { photos })).events)).toEqual([
      "processing: 3 of 3",
      "reading results: 3 of 3",
    ]);
  });

  test("rows that a stopped run did not come to are read for the failed file", async () => {
    const world = await worldWith("A", "B", "C", "D", "E");
    const stop = () => world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    const { events } = await world.import("a.csv", { piped: true, concurrency: 1 }, beforeCall(2, stop));
    expect(endsOf(events)).toEqual(["sending: 2 of 5", "processing: 2 of 2", "reading results: 5 of 5"]);
  });
});

test("jobs that go on while rows are sent or changed are a note beside that, not a step between", () => {
  const events: ProgressEvent[] = [];
  const progress = new ImportProgress((event) => events.push(event));
  progress.begin(3, 2);
  progress.followed("processing", 1);
  progress.accepted(3);
  progress.written();
  const changing = new ChangingProgress(2, progress.writing);
  changing.begin();
  progress.followed("processing", 4);
  changing.changed();
  changing.unneeded();
  progress.written();
  progress.followed("processing", 5);
  expect(events).toEqual([
    { step: "sending", done: 2, total: 5 },
    { step: "sending", done: 2, total: 5, note: "1 imported" },
    { step: "sending", done: 5, total: 5, note: "1 imported" },
    { step: "updating fields", done: 0, total: 2, note: "1 imported" },
    { step: "updating fields", done: 0, total: 2, note: "4 imported" },
    { step: "updating fields", done: 1, total: 2, note: "4 imported" },
    { step: "updating fields", done: 1, total: 1, note: "4 imported" },
    { step: "processing", done: 5, total: 5 },
  ]);
});

test("changes of which none turns out to be needed are no step", () => {
  const events: ProgressEvent[] = [];
  const changing = new ChangingProgress(3, (event) => events.push(event));
  changing.unneeded();
  expect(events).toEqual([]);
  changing.changed();
  changing.changed();
  expect(events.at(-1)).toEqual({ step: "updating fields", done: 2, total: 2 });
});
