// Batches: requests that must not be sent twice. Each is recorded with its key and bytes, then sent
// unchanged.

import { ApiError, type Problem } from "../../client/api-error.ts";
import { CatError } from "../../errors.ts";
import { isTooLargeForGateway } from "../../http/errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { isKeyTaken, isNothingDone, isOfEarlierTime, isRejectedByService } from "../service-errors.ts";
import type {
  BatchFailure,
  BatchOperation,
  BatchProblem,
  BatchReceipt,
  CutBatch,
  ReadyBatch,
  SentBatch,
} from "./batch.ts";
import { isKeyAlive, keyFrom, readClocks } from "./clocks.ts";
import { type FreshAttempt, type FreshHost, type FreshWrite, sendFresh } from "./fresh-write.ts";
import { Journal, type RecordOptions, sendAgain } from "./journal.ts";
import { type RequestInFlight, sendEach } from "./requests.ts";
import type { Run } from "./run.ts";

export interface BatchOptions extends RecordOptions {
  readonly operation: BatchOperation;
  /** Receives every accepted batch, after it was recorded. */
  readonly onAccepted: (batch: Extract<SentBatch, { kind: "accepted" }>, receipt: BatchReceipt) => void;
  /** Cuts a batch of several rows in two, because a gateway does not take its body. */
  readonly halve?: (batch: CutBatch) => readonly [CutBatch, CutBatch];
  /** Receives a row that a gateway does not take by itself; without it, such a row stops the rest. */
  readonly onRowTooLarge?: (batch: CutBatch, why: BatchProblem) => void;
  readonly late?: LateBatches;
}

/** The handling of a batch that waited over a second before it can be sent. */
export interface LateBatches {
  /** Whether others have changed its products since. */
  look(batch: CutBatch): Promise<boolean>;
  /** Its rows in new batches, as they are decided now. */
  cutAgain(batch: CutBatch): AsyncGenerator<CutBatch>;
}

/**
 * Sends batches, several at a time, in file order. The first one that is not accepted stops the rest,
 * including queued ones: its problem probably concerns them too, and stopping loses nothing. `stopped` is the
 * reason, if not all were sent: the error of a batch, an interrupt, or an error of the file or state.
 */
export async function sendBatches(
  run: Run,
  batches: AsyncGenerator<CutBatch | ReadyBatch>,
  { operation, onAccepted, halve, onRowTooLarge, late, ...recording }: BatchOptions,
): Promise<{ sent: SentBatch[]; stopped: unknown }> {
  const journal = new Journal(run, recording);
  const sent: SentBatch[] = [];
  const sendAll = async (some: AsyncIterable<CutBatch> | readonly CutBatch[], begin: FreshHost["begin"]) => {
    for await (const next of some) await send(next, begin);
  };
  /** What is done instead of sending a batch that is too large for a gateway; null if it stops the rest. */
  const replacement = (own: CutBatch | null, why: BatchProblem, begin: FreshHost["begin"]) => {
    if (own === null) return null;
    if (own.rows.length > 1) return () => sendAll(halve!(own), begin);
    return onRowTooLarge === undefined ? null : () => onRowTooLarge(own, why);
  };
  const send = async (cut: CutBatch | ReadyBatch, begin: () => RequestInFlight): Promise<void> => {
    const question = begin();
    const host = { begin, clock: run.clock };
    const fresh = "idempotencyKey" in cut ? null : cut;
    let batch = fresh === null ? (cut as ReadyBatch) : journal.begin(fresh);
    const isUntouched = () => hasNotCarriedOut(batch, operation, question);
    let tried = await sendBatch(batch, operation, host, fresh, late);
    if (await needsNewKey(tried.outcome, isUntouched)) {
      batch = journal.renew(batch);
      tried = await sendBatch(batch, operation, host, fresh, late);
    }
    if (tried.isOvertaken === true) {
      if (tried.outcome.kind === "unsent" || (await isUntouched())) {
        run.state.batches.dropped(run.id, batch.index);
        return sendAll(late!.cutAgain(fresh!), begin);
      }
      // The response to its key tells.
      batch = { ...batch, again: true };
      tried = await sendBatch(batch, operation, host);
    }
    let { outcome } = tried;
    if (isTooLarge(outcome) && (await isUntouched())) {
      const own = halve === undefined ? null : fresh;
      const rejected = toRejected(outcome, own, run);
      const replace = replacement(own, rejected.problems[0]!, begin);
      if (replace !== null) {
        // A run that stops here cuts these rows again: none of them was sent.
        journal.settleSending(rejected);
        return replace();
      }
      outcome = rejected;
    }
    // Before it is recorded: if that fails, the outcome of these rows is still reported.
    sent.push(outcome);
    journal.settleSending(outcome);
    if (outcome.kind !== "accepted") throw outcome.error;
    onAccepted(outcome, tried.receipt!);
    if (tried.receipt!.odd !== undefined) throw tried.receipt!.odd;
  };
  const stopped = await sendEach(batches, run, send);
  return { sent: sent.sort((a, b) => a.index - b.index), stopped };
}

