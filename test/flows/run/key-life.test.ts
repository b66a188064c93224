import { expect, test } from "vitest";
import { isKeyAlive } from "../../../src/flows/run/clocks.ts";
import { hour } from "../import/import-fixtures.ts";

test.each([
  ["a moment ago, by both clocks", 0, 0, 0, true],
  ["just before its key expires", 23 * hour - 1, 0, 23 * hour - 1, true],
  ["23 hours ago by this machine", 23 * hour, 0, 0, false],
  ["23 hours ago by the service", 0, 0, 23 * hour, false],
  ["an hour ago, with clocks a day apart", hour, 24 * hour, 25 * hour, true],
  ["a day ago, on a machine whose clock was set back", -48 * hour, 0, 24 * hour, false],
  ["an hour ago, and the service's time is unknown", hour, 0, null, true],
  ["a day ago, and the service's time is unknown", 24 * hour, 0, null, false],
  // The clocks may be a day apart, or a day may have passed: it is not repeated unless the user says so.
  ["an hour ago, when the service's time was unknown", hour, null, 25 * hour, false],
  ["an hour ago, when the service's time, which is behind, was unknown", hour, null, -25 * hour, true],
] as const)("a batch sent %s", (_, here, sentAtService, service, expected) => {
  const sentAt = Date.parse("2026-01-05T09:00:00Z");
  const at = (ms: number | null) => (ms === null ? null : sentAt + ms);
  expect(
    isKeyAlive({ sentAt, sentAtService: at(sentAtService) }, { here: sentAt + here, service: at(service) }),
  ).toBe(expected);
});
