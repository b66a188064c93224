import { describe, expect, test } from "vitest";
import { RateWindow, type Ticket } from "../../src/http/rate-window.ts";

const windowMs = 60_000;
const minute = Date.parse("2026-01-05T09:00:00Z");

/** A window that knows `random` for each request, and the headers of the service's responses. */
function windowOf(random = 0.5) {
  const window = new RateWindow(windowMs, () => random);
  return {
    window,
    /** A response at `now` (ms after the minute): the remaining requests of `limit`, which reset at `reset` s after it. */
    answered(
      ticket: Ticket,
      remaining: number | null,
      {
        at = 0,
        limit = 60,
        reset = 60,
        status = 200,
        date = at as number | null,
        headers = {},
      }: {
        at?: number;
        limit?: number;
        reset?: number;
        status?: number;
        date?: number | null;
        headers?: Record<string, string>;
      } = {},
    ) {
      const told = {
        ...(remaining !== null && {
          "x-ratelimit-limit": String(limit),
          "x-ratelimit-remaining": String(remaining),
          "x-ratelimit-reset": String(minute / 1000 + reset),
        }),
        ...(date !== null && { date: new Date(minute + date).toUTCString() }),
        ...headers,
      };
      window.answered(ticket, { status, headers: told } as never, minute + at);
    },
    enter: (at = 0) => window.enter(minute + at),
    /** 0, or when it opens in ms after the minute. */
    blocked(at = 0) {
      const until = window.blockedUntil(minute + at);
      return until === null || until === 0 ? until : until - minute;
    },
  };
}

describe("a window", () => {
  test("lets one request go first, and none next to it until that has a response", () => {
    const { window, enter, answered, blocked } = windowOf();
    expect([window.isKnown, window.isUsedUp, blocked()]).toEqual([false, false, 0]);
    const ticket = enter();
    expect(blocked()).toBeNull();
    answered(ticket, 59);
    expect([window.isKnown, window.isUsedUp, blocked(2_000)]).toEqual([true, false, 0]);
  });

  test("counts requests in flight as used, and those that were never sent not", () => {
    const { window, enter, answered, blocked } = windowOf();
    answered(enter(), 2);
    enter();
    expect([window.isUsedUp, blocked(10_000)]).toEqual([false, 0]);
    enter();
    expect([window.isUsedUp, blocked(10_000)]).toEqual([true, 60_000]);
    window.neverSent();
    expect([window.isUsedUp, blocked(10_000)]).toEqual([false, 0]);
  });

  test("counts a request without a response as used", () => {
    const { window, enter, answered, blocked } = windowOf();
    answered(enter(), 1);
    enter();
    window.leave();
    expect([window.isUsedUp, blocked(10_000)]).toEqual([true, 60_000]);
    enter();
    window.leave();
    expect(blocked(10_000)).toBe(60_000);
  });

  test("has the lowest count of its responses, whatever their order", () => {
    const { window, enter, answered, blocked } = windowOf();
    answered(enter(), 3);
    const [first, second] = [enter(), enter()];
    answered(second, 1);
    answered(first, 2);
    enter();
    expect([window.isUsedUp, blocked(10_000)]).toEqual([true, 60_000]);
  });

  test("is unused in the next minute, except for requests in flight", () => {
    const { enter, answered, blocked, window } = windowOf();
    answered(enter(), 1, { limit: 3 });
    enter();
    expect(blocked(59_999)).toBe(60_000);
    expect([blocked(60_000), window.isUsedUp]).toEqual([0, false]);
    enter(60_000);
    enter(60_000);
    expect([blocked(60_000), window.isUsedUp]).toEqual([120_000, true]);
  });

  test("without limits is open forever, and with a gateway's 5xx is not known", () => {
    const { enter, answered, blocked, window } = windowOf();
    answered(enter(), null, { status: 502 });
    expect([window.isKnown, blocked()]).toEqual([false, 0]);
    answered(enter(), null, { status: 499 });
    expect([window.isKnown, window.isUsedUp]).toEqual([true, false]);
    for (let count = 0; count < 1_000; count++) enter();
    expect(blocked()).toBe(0);
  });

  test("that is known counts a response without limits as used", () => {
    const { enter, answered, blocked } = windowOf();
    answered(enter(), 1);
    answered(enter(), null);
    expect(blocked(10_000)).toBe(60_000);
  });

  test("ignores a response to a request of an earlier window", () => {
    const { enter, answered, blocked } = windowOf();
    answered(enter(), 1, { limit: 2 });
    const late = enter();
    expect(blocked(60_000)).toBe(0);
    answered(enter(60_000), 1, { at: 60_000, limit: 2, reset: 120 });
    answered(late, 0, { at: 60_000, limit: 2, reset: 60 });
    expect(blocked(70_000)).toBe(0);
  });

  test("of a later reset is adopted from any response", () => {
    const { enter, answered, blocked } = windowOf();
    const [, old] = [answered(enter(), 5), enter()];
    answered(old, 0, { at: 1_000, reset: 61 });
    expect(blocked(1_000)).toBe(61_000);
  });

  test("keeps a share back for two seconds in the next minute: other clients may have waited", () => {
    const { enter, answered, blocked } = windowOf();
    answered(enter(), 0);
    expect(blocked(60_000)).toBe(0);
    for (let count = 0; count < 52; count++) enter(60_000);
    expect(blocked(60_000)).toBe(0);
    enter(60_000);
    expect(blocked(60_000)).toBe(62_000);
    expect(blocked(61_999)).toBe(62_000);
    expect(blocked(62_000)).toBe(0);
  });
});

