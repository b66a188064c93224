// Requests of other runs that got no response, for images that this run asks for as well.

import type { BatchOperation } from "../run/batch.ts";
import type { Run } from "../run/run.ts";
import { dropUntouched, sendAsTheyWere } from "../run/send.ts";
import type { Generation } from "./generation.ts";
import type { UnqueuedChoice } from "./generation-run.ts";
import { lookImages } from "./known-looks.ts";
import { settleExpired } from "./unknown-outcome.ts";

export interface OtherRunInput {
  readonly operation: BatchOperation;
  readonly pid: number;
  readonly unknown: UnqueuedChoice | undefined;
}

/**
 * Learns the outcome of such requests, if the processes that sent them have ended. What the service has not
 * had is dropped rather than sent: the user may not want it anymore. The rest is sent as it was, which tells
 * its tasks.
 */
export async function settleOthers(
  generations: readonly Generation[],
  run: Run,
  { operation, pid, unknown }: OtherRunInput,
): Promise<void> {
  const { state, account, clock } = run;
  const unanswered = lookImages(generations, run).filter(
    (image) => image.isUnanswered && image.run !== run.id,
  );
  for (const id of new Set(unanswered.map((image) => image.run))) {
    const { identity, file, options, startedAt } = state.runs.get(id)!;
    const hold = state.runs.hold(account, identity, { pid, since: clock.now(), file });
    if ("heldBy" in hold) continue;
    try {
      const theirs: Run = { ...run, id, options, begunAt: startedAt, isFinished: false };
      await dropUntouched(theirs, operation, Number.POSITIVE_INFINITY);
      const sent = () => state.batches.of(id).filter((batch) => batch.state === "sent");
      if (sent().length === 0) continue;
      await settleExpired(theirs, { file, unknown });
      await sendAsTheyWere(theirs, sent(), { operation });
    } finally {
      hold.release();
    }
  }
}
