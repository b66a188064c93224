import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { MovableClock } from "../src/clock.ts";

const monday = Date.UTC(2026, 0, 5, 9, 0, 0);

/** The timers that fire, each with the time of the clock. */
function diary(clock: MovableClock) {
  const fired: [name: string, after: number][] = [];
  const begin = clock.now();
  const at = (ms: number, name = `${ms}`, then?: () => void) =>
    clock.at(begin + ms, () => {
      fired.push([name, clock.now() - begin]);
      then?.();
    });
  return { fired, at };
}

describe("a clock that is moved by hand", () => {
  test("fires each timer at its own time, in order", () => {
    const clock = new MovableClock({ frozenAt: monday });
    const { fired, at } = diary(clock);
    at(50);
    at(20, "first", () => at(30, "set by the first"));
    at(101);
    clock.advance(100);
    expect(fired).toEqual([
      ["first", 20],
      ["set by the first", 30],
      ["50", 50],
    ]);
    expect(clock.now()).toBe(monday + 100);
  });

  test("fires a timer set for a past time at the next move, at the current time", () => {
    const clock = new MovableClock({ frozenAt: monday });
    const { fired, at } = diary(clock);
    at(-1_000);
    at(5);
    expect(fired).toEqual([]);
    clock.advance(0);
    expect(fired).toEqual([["-1000", 0]]);
    clock.advance(5);
    expect(fired).toEqual([
      ["-1000", 0],
      ["5", 5],
    ]);
  });

  test("keeps running when a timer throws", () => {
    const clock = new MovableClock({ frozenAt: monday });
    clock.at(monday + 5, () => {
      throw new Error("a fault of somebody's");
    });
    expect(() => clock.advance(10)).toThrow("a fault of somebody's");
    // At that time, because the timers that fired then have already read it.
    expect(clock.now()).toBe(monday + 5);
    clock.advance(10);
    expect(clock.now()).toBe(monday + 15);
  });

  test.each([
    ["beyond the move", 1_000, ["10", "20", "500", "after it"], 1_010],
    ["within the move", 15, ["10", "20", "after it"], 100],
  ])("is moved %s by a timer, and time never goes back", (_where, ms, names, end) => {
    vi.useFakeTimers({ now: monday });
    onTestFinished(() => void vi.useRealTimers());
    for (const clock of [new MovableClock({ frozenAt: monday }), new MovableClock()]) {
      const { fired, at } = diary(clock);
      at(10, "10", () => {
        clock.advance(ms);
        fired.push(["after it", clock.now() - monday]);
      });
      at(20);
      at(500);
      clock.advance(100);
      expect(fired.map(([name]) => name)).toEqual(names);
      const times = fired.map(([, after]) => after);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(clock.now()).toBe(monday + end);
    }
  });
});

describe("a clock that ticks", () => {
  afterEach(() => void vi.useRealTimers());
  const ticking = () => {
    vi.useFakeTimers({ now: monday });
    return new MovableClock();
  };
  /** The machine sleeps: when it wakes, time has passed and no timer has fired. */
  const sleepOf = (ms: number) => {
    vi.setSystemTime(Date.now() + ms);
    vi.advanceTimersByTime(20);
  };

  test("fires timers that became due while the machine slept at the current time, in order", () => {
    const { fired, at } = diary(ticking());
    at(10, "10", () => at(15, "set by it"));
    at(20, "20");
    sleepOf(12_000);
    expect(fired.map(([name]) => name)).toEqual(["10", "set by it", "20"]);
    for (const [, after] of fired) expect(after).toBeGreaterThanOrEqual(12_000);
  });

  test("fires timers after their wait although the machine's clock was set back, and continues from there", () => {
    const clock = ticking();
    const { fired, at } = diary(clock);
    at(100, "100", () => at(200, "set by it"));
    vi.setSystemTime(monday - 3_600_000);
    vi.advanceTimersByTime(300);
    expect(fired).toEqual([
      ["100", 100],
      ["set by it", 200],
    ]);
    expect(clock.now()).toBe(monday + 300);
  });

  test("keeps earlier timers at their wait when another one is set or canceled after the machine's clock was set back", () => {
    const clock = ticking();
    const { fired, at } = diary(clock);
    at(100, "before");
    vi.setSystemTime(monday - 3_600_000);
    clock.at(clock.now() + 50, () => fired.push(["after", clock.now() - monday]));
    clock.at(clock.now() + 10, () => {})();
    vi.advanceTimersByTime(100);
    expect(fired).toEqual([
      ["after", 50],
      ["before", 100],
    ]);
    clock.advance(1_000);
    expect(clock.now()).toBe(monday + 1_100);
  });

  test("fires overdue timers at the time before a move, and the others each at their own time", () => {
    const clock = ticking();
    const { fired, at } = diary(clock);
    at(-86_400_000, "a day late");
    at(60_000, "in a minute");
    clock.advance(120_000);
    expect(fired).toEqual([
      ["a day late", 0],
      ["in a minute", 60_000],
    ]);
    expect(clock.now()).toBe(monday + 120_000);
  });
});

const lastMoment = Date.UTC(9999, 11, 30, 23, 59, 59, 999);

test.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, "5", -1, -3_600_000, {}, 1e18])(
  "a move by %o is rejected, and the clock is unchanged",
  (ms) => {
    for (const clock of [new MovableClock({ frozenAt: monday }), new MovableClock()]) {
      const before = clock.now();
      expect(() => clock.advance(ms as number)).toThrow(
        /^a clock only moves forward, by milliseconds, up to the year 9999, not by /,
      );
      expect(clock.now() - before).toBeGreaterThanOrEqual(0);
      expect(clock.now() - before).toBeLessThan(10_000);
    }
  },
);

test("a ticking clock past the last moment can be moved only by 0", () => {
  vi.useFakeTimers({ now: lastMoment - 5 });
  onTestFinished(() => void vi.useRealTimers());
  const clock = new MovableClock();
  vi.advanceTimersByTime(10);
  const fired: string[] = [];
  clock.at(0, () => fired.push("overdue"));
  clock.advance(0);
  expect([clock.now(), fired]).toEqual([lastMoment + 5, ["overdue"]]);
  expect(() => clock.advance(1)).toThrow(TypeError);
});

test.each([undefined, null, Number.NaN, "5", {}, 5n])(
  "a timer for %o is rejected, and blocks no other",
  (time) => {
    const clock = new MovableClock({ frozenAt: monday });
    const { fired, at } = diary(clock);
    expect(() => clock.at(time as number, () => {})).toThrow(
      /^a clock's timer needs a time in milliseconds since 1970, not /,
    );
    at(5);
    clock.advance(10);
    expect(fired).toEqual([["5", 5]]);
  },
);

test("a clock can be moved to the day before the last of the year 9999, and no further", () => {
  const clock = new MovableClock({ frozenAt: lastMoment - 5 });
  expect(() => clock.advance(6)).toThrow(TypeError);
  clock.advance(5);
  expect(clock.now()).toBe(lastMoment);
});

test.each([null, Number.NaN, "2026", -1, 1e18, {}, lastMoment + 1])(
  "a clock cannot be frozen at %o",
  (frozenAt) => {
    expect(() => new MovableClock({ frozenAt: frozenAt as number })).toThrow(
      /^MovableClock: frozenAt must be milliseconds since 1970, up to the year 9999, not /,
    );
  },
);
