import { ApiError } from "../../client/api-error.ts";
import { taskTypeOf } from "../../contract/generation-rules.ts";
import { keyLifeMs, limits } from "../../contract/limits.ts";
import { operations } from "../../contract/operations.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { looksByTask, styledKey } from "../catalogue/coverage.ts";
import { isKeyAlive, isKeyExpired, readClocks, shownTime } from "../run/clocks.ts";
import type { Run } from "../run/run.ts";
import { settleUnknown } from "../run/unknown-outcome.ts";
import { counted } from "../words.ts";
import { type Generation, loadGenerations } from "./generation.ts";
import type { GenerateDeps, GenerateInput, UnknownChoice, UnknownOutcomeQuestion } from "./generation-run.ts";

/** Tasks of a batch are looked for from so long before it was sent, in milliseconds: clocks differ. */
const searchMarginMs = 300_000;

/** What is older than a batch by this is not of it, unless clocks differ: then the user decides. */
const surelyEarlierMs = 5_000;

/**
 * Settles batches of unknown outcome whose key the service has forgotten (Cross-cutting rule 1): they are never sent again
 * as they were, because each image would be paid for twice. The images of the service's tasks show whether a batch was queued;
 * where they do not, the user decides. Throws a CatError of type conflict if no one does.
 */
export async function settleExpired(
  run: Run,
  { file, unknown }: GenerateInput,
  ask: GenerateDeps["ask"],
): Promise<void> {
  const { batches } = run.state;
  const clocks = await readClocks(run);
  const isExpired = (batch: StoredBatch) =>
    !isKeyAlive(batch, clocks) || (batch.isKeyTaken && unknown !== undefined);
  const expired = batches.of(run.id).filter((batch) => batch.state === "sent" && isExpired(batch));
  if (expired.length === 0) return;
  const tasks = await unclaimedTasks(run, expired);
  const looks = tasks.size === 0 ? new Map<string, string>() : await looksOf(expired, run);
  /** The number of candidates of a batch that cannot be decided; null for one that was. */
  const decide = (batch: StoredBatch): number | null => {
    const generations = loadGenerations(run.state, batch);
    const candidates = candidatesFor(batch, generations, tasks);
    const own = candidates.filter((task) => !isEarlier(task, batch));
    const ids = matchingTasks(generations, own, { looks, others: unansweredRequests(run, batch) });
    if (candidates.length === 0 && isKeyExpired(batch, clocks)) batches.dropped(run.id, batch.index);
    else if (ids === null) return candidates.length;
    else {
      batches.accepted(run.id, batch.index, ids);
      // Tasks that are of one batch are not of another.
      for (const id of ids) tasks.delete(id);
    }
    return null;
  };
  let undecided = expired.map((batch) => ({ batch, generations: 0, candidates: 0 }));
  // What is known of one batch may decide about another.
  for (let before = undecided.length + 1; undecided.length < before && undecided.length > 0; ) {
    before = undecided.length;
    undecided = undecided.flatMap(({ batch }) => {
      const candidates = decide(batch);
      return candidates === null ? [] : { batch, generations: batch.rows.length, candidates };
    });
  }
  if (undecided.length === 0) return;
  const count = (key: "generations" | "candidates") => undecided.reduce((sum, one) => sum + one[key], 0);
  await settleUnknown<UnknownOutcomeQuestion, UnknownChoice>({
    batches: undecided.map(({ batch }) => batch),
    files: [file.source.name],
    facts: { generations: count("generations"), candidates: count("candidates") },
    now: clocks,
    given: unknown,
    ask,
    rejection,
    apply: (choice, { index }) =>
      choice === "queued" ? batches.accepted(run.id, index, []) : batches.dropped(run.id, index),
  });
}

