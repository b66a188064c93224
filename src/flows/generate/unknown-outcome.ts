import { ApiError } from "../../client/api-error.ts";
import { operations } from "../../contract/client-operations.ts";
import { toTaskType } from "../../contract/generation-rules.ts";
import { keyLifeMs, limits } from "../../contract/limits.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { looksByTask, styledKey } from "../catalogue/coverage.ts";
import { isKeyAlive, isKeyExpired, readClocks, shownTime } from "../run/clocks.ts";
import type { Run } from "../run/run.ts";
import { settleUnknown, type UnknownBatches } from "../run/unknown-outcome.ts";
import { counted } from "../words.ts";
import { batchKey, type Generation, loadGenerations } from "./generation.ts";
import type { UnqueuedChoice } from "./generation-run.ts";

interface Unanswered extends UnknownBatches {
  readonly generations: number;
  /** How many tasks of the same products the service has from that time. */
  readonly candidates: number;
}

/** Tasks of a batch are looked for from so long before it was sent, in milliseconds: clocks differ. */
const searchMarginMs = 300_000;

/** Tasks older than a batch by this are not of it, unless clocks differ: then the user decides. */
const surelyEarlierMs = 5_000;

/**
 * Settles batches of unknown outcome whose key the service has forgotten (Cross-cutting rule 1): they are
 * never sent again as they were, because each image would be paid for twice. The images of the service's
 * tasks show whether a batch was queued; where they do not, `--unknown` decides. Throws a CatError of type
 * conflict without it.
 */
export async function settleExpired(
  run: Run,
  { file, unknown }: { file: string; unknown: UnqueuedChoice | undefined },
): Promise<void> {
  const { batches } = run.state;
  const clocks = await readClocks(run);
  const isExpired = (batch: StoredBatch) =>
    !isKeyAlive(batch, clocks) || (batch.isKeyTaken && unknown !== undefined);
  const expired = batches.of(run.id).filter((batch) => batch.state === "sent" && isExpired(batch));
  if (expired.length === 0) return;
  const tasks = await unclaimedTasks(run, expired);
  const looks = tasks.size === 0 ? new Map<string, string>() : await readLooks(expired, run);
  const asked = new UnansweredRequests(run);
  const findCandidates = (batch: StoredBatch) => candidatesFor(batch, asked.listGenerations(batch), tasks);
  const decide = (batch: StoredBatch): boolean => {
    const candidates = findCandidates(batch);
    const own = candidates.filter((task) => !isEarlier(task, batch));
    const ids = matchingTasks(batch, own, { looks, asked });
    if (candidates.length === 0 && isKeyExpired(batch, clocks)) batches.dropped(run.id, batch.index);
    else if (ids === null) return false;
    else {
      batches.accepted(run.id, batch.index, ids);
      // Tasks that are of one batch are not of another.
      for (const id of ids) tasks.delete(id);
    }
    asked.remove(batch);
    return true;
  };
  let undecided = expired;
  // A batch that was decided may decide about another.
  for (let before = Number.POSITIVE_INFINITY; undecided.length < before; ) {
    before = undecided.length;
    undecided = undecided.filter((batch) => !decide(batch));
  }
  if (undecided.length === 0) return;
  await settleUnknown<Unanswered, UnqueuedChoice>({
    batches: undecided,
    files: [file],
    facts: {
      generations: undecided.reduce((sum, batch) => sum + batch.rows.length, 0),
      candidates: undecided.reduce((sum, batch) => sum + findCandidates(batch).length, 0),
    },
    now: clocks,
    given: unknown,
    ask: undefined,
    rejection,
    apply: (choice, { index }) =>
      choice === "queued" ? batches.accepted(run.id, index, []) : batches.dropped(run.id, index),
  });
}

/** The tasks of the service since the first batch, without those of known batches. */
async function unclaimedTasks(run: Run, expired: readonly StoredBatch[]): Promise<Map<string, Task>> {
  const { state, account, kind, id, client, signal } = run;
  const elsewhere = state.batches.unsettledElsewhere({ account, kind, runId: id }).map(({ batch }) => batch);
  const known = new Set([...state.batches.of(id), ...elsewhere].flatMap(({ jobs }) => jobs));
  const since = Math.min(...expired.flatMap(sentTimes)) - searchMarginMs;
  const type = toTaskType(kind);
  const tasks = new Map<string, Task>();
  const listing = client.paginate(operations.tasks.list, { type, limit: limits.page.max }, { signal });
  for await (const task of listing) {
    if (Date.parse(task.created_at) < since) break;
    if (!known.has(task.id)) tasks.set(task.id, task);
  }
  return tasks;
}

