import { expect, test } from "vitest";
import { aboutTime, writeEstimate } from "../../../src/flows/run/writes.ts";

test.each([
  [1, null, "about 1 min"],
  [60, null, "about 1 min"],
  [61, "at least 1 min (limit: 60 writes per minute)", "about 2 min"],
  [3_540, "at least 58 min (limit: 60 writes per minute)", "about 59 min"],
  [3_600, "at least 59 min (limit: 60 writes per minute)", "about 1 h 0 min"],
  [7_260, "at least 2 h 0 min (limit: 60 writes per minute)", "about 2 h 1 min"],
])("the time of %i writes: %s, %s", (writes, least, about) => {
  expect([writeEstimate(writes, 60), aboutTime(writes, 60)]).toEqual([least, about]);
});
