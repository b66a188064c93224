import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { isKeyTaken } from "../service-errors.ts";
import type { BatchOperation, CutBatch, ReadyBatch, SentBatch } from "./batch.ts";
import { isKeyAlive, keyFrom, readClocks } from "./clocks.ts";
import type { Run } from "./run.ts";

export interface RecordOptions {
  /** How their jobs are listed on this machine; undefined for jobs that the service lists. */
  readonly listedAs?: { file: string; variant: string; status: string };
  /** Whether they change products, so that open runs of other files compare their rows again. */
  readonly changesProducts?: boolean;
  /** Whether a row may be in flight in only one run at a time: otherwise it could be carried out twice. */
  readonly guarded?: boolean;
}

/** Records each step before the next, for a resume: a batch with its bytes, the request, then its jobs. */
export class Journal {
  readonly #run: Run;
  readonly #recording: RecordOptions;
  #next: number;

  constructor(run: Run, recording: RecordOptions) {
    this.#run = run;
    this.#recording = recording;
    this.#next = run.state.batches.of(run.id).reduce((next, { index }) => Math.max(next, index + 1), 0);
  }

  /** A new batch, ready to be sent. Throws HeldRunError if another run has one of its rows in flight. */
  begin(batch: CutBatch): ReadyBatch {
    const { state, account, id, kind } = this.#run;
    const { changesProducts = false, guarded = false } = this.#recording;
    if (changesProducts) state.runs.writes(account, id);
    const index = this.#next++;
    const { heldReference, ...ready } = record(this.#run, { ...batch, run: id, index, exclusive: guarded });
    if (heldReference !== null) throw heldElsewhere(heldReference, kind);
    return { ...ready, again: false };
  }

  /** The batch with a new key, instead of one that the service has rejected. */
  renew(batch: ReadyBatch): ReadyBatch {
    return { ...renewed(this.#run, batch), again: false };
  }

  /** Records the outcome of sending a batch; one with an unknown outcome stays as is, with its bytes. */
  settleSending(batch: SentBatch): void {
    const { state, id, sentJobs, service, kind, clock } = this.#run;
    const { listedAs } = this.#recording;
    if (batch.kind === "accepted") {
      state.batches.accepted(id, batch.index, batch.jobs);
      if (listedAs === undefined) return;
      const rows = batch.rows.length;
      for (const job of batch.jobs) {
        const at = clock.now();
        const sentJob = { id: job, kind, baseUrl: service.baseUrl, runId: id, ...listedAs, rows, at };
        sentJobs.add(sentJob, batch.lines);
      }
    } else if (batch.kind === "unknown") {
      if (isKeyTaken(batch.error)) state.batches.keyTaken(id, batch.index);
    } else {
      state.batches.dropped(id, batch.index);
    }
  }
}

/** A new key, and the time from which the service keeps it. */
const newAttempt = ({ client, clock, newKey }: Run) => ({
  idempotencyKey: newKey(),
  sentAt: clock.now(),
  sentAtService: client.serviceNow(),
});

/** Records a batch with a new key; `heldReference`: in flight elsewhere, so nothing was recorded. */
function record(run: Run, batch: CutBatch & { run: string; index: number; exclusive: boolean }) {
  const attempt = newAttempt(run);
  const heldReference = run.state.batches.begin(run.account, { ...batch, ...attempt });
  const { index, rows, lines, body } = batch;
  const ready = { index, rows, lines, bytes: body.length, body };
  return { ...ready, idempotencyKey: attempt.idempotencyKey, keyFrom: keyFrom(attempt), heldReference };
}

/** A batch with another key, which is recorded instead of the one before. */
function renewed<Batch extends { index: number }>(run: Run, batch: Batch) {
  const attempt = newAttempt(run);
  run.state.batches.renewed(run.id, batch.index, attempt);
  return { ...batch, idempotencyKey: attempt.idempotencyKey, keyFrom: keyFrom(attempt) };
}

/** Another run of this machine has one of these rows in flight. */
export class HeldRunError extends CatError {
  override readonly name = "HeldRunError";
}

export const heldElsewhere = (reference: string, kind: string): HeldRunError =>
  new HeldRunError(
    `another ${kind} on this machine has already sent ${JSON.stringify(reference)} and has not finished`,
    {
      type: "conflict",
      code: `${kind}_under_way`,
      hint: `Wait for the other ${kind}, or run its command again if it was stopped. Then run this one again.`,
    },
  );

/** Records a batch under another key, so that the service may carry it out a second time. */
export const renewKey = (run: Run, batch: StoredBatch): void => void renewed(run, batch);

/**
 * The batches with an unknown outcome among `batches`, with the original bytes and key. Throws a CatError of
 * type timeout if the service may have forgotten the key, except with `isRepeatable`, for operations that may
 * be carried out twice: then the key still gets the stored response, or is like a new one. A key that the
 * service has had with another body is renewed.
 */
export async function* sendAgain(
  run: Run,
  batches: readonly StoredBatch[],
  { isRepeatable }: Pick<BatchOperation, "isRepeatable">,
): AsyncGenerator<ReadyBatch> {
  const { state } = run;
  for (const batch of batches) {
    if (batch.state !== "sent") continue;
    const { run: id, index, rows, lines, bytes, idempotencyKey } = batch;
    const body = state.batches.body(id, index);
    const ready = { index, rows, lines, bytes, body, idempotencyKey, keyFrom: keyFrom(batch), again: true };
    const now = await readClocks(run);
    if (isRepeatable) yield batch.isKeyTaken ? renewed(run, ready) : { ...ready, keyFrom: now };
    // The same command finds out its result, or asks.
    else if (isKeyAlive(batch, now)) yield ready;
    else throw expiredMeanwhile();
  }
}

const expiredMeanwhile = (): CatError =>
  new CatError("a request without a response was not sent again: its idempotency key has expired meanwhile", {
    type: "timeout",
    code: "key_expired",
    hint: "Run the same command again. Check the clocks if it happens again.",
  });