/** When a batch was sent, by both clocks, one of which may be wrong; any time if the service's is unknown. */
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

const isEarlier = ({ created_at }: Task, { sentAt, sentAtService }: StoredBatch): boolean =>
  Date.parse(created_at) < Math.min(sentAt, sentAtService ?? sentAt) - surelyEarlierMs;

/** The images of tasks in the catalogue; none where the key cannot read it, or exports lack the product. */
async function readLooks(expired: readonly StoredBatch[], run: Run): Promise<ReadonlyMap<string, string>> {
  const generations = expired.flatMap((batch) => loadGenerations(run.state, batch));
  const products = new Set(
    generations.flatMap(({ productId, productReference }) => (productReference === null ? [] : productId)),
  );
  try {
    return await looksByTask([...products], [toTaskType(run.kind)], run);
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && error.status !== 429) return new Map();
    throw error;
  }
}

const toLook = (generation: Generation): string =>
  styledKey(generation.productId, generation, generation.stylings);

/** The requests of this machine whose tasks are unknown, also those said to be queued. */
class UnansweredRequests {
  readonly #generations = new Map<string, readonly Generation[]>();
  /** The requests, by what they ask for: looks, and IDs of products. */
  readonly #askers = new Map<string, Set<string>>();

  constructor({ state, account, kind }: Run) {
    for (const { batch } of state.batches.unsettledElsewhere({ account, kind, runId: "" })) {
      if (batch.state !== "sent" && batch.jobs.length > 0) continue;
      const generations = loadGenerations(state, batch);
      this.#generations.set(batchKey(batch), generations);
      for (const what of askedIn(generations)) {
        const askers = this.#askers.get(what) ?? new Set();
        this.#askers.set(what, askers.add(batchKey(batch)));
      }
    }
  }

  listGenerations = (batch: StoredBatch): readonly Generation[] => this.#generations.get(batchKey(batch))!;

  /** Whether another request asks for a look, or for any image of a product. */
  isAskedElsewhere(what: string, batch: StoredBatch): boolean {
    const askers = this.#askers.get(what);
    return askers !== undefined && askers.size > (askers.has(batchKey(batch)) ? 1 : 0);
  }

  remove(batch: StoredBatch): void {
    for (const what of askedIn(this.listGenerations(batch))) this.#askers.get(what)?.delete(batchKey(batch));
  }
}

const askedIn = (generations: readonly Generation[]): string[] =>
  generations.flatMap((generation) => [toLook(generation), generation.productId]);

/**
 * The task of each generation of a request: one whose image shows the same, else one of its product that has
 * failed; null unless all have one. A request is queued as a whole, so one image that no other request has
 * asked for proves it. Without such an image, what others have asked for as well proves nothing. A failed
 * task of another computer is reported like one of its own, so that the image can be generated again.
 */
function matchingTasks(
  batch: StoredBatch,
  candidates: readonly Task[],
  { looks, asked }: { looks: ReadonlyMap<string, string>; asked: UnansweredRequests },
): string[] | null {
  const generations = asked.listGenerations(batch);
  const unassigned = new Set(candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  const takeTask = (fits: (task: Task) => boolean): string | undefined => {
    const match = [...unassigned].find(fits);
    if (match !== undefined) unassigned.delete(match);
    return match?.id;
  };
  const byImage = generations.map((generation) =>
    takeTask(({ id, subtype }) => looks.get(id) === toLook(generation) && subtype === generation.subtype),
  );
  const isOwnLook = (generation: Generation) => !asked.isAskedElsewhere(toLook(generation), batch);
  const isProven = generations.some((generation, at) => byImage[at] !== undefined && isOwnLook(generation));
  if (!isProven && !generations.every(isOwnLook)) return null;
  const ids = generations.flatMap(({ productId, subtype }, at) => {
    const isFailed = (task: Task) =>
      task.status === "failed" && task.product_id === productId && task.subtype === subtype;
    const mayFail = isProven || !asked.isAskedElsewhere(productId, batch);
    return byImage[at] ?? (mayFail ? takeTask(isFailed) : undefined) ?? [];
  });
  return ids.length === generations.length ? ids : null;
}

function rejection(
  { file, sentAt, generations, candidates }: Unanswered,
  choice: UnqueuedChoice | undefined,
) {
  if (choice !== undefined) return null;
  const what = `${counted(generations, "image")} of ${file} requested at ${shownTime(sentAt)}`;
  return {
    message: `no response for ${what}; the service has ${counted(candidates, "task")} that may be theirs`,
    hint: "Check cat tasks list, then add --unknown queued or --unknown not-queued (not-queued pays for them again if they were).",
  };
}
