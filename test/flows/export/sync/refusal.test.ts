import { expect, test } from "vitest";
import { lossRejection } from "../../../../src/flows/export/sync/remove-vanished.ts";

/** What a run with --delete says if `vanished` images are missing, and `removed` were marked before. */
const refusal = (
  size: number,
  vanished: number,
  { removed = 0, isFullRead = true, maxDelete = null as number | null, isDelete = true, shards = 1 } = {},
) => {
  const index = { size, present: size - removed };
  const run = { before: index, isFullRead, delete: isDelete, maxDelete, shards, reviewed: null };
  return lossRejection(vanished, { index, ...run })?.code ?? null;
};

test.each([
  [1000, 100, {}, null],
  [1000, 101, {}, "too_many_deletions"],
  [100, 20, {}, null],
  [100, 21, {}, "too_many_deletions"],
  [10, 5, {}, null],
  [10, 6, {}, "too_many_deletions"],
  [10, 9, { isFullRead: false }, null],
  [10, 10, { isFullRead: false }, "too_many_deletions"],
  [1000, 60, { removed: 40 }, null],
  [1000, 61, { removed: 40 }, "too_many_deletions"],
  [1000, 0, { removed: 101 }, "too_many_deletions"],
  [1000, 101, { maxDelete: 101 }, null],
  // Eight shards of 25 images together remove no more than one mirror of 200.
  [25, 2, { shards: 8 }, null],
  [25, 3, { shards: 8 }, "too_many_deletions"],
  [1000, 102, { maxDelete: 101 }, "too_many_deletions"],
  [10, 5, { isDelete: false }, null],
  [10, 6, { isDelete: false }, "most_images_missing"],
  [10, 9, { isDelete: false, isFullRead: false }, null],
  [10, 10, { isDelete: false, isFullRead: false }, "most_images_missing"],
  [0, 0, {}, null],
] as const)("of %i files with %i missing, %j: %s", (size, vanished, more, code) => {
  expect(refusal(size, vanished, more)).toBe(code);
});
