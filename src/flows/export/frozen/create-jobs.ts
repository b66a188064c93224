import { ApiError } from "../../../client/api-error.ts";
import type { Client } from "../../../client/client.ts";
import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import { productsBy } from "../../catalogue/lookups.ts";
import type { BatchOperation, CutBatch, ReadyBatch } from "../../run/batch.ts";
import { sendAgain } from "../../run/journal.ts";
import type { Run } from "../../run/run.ts";
import { sendBatches } from "../../run/send.ts";
import type { Stage } from "../../run/stage.ts";
import { carriedOut, isRejectedByService, mayNotRead } from "../../service-errors.ts";
import { listFirst } from "../../words.ts";
import { wholeCatalogue } from "../selection/selection.ts";
import type { FrozenInput, FrozenRun } from "./frozen-run.ts";

export interface CreatedJob {
  readonly id: string;
  /** Its number among the batches of the run. */
  readonly index: number;
  /** The places of its products in the plan, ascending. */
  readonly rows: Uint32Array;
}

/** POST /v1/exports: one job for the products of the body. */
const exportOperation = (client: Client): BatchOperation => ({
  // An export costs nothing.
  isRepeatable: true,
  async send(json, options) {
    const { reply, odd } = await carriedOut(client.exports.create({ json }, options));
    return { jobs: [reply.id], createdAt: Date.parse(reply.created_at), odd };
  },
  toRow: () => null,
  rejectsBody: isUnknownProduct,
});

/**
 * Creates the jobs of a plan, at most 500 products each (Limits); `onCreated` receives each one, also of
 * earlier processes. A lost response is repeated with its key, after 24 hours with a new one: an export costs
 * nothing. Resolves to the places of products of the entire catalogue that were deleted meanwhile.
 */
export async function createJobs(
  { input, run, plan }: FrozenRun,
  onCreated: (job: CreatedJob) => void,
): Promise<Stage<ReadonlySet<number>>> {
  const { signal, state, id } = run;
  const operation = exportOperation(run.client);
  const deleted = new Set<number>();
  for (const { index, rows, jobs } of state.batches.of(id))
    for (const job of jobs) onCreated({ id: job, index, rows });
  for (;;) {
    const { stopped } = await sendBatches(run, jobsToCreate(input, run, plan, deleted, operation), {
      operation,
      listedAs: { file: input.name, variant: input.format, status: "processing" },
      onAccepted: ({ index, rows, jobs }) => onCreated({ id: jobs[0]!, index, rows }),
    });
    if (stopped === undefined || signal.aborted) return { done: deleted, stopped };
    // The service stores a rejection under the key; the next attempt has another key (Cross-cutting rule 5).
    const isStored = isRejectedByService(stopped) && stopped.replayed;
    if (!isUnknownProduct(stopped)) {
      if (isStored) continue;
      return { done: deleted, stopped };
    }
    if (input.selection !== null) return { done: deleted, stopped: await deletedProduct(stopped, plan, run) };
    const deletedBefore = deleted.size;
    // The service need not name all of them.
    const existing = new Set(await wholeCatalogue(run, () => {}));
    for (const [at, product] of plan.entries()) if (!existing.has(product)) deleted.add(at);
    if (deleted.size === deletedBefore && !isStored) return { done: deleted, stopped };
  }
}

function isUnknownProduct(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404 && error.code === "product_not_found";
}

/** Requests of unknown outcome as they were, then one for each part of the plan that has no job. */
async function* jobsToCreate(
  { format, roles }: FrozenInput,
  run: Run,
  plan: readonly string[],
  deleted: ReadonlySet<number>,
  operation: BatchOperation,
): AsyncGenerator<CutBatch | ReadyBatch> {
  const stored = run.state.batches.of(run.id);
  yield* sendAgain(run, stored, operation);
  const taken = new Set(stored.flatMap(({ rows }) => [...rows]));
  // Parts begin at the same places in each attempt, so that a new job replaces exactly one that failed.
  for (let start = 0; start < plan.length; start += limits.exportProducts) {
    const rows: number[] = [];
    for (let at = start; at < Math.min(start + limits.exportProducts, plan.length); at++)
      if (!taken.has(at) && !deleted.has(at)) rows.push(at);
    if (rows.length === 0) continue;
    const product_ids = rows.map((at) => plan[at]!);
    const body = { format, product_ids, ...(roles !== null && { role: roles }) };
    yield {
      body: Buffer.from(JSON.stringify(body)),
      rows: Uint32Array.from(rows),
      lines: Uint32Array.from(rows),
      references: [],
      memo: new Uint8Array(),
    };
  }
}

/** The error for products of the selection that were deleted after they were found. */
async function deletedProduct(error: ApiError, plan: readonly string[], run: Run): Promise<CatError> {
  const gone = await goneFrom(plan, run);
  const shown = listFirst(gone, mostShown);
  const which =
    gone.length === 0
      ? "a product of the selection does"
      : gone.length === 1
        ? `product ${shown} does`
        : `products ${shown} do`;
  return new CatError(`${which} not exist`, {
    type: "not_found",
    code: error.code,
    status: error.status,
    requestId: error.requestId,
    hint: "Remove it from the selection and run the command again.",
  });
}

const mostShown = 5;

/** The products of the plan that the service does not have; none if the key cannot read products. */
async function goneFrom(plan: readonly string[], run: Run): Promise<readonly string[]> {
  try {
    const { byId } = await productsBy({ ids: plan, references: [] }, run);
    return plan.filter((id) => !byId.has(id));
  } catch (error) {
    if (mayNotRead(error)) return [];
    throw error;
  }
}
