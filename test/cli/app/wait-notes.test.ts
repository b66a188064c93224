import { expect, test } from "vitest";
import { waitNotes } from "../../../src/cli/app/wait-notes.ts";
import { MovableClock } from "../../../src/clock.ts";

const start = Date.parse("2026-01-05T09:00:00Z");

function notes() {
  const clock = new MovableClock({ frozenAt: start });
  const told: string[] = [];
  const onWait = waitNotes(clock, async (text) => void told.push(text));
  return { clock, told, onWait };
}

const request = { method: "GET", path: "/v1/imports/X" };

test("a wait that lasts is told once for all who wait for the same", () => {
  const { clock, told, onWait } = notes();
  onWait({ reason: "network", ms: 1_900, ...request });
  onWait({ reason: "network", ms: 4_100, ...request });
  clock.advance(1_000);
  onWait({ reason: "network", ms: 4_000, ...request });
  onWait({ reason: "rate_window", ms: 30_000, ...request });
  expect(told).toEqual([
    "Waiting 5 s: the service cannot be reached, and is tried again.",
    "Waiting 30 s: this minute's requests are used up.",
  ]);
});

test("an outage is told once, with the time since which nothing came, and not every attempt in it", () => {
  const { clock, told, onWait } = notes();
  const since = start - 8_000;
  const wall = (time: number) => /\d\d:\d\d:\d\d/.exec(new Date(time).toString())![0];
  for (let pause = 0; pause < 10; pause++) {
    onWait({ reason: "outage", ms: 20_000, since, ...request });
    clock.advance(25_000);
    onWait({ reason: "network", ms: 4_000, ...request });
    onWait({ reason: "server_error", ms: 4_000, ...request });
  }
  expect(told).toEqual([`The service has not answered since ${wall(since)}; trying again.`]);
  const again = clock.now();
  onWait({ reason: "outage", ms: 20_000, since: again, ...request });
  expect(told.slice(1)).toEqual([`The service has not answered since ${wall(again)}; trying again.`]);
});
