import { expect, test } from "vitest";
import { interruptReceiver } from "../../../src/cli/context/interrupts.ts";
import { MovableClock } from "../../../src/clock.ts";

function received() {
  const clock = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") });
  const told: string[] = [];
  const receive = interruptReceiver(
    clock,
    (signal) => told.push(`first ${signal}`),
    (signal) => told.push(`second ${signal}`),
  );
  return { clock, told, receive };
}

test("a signal that comes twice at once is one", () => {
  const { clock, told, receive } = received();
  receive("SIGTERM");
  receive("SIGTERM");
  clock.advance(50);
  receive("SIGTERM");
  expect(told).toEqual(["first SIGTERM"]);
});

test("a terminal that closes is nobody in a hurry, however often it says so", () => {
  const { clock, told, receive } = received();
  for (const ms of [0, 51, 10_000]) {
    clock.advance(ms);
    receive("SIGHUP");
  }
  expect(told).toEqual(["first SIGHUP"]);
  receive("SIGINT");
  expect(told).toEqual(["first SIGHUP", "second SIGINT"]);
});

test("one that comes later, or another one, stops at once", () => {
  const later = received();
  later.receive("SIGINT");
  later.clock.advance(51);
  later.receive("SIGINT");
  expect(later.told).toEqual(["first SIGINT", "second SIGINT"]);
  const other = received();
  other.receive("SIGINT");
  other.receive("SIGTERM");
  expect(other.told).toEqual(["first SIGINT", "second SIGTERM"]);
});
