// Known looks: which images of an input exist, or are in progress. Only this file decides it.

import { type LookImage, lookDigest } from "../../state/looks.ts";
import type { Run } from "../run/run.ts";
import { type Generation, placeKey } from "./generation.ts";

/** Where to look: a run, or what a dry run has of one. */
export type SearchedRun = Pick<
  Run,
  "client" | "clock" | "signal" | "concurrency" | "state" | "service" | "account" | "kind"
>;

/** The images of an input that are generated although they exist. */
export interface LookRule {
  /** Everything. */
  readonly isFresh: boolean;
  /** The same look, but one image for each rejected one. */
  readonly isShared: boolean;
  /** Rejected images, but nothing that the service shows of other machines. */
  readonly isMissing: boolean;
  /** The tasks whose images are meant if a look has several. */
  readonly preferred: ReadonlySet<string>;
}

/** An image of the input that is not generated again. */
export interface KnownLook {
  readonly generation: Generation;
  /** Null where this machine does not know it. */
  readonly taskId: string | null;
  /** Whether it is generated; else it is in progress, or may be. */
  readonly exists: boolean;
  /** Whether the request of another run for it got no response so far. */
  readonly isUnanswered: boolean;
  /** Whether it was generated instead of the rejected image that the input names. */
  readonly isReplacement: boolean;
  /** Whether the service does not tell all settings of it. */
  readonly isLookUnknown?: boolean;
}

/** An image that exists, unless `what` says something else. */
export const toKnown = (
  generation: Generation,
  taskId: string | null,
  what: Partial<KnownLook> = {},
): KnownLook => ({
  generation,
  taskId,
  exists: true,
  isUnanswered: false,
  isReplacement: false,
  ...what,
});

/** The image of this machine that makes one of the input needless. */
export const asKnown = (
  generation: Generation,
  { task, status, isUnanswered }: LookImage,
  what: Partial<KnownLook> = {},
): KnownLook => toKnown(generation, task, { exists: status === "succeeded", isUnanswered, ...what });

export interface KnownLooks {
  readonly known: readonly KnownLook[];
  readonly remaining: readonly Generation[];
}

/** The account whose looks are searched, in the state that has them. */
type LooksOwner = Pick<Run, "state" | "account">;

const isAlive = ({ status }: LookImage): boolean => status !== "failed";

/** The image that replaces the rejected one of a task; null for none. */
export const replacementOf = (task: string, { state: { looks }, account }: LooksOwner): LookImage | null =>
  looks.replacing(account, task).find(isAlive) ?? null;

/** The image of this machine that makes another one needless; null for none. */
function findImage(
  generation: Generation,
  { state, account }: LooksOwner,
  { isShared, isMissing, preferred }: LookRule,
): LookImage | null {
  const { replaces } = generation;
  const replacement = replaces === undefined ? null : replacementOf(replaces, { state, account });
  if (replacement !== null || isShared) return replacement;
  const images = state.looks.of(account, lookDigest(generation));
  // A dry run does not record that it is rejected.
  const isReplaced = ({ task }: LookImage) => task !== null && task === replaces;
  const found =
    images.find((image) => isAlive(image) && preferred.has(image.task ?? "")) ??
    images.find((image) => isAlive(image) && !image.isRejected && !isReplaced(image));
  if (found !== undefined || isMissing || replaces !== undefined) return found ?? null;
  // A rejected image counts as long as nothing was to replace it.
  return images[0]?.status === "failed" ? null : (images[0] ?? null);
}

/** The same for `--missing`, with the rejected image that it replaces. */
function withReplaced(
  generation: Generation,
  { state: { looks }, account }: LooksOwner,
  { isMissing }: LookRule,
): Generation {
  if (!isMissing || generation.replaces !== undefined) return generation;
  const rejected = looks.of(account, lookDigest(generation)).find((image) => image.isRejected);
  return rejected?.task ? { ...generation, replaces: rejected.task } : generation;
}

/** Divides an input by what this machine knows now. */
export function divideKnown(generations: readonly Generation[], run: LooksOwner, rule: LookRule): KnownLooks {
  if (rule.isFresh) return { known: [], remaining: generations };
  const known: KnownLook[] = [];
  const remaining: Generation[] = [];
  for (const asked of generations) {
    const generation = withReplaced(asked, run, rule);
    const image = findImage(generation, run, rule);
    if (image === null) remaining.push(generation);
    else
      known.push(asKnown(asked, image, { isReplacement: asked.replaces !== undefined && !rule.isMissing }));
  }
  return { known, remaining };
}

/** The images of this machine that are of these looks, or replace the same rejected images. */
export const lookImages = (
  generations: readonly Generation[],
  { state: { looks }, account }: LooksOwner,
): LookImage[] =>
  generations.flatMap((generation) => [
    ...looks.of(account, lookDigest(generation)),
    ...(generation.replaces === undefined ? [] : looks.replacing(account, generation.replaces)),
  ]);

/** How many of these images are generated, also of which a setting is unknown, and how many in progress. */
export function countKnown(known: Iterable<KnownLook>) {
  const all = [...known];
  const existing = all.filter(({ exists }) => exists).length;
  const unknown = all.filter(({ isLookUnknown }) => isLookUnknown).length;
  return { existing, unknown, inProgress: all.length - existing };
}

export const byPlaces = (known: readonly KnownLook[]): Map<string, KnownLook> =>
  new Map(known.map((image) => [placeKey(image.generation), image]));
