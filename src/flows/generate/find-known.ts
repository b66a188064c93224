// Finding what of an input is there: on this machine, and with `--missing` at the service.

import { lookDigest } from "../../state/looks.ts";
import { isTaskEnded, readTasks } from "../run/follow.ts";
import type { Run } from "../run/run.ts";
import { mayNotRead } from "../service-errors.ts";
import { counted, shownName } from "../words.ts";
import type { Generation, SentGeneration } from "./generation.ts";
import type { GenerateHost, GenerateInput } from "./generation-run.ts";
import {
  byPlaces,
  countKnown,
  divideKnown,
  type KnownLook,
  type KnownLooks,
  type LookRule,
  lookImages,
  type SearchedRun,
  toKnown,
} from "./known-looks.ts";
import { findAtService } from "./missing.ts";
import { settleOthers } from "./other-runs.ts";
import { queuing } from "./queue.ts";

/** Divides an input by what is known, with `--missing` also at the service. */
export async function findKnown(
  generations: readonly Generation[],
  run: SearchedRun,
  rule: LookRule,
  onRead: (products: number) => void = () => {},
): Promise<KnownLooks> {
  if (rule.isFresh || generations.length === 0) return { known: [], remaining: generations };
  await readStatuses(generations, run);
  const here = divideKnown(generations, run, rule);
  if (!rule.isMissing || here.remaining.length === 0) return here;
  const there = await findAtService(here.remaining, run, onRead);
  return { known: [...here.known, ...there.known], remaining: there.remaining };
}

/** Reads the open tasks of these looks: one that has failed is generated again. */
async function readStatuses(generations: readonly Generation[], run: SearchedRun): Promise<void> {
  const open = lookImages(generations, run).flatMap(({ task, status }) =>
    status === "queued" && task !== null ? task : [],
  );
  try {
    const tasks = await readTasks(new Set(open), run);
    run.state.looks.ended([...tasks.values()].filter(isTaskEnded));
  } catch (error) {
    // They count as in progress for a key that cannot read them.
    if (!mayNotRead(error)) throw error;
  }
}

/** The remainder of a plan, and the existing images by place. A run that has ended queues nothing. */
export async function knownLooks(
  planned: readonly Generation[],
  run: Run,
  { input, rule, sent }: { input: GenerateInput; rule: LookRule; sent: Map<string, SentGeneration> },
  { pid, onNote, onProgress }: GenerateHost,
): Promise<{ known: Map<string, KnownLook>; remaining: readonly Generation[] }> {
  const total = new Set(planned.map(({ productId }) => productId)).size;
  const onRead = (done: number) => onProgress({ step: "looking up images", done, total });
  if (!run.isFinished && !rule.isFresh && !rule.isShared) {
    await settleOthers(planned, run, { operation: queuing(input.kind, run), pid, unknown: input.unknown });
  }
  const read = run.isFinished ? { ...rule, isMissing: false } : rule;
  const { known, remaining } = await findKnown(planned, run, read, onRead);
  if (!run.isFinished) {
    for (const sentence of unknownLooks(known, input)) onNote(sentence);
    return { known: byPlaces(known), remaining };
  }
  // Images that such a run has not queued were in progress in one that failed, or are on another machine.
  const elsewhere: KnownLook[] = [];
  const others: Generation[] = [];
  for (const generation of remaining) {
    const [failed] = lookImages([generation], run);
    if (failed === undefined) others.push(generation);
    else elsewhere.push(toKnown(generation, failed.task));
  }
  if (run.options.missing === "yes" && others.length > 0) {
    const there = await findAtService(others, run, onRead);
    // A rejected image counts as long as nothing was to replace it.
    const rejected = there.remaining.flatMap((one) =>
      one.replaces === undefined ? [] : toKnown(one, one.replaces),
    );
    elsewhere.push(...there.known, ...rejected);
    const gone = there.remaining.length - rejected.length;
    if (gone > 0)
      onNote(
        `${counted(gone, "image")} of ${shownName(input.file.source.name)} ${gone === 1 ? "does" : "do"} not exist anymore. To generate ${gone === 1 ? "it" : "them"}, add --missing.`,
      );
  }
  return { known: byPlaces([...known, ...elsewhere, ...takeSucceeded(sent, run)]), remaining: [] };
}

/** Takes out images that failed in a finished run, where another run has generated them since. */
function takeSucceeded(sent: Map<string, SentGeneration>, run: Run): KnownLook[] {
  const taken: KnownLook[] = [];
  for (const [key, { generation, taskId }] of sent) {
    const images = lookImages([generation], run);
    const hasFailed = images.some(({ task, status }) => task === taskId && status === "failed");
    const other = images.find(({ status, isRejected }) => status === "succeeded" && !isRejected);
    if (!hasFailed || other === undefined) continue;
    sent.delete(key);
    taken.push(toKnown(generation, other.task));
  }
  return taken;
}

/** A sentence on how many images count as existing although a setting of them is unknown; none if none do. */
export function unknownLooks(
  known: readonly KnownLook[],
  { kind, file }: Pick<GenerateInput, "kind" | "file">,
): string[] {
  const { unknown: count } = countKnown(known);
  if (count === 0) return [];
  const setting = kind === "tryon" ? "look_at_camera" : "style";
  const [exist, them] = count === 1 ? ["exists", "it"] : ["exist", "them"];
  return [
    `${counted(count, "image")} of ${shownName(file.source.name)} ${exist}, but ${setting} of ${them} is unknown: counted as existing.`,
  ];
}

/** A test whether the image of a task is one of the input, or of the same look as one. */
export function taskMatcher(
  sent: ReadonlyMap<string, SentGeneration>,
  known: ReadonlyMap<string, KnownLook>,
  { state }: Run,
): (task: string) => boolean {
  const images = [...sent.values(), ...known.values()];
  const tasks = new Set(images.map(({ taskId }) => taskId));
  const digests = new Set([...known.values()].map(({ generation }) => lookDigest(generation)));
  return (task) => tasks.has(task) || digests.has(state.looks.digestOf(task) ?? "");
}

/** How many rejected images of the input were generated again before. */
export const countReplaced = (known: ReadonlyMap<string, KnownLook>): number =>
  [...known.values()].filter(({ isReplacement }) => isReplacement).length;
