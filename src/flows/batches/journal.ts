import type { Clock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import type { StoredCall } from "../../state/calls.ts";
import { packMemos } from "../import/ledger/call-memo.ts";
import type { Call } from "../import/send/calls.ts";
import type { RunAtHand } from "../runs/run-at-hand.ts";
import type { ReadyCall, SentCall } from "./sent-batch.ts";

/** Another run of this machine has a row of ours under way. */
export class HeldByAnotherRun extends CatError {
  override readonly name = "HeldByAnotherRun";
}

/** What the journal is told beside each call. */
interface JournalDeps {
  clock: Clock;
  newKey: () => string;
  /** The service's clock, in Unix milliseconds; null while it has not told. */
  serviceNow: () => number | null;
  file: string;
  mode: string;
  /** Whether no row may be under way in two runs at once: then its photos would be added twice. */
  guarded: boolean;
}

/**
 * Writes down what a run does with its calls, each step before the next is taken: a call and its bytes before the socket
 * opens, its import before anything else is done, so that whenever the process ends the next one knows where to go on.
 */
export class Journal {
  readonly #run: RunAtHand;
  readonly #deps: JournalDeps;
  #next: number;

  constructor(run: RunAtHand, earlier: readonly StoredCall[], deps: JournalDeps) {
    this.#run = run;
    this.#deps = deps;
    this.#next = earlier.reduce((next, { index }) => Math.max(next, index + 1), 0);
  }

  /** A new call, ready to be sent. Throws HeldByAnotherRun when a row of it is under way elsewhere. */
  begin({ body, rows, lines, references, memos }: Call): ReadyCall {
    const { state, account, id } = this.#run;
    const index = this.#next++;
    const idempotencyKey = this.#deps.newKey();
    const sentAt = this.#deps.clock.now();
    const sentAtService = this.#deps.serviceNow();
    const memo = packMemos(memos);
    const exclusive = this.#deps.guarded;
    state.runs.writes(account, id);
    const held = state.calls.begin(account, {
      ...{ run: id, index, idempotencyKey, rows, lines, references, memo, body, exclusive },
      ...{ sentAt, sentAtService },
    });
    if (held !== null) throw heldElsewhere(held);
    return { index, rows, lines, bytes: body.length, body, idempotencyKey, again: false };
  }

  /** Writes down what became of sending a call; one of unknown outcome stays as it is, with its bytes. */
  settleSending(call: SentCall): void {
    const { state, id, sentImports, service } = this.#run;
    if (call.kind === "accepted") {
      state.calls.accepted(id, call.index, call.importId);
      sentImports.add({
        id: call.importId,
        baseUrl: service.baseUrl,
        runId: id,
        file: this.#deps.file,
        mode: this.#deps.mode,
        rows: call.rows.length,
        at: this.#deps.clock.now(),
        status: "validating",
      });
    } else if (call.kind !== "unknown") {
      state.calls.dropped(id, call.index);
    }
  }
}

export const heldElsewhere = (reference: string): HeldByAnotherRun =>
  new HeldByAnotherRun(
    `${JSON.stringify(reference)} is in a call of another import of this machine that has not ended`,
    {
      type: "conflict",
      code: "import_under_way",
      hint: "Wait for the other import, or give its command again if it was stopped; then give this one again.",
    },
  );
