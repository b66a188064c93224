import { expect, test } from "vitest";
import { interruptReceiver } from "../../../src/cli/context/context.ts";
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

test("a signal that is repeated within 50 ms counts once", () => {
  const { clock, calls, receive } = received();
  receive("SIGTERM");
  receive("SIGTERM");
  clock.advance(50);
  receive("SIGTERM");
  expect(calls).toEqual(["first SIGTERM"]);
});

test("repeated SIGHUPs of a closing terminal count once", () => {
  const { clock, calls, receive } = received();
  for (const ms of [0, 51, 10_000]) {
    clock.advance(ms);
    receive("SIGHUP");
  }
  expect(calls).toEqual(["first SIGHUP"]);
  receive("SIGINT");
  expect(calls).toEqual(["first SIGHUP", "second SIGINT"]);
});

test("a later signal, or another one, stops at once", () => {
  const later = received();
  later.receive("SIGINT");
  later.clock.advance(51);
  later.receive("SIGINT");
  expect(later.calls).toEqual(["first SIGINT", "second SIGINT"]);
  const other = received();
  other.receive("SIGINT");
  other.receive("SIGTERM");
  expect(other.calls).toEqual(["first SIGINT", "second SIGTERM"]);
});
