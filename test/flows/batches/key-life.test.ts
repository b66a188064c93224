import { expect, test } from "vitest";
import { isKeyAlive } from "../../../src/flows/batches/key-life.ts";
import { hour } from "../import/small-world.ts";

test.each([
  ["a moment ago, by both", 0, 0, 0, true],
  ["just within its life", 23 * hour - 1, 0, 23 * hour - 1, true],
  ["23 hours ago by this machine", 23 * hour, 0, 0, false],
  ["23 hours ago by the service", 0, 0, 23 * hour, false],
  ["an hour ago, by clocks a day apart", hour, 24 * hour, 25 * hour, true],
  ["a day ago, on a machine that was set back", -48 * hour, 0, 24 * hour, false],
  ["an hour ago, and the service does not tell", hour, 0, null, true],
  ["a day ago, and the service does not tell", 24 * hour, 0, null, false],
  // The clocks may be a day apart, or a day may have passed: it is not sent again unless the user says so.
  ["an hour ago, when the service had not told its time", hour, null, 25 * hour, false],
  ["an hour ago, when the service had not told, which is behind", hour, null, -25 * hour, true],
] as const)("a call sent %s", (_, here, sentAtService, service, expected) => {
  const sentAt = Date.parse("2026-01-05T09:00:00Z");
  const at = (ms: number | null) => (ms === null ? null : sentAt + ms);
  expect(
    isKeyAlive({ sentAt, sentAtService: at(sentAtService) }, { here: sentAt + here, service: at(service) }),
  ).toBe(expected);
});
