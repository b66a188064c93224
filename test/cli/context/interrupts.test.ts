import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interruptReceiver } from "../../../src/cli/context/context.ts";
import type { InterruptSignal } from "../../../src/cli/context/errors.ts";
import { LastActs } from "../../../src/cli/context/last-acts.ts";
import { MovableClock } from "../../../src/clock.ts";

function received() {
  const clock = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
  const calls: string[] = [];
  const receive = interruptReceiver(
    clock,
    (signal) => calls.push(`first ${signal}`),
    (signal) => calls.push(`second ${signal}`),
  );
  return { clock, calls, receive };
}

test("signals within one second are one request, whatever their names: pnpm sends SIGINT, then SIGTERM", () => {
  const { clock, calls, receive } = received();
  receive("SIGINT");
  receive("SIGTERM");
  clock.advance(1_000);
  receive("SIGTERM");
  receive("SIGINT");
  expect(calls).toEqual(["first SIGINT"]);
});

test("repeated SIGHUPs of a closing terminal count once", () => {
  const { clock, calls, receive } = received();
  for (const ms of [0, 1_001, 10_000]) {
    clock.advance(ms);
    receive("SIGHUP");
  }
  expect(calls).toEqual(["first SIGHUP"]);
  receive("SIGINT");
  expect(calls).toEqual(["first SIGHUP", "second SIGINT"]);
});

test("a later signal stops without waiting, and one second counts from the last request", () => {
  const { clock, calls, receive } = received();
  receive("SIGINT");
  clock.advance(600);
  receive("SIGINT");
  clock.advance(401);
  receive("SIGTERM");
  clock.advance(1_000);
  receive("SIGINT");
  clock.advance(1);
  receive("SIGINT");
  expect(calls).toEqual(["first SIGINT", "second SIGTERM", "second SIGINT"]);
});

test("any signals are as many requests as there are seconds between them", () => {
  const signals = fc.constantFrom<InterruptSignal>("SIGINT", "SIGTERM");
  const arrivals = fc.array(fc.tuple(signals, fc.nat(1_500)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(arrivals, (pauses) => {
      const { clock, calls, receive } = received();
      let [requests, since] = [0, Number.POSITIVE_INFINITY];
      for (const [signal, ms] of pauses) {
        clock.advance(ms);
        since += ms;
        receive(signal);
        if (since > 1_000) [requests, since] = [requests + 1, 0];
      }
      expect(calls.length).toBe(requests);
      expect(calls.map((call) => call.split(" ")[0])).toEqual([
        "first",
        ...Array<string>(requests - 1).fill("second"),
      ]);
    }),
  );
});

describe("after a second interrupt", () => {
  const acts = () => {
    const clock = new MovableClock({ frozenAt: 0 });
    return { clock, acts: new LastActs() };
  };

  test("what must be done in any case gets 5 s", async () => {
    const { clock, acts: all } = acts();
    expect(all.finished(clock)).toBeNull();
    let finish = () => {};
    all.add(() => {}, new Promise<void>((resolve) => (finish = resolve)));
    let isOver = false;
    const over = all.finished(clock)?.then(() => (isOver = true));
    clock.advance(4_999);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    clock.advance(1);
    await over;
    expect(isOver).toBe(true);
    finish();
    await all.finished(clock);
  });

  test("a failure ends the wait, and what is unregistered is neither waited for nor reported", async () => {
    const { clock, acts: all } = acts();
    const told: string[] = [];
    all.add((signal) => told.push(signal), Promise.reject(new Error("disk full")));
    await all.finished(clock);
    all.run("SIGTERM");
    expect(told).toEqual(["SIGTERM"]);
    const { acts: others } = acts();
    others.add(() => told.push("never"), new Promise(() => {}))();
    expect(others.finished(clock)).toBeNull();
    others.run("SIGINT");
    expect(told).toEqual(["SIGTERM"]);
  });
});
