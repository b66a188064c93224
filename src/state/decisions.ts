import type { Database } from "./sqlite.ts";

/**
 * The decision of a review about the output image of a task. A task has one output, and the service names the task of each
 * exported image (`task_id` of an asset): a decision finds its image also where the image has another ID or file name.
 */
export interface StoredDecision {
  /** The ID of the task. */
  readonly task: string;
  /** The ID of the run of this machine that the image belongs to. */
  readonly run: string;
  readonly decision: "approve" | "reject";
  /** What the reviewer wrote; "" for nothing. */
  readonly note: string;
  /** When it was decided, in Unix milliseconds. */
  readonly at: number;
}

/** What became of decisions that were recorded. */
export interface RecordedDecisions {
  /** Earlier decisions of which these say the opposite, and which they replace, because they are later. */
  readonly reversed: StoredDecision[];
  /** Recorded decisions that say the opposite and are later: they stay. */
  readonly later: StoredDecision[];
}

/** Decisions about generated images, one per image: the later of two by their time. */
export interface Decisions {
  /** The decision about the output of a task; null for an image that is not reviewed. */
  of(baseUrl: string, task: string): StoredDecision | null;
  /** Whether the output of a task is rejected. */
  isRejected(baseUrl: string, task: string): boolean;
  /** Every decision about images of a service, by task. */
  all(baseUrl: string): Iterable<Pick<StoredDecision, "task" | "decision">>;
  /** Records all decisions in one transaction. One of the same time replaces what was recorded. */
  record(baseUrl: string, decisions: readonly StoredDecision[]): RecordedDecisions;
}

/** The decisions of a state. */
export function storedDecisions(db: Database): Decisions {
  const find = db.statement<
    [task: string, run: string, decision: "approve" | "reject", note: string, at: number]
  >("SELECT task, run, decision, note, at FROM decision WHERE base_url = ? AND task = ?");
  const all = db.statement<[task: string, decision: "approve" | "reject"]>(
    "SELECT task, decision FROM decision WHERE base_url = ? ORDER BY task",
  );
  const put = db.statement(
    "INSERT OR REPLACE INTO decision (base_url, task, run, decision, note, at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const of = (baseUrl: string, id: string): StoredDecision | null => {
    const row = find.get(baseUrl, id);
    if (row === undefined) return null;
    const [task, run, decision, note, at] = row;
    return { task, run, decision, note, at };
  };
  return {
    of,
    isRejected: (baseUrl, task) => of(baseUrl, task)?.decision === "reject",
    all: (baseUrl) => all.all(baseUrl).map(([task, decision]) => ({ task, decision })),
    record: (baseUrl, decisions) =>
      db.transaction(() => {
        const recorded: RecordedDecisions = { reversed: [], later: [] };
        for (const decision of decisions) {
          const before = of(baseUrl, decision.task);
          const isReversed = before !== null && before.decision !== decision.decision;
          if (before !== null && before.at > decision.at) {
            if (isReversed) recorded.later.push(before);
            continue;
          }
          if (isReversed) recorded.reversed.push(before);
          put.run(baseUrl, decision.task, decision.run, decision.decision, decision.note, decision.at);
        }
        return recorded;
      }),
  };
}
