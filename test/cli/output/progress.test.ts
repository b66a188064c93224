import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Context } from "../../../src/cli/context/context.ts";
import { InterruptError } from "../../../src/cli/context/errors.ts";
import { createProgress } from "../../../src/cli/output/progress.ts";
import { barLine } from "../../../src/cli/output/progress-bar.ts";
import { leftText, PaceMeter, rateText } from "../../../src/cli/output/progress-view.ts";
import { MovableClock } from "../../../src/clock.ts";
import { visible } from "../../../src/text.ts";
import { FakeOutput } from "../../support/fake-output.ts";
import { screenOf } from "../../support/screen.ts";

const plain = (text: string) => text;
const paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
let clock: MovableClock;
let interrupt: AbortController;

beforeEach(() => {
  clock = new MovableClock({ frozenAt: 0 });
  interrupt = new AbortController();
});

async function view(stderr: FakeOutput, silent = false) {
  const context = { clock, stderr, env: {}, interrupt: interrupt.signal } as unknown as Context;
  return createProgress({ context, silent, isJson: false, paint, visible });
}

describe("progress without a terminal", () => {
  test("prints a line every ten seconds, with the count, the rate and the time left", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr);
    progress.update({ step: "processing", done: 0, total: 2000 });
    clock.advance(9_999);
    expect(stderr.text).toBe("");
    progress.update({ step: "processing", done: 1200, total: 2000, note: "3 failed" });
    clock.advance(1);
    expect(stderr.text).toBe("processing: 1,200 of 2,000, 3 failed, 120/s, 7 s left\n");
    clock.advance(10_000);
    expect(stderr.text.split("\n")).toHaveLength(3);
    progress.end();
    clock.advance(60_000);
    expect(stderr.text.split("\n")).toHaveLength(3);
  });

  test("shows bytes in megabytes, with their rate", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr);
    const event = { step: "uploading photos", total: 1_296_040_000, unit: "bytes" } as const;
    progress.update({ ...event, done: 0, note: "0 of 1,240 photos" });
    clock.advance(9_999);
    progress.update({ ...event, done: 12_400_000, note: "12 of 1,240 photos" });
    clock.advance(1);
    expect(stderr.text).toBe(
      "uploading photos: 12.4 MB / 1,296.0 MB, 12 of 1,240 photos, 1.2 MB/s, 17 min 16 s left\n",
    );
    progress.end();
  });

  test("says that a total is estimated", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr);
    const event = { step: "downloading", total: 96_000_000, isEstimate: true, unit: "bytes" } as const;
    progress.update({ ...event, done: 0 });
    clock.advance(10_000);
    progress.end();
    expect(stderr.text).toBe("downloading: 0 B / about 96.0 MB\n");
  });

  test("shows at least the time that the rate limit needs, and counts it down", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr);
    const event = { step: "uploading photos", total: 3_000_000, unit: "bytes" } as const;
    progress.update({ ...event, done: 0, leastMsLeft: 120_000 });
    clock.advance(5_000);
    progress.update({ ...event, done: 1_200_000, leastMsLeft: 115_000 });
    clock.advance(55_000);
    progress.end();
    expect(stderr.text.split("\n").map((line) => line.split(", ").slice(1).join(", "))).toEqual([
      "120.0 kB/s, 1 min 50 s left",
      "60.0 kB/s, 1 min 40 s left",
      "40.0 kB/s, 1 min 30 s left",
      "30.0 kB/s, 1 min 20 s left",
      "24.0 kB/s, 1 min 10 s left",
      "20.0 kB/s, 1 min 0 s left",
      "",
    ]);
  });

  test("shows no time left for a step at its total, however long the next step takes", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr);
    progress.update({ step: "sending", done: 0, total: 5000 });
    clock.advance(5_000);
    progress.update({ step: "sending", done: 5000, total: 5000 });
    clock.advance(15_000);
    progress.end();
    expect(stderr.text).toBe("sending: 5,000 of 5,000, 500/s\nsending: 5,000 of 5,000, 250/s\n");
  });

  test("prints nothing for a shorter job, and leaves no timer", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr);
    progress.update({ step: "checking", done: 10, total: null });
    progress.end();
    expect(clock.nextDue()).toBeNull();
    expect(stderr.text).toBe("");
  });

  test("prints nothing if silent", async () => {
    const stderr = new FakeOutput();
    const progress = await view(stderr, true);
    progress.update({ step: "checking", done: 10, total: null });
    clock.advance(60_000);
    expect(stderr.text).toBe("");
  });
});

