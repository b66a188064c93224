// Batches: requests that must not be sent twice. A batch is recorded with its key and bytes before it is
// sent, and repeated unchanged while its outcome is unknown. Each flow has a BatchOperation for its request.

import type { ApiError, Problem } from "../../client/api-error.ts";
import type { Service } from "../service.ts";
import { isRefusal } from "../service-errors.ts";
import type { BatchOperation, BatchReceipt } from "./batch-operation.ts";
import { type RequestInFlight, RequestsInFlight } from "./in-flight.ts";
import type { Journal } from "./journal.ts";
import type { BatchProblem, BatchRows, CutBatch, ReadyBatch, SentBatch } from "./sent-batch.ts";

export interface SendDeps extends Pick<Service, "clock" | "concurrency"> {
  operation: BatchOperation;
  signal?: AbortSignal | undefined;
  journal: Journal;
  /** Receives every accepted batch, after it was recorded. */
  onAccepted: (batch: Extract<SentBatch, { kind: "accepted" }>, receipt: BatchReceipt) => void;
}

/**
 * Sends batches, several at a time, in file order. The first one that is not accepted stops the rest,
 * including queued ones: its problem probably concerns them too, and stopping loses nothing. `stopped` is the
 * reason, if not all were sent: the error of a batch, an interrupt, or an error of the file or state.
 */
export async function sendBatches(
  batches: AsyncGenerator<CutBatch | ReadyBatch>,
  deps: SendDeps,
): Promise<{ sent: SentBatch[]; stopped: unknown }> {
  const sent: SentBatch[] = [];
  let stopped: unknown;
  const inFlight = new RequestsInFlight();
  const release = inFlight.follow(deps.clock, deps.signal);
  const stop = (reason: unknown) => {
    stopped ??= reason;
    inFlight.leave(reason);
  };
  const worker = async () => {
    try {
      while (stopped === undefined) {
        deps.signal?.throwIfAborted();
        const next = await batches.next();
        // An event while the batch was cut stops it as well.
        deps.signal?.throwIfAborted();
        if (next.done || stopped !== undefined) return;
        const batch = "idempotencyKey" in next.value ? next.value : deps.journal.begin(next.value);
        const request = inFlight.begin();
        const { outcome, receipt } = await sendBatch(batch, deps.operation, request);
        inFlight.end(request);
        // Before it is recorded: if that fails, the outcome of these rows is still reported.
        sent.push(outcome);
        deps.journal.settleSending(outcome);
        if (outcome.kind === "accepted") deps.onAccepted(outcome, receipt!);
        else stop(outcome.error);
      }
    } catch (error) {
      stop(error);
    }
  };
  await Promise.all(Array.from({ length: deps.concurrency }, worker));
  release();
  await batches.return(undefined);
  return { sent: sent.sort((one, other) => one.index - other.index), stopped };
}

async function sendBatch(
  batch: ReadyBatch,
  operation: BatchOperation,
  request: RequestInFlight,
): Promise<{ outcome: SentBatch; receipt: BatchReceipt | null }> {
  const { index, rows, lines, bytes, body, idempotencyKey, keyFrom } = batch;
  const known = { index, rows, lines, bytes };
  try {
    const { signal, onDoubt } = request;
    const receipt = await operation.send(body, { signal, onDoubt, idempotencyKey, keyFrom });
    return { outcome: { ...known, kind: "accepted", jobs: receipt.jobs }, receipt };
  } catch (error) {
    return { outcome: { ...known, ...failureOf(error, batch, { operation, request }) }, receipt: null };
  }
}

type Failure =
  Exclude<SentBatch, { kind: "accepted" }> extends infer Batch
    ? Batch extends BatchRows
      ? Omit<Batch, keyof BatchRows>
      : never
    : never;

function failureOf(
  error: unknown,
  { again, lines }: ReadyBatch,
  { operation, request }: { operation: BatchOperation; request: RequestInFlight },
): Failure {
  const unsent = again ? "unknown" : "unsent";
  // It was aborted because of another batch, whose error reveals nothing about this one.
  if (request.hasLeft) return { kind: unsent, error };
  if (isRefusal(error) && isNothingDone(error, again, operation)) {
    const problems = error.problems.map((one) => inFile(one, operation, lines));
    return { kind: "refused", error, problems };
  }
  return { kind: request.inDoubt ? "unknown" : unsent, error };
}

/**
 * Whether a rejection proves that nothing was done: any one (after a 429 nothing was created: Limits).
 * After an attempt without a response, even by an earlier process, only two rejections do: of the body
 * itself, and the one stored under the key. The service may respond with the others before it checks the key.
 */
function isNothingDone(error: ApiError, again: boolean, { rejectsBody }: BatchOperation): boolean {
  const { status, earlierUnanswered } = error;
  if (!(earlierUnanswered || again)) return true;
  return error.replayed || status === 400 || status === 422 || rejectsBody?.(error) === true;
}

/** The service counts rows of the body; users count lines of the file. */
function inFile(problem: Problem, operation: BatchOperation, lines: Uint32Array): BatchProblem {
  const { param, code, message } = problem;
  const row = operation.rowOf(problem);
  const line = row === null ? undefined : lines[row];
  return line === undefined
    ? { line: null, param, code, message }
    : { line, row: row!, param, code, message };
}
