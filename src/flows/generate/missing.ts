// `--missing`: which images of an input do not exist yet, and are not in progress either.

import { operations } from "../../contract/client-operations.ts";
import { toTaskType } from "../../contract/generation-rules.ts";
import { limits } from "../../contract/limits.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { type KnownImages, type Look, lookKey, readCoverage } from "../catalogue/coverage.ts";
import { isKeyAlive, readClocks } from "../run/clocks.ts";
import { alreadyRunning, type Run } from "../run/run.ts";
import { batchKey, type Generation, generationsByTask, loadGenerations } from "./generation.ts";

/** Where to look: a run, or what a dry run has of one. */
export type Searched = Pick<
  Run,
  "client" | "clock" | "signal" | "state" | "service" | "account" | "id" | "kind"
>;

/** What of an input is to be generated. */
export interface MissingImages {
  readonly missing: readonly Generation[];
  /** How many images exist, approved or without a decision. */
  readonly existing: number;
  /** How many are in progress, or may be. */
  readonly inProgress: number;
  /** Batches of other runs that were taken into account. */
  readonly seen: ReadonlySet<string>;
}

/** What a state knows of generated images. */
export const knownImages = ({ state, service }: Pick<Run, "state" | "service">): KnownImages => ({
  isRejected: (task) => state.decisions.isRejected(service.baseUrl, task),
  findLook: generationsByTask(state, ["tryon", "beautify"]),
});

const toKey = (generation: Generation): string => lookKey(generation.productId, generation);

/**
 * Finds the images that no product has. Tasks are read before images: one that ends meanwhile is seen as an image. A task
 * that was queued elsewhere tells only its product, all of whose images count as in progress until it has ended.
 */
export async function findMissing(
  generations: readonly Generation[],
  run: Searched,
  onRead: (products: number) => void = () => {},
): Promise<MissingImages> {
  const known = knownImages(run);
  const products = new Set(generations.map(({ productId }) => productId));
  const existing = new Set<string>();
  const inProgress = new Set<string>();
  const busy = new Set<string>();
  const elsewhere = batchesElsewhere(run);
  const clocks = await readClocks(run);
  for (const batch of elsewhere) {
    // After its key has expired only its tasks matter, which the service lists.
    if (batch.state !== "sent" || !isKeyAlive(batch, clocks)) continue;
    for (const generation of loadGenerations(run.state, batch)) inProgress.add(toKey(generation));
  }
  if (products.size > 0) {
    for (const status of ["queued", "running"] as const)
      for await (const { id, product_id } of findTasks(run, { status })) {
        const look = known.findLook(id);
        if (look !== undefined) inProgress.add(lookKey(product_id, look));
        else if (products.has(product_id)) busy.add(product_id);
      }
  }
  const add = (productId: string, look: Look) => existing.add(lookKey(productId, look));
  const exported = generations.flatMap(({ productId, productReference }) =>
    productReference === null ? [] : productId,
  );
  let read = 0;
  if (exported.length > 0)
    for await (const { product, tryons, beautified } of readCoverage(
      exported,
      [toTaskType(run.kind)],
      known,
      run,
    )) {
      for (const look of run.kind === "tryon" ? tryons : beautified) add(product.id, look);
      onRead(++read);
    }
  // Exports do not have products of the dashboard.
  for (const productId of exported) products.delete(productId);
  for (const product_id of products)
    for await (const { id, status } of findTasks(run, { product_id })) {
      const look = status === "succeeded" && !known.isRejected(id) ? known.findLook(id) : undefined;
      if (look !== undefined) add(product_id, look);
    }
  const isBusy = (generation: Generation) =>
    inProgress.has(toKey(generation)) || busy.has(generation.productId);
  const absent = generations.filter((generation) => !existing.has(toKey(generation)));
  const missing = absent.filter((generation) => !isBusy(generation));
  return {
    missing,
    existing: generations.length - absent.length,
    inProgress: absent.length - missing.length,
    seen: new Set(elsewhere.map(batchKey)),
  };
}

/** Leaves out what other runs of this machine have sent since, e.g. while the question was on the screen. */
export function leaveOutSent(search: MissingImages, run: Searched): MissingImages {
  const sent = new Set(
    batchesElsewhere(run)
      .filter((batch) => !search.seen.has(batchKey(batch)))
      .flatMap((batch) => loadGenerations(run.state, batch).map(toKey)),
  );
  const missing = search.missing.filter((generation) => !sent.has(toKey(generation)));
  return { ...search, missing, inProgress: search.inProgress + search.missing.length - missing.length };
}

const batchesElsewhere = ({ state, account, kind, id }: Searched): StoredBatch[] =>
  state.batches.unsettledElsewhere({ account, kind, runId: id }).map(({ batch }) => batch);

const findTasks = (
  { client, signal, kind }: Searched,
  filter: { status?: Task["status"]; product_id?: string },
): AsyncIterable<Task> =>
  client.paginate(
    operations.tasks.list,
    { type: toTaskType(kind), ...filter, limit: limits.page.max },
    { signal },
  );

/** Does work that no other `--missing` of this machine does at the same time: both would queue the same images. */
export async function aloneMissing<Done>(
  run: Pick<Run, "state" | "account" | "kind" | "clock">,
  { pid, file }: { pid: number; file: string },
  work: () => Promise<Done>,
): Promise<Done> {
  const owner = { pid, since: run.clock.now(), file };
  const hold = run.state.runs.hold(run.account, `${run.kind} --missing`, owner);
  if ("heldBy" in hold) throw alreadyRunning(hold.heldBy);
  try {
    return await work();
  } finally {
    hold.release();
  }
}
