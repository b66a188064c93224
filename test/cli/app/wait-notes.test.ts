import { expect, test } from "vitest";
import { waitNotes } from "../../../src/cli/app/open-client.ts";
import { MovableClock } from "../../../src/clock.ts";

const start = Date.parse("2026-01-05T09:00:00Z");

function notes() {
  const clock = new MovableClock({ frozenAt: start });
  const printed: string[] = [];
  const onWait = waitNotes(clock, async (text) => void printed.push(text));
  return { clock, printed, onWait };
}

const request = { method: "GET", path: "/v1/imports/X" };

test("a command that waits prints one note for all requests that wait for the same reason", () => {
  const { clock, printed, onWait } = notes();
  onWait({ reason: "network", ms: 1_900, ...request });
  onWait({ reason: "network", ms: 4_100, ...request });
  clock.advance(1_000);
  onWait({ reason: "network", ms: 4_000, ...request });
  onWait({ reason: "rate_window", ms: 30_000, ...request });
  expect(printed).toEqual([
    "Cannot reach the service; retrying in 5 s.",
    "Rate limit reached; continuing in 30 s.",
  ]);
});

test("a command that waits prints one note per minute of an outage, with its time, and none for the attempts in it", () => {
  const { clock, printed, onWait } = notes();
  const since = start - 8_000;
  for (let pause = 0; pause < 5; pause++) {
    onWait({ reason: "outage", ms: 20_000, since, ...request });
    clock.advance(25_000);
    onWait({ reason: "network", ms: 4_000, ...request });
    onWait({ reason: "response", ms: 10_000, ...request });
  }
  expect(printed).toEqual([
    "No response from the service for 8 s; still retrying.",
    "No response from the service for 83 s; still retrying.",
  ]);
});

test("a command that waits does not call a service silent that has just responded with a failure", () => {
  const { printed, onWait } = notes();
  onWait({ reason: "outage", ms: 2_400, since: start - 300, ...request });
  expect(printed).toEqual(["The service failed; retrying in 3 s."]);
});

test("a command that waits prints one note for all requests without a response, with the time so far", () => {
  const { clock, printed, onWait } = notes();
  for (let attempt = 0; attempt < 3; attempt++) onWait({ reason: "response", ms: 10_000, ...request });
  clock.advance(30_000);
  onWait({ reason: "response", ms: 260_000, ...request });
  expect(printed).toEqual([
    "Waiting for the service to respond (10 s so far).",
    "Waiting for the service to respond (4 min so far).",
  ]);
});

test("a command that waits prints a note within 10 s if short waits for the rate limit follow each other, then one per minute", () => {
  const { clock, printed, onWait } = notes();
  const when: number[] = [];
  for (let second = 0; second < 100; second++) {
    const before = printed.length;
    onWait({ reason: second % 2 === 0 ? "rate_limited" : "rate_window", ms: 1_000, ...request });
    if (printed.length > before) when.push(second);
    clock.advance(1_000);
  }
  expect(when).toEqual([5, 65]);
  expect(new Set(printed)).toEqual(new Set(["The service asked to slow down; still retrying."]));
});

test("a command that waits prints no note for short waits for the rate limit that are far apart", () => {
  const { clock, printed, onWait } = notes();
  for (let time = 0; time < 10; time++) {
    onWait({ reason: "rate_limited", ms: 1_000, ...request });
    clock.advance(10_000);
  }
  expect(printed).toEqual([]);
});

test("a command that waits prints one note for all transfers that a slow connection has delayed", () => {
  const { clock, printed, onWait } = notes();
  for (let transfer = 0; transfer < 4; transfer++) onWait({ reason: "slow_line", ms: 0, ...request });
  clock.advance(30_000);
  onWait({ reason: "slow_line", ms: 0, ...request });
  expect(printed).toEqual(["The connection is slow; transferring fewer files at once."]);
});
