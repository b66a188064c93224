// Batches: requests that must not be sent twice. A batch is written down with its key and its bytes before it is sent, and
// sent again as it was while its outcome is unknown. Which request it is, is a BatchOperation of each flow.

import { ApiError, type Problem } from "../../client/api-error.ts";
import { CatError } from "../../errors.ts";
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
  /** Told every batch that the service accepted, once it is written down. */
  onAccepted: (batch: Extract<SentBatch, { kind: "accepted" }>, receipt: BatchReceipt) => void;
}

/**
 * Sends batches, several at a time, in the order of the file. The first one that is not accepted stops the rest, also those
 * that were begun and wait for their turn: what is wrong with it is likely to be wrong with them, and nothing is lost by
 * asking first. `stopped` is why not all batches were sent, if they were not: the error of a batch, the interrupt's reason, or
 * a fault of the file or of the state.
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
        // What came between while the batch was cut stops it as well.
        deps.signal?.throwIfAborted();
        if (next.done || stopped !== undefined) return;
        const batch = "idempotencyKey" in next.value ? next.value : deps.journal.begin(next.value);
        const request = inFlight.begin();
        const { outcome, receipt } = await sendBatch(batch, deps.operation, request);
        inFlight.end(request);
        // Before it is written down: where that fails, the outcome of these rows is reported all the same.
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
  const { index, rows, lines, bytes, body, idempotencyKey } = batch;
  const known = { index, rows, lines, bytes };
  try {
    const { signal, onDoubt } = request;
    const receipt = await operation.send(body, { signal, onDoubt, idempotencyKey });
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
  // It is ended with the error of another batch, which says nothing about this one.
  if (request.hasLeft) return { kind: unsent, error };
  if (error instanceof CatError && isNothingDone(error, again)) {
    const problems = error instanceof ApiError ? error.problems : [];
    return { kind: "refused", error, problems: problems.map((one) => inFile(one, operation, lines)) };
  }
  return { kind: request.inDoubt ? "unknown" : unsent, error };
}

/**
 * Whether a response says for certain that nothing was done: any rejection (after a 429 nothing was created: Limits). After an
 * attempt without a response, also one of an earlier process, only a rejection of the body itself is certain, and the one that
 * the service has stored under the key: the others may be given before it looks at the key.
 */
function isNothingDone(error: CatError, again: boolean): boolean {
  const { status, earlierUnanswered } = error;
  if (!isRefusal(error)) return false;
  if (!(earlierUnanswered || again)) return true;
  return error instanceof ApiError && (error.replayed || status === 400 || status === 422);
}

/** The service counts rows of the body it got; people count lines of their file. */
function inFile(problem: Problem, operation: BatchOperation, lines: Uint32Array): BatchProblem {
  const { param, code, message } = problem;
  const row = operation.rowOf(problem);
  return { line: (row === null ? undefined : lines[row]) ?? null, param, code, message };
}
