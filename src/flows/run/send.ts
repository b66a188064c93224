// Batches: requests that must not be sent twice. A batch is recorded with its key and bytes before it is
// sent, and repeated unchanged while its outcome is unknown. Each flow has a BatchOperation for its request.

import type { Problem } from "../../client/api-error.ts";
import type { Clock } from "../../clock.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { isNothingDone, isRefusal } from "../service-errors.ts";
import type {
  BatchOperation,
  BatchProblem,
  BatchReceipt,
  BatchRows,
  CutBatch,
  ReadyBatch,
  SentBatch,
} from "./batch.ts";
import { Journal, type Recording, sendAgain } from "./journal.ts";
import type { Run } from "./run.ts";

/** How the batches of a flow are sent. */
export interface Sending extends Recording {
  readonly operation: BatchOperation;
  /** Receives every accepted batch, after it was recorded. */
  readonly onAccepted: (batch: Extract<SentBatch, { kind: "accepted" }>, receipt: BatchReceipt) => void;
}

/**
 * Sends batches, several at a time, in file order. The first one that is not accepted stops the rest,
 * including queued ones: its problem probably concerns them too, and stopping loses nothing. `stopped` is the
 * reason, if not all were sent: the error of a batch, an interrupt, or an error of the file or state.
 */
export async function sendBatches(
  run: Run,
  batches: AsyncGenerator<CutBatch | ReadyBatch>,
  { operation, onAccepted, ...recording }: Sending,
): Promise<{ sent: SentBatch[]; stopped: unknown }> {
  const { clock, signal, concurrency } = run;
  const journal = new Journal(run, recording);
  const sent: SentBatch[] = [];
  let stopped: unknown;
  const inFlight = new RequestsInFlight();
  const release = inFlight.follow(clock, signal);
  const stop = (reason: unknown) => {
    stopped ??= reason;
    inFlight.leave(reason);
  };
  const worker = async () => {
    try {
      while (stopped === undefined) {
        signal.throwIfAborted();
        const next = await batches.next();
        // An event while the batch was cut stops it as well.
        signal.throwIfAborted();
        if (next.done || stopped !== undefined) return;
        const batch = "idempotencyKey" in next.value ? next.value : journal.begin(next.value);
        const request = inFlight.begin();
        const { outcome, receipt } = await sendBatch(batch, operation, request);
        inFlight.end(request);
        // Before it is recorded: if that fails, the outcome of these rows is still reported.
        sent.push(outcome);
        journal.settleSending(outcome);
        if (outcome.kind === "accepted") onAccepted(outcome, receipt!);
        else stop(outcome.error);
      }
    } catch (error) {
      stop(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  release();
  await batches.return(undefined);
  return { sent: sent.sort((one, other) => one.index - other.index), stopped };
}

/**
 * Sends `some` batches with an unknown outcome of an earlier run again, and nothing else of that run. Throws the
 * error if the outcome of one is still unknown; a rejected one was not carried out.
 */
export async function sendAsTheyWere(
  run: Run,
  some: readonly StoredBatch[],
  sending: Omit<Sending, "onAccepted">,
): Promise<void> {
  const wanted = new Set(some.map(({ index }) => index));
  const batches = () => run.state.batches.of(run.id).filter(({ index }) => wanted.has(index));
  const { stopped } = await sendBatches(run, sendAgain(run, batches()), { ...sending, onAccepted: () => {} });
  if (stopped !== undefined && batches().some((batch) => batch.state === "sent")) throw stopped;
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
    return { outcome: { ...known, ...toFailure(error, batch, { operation, request }) }, receipt: null };
  }
}

type Failure =
  Exclude<SentBatch, { kind: "accepted" }> extends infer Batch
    ? Batch extends BatchRows
      ? Omit<Batch, keyof BatchRows>
      : never
    : never;

function toFailure(
  error: unknown,
  { again, lines }: ReadyBatch,
  { operation, request }: { operation: BatchOperation; request: RequestInFlight },
): Failure {
  const unsent = again ? "unknown" : "unsent";
  // It was aborted because of another batch, whose error reveals nothing about this one.
  if (request.hasLeft) return { kind: unsent, error };
  if (isNothingDone(error, again) || (isRefusal(error) && operation.rejectsBody?.(error) === true)) {
    const problems = error.problems.map((one) => inFile(one, operation, lines));
    return { kind: "refused", error, problems };
  }
  return { kind: request.inDoubt ? "unknown" : unsent, error };
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

/** How long an interrupt waits for requests in flight: cutting them off leaves their outcome unknown. */
const graceMs = 3_000;

/** One request from start to end. */
class RequestInFlight {
  readonly #cut = new AbortController();
  /** Until `onDoubt` reports otherwise, an unknown outcome counts as done. */
  #inDoubt = true;
  #leaving: { reason: unknown } | null = null;
  /** Ends the request. */
  readonly signal: AbortSignal = this.#cut.signal;

  /** Whether the service may have carried it out. */
  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  /** Whether it was withdrawn before the service got it or did anything with it. */
  get hasLeft(): boolean {
    return this.#leaving !== null && !this.#inDoubt;
  }

  readonly onDoubt = (inDoubt: boolean): void => {
    this.#inDoubt = inDoubt;
    this.#leave();
  };

  /** Withdraws it as soon as the service has certainly done nothing with it. */
  leave(reason: unknown): void {
    this.#leaving ??= { reason };
    this.#leave();
  }

  /** Ends it, whatever the service may have done. */
  cut(reason: unknown): void {
    this.#cut.abort(reason);
  }

  #leave(): void {
    if (this.#leaving !== null && !this.#inDoubt) this.#cut.abort(this.#leaving.reason);
  }
}

/**
 * All started requests. When sending stops, queued requests must not be sent any more. Those that may have
 * been sent are awaited, because their responses decide the outcome of their rows.
 */
export class RequestsInFlight {
  readonly #requests = new Set<RequestInFlight>();

  begin(): RequestInFlight {
    const request = new RequestInFlight();
    this.#requests.add(request);
    return request;
  }

  end(request: RequestInFlight): void {
    this.#requests.delete(request);
  }

  /** Stops sending. */
  leave(reason: unknown): void {
    for (const request of this.#requests) request.leave(reason);
  }

  /** Follows an interrupt: requests in flight get a grace period. Returns a function that stops following. */
  follow(clock: Clock, signal: AbortSignal | undefined): () => void {
    let cancel = () => {};
    const onInterrupt = () => {
      this.leave(signal?.reason);
      cancel = clock.at(clock.now() + graceMs, () => {
        for (const request of this.#requests) request.cut(signal?.reason);
      });
    };
    signal?.addEventListener("abort", onInterrupt, { once: true });
    return () => {
      signal?.removeEventListener("abort", onInterrupt);
      cancel();
    };
  }
}