/** The tasks of the service since the first of the batches was sent, less those that a batch of this machine is known to have made. */
async function unclaimedTasks(run: Run, expired: readonly StoredBatch[]): Promise<Map<string, Task>> {
  const { state, account, kind, id, client, signal } = run;
  const elsewhere = state.batches.unsettledElsewhere({ account, kind, runId: id }).map(({ batch }) => batch);
  const known = new Set([...state.batches.of(id), ...elsewhere].flatMap(({ jobs }) => jobs));
  const since = Math.min(...expired.flatMap(sentTimes)) - searchMarginMs;
  const type = taskTypeOf(kind);
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
const sentTimes = ({ sentAt, sentAtService }: StoredBatch) =>
  sentAtService === null
    ? ([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const)
    : ([sentAt, sentAtService] as const);

/** The tasks that may be those of a batch: of its products, from the time in which its key was known. */
function candidatesFor(
  batch: StoredBatch,
  generations: readonly Generation[],
  tasks: ReadonlyMap<string, Task>,
): Task[] {
  const products = new Set(generations.map(({ productId }) => productId));
  const from = Math.min(...sentTimes(batch)) - searchMarginMs;
  const until = Math.max(...sentTimes(batch)) + keyLifeMs + 2 * searchMarginMs;
  return [...tasks.values()].filter(({ product_id, created_at }) => {
    const at = Date.parse(created_at);
    return products.has(product_id) && at >= from && at <= until;
  });
}

/** Whether a task seems to be older than the batch. */
const isEarlier = ({ created_at }: Task, { sentAt, sentAtService }: StoredBatch): boolean =>
  Date.parse(created_at) < Math.min(sentAt, sentAtService ?? sentAt) - surelyEarlierMs;

/** What the catalogue shows of the images of tasks, by task; nothing where this key cannot read it, or a product is not in exports. */
async function looksOf(expired: readonly StoredBatch[], run: Run): Promise<ReadonlyMap<string, string>> {
  const generations = expired.flatMap((batch) => loadGenerations(run.state, batch));
  const products = new Set(
    generations.flatMap(({ productId, productReference }) => (productReference === null ? [] : productId)),
  );
  try {
    return await looksByTask([...products], [taskTypeOf(run.kind)], run);
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && error.status !== 429) return new Map();
    throw error;
  }
}

/** What all other requests of this machine have asked for whose tasks are not known, also where the user has said that they were queued. */
function unansweredRequests({ state, account, kind }: Run, { run, index }: StoredBatch): Generation[] {
  const all = state.batches.unsettledElsewhere({ account, kind, runId: "" }).map(({ batch }) => batch);
  const others = all.filter((batch) => batch.run !== run || batch.index !== index);
  const unanswered = others.filter((batch) => batch.state === "sent" || batch.jobs.length === 0);
  return unanswered.flatMap((batch) => loadGenerations(state, batch));
}

/**
 * The task of each generation: one whose image shows the same, else one of its product that has failed; null unless all have one.
 * A request is queued as a whole, so one image that no other request (`others`) has asked for proves it. Without such an image, what
 * others have asked for as well proves nothing. A failed task of another computer is reported like one of its own, so that the image
 * can be generated again.
 */
function matchingTasks(
  generations: readonly Generation[],
  candidates: readonly Task[],
  { looks, others }: { looks: ReadonlyMap<string, string>; others: readonly Generation[] },
): string[] | null {
  const lookOf = (one: Generation) => styledKey(one.productId, one, one.stylings);
  const askedLooks = new Set(others.map(lookOf));
  const askedProducts = new Set(others.map(({ productId }) => productId));
  const left = new Set(candidates.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
  const take = (fits: (task: Task) => boolean): string | undefined => {
    const found = [...left].find(fits);
    if (found !== undefined) left.delete(found);
    return found?.id;
  };
  const byImage = generations.map((generation) =>
    take(({ id, subtype }) => looks.get(id) === lookOf(generation) && subtype === generation.subtype),
  );
  const isOwnLook = (one: Generation) => !askedLooks.has(lookOf(one));
  const isProven = generations.some((one, at) => byImage[at] !== undefined && isOwnLook(one));
  if (!isProven && !generations.every(isOwnLook)) return null;
  const ids = generations.flatMap(({ productId, subtype }, at) => {
    const isFailed = (task: Task) =>
      task.status === "failed" && task.product_id === productId && task.subtype === subtype;
    const mayFail = isProven || !askedProducts.has(productId);
    return byImage[at] ?? (mayFail ? take(isFailed) : undefined) ?? [];
  });
  return ids.length === generations.length ? ids : null;
}

function rejection(
  { file, sentAt, generations, candidates }: UnknownOutcomeQuestion,
  choice: UnknownChoice | undefined,
) {
  if (choice !== undefined) return null;
  const what = `${counted(generations, "image")} of ${file} requested at ${shownTime(sentAt)}`;
  return {
    message: `no response for ${what}; the service has ${counted(candidates, "task")} that may be theirs`,
    hint: "Check cat tasks list, then add --unknown queued or --unknown not-queued (not-queued pays for them again if they were).",
  };
}
