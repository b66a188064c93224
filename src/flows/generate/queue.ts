// Queuing: the requests of a run, in which no image is paid for twice.

import { ApiError } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { CatError } from "../../errors.ts";
import { BadResponseError } from "../../http/errors.ts";
import { parseJson } from "../../json.ts";
import type { BatchOperation, CutBatch, ReadyBatch, SentBatch } from "../run/batch.ts";
import { HeldByAnotherRun, sendAgain } from "../run/journal.ts";
import { sendBatches } from "../run/send.ts";
import { carriedOut, hasId } from "../service-errors.ts";
import { type Generation, loadGenerations, packGenerations, placeKey } from "./generation.ts";
import { type GenerationRun, isFresh, type Rejection } from "./generation-run.ts";
import { cutGenerations, halveGenerations, notReplaced } from "./plan.ts";

/**
 * Queues what remains of a run, after batches of earlier processes whose outcome is unknown; `onQueued` receives the tasks of
 * each batch. With `skipInvalid` inputs that the service rejects are left out, and the rest is cut and sent again. Returns what
 * stopped it; undefined if all is queued.
 *
 * An image that replaces a rejected one is sent by one run only, unless this one is fresh: the record of a batch excludes
 * the others, and what another run has recorded meanwhile is left out.
 */
export async function queueGenerations(
  generating: GenerationRun,
  onQueued: (generations: readonly Generation[], tasks: readonly string[]) => void,
): Promise<unknown> {
  const { input, run, balance, sent, remaining, rejected } = generating;
  const operation =
    input.kind === "tryon"
      ? balance.watching(tryonOperation(run.client), inputsIn)
      : balance.watching(beautifierOperation(run.client), () => 1);
  for (;;) {
    if (!isFresh(run)) leaveOutReplaced(generating);
    const unsent = remaining.filter(
      (generation) => !sent.has(placeKey(generation)) && !rejected.has(placeKey(generation)),
    );
    const batches = new Map<number, readonly Generation[]>();
    const { sent: outcomes, stopped } = await sendBatches(
      run,
      batchesToSend(generating, unsent, batches, operation),
      {
        operation,
        guarded: !isFresh(run),
        onAccepted: ({ rows, jobs }) => {
          const generations = batches.get(rows[0]!)!;
          for (const [at, generation] of generations.entries())
            sent.set(placeKey(generation), { generation, taskId: jobs[at]! });
          onQueued(generations, jobs);
        },
        halve({ rows }) {
          const [first, second] = halveGenerations(batches.get(rows[0]!)!);
          return [
            toCut(first, rows.slice(0, first.length), batches),
            toCut(second, rows.slice(first.length), batches),
          ];
        },
      },
    );
    const rejectedBefore = rejected.size;
    for (const outcome of outcomes) keepOutcome(generating, outcome, batches.get(outcome.rows[0]!)!);
    if (stopped === undefined || run.signal.aborted) return stopped;
    const isNew = rejected.size > rejectedBefore;
    const canContinue =
      stopped instanceof HeldByAnotherRun || (input.skipInvalid && isNew && isOfInput(stopped));
    if (!canContinue) return stopped;
  }
}

/** Takes out of what remains the images that another run has generated again since the plan was made, or may have. */
function leaveOutReplaced({ run, remaining, replaced }: GenerationRun): void {
  const kept = new Set(notReplaced(remaining, run));
  for (const generation of remaining.splice(0)) {
    if (kept.has(generation)) remaining.push(generation);
    else replaced.add(placeKey(generation));
  }
}

/** Batches to send; `batches` receives the generations of each, by the place of its first row. */
async function* batchesToSend(
  { run }: GenerationRun,
  unsent: readonly Generation[],
  batches: Map<number, readonly Generation[]>,
  operation: BatchOperation,
): AsyncGenerator<CutBatch | ReadyBatch> {
  const { state, id } = run;
  const stored = state.batches.of(id);
  for await (const batch of sendAgain(run, stored, operation)) {
    batches.set(batch.rows[0]!, loadGenerations(state, { run: id, index: batch.index }));
    yield batch;
  }
  let place = stored.reduce((most, { rows }) => Math.max(most, ...rows), -1);
  for (const batch of cutGenerations(unsent)) {
    const rows = Uint32Array.from(batch, () => ++place);
    yield toCut(batch, rows, batches);
  }
}

/** A batch to send, known by the place of its first row. */
function toCut(
  batch: readonly Generation[],
  rows: Uint32Array,
  batches: Map<number, readonly Generation[]>,
): CutBatch {
  batches.set(rows[0]!, batch);
  return {
    body: toBody(batch),
    rows,
    lines: Uint32Array.from(batch, ({ line }) => line),
    references: batch.flatMap(({ replaces }) => replaces ?? []),
    memo: packGenerations(batch),
  };
}

/**
 * Whether an input was rejected for what it says, or for its size, rather than for who sent it or when: other inputs may be
 * accepted.
 */
