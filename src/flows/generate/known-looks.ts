// Known looks: which images of an input are there already, or in progress. This is the one place that decides it.

import { type LookImage, lookDigest } from "../../state/looks.ts";
import { TaskFollower } from "../run/follow.ts";
import type { Run } from "../run/run.ts";
import { type Generation, placeKey } from "./generation.ts";

/** Where to look: a run, or what a dry run has of one. */
export type Searched = Pick<
  Run,
  "client" | "clock" | "signal" | "concurrency" | "state" | "service" | "account" | "kind"
>;

/** What of an input is generated although it is there. */
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
export interface KnownImage {
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

/** An input, less what is there. */
export interface KnownLooks {
  readonly known: readonly KnownImage[];
  readonly remaining: readonly Generation[];
}

const isAlive = ({ status }: LookImage): boolean => status !== "failed";

/** The image of this machine that makes another one needless; null for none. */
function findImage(
  generation: Generation,
  { state: { looks }, account }: Pick<Run, "state" | "account">,
  { isShared, isMissing, preferred }: LookRule,
): LookImage | null {
  const { replaces } = generation;
  const replacement = replaces === undefined ? undefined : looks.replacing(account, replaces).find(isAlive);
  if (replacement !== undefined || isShared) return replacement ?? null;
  const images = looks.of(account, lookDigest(generation));
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
  { state: { looks }, account }: Pick<Run, "state" | "account">,
  { isMissing }: LookRule,
): Generation {
  if (!isMissing || generation.replaces !== undefined) return generation;
  const rejected = looks.of(account, lookDigest(generation)).find((image) => image.isRejected);
  return rejected?.task ? { ...generation, replaces: rejected.task } : generation;
}

/** Divides an input by what this machine knows now. */
export function divideKnown(
  generations: readonly Generation[],
  run: Pick<Run, "state" | "account">,
  rule: LookRule,
): KnownLooks {
  if (rule.isFresh) return { known: [], remaining: generations };
  const known: KnownImage[] = [];
  const remaining: Generation[] = [];
  for (const asked of generations) {
    const generation = withReplaced(asked, run, rule);
    const image = findImage(generation, run, rule);
    if (image === null) remaining.push(generation);
    else
      known.push({
        generation: asked,
        taskId: image.task,
        exists: image.status === "succeeded",
        isUnanswered: image.isUnanswered,
        isReplacement: asked.replaces !== undefined && !rule.isMissing,
      });
  }
  return { known, remaining };
}

/** The images of this machine that are of these looks, or replace the same rejected images. */
export const imagesOf = (
  generations: readonly Generation[],
  { state: { looks }, account }: Pick<Run, "state" | "account">,
): LookImage[] =>
  generations.flatMap((generation) => [
    ...looks.of(account, lookDigest(generation)),
    ...(generation.replaces === undefined ? [] : looks.replacing(account, generation.replaces)),
  ]);

/** The tasks that the service has, by ID. */
export async function readTasks(ids: ReadonlySet<string>, run: Omit<Searched, "state">) {
  const follower = new TaskFollower(run, { onStatus: () => {}, onLost: () => {} });
  follower.add([...ids]);
  await follower.round();
  return follower.tasks;
}

/** How many of these images are generated, and how many in progress. */
export function countKnown(known: Iterable<KnownImage>): { existing: number; inProgress: number } {
  const all = [...known];
  const existing = all.filter(({ exists }) => exists).length;
  return { existing, inProgress: all.length - existing };
}

/** Known images by their places in the input. */
export const byPlaces = (known: readonly KnownImage[]): Map<string, KnownImage> =>
  new Map(known.map((image) => [placeKey(image.generation), image]));
