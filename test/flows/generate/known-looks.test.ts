import { describe, expect, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import {
  countReplaced,
  findKnown,
  knownLooks,
  taskMatcher,
  unknownLooks,
} from "../../../src/flows/generate/find-known.ts";
import type { Generation } from "../../../src/flows/generate/generation.ts";
import {
  asKnown,
  byPlaces,
  countKnown,
  divideKnown,
  type KnownLook,
  type LookRule,
  lookImages,
  replacementOf,
  toKnown,
} from "../../../src/flows/generate/known-looks.ts";
import { type LookImage, lookDigest } from "../../../src/state/looks.ts";

const generation = (more: Partial<Generation> = {}): Generation => ({
  ...{ kind: "tryon", line: 2, combination: 0, productId: "P", productReference: null, modelId: "M" },
  ...{ modelName: null, stylings: [], background: "white", angleShot: "front", lookAtCamera: true },
  ...{ subtype: null, style: null },
  ...more,
});

const image = (
  task: string | null,
  status: LookImage["status"],
  more: Partial<LookImage> = {},
): LookImage => ({
  run: "run",
  task,
  status,
  isUnanswered: false,
  isRejected: false,
  ...more,
});

/** A machine that knows these images of the look, and what replaces each task. */
const machine = (images: LookImage[], replacing: { [task: string]: LookImage[] } = {}) => ({
  account: 1,
  state: {
    looks: {
      of: (account: number, digest: string) =>
        account === 1 && digest === lookDigest(generation()) ? images : [],
      replacing: (_: number, task: string) => replacing[task] ?? [],
      digestOf: (task: string) =>
        images.some((one) => one.task === task) ? lookDigest(generation()) : undefined,
    },
  } as never,
});

const rule = (more: Partial<LookRule> = {}): LookRule => ({
  ...{ isFresh: false, isShared: false, isMissing: false, preferred: new Set<string>() },
  ...more,
});

const rejected = { isRejected: true };

describe("an image of the input", () => {
  type Images = LookImage[];
  test.each<[string, Images, Partial<LookRule>, Partial<Generation>, Record<string, Images>, string | null]>([
    ["is generated if none of its look is known", [], {}, {}, {}, null],
    ["exists as one of its look", [image("T", "succeeded")], {}, {}, {}, "T exists"],
    ["is in progress as one of its look", [image("T", "queued")], {}, {}, {}, "T in progress"],
    ["is generated again with --fresh", [image("T", "succeeded")], { isFresh: true }, {}, {}, null],
    [
      "is generated next to others with --allow-duplicates",
      [image("T", "succeeded")],
      { isShared: true },
      {},
      {},
      null,
    ],
    ["is generated if the one of its look has failed", [image("T", "failed")], {}, {}, {}, null],
    [
      "exists if another one of its look has failed",
      [image("T", "failed"), image("U", "succeeded")],
      {},
      {},
      {},
      "U exists",
    ],
    [
      "exists as a rejected one, as long as nothing was to replace it",
      [image("T", "succeeded", rejected)],
      {},
      {},
      {},
      "T exists",
    ],
    [
      "is generated if what was to replace a rejected one has failed",
      [image("U", "failed"), image("T", "succeeded", rejected)],
      {},
      {},
      {},
      null,
    ],
    [
      "exists as the one that is not rejected",
      [image("T", "succeeded", rejected), image("U", "succeeded")],
      {},
      {},
      {},
      "U exists",
    ],
    [
      "exists as the one that is meant",
      [image("T", "succeeded"), image("U", "succeeded")],
      { preferred: new Set(["U"]) },
      {},
      {},
      "U exists",
    ],
    [
      "is not the one that is meant if that has failed",
      [image("T", "succeeded"), image("U", "failed")],
      { preferred: new Set(["U"]) },
      {},
      {},
      "T exists",
    ],
    [
      "is generated instead of a rejected one with --missing",
      [image("T", "succeeded", rejected)],
      { isMissing: true },
      {},
      {},
      "replaces T",
    ],
    ["exists with --missing", [image("T", "succeeded")], { isMissing: true }, {}, {}, "T exists"],
    [
      "exists with --missing if the rejected one is replaced",
      [image("T", "succeeded", rejected)],
      { isMissing: true },
      {},
      { T: [image("R", "succeeded")] },
      "R exists",
    ],
    ["that replaces one is generated", [image("T", "succeeded")], {}, { replaces: "T" }, {}, "replaces T"],
    [
      "that replaces one is the replacement",
      [],
      {},
      { replaces: "T" },
      { T: [image("R", "queued")] },
      "R in progress as replacement",
    ],
    [
      "that replaces one is generated again if the replacement failed",
      [],
      {},
      { replaces: "T" },
      { T: [image("R", "failed")] },
      "replaces T",
    ],
    [
      "that replaces one is the second replacement if the first failed",
      [],
      {},
      { replaces: "T" },
      { T: [image("R", "failed"), image("S", "succeeded")] },
      "S exists as replacement",
    ],
    [
      "that replaces one is the replacement also with --allow-duplicates",
      [],
      { isShared: true },
      { replaces: "T" },
      { T: [image("R", "succeeded")] },
      "R exists as replacement",
    ],
    [
      "that replaces one is another one of its look",
      [image("T", "succeeded", rejected), image("U", "succeeded")],
      {},
      { replaces: "T" },
      {},
      "U exists as replacement",
    ],
    [
      "is none without a response that a dry run is to replace",
      [image(null, "queued")],
      {},
      { replaces: "T" },
      {},
      "null in progress as replacement",
    ],
  ])("%s", (_, images, how, more, replacing, expected) => {
    const asked = generation(more);
    const { known, remaining } = divideKnown([asked], machine(images, replacing), rule(how));
    const shown = [
      ...known.map(
        ({ taskId, exists, isReplacement }) =>
          `${taskId} ${exists ? "exists" : "in progress"}${isReplacement ? " as replacement" : ""}`,
      ),
      ...remaining.map(({ replaces }) => (replaces === undefined ? null : `replaces ${replaces}`)),
    ];
    expect(shown).toEqual([expected]);
    // What is known has its place in the input as it was asked for.
    for (const { generation } of known) expect(generation).toBe(asked);
  });
});

test("the first replacement that has not failed counts, and images of a look and of what it replaces are found", () => {
  const run = machine([image("T", "succeeded")], { T: [image("R", "failed"), image("S", "queued")] });
  expect(replacementOf("T", run)?.task).toBe("S");
  expect(replacementOf("X", run)).toBeNull();
  const tasksOf = (...asked: Generation[]) => lookImages(asked, run).map(({ task }) => task);
  expect(tasksOf(generation())).toEqual(["T"]);
  expect(tasksOf(generation({ replaces: "T" }))).toEqual(["T", "R", "S"]);
  expect(tasksOf(generation({ background: "black" }))).toEqual([]);
});

test("known images are counted by what is sure of them, and have their places", () => {
  const known = [
    toKnown(generation(), "A"),
    asKnown(generation({ combination: 1 }), image("B", "queued", { isUnanswered: true })),
    toKnown(generation({ line: 3 }), null, { isLookUnknown: true }),
  ];
  expect(countKnown(known)).toEqual({ existing: 2, unknown: 1, inProgress: 1 });
  expect(known.map(({ exists, isUnanswered }) => [exists, isUnanswered])).toEqual([
    [true, false],
    [false, true],
    [true, false],
  ]);
  expect([...byPlaces(known)].map(([place, { taskId }]) => `${place} ${taskId}`)).toEqual([
    "2.0 A",
    "2.1 B",
    "3.0 null",
  ]);
});

test.each([
  ["tryon", 0, []],
  ["tryon", 1, ["1 image of looks.csv exists, but look_at_camera of it is unknown: counted as existing."]],
  ["beautify", 2, ["2 images of looks.csv exist, but style of them is unknown: counted as existing."]],
])("a note of %s says that settings of %i images are unknown", (kind, count, expected) => {
  const known: KnownLook[] = [
    toKnown(generation(), "A"),
    ...Array.from({ length: count }, () => toKnown(generation(), null, { isLookUnknown: true })),
  ];
  expect(unknownLooks(known, { kind, file: { source: { name: "looks.csv" } } } as never)).toEqual(expected);
});

test("a decision is about the input if its task is one of it, or of the same look", () => {
  const run = machine([image("T", "succeeded")]);
  const sent = new Map([["2.0", { generation: generation(), taskId: "A" }]]) as never;
  const isOfInput = taskMatcher(sent, byPlaces([toKnown(generation(), "B")]), run as never);
  expect(["A", "B", "T", "X"].map(isOfInput)).toEqual([true, true, true, false]);
  const other = taskMatcher(
    new Map(),
    byPlaces([toKnown(generation({ background: "black" }), "B")]),
    run as never,
  );
  expect(["T", "B"].map(other)).toEqual([false, true]);
});

test("with --fresh, or without an input, nothing is read", async () => {
  const run = { state: {}, client: {} } as never;
  const all = [generation()];
  expect(await findKnown(all, run, rule({ isFresh: true }))).toEqual({ known: [], remaining: all });
  expect(await findKnown([], run, rule())).toEqual({ known: [], remaining: [] });
});

describe("of a run that has ended", () => {
  /** What is known of the input, by place, and the notes; the service shows nothing. */
  async function ended(
    planned: Generation[],
    images: LookImage[] = [],
    {
      options = { missing: "yes" } as Record<string, string>,
      sent = new Map<string, { generation: Generation; taskId: string | null }>(),
      isFinished = true,
    } = {},
  ) {
    const { account, state } = machine(images) as unknown as { account: number; state: { looks: object } };
    const notes: string[] = [];
    const run = {
      ...{ account, options, isFinished, kind: "tryon", service: { baseUrl: "https://a" }, concurrency: 4 },
      ...{
        signal: new AbortController().signal,
        clock: {},
        client: { async *paginate() {}, exchange: missingTask },
      },
      state: {
        looks: { ...state.looks, ended: () => {} },
        decisions: { isRejected: () => false },
        batches: { withJobs: () => [] },
      },
    };
    const input = { kind: "tryon", file: { source: { name: "looks.csv" } } };
    const host = { pid: 1, onNote: (note: string) => void notes.push(note), onProgress: () => {} };
    const asked = { input, rule: rule({ isShared: !isFinished }), sent };
    const { known, remaining } = await knownLooks(planned, run as never, asked as never, host as never);
    const places = [...known].map(([place, { taskId }]) => `${place} ${taskId}`);
    return { places, remaining, notes, sent: [...sent.keys()] };
  }
  const missingTask = async () => {
    throw new ApiError({
      ...{ request: "GET", status: 404 },
      body: { type: "not_found", code: "task_not_found", message: "no" },
    });
  };
  const nothing = { places: [], remaining: [], notes: [], sent: [] };
  const other = generation({ line: 3, background: "black" });

  test("images that existed elsewhere are reported as gone", async () => {
    expect(await ended([generation()])).toEqual({
      ...nothing,
      notes: ["1 image of looks.csv does not exist anymore. To generate it, add --missing."],
    });
    expect((await ended([generation(), other])).notes).toEqual([
      "2 images of looks.csv do not exist anymore. To generate them, add --missing.",
    ]);
  });

  test("nothing is searched if it was not with --missing, and nothing is left", async () => {
    expect(await ended([generation()], [], { options: {} })).toEqual(nothing);
    expect(await ended([])).toEqual(nothing);
  });

  test("images in progress in another run that has failed since are those of that run", async () => {
    expect(await ended([generation()], [image("T", "failed")])).toEqual({ ...nothing, places: ["2.0 T"] });
  });

  test("a rejected image counts as long as nothing was to replace it", async () => {
    expect(await ended([generation({ replaces: "R" })])).toEqual({ ...nothing, places: ["2.0 R"] });
  });

  test("an image that has failed in it is the one that another run generated since", async () => {
    const sent = () => new Map([["2.0", { generation: generation(), taskId: "A" }]]);
    const failed = image("A", "failed");
    expect(await ended([], [failed, image("B", "succeeded")], { sent: sent() })).toEqual({
      ...nothing,
      places: ["2.0 B"],
    });
    const open = { ...nothing, sent: ["2.0"] };
    expect(await ended([], [failed, image("B", "succeeded", rejected)], { sent: sent() })).toEqual(open);
    expect(await ended([], [failed, image("B", "queued")], { sent: sent() })).toEqual(open);
    expect(await ended([], [image("A", "succeeded")], { sent: sent() })).toEqual(open);
  });

  test("nothing remains, unlike of one that has not ended", async () => {
    const open = await ended([generation()], [], { isFinished: false });
    expect(open).toEqual({ ...nothing, remaining: [generation()] });
  });
});

test("images that replace rejected ones are counted", () => {
  const known = byPlaces([
    toKnown(generation(), "A", { isReplacement: true }),
    toKnown(generation({ line: 3 }), "B"),
  ]);
  expect(countReplaced(known)).toBe(1);
});
