import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { Service } from "../service.ts";
import type { CutBatch, ReadyBatch, SentBatch } from "./batch.ts";
import { isKeyAlive, keyFrom, readClocks } from "./clocks.ts";
import type { RunAtHand } from "./run.ts";

/** Another run of this machine has one of these rows in flight. */
export class HeldByAnotherRun extends CatError {
  override readonly name = "HeldByAnotherRun";
}

export interface JournalOptions {
  /** How the jobs of the batches are listed on this machine; null for jobs that the service lists. */
  listedAs: { file: string; variant: string; status: string } | null;
  /** Whether the batches change products, so that open runs of other files compare their rows again. */
  changesProducts: boolean;
  /** Whether a row may be in flight in only one run at a time: otherwise it could be carried out twice. */
  guarded: boolean;
}

/**
 * Records what a run does with its batches, each step before the next: a batch and its bytes before the
 * request is sent, its jobs before anything else. A process that resumes the run knows where to continue.
 */
export class Journal {
  readonly #run: RunAtHand;
  readonly #service: Pick<Service, "client" | "clock" | "newKey">;
  readonly #options: JournalOptions;
  #next: number;

  constructor(
    run: RunAtHand,
    earlier: readonly StoredBatch[],
    service: Pick<Service, "client" | "clock" | "newKey">,
    options: JournalOptions,
  ) {
    this.#run = run;
    this.#service = service;
    this.#options = options;
    this.#next = earlier.reduce((next, { index }) => Math.max(next, index + 1), 0);
  }

  /** A new batch, ready to be sent. Throws HeldByAnotherRun if another run has one of its rows in flight. */
  begin({ body, rows, lines, references, memo }: CutBatch): ReadyBatch {
    const { state, account, id, kind } = this.#run;
    const { client, clock, newKey } = this.#service;
    const index = this.#next++;
    const idempotencyKey = newKey();
    const [sentAt, sentAtService] = [clock.now(), client.serviceNow()];
    if (this.#options.changesProducts) state.runs.writes(account, id);
    const held = state.batches.begin(account, {
      run: id,
      index,
      idempotencyKey,
      rows,
      lines,
      references,
      memo,
      body,
      exclusive: this.#options.guarded,
      sentAt,
      sentAtService,
    });
    if (held !== null) throw heldElsewhere(held, kind);
    const from = keyFrom({ sentAt, sentAtService });
    return { index, rows, lines, bytes: body.length, body, idempotencyKey, keyFrom: from, again: false };
  }

  /** Records the outcome of sending a batch; one with an unknown outcome stays as is, with its bytes. */
  settleSending(batch: SentBatch): void {
    const { state, id, sentJobs, service, kind } = this.#run;
    if (batch.kind === "accepted") {
      state.batches.accepted(id, batch.index, batch.jobs);
      const { listedAs } = this.#options;
      if (listedAs === null) return;
      const at = this.#service.clock.now();
      const { baseUrl } = service;
      const rows = batch.rows.length;
      for (const job of batch.jobs)
        sentJobs.add({ id: job, kind, baseUrl, runId: id, ...listedAs, rows, at });
    } else if (batch.kind !== "unknown") {
      state.batches.dropped(id, batch.index);
    }
  }
}

/** The error for a row that another run of that kind has in flight. */
export const heldElsewhere = (reference: string, kind: string): HeldByAnotherRun =>
  new HeldByAnotherRun(
    `another ${kind} on this machine has already sent ${JSON.stringify(reference)} and has not finished`,
    {
      type: "conflict",
      code: `${kind}_under_way`,
      hint: `Wait for the other ${kind}, or run its command again if it was stopped. Then run this one again.`,
    },
  );

/**
 * The batches with an unknown outcome among `batches`, with the original bytes and key. If the service has
 * forgotten the key, they get a new one, provided the user or the operation allows that.
 */
export async function* sendAgain(
  { state, account }: RunAtHand,
  batches: readonly StoredBatch[],
  service: Pick<Service, "client" | "clock" | "newKey" | "signal">,
  { renewsKeys = true }: { renewsKeys?: boolean } = {},
): AsyncGenerator<ReadyBatch> {
  const { client, clock, newKey } = service;
  for (const batch of batches) {
    if (batch.state !== "sent") continue;
    const { run, index, rows, lines, bytes } = batch;
    const body = state.batches.body(run, index);
    let { idempotencyKey, sentAt, sentAtService } = batch;
    if (!isKeyAlive(batch, await readClocks(service))) {
      // What costs money each time is never sent under another key: the same command settles it first.
      if (!renewsKeys) throw expiredMeanwhile();
      [idempotencyKey, sentAt, sentAtService] = [newKey(), clock.now(), client.serviceNow()];
      const references = state.batches.references(run, index);
      const memo = state.batches.memo(run, index);
      state.batches.dropped(run, index);
      state.batches.begin(account, {
        run,
        index,
        idempotencyKey,
        rows,
        lines,
        references,
        memo,
        body,
        exclusive: false,
        sentAt,
        sentAtService,
      });
    }
    const from = keyFrom({ sentAt, sentAtService });
    yield { index, rows, lines, bytes, body, idempotencyKey, keyFrom: from, again: true };
  }
}

const expiredMeanwhile = (): CatError =>
  new CatError("a request without a response was not sent again: its idempotency key has expired meanwhile", {
    type: "timeout",
    code: "key_expired",
    hint: "Run the same command again. Check the clocks if it happens again.",
  });
