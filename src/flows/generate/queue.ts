// Queuing: the requests of a run, in which no image is paid for twice.

import { ApiError } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { CatError } from "../../errors.ts";
import { BadResponseError } from "../../http/errors.ts";
import { parseJson } from "../../json.ts";
import { lookDigest } from "../../state/looks.ts";
import type { BatchOperation, CutBatch, ReadyBatch, SentBatch } from "../run/batch.ts";
import { HeldRunError, sendAgain } from "../run/journal.ts";
import type { Run } from "../run/run.ts";
import { sendBatches } from "../run/send.ts";
import { stoppedBy } from "../run/stage.ts";
import { carriedOut, hasId } from "../service-errors.ts";
import { type Generation, loadGenerations, packGenerations, placeKey } from "./generation.ts";
import type { GenerationRun, Rejection } from "./generation-run.ts";
import { divideKnown } from "./known-looks.ts";
import { settleOthers } from "./other-runs.ts";
import { cutGenerations, halveGenerations } from "./plan.ts";

export const queuing = (kind: GenerationRun["input"]["kind"], { client }: Run): BatchOperation =>
  kind === "tryon" ? tryonOperation(client) : beautifierOperation(client);

/**
 * Queues what remains of a run, after batches of earlier processes whose outcome is unknown; `onQueued`
 * receives the tasks of each batch. With `skipInvalid` inputs that the service rejects are left out, and the
 * rest is cut and sent again. Returns what stopped it; undefined if all is queued.
 *
 * A look, or the replacement of a rejected image, is sent by one run only, unless this one insists: the
 * record of a batch excludes the others, and what another run has recorded meanwhile is left out.
 */
export async function queueGenerations(
  generating: GenerationRun,
  onQueued: (generations: readonly Generation[], tasks: readonly string[]) => void,
): Promise<unknown> {
  const { input, run, rule, balance, sent, known, rejected } = generating;
  const imagesIn = input.kind === "tryon" ? inputsIn : () => 1;
  const operation = balance.watching(queuing(input.kind, run), imagesIn);
  let heldInVain = 0;
  for (;;) {
    const knownBefore = known.size;
    const unsent = leaveOutKnown(generating);
    heldInVain = known.size > knownBefore ? 0 : heldInVain;
    const batches = new Map<number, readonly Generation[]>();
    const { sent: outcomes, stopped } = await sendBatches(
      run,
      batchesToSend(generating, unsent, batches, operation),
      {
        operation,
        guarded: !rule.isFresh,
        onAccepted: ({ rows, jobs }) => {
          const generations = batches.get(rows[0]!)!;
          for (const [at, generation] of generations.entries())
            sent.set(placeKey(generation), { generation, taskId: jobs[at]! });
          onQueued(generations, jobs);
        },
        halve({ rows }) {
          const [first, second] = halveGenerations(batches.get(rows[0]!)!);
          return [
            toCut(generating, first, rows.slice(0, first.length), batches),
            toCut(generating, second, rows.slice(first.length), batches),
          ];
        },
      },
    );
    const rejectedBefore = rejected.size;
    for (const outcome of outcomes) keepOutcome(generating, outcome, batches.get(outcome.rows[0]!)!);
    if (stopped === undefined) return stoppedBy(awaitOthers(generating, operation, onQueued));
    if (run.signal.aborted) return stopped;
    const isNew = rejected.size > rejectedBefore;
    const isHeld = stopped instanceof HeldRunError;
    const canContinue = isHeld
      ? heldInVain++ < mostHeldInVain
      : input.skipInvalid && isNew && isOfInput(stopped);
    if (!canContinue) return stopped;
  }
}

/** How often in a row another run may hold an image that it was then not granted. */
const mostHeldInVain = 3;

