import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { RunAtHand } from "../runs/run-at-hand.ts";
import type { Service } from "../service.ts";
import type { CutBatch, ReadyBatch, SentBatch } from "./sent-batch.ts";

/** Another run of this machine has a row of ours in flight. */
export class HeldByAnotherRun extends CatError {
  override readonly name = "HeldByAnotherRun";
}

export interface JournalOptions {
  /** How the jobs of the batches are listed later on this machine; null for jobs that the service lists. */
  listedAs: { file: string; variant: string; status: string } | null;
  /** Whether the batches change products, so that open runs of other files compare their rows again. */
  changesProducts: boolean;
  /** Whether no row may be in flight in two runs at once: then it could be carried out twice. */
  guarded: boolean;
}

/**
 * Writes down what a run does with its batches, each step before the next is taken: a batch and its bytes before the socket
 * opens, its jobs before anything else is done, so that whenever the process ends the next one knows where to resume.
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

  /** A new batch, ready to be sent. Throws HeldByAnotherRun when a row of it is in flight elsewhere. */
  begin({ body, rows, lines, references, memo }: CutBatch): ReadyBatch {
    const { state, account, id, kind } = this.#run;
    const { client, clock, newKey } = this.#service;
    const index = this.#next++;
    const idempotencyKey = newKey();
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
      sentAt: clock.now(),
      sentAtService: client.serviceNow(),
    });
    if (held !== null) throw heldElsewhere(held, kind);
    return { index, rows, lines, bytes: body.length, body, idempotencyKey, again: false };
  }

  /** Writes down the outcome of sending a batch; one of unknown outcome stays as it is, with its bytes. */
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

/** The error of a row that another run of that kind has in flight. */
export const heldElsewhere = (reference: string, kind: string): HeldByAnotherRun =>
  new HeldByAnotherRun(
    `${JSON.stringify(reference)} is in a batch of another ${kind} on this machine that has not ended`,
    {
      type: "conflict",
      code: `${kind}_under_way`,
      hint: `Wait for the other ${kind}, or run its command again if it was stopped; then run this one again.`,
    },
  );
