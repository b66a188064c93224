import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RateWindow, type Ticket } from "../../src/http/rate-window.ts";
import { SharedCount } from "../../src/http/shared-count.ts";

const windowMs = 60_000;
const minute = Date.parse("2026-01-05T09:00:00Z");

/** A window, and the headers of the service's responses. */
function windowOf(shared?: SharedCount) {
  const window = new RateWindow(windowMs, shared);
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
    enter: () => window.enter()!,
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
    enter();
    enter();
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
    answered(enter(), 1, { at: 60_000, limit: 2, reset: 120 });
    answered(late, 0, { at: 60_000, limit: 2, reset: 60 });
    expect(blocked(70_000)).toBe(0);
  });

  test("of a later reset is adopted from any response", () => {
    const { enter, answered, blocked } = windowOf();
    const [, old] = [answered(enter(), 5), enter()];
    answered(old, 0, { at: 1_000, reset: 61 });
    expect(blocked(1_000)).toBe(61_000);
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

test("the last request of a window goes to the process that takes it first", () => {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-window-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [one, other] = [windowOf(new SharedCount(folder, "key")), windowOf(new SharedCount(folder, "key"))];
  expect(one.blocked()).toBe(0);
  one.answered(one.enter(), 1, { limit: 2 });
  expect([one.blocked(1), other.blocked(1)]).toEqual([0, 0]);
  expect(one.window.enter()).not.toBeNull();
  expect(other.window.enter()).toBeNull();
});