describe("progress on a terminal", () => {
  const shows = "\u001b[?25h";

  /** A terminal, its screen, and the timers of the bar. */
  async function onScreen() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stderr = new FakeOutput({ isTTY: true, columns: 100 });
    return { stderr, screen: () => screenOf(stderr.text), tick: () => vi.advanceTimersByTime(200) };
  }

  test("shows steps in one line, removes it at the end and shows the cursor again", async () => {
    const { stderr, screen, tick } = await onScreen();
    const progress = await view(stderr);
    await stderr.write("before\n");
    progress.update({ step: "checking", done: 5, total: null });
    expect(screen()).toEqual(["before", "checking  5"]);
    progress.update({ step: "processing", done: 1, total: 2 });
    tick();
    expect(screen()).toEqual(["before", `processing  ${"█".repeat(15)}${"░".repeat(15)}  1 of 2  50%`]);
    progress.update({ step: "checking", done: 6, total: null });
    tick();
    expect(screen()).toEqual(["before", "checking  6"]);
    progress.end();
    await stderr.write("Imported 2 rows.\n");
    expect(screen()).toEqual(["before", "Imported 2 rows."]);
    expect(stderr.text.lastIndexOf(shows)).toBeGreaterThan(stderr.text.lastIndexOf("\u001b[?25l"));
    expect(stderr.text.lastIndexOf("\u001b[?7h")).toBeGreaterThan(stderr.text.lastIndexOf("\u001b[?7l"));
  });

  test("keeps all lines above the bar", async () => {
    const { stderr, screen, tick } = await onScreen();
    const progress = await view(stderr);
    const lines = Array.from({ length: 12 }, (_, index) => `note ${index}`);
    for (const line of lines) {
      progress.update({ step: "checking", done: 5, total: null });
      expect(progress.above?.(line)).toBe(true);
      tick();
    }
    expect(screen()).toEqual([...lines, "checking  5"]);
    interrupt.abort(new InterruptError("SIGINT"));
    await stderr.write("interrupted\n");
    expect(screen()).toEqual([...lines, "interrupted"]);
  });

  test("does not mix the bar with data on the same terminal, even with incomplete lines", async () => {
    const { stderr, screen, tick } = await onScreen();
    const progress = await view(stderr);
    const data = async (text: string) => {
      progress.makeRoom?.(text.endsWith("\n"));
      await stderr.write(text);
      progress.update({ step: "checking", done: 5, total: null });
      tick();
    };
    progress.update({ step: "checking", done: 5, total: null });
    await data('{"a":');
    expect(screen()).toEqual(['{"a":']);
    await data("1}\n");
    expect(screen()).toEqual(['{"a":1}', "checking  5"]);
    progress.end();
    expect(screen()).toEqual(['{"a":1}']);
  });

  test("updates the rate and the time left without new events", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stderr = new FakeOutput({ isTTY: true, columns: 100 });
    const progress = await view(stderr);
    const lastLine = () =>
      stderr.text.slice(stderr.text.lastIndexOf("processing")).match(/ {2}60 of.*left/)?.[0];
    progress.update({ step: "processing", done: 0, total: 150 });
    clock.advance(10_000);
    progress.update({ step: "processing", done: 60, total: 150 });
    vi.advanceTimersByTime(200);
    expect(lastLine()).toBe("  60 of 150  40%  6.0/s  15 s left");
    clock.advance(30_000);
    vi.advanceTimersByTime(200);
    expect(lastLine()).toBe("  60 of 150  40%  1.5/s  1 min 0 s left");
    progress.end();
  });

  test("shows the cursor again at an interrupt, and draws nothing after it", async () => {
    const stderr = new FakeOutput({ isTTY: true });
    const progress = await view(stderr);
    progress.update({ step: "processing", done: 1, total: 2 });
    interrupt.abort(new InterruptError("SIGINT"));
    expect(stderr.text).toContain(shows);
    const before = stderr.text;
    progress.update({ step: "processing", done: 2, total: 2 });
    progress.update({ step: "saving", done: 0, total: 2 });
    progress.end();
    expect(stderr.text).toBe(before);
  });

  test("prints a note above the bar", async () => {
    const stderr = new FakeOutput({ isTTY: true });
    const progress = await view(stderr);
    expect(progress.above?.("before")).toBe(false);
    progress.update({ step: "processing", done: 1, total: 2 });
    expect(progress.above?.("a warning")).toBe(true);
    expect(stderr.text).toContain("\r\u001b[K\u001b[?7ha warning\n\u001b[?7l\u001b7");
    progress.end();
  });
});

