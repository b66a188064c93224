// `--missing`: the images of an input that the service shows as made, or in progress, on other machines.

import { operations } from "../../contract/client-operations.ts";
import { toTaskType } from "../../contract/generation-rules.ts";
import { limits } from "../../contract/limits.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import { lookDigest } from "../../state/looks.ts";
import { type GeneratedImage, type KnownImages, readGenerated, styledKey } from "../catalogue/coverage.ts";
import { readTasks } from "../run/follow.ts";
import type { Run } from "../run/run.ts";
import { type Generation, generationsByTask } from "./generation.ts";
import {
  asKnown,
  type KnownLook,
  type KnownLooks,
  replacementOf,
  type SearchedRun,
  toKnown,
} from "./known-looks.ts";

export const knownImages = ({ state, service }: Pick<Run, "state" | "service">): KnownImages => ({
  isRejected: (task) => state.decisions.isRejected(service.baseUrl, task),
  findLook: generationsByTask(state, ["tryon", "beautify"]),
});

/**
 * Divides generations by what the service shows. Tasks are read before images: one that ends meanwhile is
 * seen as an image. A task that was queued elsewhere tells only its product, all of whose images count as in
 * progress until it has ended.
 */
export async function findAtService(
  generations: readonly Generation[],
  run: SearchedRun,
  onRead: (products: number) => void,
): Promise<KnownLooks> {
  const { looks } = run.state;
  const products = new Set(generations.map(({ productId }) => productId));
  const busy = new Set<string>();
  for (const status of ["queued", "running"] as const)
    for await (const { id, product_id } of findTasks(run, status))
      if (products.has(product_id) && looks.digestOf(id) === null) busy.add(product_id);
  const find = await readImages(generations, run, onRead);
  const known: KnownLook[] = [];
  const remaining: Generation[] = [];
  for (const generation of generations) {
    const { image, isLookUnknown, rejected } = find(generation);
    const replacement = rejected === null ? null : replacementOf(rejected, run);
    if (image !== null) known.push(toKnown(generation, image.taskId, { isLookUnknown }));
    else if (busy.has(generation.productId)) known.push(toKnown(generation, null, { exists: false }));
    else if (replacement !== null) known.push(asKnown(generation, replacement));
    else remaining.push(rejected === null ? generation : { replaces: rejected, ...generation });
  }
  return { known, remaining };
}

/** An image that fits a generation, as far as can be known, and else a rejected one. */
interface Fitting {
  readonly image: GeneratedImage | null;
  /** Whether a setting by which it may be another one is not known. */
  readonly isLookUnknown: boolean;
  /** The task of the newest rejected image. */
  readonly rejected: string | null;
}

/** Reads the images of the products. Exports lack products of the dashboard, which have no reference. */
async function readImages(
  generations: readonly Generation[],
  run: SearchedRun,
  onRead: (products: number) => void,
): Promise<(generation: Generation) => Fitting> {
  const { state, kind } = run;
  const exported = generations.flatMap(({ productId, productReference }) =>
    productReference === null ? [] : productId,
  );
  const images = new Map<string, GeneratedImage[]>();
  const known = knownImages(run);
  let read = 0;
  if (exported.length > 0)
    for await (const ofProduct of readGenerated(exported, [toTaskType(kind)], known, run)) {
      for (const image of ofProduct) {
        const list = images.get(image.key);
        if (list === undefined) images.set(image.key, [image]);
        else list.push(image);
      }
      onRead(++read);
    }
  const toKey = (generation: Generation) => styledKey(generation.productId, generation, generation.stylings);
  const digestOf = ({ taskId }: GeneratedImage) => (taskId === null ? null : state.looks.digestOf(taskId));
  const similar = generations.flatMap((generation) => images.get(toKey(generation)) ?? []);
  const strangers = similar.flatMap((image) => (digestOf(image) === null ? (image.taskId ?? []) : []));
  // Only the task of a beautified shot tells its subtype.
  const tasks = kind === "tryon" ? new Map<string, Task>() : await readTasks(new Set(strangers), run);
  const fits = (generation: Generation, image: GeneratedImage): boolean => {
    const digest = digestOf(image);
    if (digest !== null) return digest === lookDigest(generation);
    const { lookAtCamera, style, subtype } = generation;
    const said = { lookAtCamera, style, ...image.settings };
    const made = tasks.get(image.taskId ?? "")?.subtype ?? subtype;
    return said.lookAtCamera === lookAtCamera && said.style === style && made === subtype;
  };
  const isRejected = ({ taskId }: GeneratedImage) => taskId !== null && known.isRejected(taskId);
  return (generation) => {
    const fitting = (images.get(toKey(generation)) ?? []).filter((image) => fits(generation, image));
    const image = fitting.find((one) => !isRejected(one)) ?? null;
    const unknown = kind === "tryon" ? "lookAtCamera" : generation.subtype === "clothing" ? "style" : null;
    return {
      image,
      isLookUnknown:
        image !== null &&
        unknown !== null &&
        digestOf(image) === null &&
        image.settings[unknown] === undefined,
      rejected: fitting.findLast(isRejected)?.taskId ?? null,
    };
  };
}

const findTasks = ({ client, signal, kind }: SearchedRun, status: Task["status"]): AsyncIterable<Task> =>
  client.paginate(
    operations.tasks.list,
    { type: toTaskType(kind), status, limit: limits.page.max },
    { signal },
  );
