import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { MovableClock } from "../src/clock.ts";

const monday = Date.UTC(2026, 0, 5, 9, 0, 0);

/** What fires, each with what the clock said then. */
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
  test("fires each at its own moment, in the order in which they are due", () => {
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

  test("fires what was set for a time that has passed at the next move, with the time that it is", () => {
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

  test("goes on when what it fires throws", () => {
    const clock = new MovableClock({ frozenAt: monday });
    clock.at(monday + 5, () => {
      throw new Error("a fault of somebody's");
    });
    expect(() => clock.advance(10)).toThrow("a fault of somebody's");
    // Where it happened: what fired then has seen that time already.
    expect(clock.now()).toBe(monday + 5);
    clock.advance(10);
    expect(clock.now()).toBe(monday + 15);
  });

  test.each([
    ["beyond the move", 1_000, ["10", "20", "500", "after it"], 1_010],
    ["within the move", 15, ["10", "20", "after it"], 100],
  ])("is moved %s by what it fires, and time never goes back", (_where, ms, names, end) => {
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
  /** The machine sleeps: when it wakes, time has gone on and no timer has fired. */
  const sleepOf = (ms: number) => {
    vi.setSystemTime(Date.now() + ms);
    vi.advanceTimersByTime(20);
  };

  test("fires what became due while the machine slept with the time that it is then, in its order", () => {
    const { fired, at } = diary(ticking());
    at(10, "10", () => at(15, "set by it"));
    at(20, "20");
    sleepOf(12_000);
    expect(fired.map(([name]) => name)).toEqual(["10", "set by it", "20"]);
    for (const [, after] of fired) expect(after).toBeGreaterThanOrEqual(12_000);
  });

  test("that is moved fires what was overdue with the time before the move, the rest each at its own", () => {
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
  "a move by %o is refused, and the clock stays as it was",
  (ms) => {
    for (const clock of [new MovableClock({ frozenAt: monday }), new MovableClock()]) {
      const before = clock.now();
      expect(() => clock.advance(ms as number)).toThrow(
        /^a clock is moved forward by milliseconds from 0, up to the year 9999, not by /,
      );
      expect(clock.now() - before).toBeGreaterThanOrEqual(0);
      expect(clock.now() - before).toBeLessThan(10_000);
    }
  },
);

test("a clock that ticks may be moved by nothing when it has gone beyond the last moment, and by no more", () => {
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
  "a timer for %o is refused, and hinders no other",
  async (time) => {
    const clock = new MovableClock({ frozenAt: monday });
    const { fired, at } = diary(clock);
    expect(() => clock.at(time as number, () => {})).toThrow(
      /^a clock's timer is set for milliseconds since 1970, not /,
    );
    await expect(clock.sleep(time as number)).rejects.toThrow(/^a clock's sleep takes milliseconds, not /);
    at(5);
    clock.advance(10);
    expect(fired).toEqual([["5", 5]]);
  },
);

test("a timer of nothing to run is refused when it is set", () => {
  const clock = new MovableClock({ frozenAt: monday });
  expect(() => clock.at(monday, undefined as never)).toThrow(
    "a clock's timer runs a function, not undefined",
  );
  expect(clock.nextDue()).toBeNull();
});

test("a clock goes as far as the day before the last of the year 9999, and no further", () => {
  const clock = new MovableClock({ frozenAt: lastMoment - 5 });
  expect(() => clock.advance(6)).toThrow(TypeError);
  clock.advance(5);
  expect(clock.now()).toBe(lastMoment);
});

test.each([null, Number.NaN, "2026", -1, 1e18, {}, lastMoment + 1])(
  "a clock cannot stand still at %o",
  (frozenAt) => {
    expect(() => new MovableClock({ frozenAt: frozenAt as number })).toThrow(
      /^MovableClock: frozenAt must be milliseconds since 1970, up to the year 9999, not /,
    );
  },
);
