// Batches: requests that must not be sent twice. A batch is recorded with its key and bytes before it is
// sent, and repeated unchanged while its outcome is unknown. Each flow has a BatchOperation for its request.

import type { ApiError, Problem } from "../../client/api-error.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { isKeyTaken, isNothingDone, isOfEarlierTime, isRefusal } from "../service-errors.ts";
import type {
  BatchFailure,
  BatchOperation,
  BatchProblem,
  BatchReceipt,
  CutBatch,
  ReadyBatch,
  SentBatch,
} from "./batch.ts";
import { Journal, type Recording, sendAgain } from "./journal.ts";
import { type RequestInFlight, sendEach } from "./requests.ts";
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
  const journal = new Journal(run, recording);
  const sent: SentBatch[] = [];
  const stopped = await sendEach(batches, run, async (cut, begin) => {
    const batch = "idempotencyKey" in cut ? cut : journal.begin(cut);
    const request = begin();
    let { outcome, receipt } = await sendBatch(batch, operation, request);
    if (outcome.kind === "refused" && isOfEarlierTime(outcome.error) && !request.hasLeft)
      ({ outcome, receipt } = await sendBatch(journal.renew(batch), operation, request));
    // Before it is recorded: if that fails, the outcome of these rows is still reported.
    sent.push(outcome);
    journal.settleSending(outcome);
    if (outcome.kind !== "accepted") throw outcome.error;
    onAccepted(outcome, receipt!);
    if (receipt!.odd !== undefined) throw receipt!.odd;
  });
  return { sent: sent.sort((a, b) => a.index - b.index), stopped };
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
  const again = sendAgain(run, batches(), sending.operation);
  const { stopped } = await sendBatches(run, again, { ...sending, onAccepted: () => {} });
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

function toFailure(
  error: unknown,
  { again, lines }: ReadyBatch,
  { operation, request }: { operation: BatchOperation; request: RequestInFlight },
): BatchFailure {
  const unsent = again ? "unknown" : "unsent";
  // It was aborted because of another batch, whose error reveals nothing about this one.
  if (request.hasLeft) return { kind: unsent, error };
  if (isNothingDone(error, again) || (isRefusal(error) && operation.rejectsBody?.(error) === true)) {
    const problems = error.problems.map((problem) => inFile(problem, operation, lines));
    return { kind: "refused", error, problems };
  }
  if (isKeyTaken(error)) return { kind: "unknown", error: undecided(error as ApiError, operation) };
  return { kind: request.inDoubt ? "unknown" : unsent, error };
}

/** The error for a key that the service has had with another body, which sending it again cannot decide. */
const undecided = (
  { message, type, code, status, requestId, cause }: ApiError,
  { isRepeatable }: Pick<BatchOperation, "isRepeatable">,
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