/** Takes out the images that another run has requested since. Returns those to be sent. */
function leaveOutKnown({
  run,
  rule,
  remaining,
  rejected,
  sent,
  known,
}: GenerationRun): readonly Generation[] {
  const isOpen = (generation: Generation) =>
    !sent.has(placeKey(generation)) && !rejected.has(placeKey(generation));
  const others = remaining.filter((generation) => !isOpen(generation));
  const divided = divideKnown(remaining.filter(isOpen), run, rule);
  for (const image of divided.known) known.set(placeKey(image.generation), image);
  // One by one: a call with 200,000 arguments fails.
  remaining.length = 0;
  for (const generation of [...others, ...divided.remaining]) remaining.push(generation);
  return divided.remaining;
}

/** How long to wait for the response to another process, in milliseconds, before the next look. */
const otherProcessMs = 500;

/** Waits for the tasks of other processes. What they did not get remains: the user did not agree to pay. */
async function awaitOthers(
  generating: GenerationRun,
  operation: BatchOperation,
  onQueued: (generations: readonly Generation[], tasks: readonly string[]) => void,
): Promise<void> {
  const { run, pid, input, remaining, known } = generating;
  for (;;) {
    const asked = [...known.values()].flatMap((image) => (image.isUnanswered ? image.generation : []));
    if (asked.length === 0) return;
    await settleOthers(asked, run, { operation, pid, unknown: input.unknown });
    for (const generation of asked) known.delete(placeKey(generation));
    remaining.push(...asked);
    leaveOutKnown(generating);
    const found = asked.flatMap((generation) => known.get(placeKey(generation)) ?? []);
    for (const { generation, taskId } of found) if (taskId !== null) onQueued([generation], [taskId]);
    if (found.some(({ isUnanswered }) => isUnanswered)) await run.clock.sleep(otherProcessMs, run.signal);
  }
}

/** Batches to send; `batches` receives the generations of each, by the place of its first row. */
async function* batchesToSend(
  generating: GenerationRun,
  unsent: readonly Generation[],
  batches: Map<number, readonly Generation[]>,
  operation: BatchOperation,
): AsyncGenerator<CutBatch | ReadyBatch> {
  const { run } = generating;
  const { state, id } = run;
  const stored = state.batches.of(id);
  for await (const batch of sendAgain(run, stored, operation)) {
    batches.set(batch.rows[0]!, loadGenerations(state, { run: id, index: batch.index }));
    yield batch;
  }
  let place = stored.reduce((most, { rows }) => Math.max(most, ...rows), -1);
  for (const batch of cutGenerations(unsent)) {
    const rows = Uint32Array.from(batch, () => ++place);
    yield toCut(generating, batch, rows, batches);
  }
}

/** A batch to send, known by the place of its first row. */
function toCut(
  { rule: { isShared } }: GenerationRun,
  batch: readonly Generation[],
  rows: Uint32Array,
  batches: Map<number, readonly Generation[]>,
): CutBatch {
  batches.set(rows[0]!, batch);
  return {
    body: toBody(batch),
    rows,
    lines: Uint32Array.from(batch, ({ line }) => line),
    references: [],
    memo: packGenerations(batch),
    looks: batch.map((generation) => {
      const { replaces = null } = generation;
      return { digest: lookDigest(generation), replaces, isShared };
    }),
  };
}

/** Whether an input was rejected for its content or size: others may be accepted. */
export const isOfInput = (error: unknown): boolean =>
  error instanceof CatError &&
  (error instanceof ApiError ? [400, 404, 422].includes(error.status) : error.code === "body_too_large");

/** Keeps the unknown outcome of a batch, sent again only as it was, and why inputs were rejected. */
function keepOutcome(
  { sent, remaining, rejected }: GenerationRun,
  batch: SentBatch,
  generations: readonly Generation[],
): void {
  if (batch.kind === "unknown")
    for (const generation of generations) sent.set(placeKey(generation), { generation, taskId: null });
  if (batch.kind !== "rejected") return;
  const places = new Set(remaining.map(placeKey));
  for (const generation of generations) {
    // A batch of an earlier process was not among those that remained.
    if (sent.delete(placeKey(generation)) && !places.has(placeKey(generation))) remaining.push(generation);
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

/** The index of the input that `param` of an error names, e.g. `inputs[3].background`; null for none. */
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