describe("the end of a window", () => {
  const opensAt = (
    ...[remaining, how]: [number | null, Parameters<ReturnType<typeof windowOf>["answered"]>[2]]
  ) => {
    const { enter, answered, blocked } = windowOf();
    answered(enter(), remaining, how);
    return blocked(how?.at ?? 0);
  };

  test.each<[string, number | null, object, number]>([
    ["is the reset by the clock of the service", 0, { at: 10_000, date: 40_000 }, 30_000],
    ["is the reset by the local clock without a Date", 0, { at: 10_000, date: null }, 60_000],
    [
      "is the reset by the local clock if that of the service is beyond it",
      0,
      { at: 10_000, date: 300_000 },
      60_000,
    ],
    ["is a minute from now if the reset is an hour off both clocks", 0, { at: 10_000, reset: 3_600 }, 70_000],
    ["may be a second later than a minute, as resets are whole seconds", 0, { at: 0, reset: 61 }, 61_000],
    ["is a minute from now if the reset is further", 0, { at: 0, reset: 62 }, 60_000],
    [
      "is the reset for a 429 whose Retry-After agrees with it",
      0,
      { status: 429, at: 10_000, headers: { "retry-after": "51" } },
      60_000,
    ],
    [
      "is the Retry-After of a 429 that differs by more than a second",
      0,
      { status: 429, at: 10_000, headers: { "retry-after": "48" } },
      58_000,
    ],
    [
      "is a tenth of a second from now for a Retry-After of 0",
      0,
      { status: 429, at: 10_000, headers: { "retry-after": "0" } },
      10_100,
    ],
    [
      "is at most a minute and a second from now",
      null,
      { status: 429, at: 10_000, headers: { "retry-after": "86400" } },
      71_000,
    ],
    [
      "ignores the Retry-After of a response that is no 429",
      0,
      { at: 10_000, headers: { "retry-after": "5" } },
      60_000,
    ],
  ])("%s", (_, remaining, how, expected) => {
    expect(opensAt(remaining, how)).toBe(expected);
  });

  test("is known best by the response with the greatest lead of the service's clock", () => {
    const { enter, answered, blocked } = windowOf();
    const [one, other] = [enter(), enter()];
    answered(one, 0, { at: 10_000, date: 10_000 });
    answered(other, 0, { at: 10_900, date: 11_000 });
    expect(blocked(11_000)).toBe(59_900);
  });
});

describe("a window that others use, too", () => {
  /** The service has counted `others` requests besides our own one in this minute, after one that was alone. */
  function shared(others: number, random = 0.5) {
    const world = windowOf(random);
    world.answered(world.enter(), 59);
    world.answered(world.enter(), 58 - others);
    return world;
  }

  test("is shared equally: half is sent at once, and the rest bit by bit until nine tenths of the minute", () => {
    const { enter, answered, blocked } = shared(15);
    let remaining = 43;
    // Two were sent. Others get 30 of 60.
    for (let own = 2; own < 30; own++) {
      expect(blocked()).toBe(0);
      answered(enter(), --remaining);
    }
    expect(remaining).toBe(15);
    // 54 s for 15 requests.
    expect(blocked()).toBe(3_600);
    expect(blocked(3_599)).toBe(3_600);
    expect(blocked(3_600)).toBe(0);
  });

  test("paces requests at random, from half to one and a half of the even pace", () => {
    const slotOf = (random: number) => {
      const { enter, answered, blocked } = shared(15, random);
      for (let own = 2, remaining = 43; own < 30; own++) answered(enter(), --remaining);
      return blocked();
    };
    expect([slotOf(0), slotOf(0.5), slotOf(1)]).toEqual([1_800, 3_600, 5_400]);
  });

  test("has few requests in flight where its state is as old as a response takes", () => {
    const { enter, blocked } = shared(15);
    // 43 are left, and half of them are ours: a half of that may be in flight.
    for (let count = 0; count < 10; count++) {
      expect(blocked()).toBe(0);
      enter();
    }
    expect(blocked()).toBe(60_000);
  });

  test("leaves at least an eighth to others, and at most three quarters", () => {
    const sentAtOnce = (others: number) => {
      const { enter, answered, blocked } = shared(others);
      let remaining = 58 - others;
      let own = 2;
      for (; remaining > 0 && blocked() === 0; own++) answered(enter(), --remaining);
      return own;
    };
    expect([1, 15, 20, 40].map(sentAtOnce)).toEqual([53, 30, 20, 15]);
  });

  test("does not count what others used before the first request: they may be gone", () => {
    const { enter, answered, blocked } = windowOf();
    answered(enter(), 29);
    for (let remaining = 28; remaining > 0; remaining--) {
      expect(blocked(2_000)).toBe(0);
      answered(enter(), remaining);
    }
  });

  test("leaves them three quarters of the next minute if they used it up with a 429", () => {
    const { enter, answered, blocked } = windowOf();
    answered(enter(), 30);
    answered(enter(), 0, { status: 429 });
    expect(blocked(60_000)).toBe(0);
    let own = 0;
    for (let remaining = 59; blocked(60_000) === 0 && own < 60; own++)
      answered(enter(60_000), remaining--, { at: 60_000, reset: 120 });
    expect(own).toBe(15);
  });

  test("is its own again after a minute without any request", () => {
    const { enter, answered, blocked } = shared(15);
    expect(blocked(120_000)).toBe(0);
    let remaining = 60;
    for (let own = 0; own < 60; own++) {
      expect(blocked(122_000)).toBe(0);
      answered(enter(122_000), --remaining, { at: 122_000, reset: 180 });
    }
  });
});
