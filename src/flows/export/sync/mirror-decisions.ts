// The decisions of a mirror: a file next to its index, by which machines tell each other what was reviewed.

import type { Clock } from "../../../clock.ts";
import type { ReviewDecision } from "../../../state/decisions.ts";
import { csvRecords } from "../../outputs/cells.ts";
import { Reviews } from "../reviews.ts";
import { decisionsFile } from "./mirror-state.ts";
import type { MirrorStore } from "./mirror-store.ts";

/** The decisions of such a file. Throws an InputError for other content, which is never replaced. */
export type DecisionsReader = (content: Buffer) => Promise<readonly ReviewDecision[]>;

const columns = ["task_id", "decision", "note", "decided_at", "reviewer"] as const;

/** The content of the file: equal decisions are equal bytes. */
export const decisionsContent = (reviews: Reviews): Buffer =>
  Buffer.from(
    csvRecords([
      columns,
      ...reviews
        .all()
        .map(({ task, decision, note, at, reviewer }) => [
          ...[task, decision, note, new Date(at).toISOString(), reviewer],
        ]),
    ]),
  );

interface Exchange {
  readonly read: DecisionsReader;
  readonly clock: Clock;
  readonly isDryRun: boolean;
}

/** Adds the decisions of a mirror to those that are known here, and these to the mirror. */
export async function exchangeDecisions(
  store: MirrorStore,
  reviews: Reviews,
  { read, clock, isDryRun }: Exchange,
): Promise<void> {
  const merge = async (content: Buffer | null) => {
    const kept = new Reviews(content === null ? [] : await read(content));
    reviews.add(kept.all());
    return kept.digest("all") === reviews.digest("all") ? null : decisionsContent(reviews);
  };
  if (isDryRun) await merge(await store.read(decisionsFile));
  else await store.change(decisionsFile, merge, clock);
}
