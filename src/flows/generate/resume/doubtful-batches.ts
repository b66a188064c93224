import { keyLifeMs } from "../../../client/client.ts";
import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { Task } from "../../../contract/resources/task.ts";
import { CatError } from "../../../errors.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import { shownName } from "../../rows/shown-name.ts";
import { isKeyAlive, readClocks, shownTime } from "../../run/clocks.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import { counted, grouped } from "../../words.ts";
import type { Generation } from "../generation.ts";
import type { DoubtQuestion, UnknownChoice } from "../run/generate-input.ts";
import { generationsOfBatch } from "../run/stored-generations.ts";

/** Tasks of a batch are looked for from so long before it was sent, in milliseconds: clocks differ. */
const clockToleranceMs = 300_000;

interface Decisions {
  /** The file, as it was typed. */
  readonly file: string;
  readonly choice: UnknownChoice | undefined;
  readonly ask: ((question: DoubtQuestion) => Promise<UnknownChoice>) | undefined;
}

/**
 * Settles batches of unknown outcome whose key the service has forgotten (Cross-cutting rule 1): they are never sent again
 * as they were, because each image would be paid for twice. The service's tasks show whether a batch was queued; where they
 * do not, the user decides. Throws a CatError of type conflict if no one does.
 */
export async function settleExpired(
  run: RunAtHand,
  service: Service,
  { file, choice, ask }: Decisions,
): Promise<void> {
  const { state } = run;
  const clocks = await readClocks(service);
  const expired = state.batches
    .of(run.id)
    .filter((batch) => batch.state === "sent" && !isKeyAlive(batch, clocks));
  if (expired.length === 0) return;
  const doubtful: { batch: StoredBatch; generations: Generation[]; found: number }[] = [];
  const tasks = await unclaimedTasks(run, expired, service);
  for (const batch of expired) {
    const generations = generationsOfBatch(state, batch);
    const candidates = tasksOf(batch, generations, tasks);
    if (candidates.length === 0) state.batches.dropped(run.id, batch.index);
    else {
      const ids = matched(generations, candidates);
      if (ids === null) doubtful.push({ batch, generations, found: candidates.length });
      else state.batches.accepted(run.id, batch.index, claim(ids, tasks));
    }
  }
  if (doubtful.length === 0) return;
  const question: DoubtQuestion = {
    file: shownName(file),
    sentAt: Math.min(...doubtful.map(({ batch }) => batch.sentAt)),
    generations: doubtful.reduce((sum, { generations }) => sum + generations.length, 0),
    found: doubtful.reduce((sum, { found }) => sum + found, 0),
  };
  const decided = choice ?? (await ask?.(question));
  if (decided === undefined) throw undecided(question);
  for (const { batch } of doubtful) {
    if (decided === "queued") state.batches.accepted(run.id, batch.index, []);
    else state.batches.dropped(run.id, batch.index);
  }
}

/** The tasks of the service since the first of the batches was sent, less those that a batch of this machine is known to have made. */
async function unclaimedTasks(
  { state, account, kind, id }: RunAtHand,
  batches: readonly StoredBatch[],
  { client, signal }: Service,
): Promise<Map<string, Task>> {
  const others = state.batches.unsettledElsewhere({ account, kind, runId: id }).map(({ batch }) => batch);
  const known = new Set([...state.batches.of(id), ...others].flatMap(({ jobs }) => jobs));
  const since = Math.min(...batches.map((batch) => Math.min(...timesOf(batch)))) - clockToleranceMs;
  const type = kind === "tryon" ? "tryon" : "beautifier";
  const tasks = new Map<string, Task>();
  const listing = client.paginate(operations.tasks.list, { type, limit: limits.page.max }, { signal });
  for await (const task of listing) {
    if (Date.parse(task.created_at) < since) break;
    if (!known.has(task.id)) tasks.set(task.id, task);
  }
  return tasks;
}

/**
 * When a batch was sent, by the local clock and by the service's: one of them may be wrong. Any time, if the service's is not
 * known.
 */
const timesOf = ({ sentAt, sentAtService }: StoredBatch) =>
  sentAtService === null
    ? ([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const)
    : ([sentAt, sentAtService] as const);

/** The tasks that may be those of a batch: of its products, from the time in which its key was known. */
function tasksOf(
  batch: StoredBatch,
  generations: readonly Generation[],
  tasks: ReadonlyMap<string, Task>,
): Task[] {
  const products = new Set(generations.map(({ productId }) => productId));
  const from = Math.min(...timesOf(batch)) - clockToleranceMs;
  const until = Math.max(...timesOf(batch)) + keyLifeMs + 2 * clockToleranceMs;
  return [...tasks.values()].filter(({ product_id, created_at }) => {
    const at = Date.parse(created_at);
    return products.has(product_id) && at >= from && at <= until;
  });
}

/** The task of each generation, where every product has as many tasks as generations; else null. IDs are in the order of creation. */
function matched(generations: readonly Generation[], candidates: readonly Task[]): string[] | null {
  const byProduct = groupByProduct(candidates);
  for (const some of byProduct.values()) some.sort((one, other) => (one.id < other.id ? -1 : 1));
  const ids = generations.map(({ productId }) => byProduct.get(productId)?.shift()?.id);
  const isExact =
    ids.every((id) => id !== undefined) && [...byProduct.values()].every((left) => left.length === 0);
  return isExact ? (ids as string[]) : null;
}

function groupByProduct(tasks: readonly Task[]): Map<string, Task[]> {
  const groups = new Map<string, Task[]>();
  for (const task of tasks) groups.set(task.product_id, [...(groups.get(task.product_id) ?? []), task]);
  return groups;
}

/** Tasks that are of one batch are not of another. */
function claim(ids: readonly string[], tasks: Map<string, Task>): readonly string[] {
  for (const id of ids) tasks.delete(id);
  return ids;
}

function undecided({ file, sentAt, generations, found }: DoubtQuestion): CatError {
  const what = `${counted(generations, "image")} of ${file} requested at ${shownTime(sentAt)}`;
  return new CatError(`no response for ${what}; the service has ${grouped(found)} tasks that may be theirs`, {
    type: "conflict",
    code: "unknown_outcome",
    hint: "Check cat tasks list, then add --unknown queued or --unknown not-queued (not-queued pays for them again if they were).",
  });
}
