import { expect, test } from "vitest";
import { WriteWindow } from "../../../src/flows/run/writes.ts";

const second = 1000;

/** The minimum time left after each of 150 writes; `at` returns the time of each response. Both in seconds. */
function told(at: (write: number) => number, perMinute = 60): number[] {
  const window = new WriteWindow(0, perMinute);
  return Array.from({ length: 150 }, (_, index) => {
    window.wrote(at(index) * second);
    return window.leastMsLeft(149 - index, at(index) * second) / second;
  });
}

test("writes take until the last window that they need opens", () => {
  const window = new WriteWindow(0, 60);
  const least = (writes: number) => window.leastMsLeft(writes, 0) / second;
  expect([0, 1, 60, 61, 120, 121, 1240].map(least)).toEqual([0, 0, 0, 60, 60, 120, 1200]);
});

test("windows used as they open are predicted to the second", () => {
  // Sixty in 12 s, and sixty more in the next minute.
  const at = (write: number) => 60 * Math.floor(write / 60) + (write % 60) / 5;
  const seconds = told(at);
  expect([seconds[0], seconds[59], seconds[60], seconds[119]]).toEqual([120, 120 - 11.8, 60, 60 - 11.8]);
  expect(new Set(seconds.slice(120))).toEqual(new Set([0]));
});

test("a window that started before the first write is recognized by what it lets through", () => {
  // The window ends 20 s after the first write: sixty writes are sent before that, and sixty after it.
  const at = (write: number) => (write < 60 ? 0 : write < 120 ? 20 : 80);
  const seconds = told(at);
  expect([seconds[59], seconds[60], seconds[119], seconds[120]]).toEqual([120, 60, 60, 0]);
});

test("a window used up by other clients before the first write is not counted", () => {
  const window = new WriteWindow(0, 60);
  expect(window.leastMsLeft(150, 55 * second)).toBe(120 * second);
  window.wrote(57 * second);
  expect(window.leastMsLeft(149, 58 * second)).toBe(119 * second);
});

test("the rest needs the next windows even if other clients use up one", () => {
  const window = new WriteWindow(0, 60);
  window.wrote(0);
  expect(window.leastMsLeft(149, 150 * second)).toBe(90 * second);
});

test("a service that lets more through has no such limit", () => {
  // Ten per second: after two windows of writes in one minute, the limit is dropped.
  const seconds = told((write) => write / 10);
  expect(seconds[119]).toBeGreaterThan(0);
  expect(new Set(seconds.slice(120))).toEqual(new Set([0]));
  expect(new Set(told(() => 0, Number.POSITIVE_INFINITY))).toEqual(new Set([0]));
});