export const isOfInput = (error: unknown): boolean =>
  error instanceof CatError &&
  (error instanceof ApiError ? [400, 404, 422].includes(error.status) : error.code === "body_too_large");

/** Keeps the unknown outcome of a batch, which is sent again only as it was, and why its inputs were rejected: the others remain. */
function keepOutcome(
  { sent, remaining, rejected }: GenerationRun,
  batch: SentBatch,
  generations: readonly Generation[],
): void {
  if (batch.kind === "unknown")
    for (const generation of generations) sent.set(placeKey(generation), { generation, taskId: null });
  if (batch.kind !== "refused") return;
  for (const generation of generations) {
    // A batch of an earlier process was not among those that remained.
    if (sent.delete(placeKey(generation))) remaining.push(generation);
  }
  if (!isOfInput(batch.error)) return;
  for (const [at, generation] of generations.entries()) {
    const own = batch.problems.filter(({ rowIndex }) => rowIndex === at);
    const [first] = own;
    // A beautifier request names no input: its one row is meant.
    if (first === undefined && generations.length > 1 && at !== inputNamed(batch.error)) continue;
    const why =
      first === undefined
        ? toRejection(batch.error)
        : {
            code: first.code,
            message: [...new Set(own.map(({ message }) => message))].join("; "),
            field: fieldNamed(first.param),
          };
    rejected.set(placeKey(generation), { generation, why });
  }
}

/** The index of the input that `param` of a single error names, e.g. `inputs[3].background`; null for none. */
function inputNamed({ param }: CatError): number | null {
  const index = /^inputs(?:\[(\d+)\]|\.(\d+)(?=\.|$))/.exec(param ?? "");
  return index === null ? null : Number(index[1] ?? index[2]);
}

const toRejection = (error: CatError): Rejection => ({
  code: error.code,
  message: error instanceof ApiError ? error.body.message : error.message,
  field: fieldNamed(error.param),
});

/** The field of the input that `param` names, e.g. `inputs[3].background` or `inputs.background`. */
const fieldNamed = (param: string | undefined): string | undefined =>
  /^(?:inputs(?:\[\d+\]|\.\d+)?\.)?(\w+)$/.exec(param ?? "")?.[1];

/** The body of a batch: POST /v1/tasks/tryon takes several inputs, POST /v1/tasks/beautifier one (Tasks). */
function toBody(batch: readonly Generation[]): Uint8Array {
  const [first] = batch;
  const body = first!.kind === "tryon" ? { inputs: batch.map(tryonInput) } : beautifierBody(first!);
  return Buffer.from(JSON.stringify(body));
}

const tryonInput = ({ productId, modelId, stylings, background, angleShot, lookAtCamera }: Generation) => ({
  product_id: productId,
  model_id: modelId,
  ...(stylings.length > 0 && { styling_product_ids: stylings }),
  background,
  angle_shot: angleShot,
  ...(!lookAtCamera && { look_at_camera: false }),
});

const beautifierBody = ({ subtype, productId, background, angleShot, style }: Generation) => ({
  subtype,
  inputs: { product_id: productId, background, angle_shot: angleShot, ...(style !== null && { style }) },
});

const inputsIn = (json: Uint8Array): number =>
  (parseJson(Buffer.from(json).toString()) as { inputs: unknown[] }).inputs.length;

/** POST /v1/tasks/tryon: a task per input, problems by `input_index`. */
const tryonOperation = (client: Client): BatchOperation => ({
  isRepeatable: false,
  async send(json, options) {
    const { reply, odd } = await carriedOut(client.tasks.tryon({ json }, options), hasTasks);
    const { tasks } = reply;
    const asked = inputsIn(json);
    if (tasks.length !== asked)
      throw new BadResponseError(`POST /v1/tasks/tryon: ${tasks.length} tasks for ${asked} inputs`, {
        code: "wrong_count",
        hint: "Run the same command again: it looks for the tasks before it sends anything.",
      });
    return { jobs: tasks.map(({ id }) => id), createdAt: Date.parse(tasks[0]!.created_at), odd };
  },
  invalidBody: Buffer.from('{"inputs":[]}'),
  toRow: ({ input_index }) => input_index ?? null,
});

const hasTasks = ({ tasks }: { readonly tasks?: readonly object[] }): boolean =>
  Array.isArray(tasks) && tasks.length > 0 && tasks.every(hasId);

/** POST /v1/tasks/beautifier: one task, so every problem is about its one row. */
const beautifierOperation = (client: Client): BatchOperation => ({
  isRepeatable: false,
  async send(json, options) {
    const { reply, odd } = await carriedOut(client.tasks.beautify({ json }, options));
    return { jobs: [reply.id], createdAt: Date.parse(reply.created_at), odd };
  },
  invalidBody: Buffer.from("{}"),
  toRow: () => 0,
  rejectsBody: ({ status, code }) => status === 404 && code === "product_not_found",
});