const isTooLarge = (outcome: SentBatch): outcome is Extract<SentBatch, { kind: "unknown" }> =>
  outcome.kind === "unknown" && isTooLargeForGateway(outcome.error);

/** Whether the key of a batch is of an earlier time, or used up by the question of a killed process. */
const needsNewKey = async (outcome: SentBatch, isUntouched: () => Promise<boolean>): Promise<boolean> =>
  (outcome.kind === "rejected" && isOfEarlierTime(outcome.error)) ||
  (outcome.kind === "unknown" && isKeyTaken(outcome.error) && (await isUntouched()));

/**
 * Sends `some` batches with an unknown outcome of an earlier run again, and nothing else of that run. Throws
 * the error if one is still unknown; a rejected one was not carried out.
 */
export async function sendAsTheyWere(
  run: Run,
  some: readonly StoredBatch[],
  sending: Omit<BatchOptions, "onAccepted">,
): Promise<void> {
  const wanted = new Set(some.map(({ index }) => index));
  const batches = () => run.state.batches.of(run.id).filter(({ index }) => wanted.has(index));
  const again = sendAgain(run, batches(), sending.operation);
  const { stopped } = await sendBatches(run, again, { ...sending, onAccepted: () => {} });
  if (stopped !== undefined && batches().some((batch) => batch.state === "sent")) throw stopped;
}

/**
 * Drops the batches of an earlier process that the service never got: their rows are decided about again,
 * because others may have changed the products since. One whose key the service may have forgotten stays, and
 * one that the user has sent again since `start`.
 */
export async function dropUntouched(run: Run, operation: BatchOperation, start: number): Promise<void> {
  const { state, id, signal } = run;
  for (const batch of state.batches.of(id)) {
    if (batch.state !== "sent" || batch.isKeyTaken || batch.sentAt >= start) continue;
    if (!isKeyAlive(batch, await readClocks(run))) continue;
    const key = { idempotencyKey: batch.idempotencyKey, keyFrom: keyFrom(batch) };
    if (await hasNotCarriedOut(key, operation, { signal })) state.batches.dropped(id, batch.index);
  }
}

/** The outcome of a batch; with `isOvertaken` withdrawn: unsent, or unknown after a try. */
interface Tried {
  readonly outcome: SentBatch;
  readonly receipt: BatchReceipt | null;
  readonly isOvertaken?: boolean;
}

const overtaken = {};

/** Sends a batch. One that is `fresh` is withdrawn if it waits and others change its products. */
async function sendBatch(
  batch: ReadyBatch,
  operation: BatchOperation,
  { begin, clock }: FreshHost,
  fresh: CutBatch | null = null,
  late?: LateBatches,
): Promise<Tried> {
  const { index, rows, lines, bytes, body, idempotencyKey, keyFrom } = batch;
  const known = { index, rows, lines, bytes };
  const tried: { last?: FreshAttempt; receipt: BatchReceipt | null; isLooking: boolean } = {
    receipt: null,
    isLooking: false,
  };
  const write: FreshWrite<typeof overtaken> = {
    lookedAt: (late && fresh?.readAt) ?? Number.POSITIVE_INFINITY,
    // It may read many products, and the reads of a minute are limited.
    isWatched: false,
    async look() {
      tried.isLooking = true;
      const isOvertaken = await late!.look(fresh!);
      tried.isLooking = false;
      return isOvertaken ? overtaken : null;
    },
    async send(attempt) {
      tried.last = attempt;
      const { signal, onDoubt } = attempt;
      tried.receipt = await operation.send(body, { signal, onDoubt, idempotencyKey, keyFrom });
    },
  };
  try {
    const withheld = await sendFresh(write, { clock, begin });
    const { receipt } = tried;
    if (withheld === null) return { outcome: { ...known, kind: "accepted", jobs: receipt!.jobs }, receipt };
    const kind = withheld.again ? "unknown" : "unsent";
    return { outcome: { ...known, kind, error: undefined }, receipt, isOvertaken: true };
  } catch (error) {
    const { last, isLooking } = tried;
    const again = batch.again || last?.again === true;
    const mayBeDone = again || last?.request.inDoubt === true;
    const failure: BatchFailure =
      last === undefined || isLooking
        ? { kind: mayBeDone ? "unknown" : "unsent", error }
        : toFailure(error, { ...batch, again }, { operation, request: last.request });
    return { outcome: { ...known, ...failure }, receipt: null };
  }
}

