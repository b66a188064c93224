import { describe, expect, test } from "vitest";
import { lossRejection, removeVanished } from "../../../../src/flows/export/sync/remove-vanished.ts";
import { OutputError } from "../../../../src/flows/files/disk.ts";

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
] as const)("a mirror of %i files with %i missing, %j: %s", (size, vanished, more, code) => {
  expect(refusal(size, vanished, more)).toBe(code);
});

test.each([
  [
    null,
    true,
    "9 of 10 files are no longer in the catalogue; none was deleted",
    "the API key and the catalogue",
  ],
  [
    "approved",
    true,
    "9 of 10 files are not approved or no longer in the catalogue; none was deleted",
    "the review, the API key and the catalogue",
  ],
  [
    "not-rejected",
    true,
    "9 of 10 files are rejected or no longer in the catalogue; none was deleted",
    "the review, the API key and the catalogue",
  ],
  [
    null,
    false,
    "the catalogue no longer has 9 of 10 images of the mirror; none was marked as removed",
    "the API key and the catalogue",
  ],
  [
    "approved",
    false,
    "not approved or no longer in the catalogue: 9 of 10 images of the mirror; none was marked as removed",
    "the review, the API key and the catalogue",
  ],
] as const)("the error with the filter %s, with --delete %s", (reviewed, isDelete, message, check) => {
  const index = { size: 10, present: 10 };
  const rest = { isFullRead: true, delete: isDelete, maxDelete: null, shards: 1 };
  const error = lossRejection(9, { index, before: index, ...rest, reviewed: reviewed as never })!;
  const hint = `Check ${check}. To delete the files, add --delete --max-delete 9.`;
  expect(error).toMatchObject({
    type: "partial",
    message,
    hint: isDelete ? hint : `${hint} To keep them, mirror the catalogue into a new folder.`,
  });
});

describe("the removal of vanished images", () => {
  /** A mirror with the files of these keys; `foreign` are those of other programs, `stuck` cannot be deleted. */
  async function removed({
    vanished = ["a", "b"],
    isDelete = true,
    dryRun = false,
    foreign = [] as string[],
    stuck = [] as string[],
  }) {
    const entries = new Map(["a", "b", "c"].map((key) => [key, { path: key, removed: key === "c" }]));
    const deleted: string[] = [];
    const notes: string[] = [];
    const failed: string[] = [];
    const steps: string[] = [];
    let isOnDisk = false;
    const counts = { removed: 0, fail: (_: object, error: Error) => void failed.push(error.message) };
    const freed: string[] = [];
    const run = {
      input: { delete: isDelete, dryRun },
      freed: { add: (path: string) => void freed.push(path) },
      mirror: {
        index: {
          get size() {
            return entries.size;
          },
          get present() {
            return [...entries.values()].filter((entry) => !entry.removed).length;
          },
          get: (key: string) => entries.get(key),
          set: (entry: { path: string; removed: boolean }) => void entries.set(entry.path, entry),
          drop: ({ path }: { path: string }) => void entries.delete(path),
          entries: () => [...entries.values()].filter((entry) => entry.removed),
          keepOnDisk() {
            isOnDisk = true;
          },
        },
        store: {
          findFile: async ({ path }: { path: string }) =>
            foreign.includes(path) || path === "gone" ? null : {},
          stat: async (path: string) => (foreign.includes(path) ? {} : null),
          async remove(path: string) {
            if (stuck.includes(path))
              throw new OutputError(path, Object.assign(new Error("no"), { code: "EACCES" }));
            deleted.push(path);
          },
        },
      },
      host: {
        onProgress: ({ done, total }: { done: number; total: number }) => void steps.push(`${done}/${total}`),
        onNote: (note: string) => void notes.push(note),
        onFailed: () => {},
      },
      counts,
    };
    await removeVanished(vanished as never, run as never);
    return {
      deleted,
      freed,
      left: [...entries.keys()],
      notes,
      failed,
      steps,
      count: counts.removed,
      isOnDisk,
    };
  }

  test("deletes them and those marked before", async () => {
    expect(await removed({})).toEqual({
      ...{ deleted: ["a", "b", "c"], freed: [], left: [], notes: [], failed: [], count: 3, isOnDisk: true },
      steps: ["0/3", "1/3", "2/3"],
    });
  });

  test("only marks them without --delete", async () => {
    const result = await removed({ isDelete: false });
    expect(result).toMatchObject({ deleted: [], left: ["a", "b", "c"], count: 2, isOnDisk: false });
  });

  test("deletes nothing in a dry run, and counts", async () => {
    const result = await removed({ dryRun: true });
    expect(result).toMatchObject({ deleted: [], freed: ["a", "b", "c"], count: 3, isOnDisk: false });
  });

  test.each([
    [["a"], "1 file of removed images is kept, because its content is not what this mirror saved: a"],
    [
      ["a", "c"],
      "2 files of removed images are kept, because their content is not what this mirror saved, for example a",
    ],
  ])("keeps files of other content: %j", async (foreign, note) => {
    const result = await removed({ foreign });
    expect(result).toMatchObject({ notes: [note], count: 3 - foreign.length, left: [] });
    expect(result.deleted).toEqual(["a", "b", "c"].filter((path) => !foreign.includes(path)));
  });

  test("reports a file that cannot be deleted, and goes on", async () => {
    const result = await removed({ stuck: ["b"] });
    expect(result).toMatchObject({ deleted: ["a", "c"], left: ["b"], count: 2 });
    expect(result.failed).toEqual(["cannot delete b: permission denied"]);
  });
});
