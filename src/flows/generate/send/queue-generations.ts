// Queuing: generations cut into the batches of their requests, and sent.

import { ApiError } from "../../../client/api-error.ts";
import type { CatError } from "../../../errors.ts";
import type { CutBatch, ReadyBatch, SentBatch } from "../../run/batch.ts";
import { HeldByAnotherRun, Journal, sendAgain } from "../../run/journal.ts";
import { sendBatches } from "../../run/send.ts";
import type { Stage } from "../../run/stage.ts";
import { type Generation, placeKey } from "../generation.ts";
import { cutGenerations } from "../plan/cut-batches.ts";
import { notReplaced } from "../plan/not-replaced.ts";
import type { GenerationRun, Rejection } from "../run/generation-run.ts";
import { generationsOfBatch, packGenerations } from "../run/stored-generations.ts";
import { beautifierOperation, bodyOf, tryonOperation } from "./operations.ts";

/**
 * Queues what is left of a run, after batches of earlier processes whose outcome is unknown; `onQueued` receives the tasks of
 * each batch. With `skipInvalid` inputs that the service rejects are left out, and the rest is cut and sent again.
 *
 * An image that replaces a rejected one is sent by one run only, unless this one is `fresh`: the record of a batch excludes
 * the others, and what another run has recorded meanwhile is left out.
 */
export async function queueGenerations(
  run: GenerationRun,
  onQueued: (generations: readonly Generation[], tasks: readonly string[]) => void,
): Promise<Stage<void>> {
  const { input, service } = run;
  const { state, id } = run.run;
  const { client, clock, signal, concurrency } = service;
  const operation = input.kind === "tryon" ? tryonOperation(client) : beautifierOperation(client);
  for (;;) {
    if (!run.fresh) leaveOutReplaced(run);
    const left = run.remaining.filter(
      (one) => !run.sent.has(placeKey(one)) && !run.rejected.has(placeKey(one)),
    );
    const batches = new Map<number, readonly Generation[]>();
    const { sent, stopped } = await sendBatches(batchesToSend(run, left, batches), {
      operation,
      clock,
      signal,
      concurrency,
      journal: new Journal(run.run, state.batches.of(id), service, {
        listedAs: null,
        changesProducts: false,
        guarded: !run.fresh,
      }),
      onAccepted: (batch) => {
        const generations = batches.get(batch.rows[0]!)!;
        for (const [at, generation] of generations.entries())
          run.sent.set(placeKey(generation), { generation, taskId: batch.jobs[at]! });
        onQueued(generations, batch.jobs);
      },
    });
    keepUnknown(run, batches, sent);
    const isNew = keepRejections(run, batches, sent);
    if (stopped === undefined) return { done: undefined, stopped: undefined };
    const goesOn =
      isStored(stopped) ||
      stopped instanceof HeldByAnotherRun ||
      (input.skipInvalid && isNew && isOfInput(stopped));
    if (!goesOn || signal.aborted) return { done: undefined, stopped };
  }
}

/** Takes out of what remains the images that another run has generated again since the plan was made, or may have. */
function leaveOutReplaced({ run, remaining, replaced }: GenerationRun): void {
  const left = new Set(notReplaced(remaining, run));
  for (const one of remaining) if (!left.has(one)) replaced.add(placeKey(one));
  remaining.splice(0, Infinity, ...left);
}

/** Batches to send; `batches` receives the generations of each, by the place of its first row. */
async function* batchesToSend(
  { run, service }: GenerationRun,
  left: readonly Generation[],
  batches: Map<number, readonly Generation[]>,
): AsyncGenerator<CutBatch | ReadyBatch> {
  const { state, id } = run;
  const stored = state.batches.of(id);
  for await (const batch of sendAgain(run, stored, service, { renewsKeys: false })) {
    batches.set(batch.rows[0]!, generationsOfBatch(state, { run: id, index: batch.index }));
    yield batch;
  }
  let place = stored.reduce((most, { rows }) => Math.max(most, ...rows), -1);
  for (const batch of cutGenerations(left)) {
    const rows = Uint32Array.from(batch, () => ++place);
    batches.set(rows[0]!, batch);
    yield {
      body: bodyOf(batch),
      rows,
      lines: Uint32Array.from(batch, ({ line }) => line),
      references: batch.flatMap(({ replaces }) => replaces ?? []),
      memo: packGenerations(batch),
    };
  }
}

/** Whether the service rejected what an input says, rather than who sent it or when: other inputs may be accepted. */
export const isOfInput = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 400 || error.status === 404 || error.status === 422);

/**
 * Whether the response is one that the service has stored under the key of an earlier attempt, and that says nothing about
 * the input, e.g. a 402 from before topping up: another key may be accepted now.
 */
const isStored = (error: unknown): boolean =>
  error instanceof ApiError && error.replayed && !isOfInput(error);

/** Keeps the generations of batches whose outcome this process could not learn: they are sent again only as they were. */
function keepUnknown(
  { sent: inJournal }: GenerationRun,
  batches: ReadonlyMap<number, readonly Generation[]>,
  sent: readonly SentBatch[],
): void {
  for (const { kind, rows } of sent) {
    if (kind !== "unknown") continue;
    for (const generation of batches.get(rows[0]!)!)
      inJournal.set(placeKey(generation), { generation, taskId: null });
  }
}

/** Keeps why inputs were rejected, by place; the others of their batches remain. Gives whether there are any. */
function keepRejections(
  { rejected, remaining, sent: inJournal }: GenerationRun,
  batches: ReadonlyMap<number, readonly Generation[]>,
  sent: readonly SentBatch[],
): boolean {
  const before = rejected.size;
  for (const batch of sent) {
    if (batch.kind !== "refused") continue;
    const generations = batches.get(batch.rows[0]!)!;
    for (const generation of generations) {
      // A batch of an earlier process was not among those that remained.
      if (inJournal.delete(placeKey(generation))) remaining.push(generation);
    }
    if (!isOfInput(batch.error)) continue;
    for (const [at, generation] of generations.entries()) {
      const own = batch.problems.filter(({ row }) => row === at);
      const [first] = own;
      // A beautifier request names no input: its one row is meant.
      if (first === undefined && generations.length > 1 && at !== inputNamed(batch.error)) continue;
      const why =
        first === undefined
          ? reasonOf(batch.error)
          : { code: first.code, message: [...new Set(own.map(({ message }) => message))].join("; ") };
      rejected.set(placeKey(generation), { generation, why });
    }
  }
  return rejected.size > before;
}

/** The index of the input that `param` of a single error names, e.g. `inputs[3].background`; null for none. */
function inputNamed({ param }: CatError): number | null {
  const index = /^inputs(?:\[(\d+)\]|\.(\d+)(?=\.|$))/.exec(param ?? "");
  return index === null ? null : Number(index[1] ?? index[2]);
}

const reasonOf = (error: CatError): Rejection => ({
  code: error.code,
  message: error instanceof ApiError ? error.body.message : error.message,
});