function toFailure(
  error: unknown,
  { again, lines }: ReadyBatch,
  { operation, request }: { operation: BatchOperation; request: RequestInFlight },
): BatchFailure {
  const unsent = again ? "unknown" : "unsent";
  // It was aborted because of another batch, whose error reveals nothing about this one.
  if (request.hasLeft) return { kind: unsent, error };
  if (
    isNothingDone(error, again) ||
    (isRejectedByService(error) && operation.rejectsBody?.(error) === true)
  ) {
    const problems = error.problems.map((problem) => inFile(problem, operation, lines));
    return { kind: "rejected", error, problems };
  }
  if (isKeyTaken(error)) return { kind: "unknown", error: undecided(error as ApiError, operation) };
  return { kind: request.inDoubt ? "unknown" : unsent, error };
}

/**
 * Whether the service has certainly not carried out a batch: asked with another body under its key, it says
 * if it has had the key. If not, that body has used up the key, so that no copy of the batch which a gateway
 * may have passed on is carried out later.
 */
async function hasNotCarriedOut(
  { idempotencyKey, keyFrom }: Pick<ReadyBatch, "idempotencyKey" | "keyFrom">,
  { invalidBody, send }: BatchOperation,
  { signal }: Pick<RequestInFlight, "signal">,
): Promise<boolean> {
  if (invalidBody === undefined) return false;
  try {
    await send(invalidBody, { signal, idempotencyKey, keyFrom });
    return false;
  } catch (error) {
    if (!(error instanceof ApiError) || isKeyTaken(error)) return false;
    return error.status === 400 || error.status === 422 || error.replayed;
  }
}

/**
 * A batch too large for a gateway as one not carried out; the problem names its row if it has only one. Null
 * for a batch of an earlier process, whose rows the next one cuts again.
 */
function toRejected(
  { error: cause, ...rows }: Extract<SentBatch, { kind: "unknown" }>,
  own: CutBatch | null,
  { service }: Run,
): Extract<SentBatch, { kind: "rejected" }> {
  const { message, type, code, status, requestId } = cause as CatError;
  if (own === null || own.rows.length > 1) {
    const hint = "Run the same command again: it sends these rows in smaller batches.";
    const error = new CatError(message, { type, code, status, requestId, cause, hint });
    return { ...rows, kind: "rejected", error, problems: [] };
  }
  const { host } = new URL(service.baseUrl);
  const error = new CatError(`a gateway in front of ${host} rejects the row as too large (status 413)`, {
    type: "invalid_request",
    code: "body_too_large",
    ...{ status, requestId, cause },
    hint: "Shorten the row, or raise the gateway's limit for request bodies.",
  });
  const problem = { line: own.lines[0]!, rowIndex: 0, code: error.code, message: error.message };
  return { ...rows, kind: "rejected", error, problems: [problem] };
}

/** The error for a key that the service has had with another body, which sending it again cannot decide. */
const undecided = (
  { message, type, code, status, requestId, cause }: ApiError,
  { isRepeatable }: BatchOperation,
): CatError =>
  new CatError(message, {
    type,
    code,
    status,
    requestId,
    cause,
    hint: isRepeatable
      ? "Run the command again; it uses a new idempotency key."
      : "Check what the service has, then run the command again. If it fails again, add --unknown (see --help).",
  });

/** The service counts rows of the body; users count lines of the file. */
function inFile(problem: Problem, operation: BatchOperation, lines: Uint32Array): BatchProblem {
  const { param, code, message } = problem;
  const row = operation.toRow(problem);
  const line = row === null ? undefined : lines[row];
  return line === undefined
    ? { line: null, param, code, message }
    : { line, rowIndex: row!, param, code, message };
}