describe("the line of a bar", () => {
  const pace = { perSecond: 120, secondsLeft: 7 };

  test("has all parts on a wide terminal", () => {
    const event = { step: "processing", done: 1200, total: 2000, note: "3 failed" };
    expect(barLine(event, pace, { width: 100, paint: plain, visible })).toBe(
      `processing  ${"█".repeat(18)}${"░".repeat(12)}  1,200 of 2,000  60%  120/s  7 s left  3 failed`,
    );
  });

  test("drops the bar, then complete parts, on a narrow terminal", () => {
    const event = { step: "processing", done: 1200, total: 2000 };
    const lineAt = (width: number) =>
      barLine({ ...event, note: "3 of 1,240 files" }, pace, { width, paint: plain, visible });
    expect([67, 66, 60, 54, 44, 28].map(lineAt)).toEqual([
      "processing  1,200 of 2,000  60%  120/s  7 s left  3 of 1,240 files",
      "processing  1,200 of 2,000  120/s  7 s left  3 of 1,240 files",
      "processing  1,200 of 2,000  7 s left  3 of 1,240 files",
      "processing  1,200 of 2,000  3 of 1,240 files",
      `processing  ${"█".repeat(9)}${"░".repeat(6)}  1,200 of 2,000`,
      "processing  1,200 of 2,000",
    ]);
    expect(barLine(event, pace, { width: 52, paint: plain, visible })).toBe(
      "processing  1,200 of 2,000  60%  120/s  7 s left",
    );
    expect(barLine(event, pace, { width: 21, paint: plain, visible })).toBe("processing  1,200 of");
  });

  test("shows control characters as escapes and accepts odd numbers", () => {
    const nothing = { perSecond: null, secondsLeft: null };
    const event = { step: "a\u001b[2J", done: 3, total: 0, note: "\n" };
    expect(barLine(event, nothing, { width: 100, paint: plain, visible })).toBe(
      `a\\x1b[2J  ${"█".repeat(30)}  3 of 0  100%  \\n`,
    );
    expect(
      barLine({ step: "x", done: 1_240_000, total: 9_600_000, unit: "bytes" }, pace, {
        width: 20,
        paint: plain,
        visible,
      }),
    ).toBe("x  1.2 MB / 9.6 MB");
    expect(
      barLine({ step: "x", done: 9, total: 3 }, nothing, { width: 100, paint: plain, visible }),
    ).toContain("100%");
  });
});

describe("the pace", () => {
  test("covers the last minute only", () => {
    const meter = new PaceMeter();
    meter.measure({ step: "x", done: 0, total: 1000 }, 0);
    meter.measure({ step: "x", done: 0, total: 1000 }, 30_000);
    expect(meter.measure({ step: "x", done: 600, total: 1000 }, 90_000)).toEqual({
      perSecond: 10,
      secondsLeft: 40,
    });
  });

  test("covers complete rate limit windows: bursts and waits count together", () => {
    const meter = new PaceMeter();
    const rates: (number | null)[] = [];
    // Two windows of 60 each: a burst of 10 s, then 50 s of waiting.
    for (let second = 0; second <= 120; second++) {
      const done = 60 * Math.floor(second / 60) + Math.min(60, 6 * (second % 60));
      rates.push(meter.measure({ step: "x", done, total: 180 }, second * 1000).perSecond);
    }
    expect(rates[10]).toBe(6);
    expect(new Set(rates.slice(60))).toEqual(new Set([1]));
  });

  test("uses the measured rate if that takes longer than the rate limit needs", () => {
    const meter = new PaceMeter();
    const event = (done: number) => ({ step: "x", done, total: 100, leastMsLeft: 20_000 });
    meter.measure(event(0), 0);
    const ten = event(10);
    const left = (second: number) => meter.measure(ten, second * 1000).secondsLeft;
    expect([left(10), left(15), left(29), left(30)]).toEqual([90, 85, 71, 270]);
  });

  test("does not change before the first unit", () => {
    const meter = new PaceMeter();
    const none = { step: "x", done: 0, total: 150, leastMsLeft: 120_000 };
    expect([0, 30, 55].map((second) => meter.measure(none, second * 1000).secondsLeft)).toEqual([
      120, 120, 120,
    ]);
    const some = { ...none, done: 10, leastMsLeft: 119_000 };
    expect(meter.measure(some, 56_000)).toEqual({ perSecond: 10, secondsLeft: 119 });
  });

  test("is unknown after a minute without progress", () => {
    const meter = new PaceMeter();
    const event = { step: "x", done: 0, total: 1000 };
    meter.measure(event, 0);
    for (let second = 1; second <= 61; second++) meter.measure({ ...event, done: 10 }, second * 1000);
    expect(meter.measure({ ...event, done: 10 }, 62_000)).toEqual({ perSecond: null, secondsLeft: null });
  });

  test("is unknown at first", () => {
    const meter = new PaceMeter();
    expect(meter.measure({ step: "x", done: 5, total: 10 }, 0)).toEqual({
      perSecond: null,
      secondsLeft: null,
    });
    expect(meter.measure({ step: "x", done: 5, total: 10 }, 5_000).perSecond).toBeNull();
  });

  test("has a readable form", () => {
    const left = (secondsLeft: number | null) => leftText({ perSecond: 1, secondsLeft });
    expect([left(null), left(0.2), left(59.5), left(200), left(7500)]).toEqual([
      "",
      "1 s left",
      "1 min 0 s left",
      "3 min 20 s left",
      "2 h 5 min left",
    ]);
    expect([0.25, 4.5, 9.99, 1234.4].map((perSecond) => rateText({ perSecond, secondsLeft: 0 }))).toEqual([
      "0.3/s",
      "4.5/s",
      "10.0/s",
      "1,234/s",
    ]);
  });
});
