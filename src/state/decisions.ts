import type { Database } from "./sqlite.ts";

/**
 * The decision of a review about the output image of a task. A task has one output, and the service names the
 * task of each exported image (`task_id` of an asset): a decision finds its image also where the image has
 * another ID or file name.
 */
export interface ReviewDecision {
  readonly task: string;
  readonly decision: "approve" | "reject";
  /** The words of the reviewer; "" for none. */
  readonly note: string;
  /** When it was decided, in Unix milliseconds. */
  readonly at: number;
  /** Who has decided; "" where that is not known. */
  readonly reviewer: string;
}

/** A decision that this machine has recorded. */
export interface StoredDecision extends ReviewDecision {
  /** The ID of the run of this machine that the image belongs to; "" for an image of another one. */
  readonly run: string;
}

/**
 * Whether a decision counts more than another one about the same image: the later one does, and of two at one
 * time the rejection. The order is total, so that machines that exchange decisions in any order end with the
 * same ones.
 */
export function countsMore(one: ReviewDecision, other: ReviewDecision): boolean {
  if (one.at !== other.at) return one.at > other.at;
  if (one.decision !== other.decision) return one.decision === "reject";
  if (one.reviewer !== other.reviewer) return one.reviewer > other.reviewer;
  return one.note > other.note;
}

/** Whether two decisions about an image are one, of which note and reviewer may be said again. */
export const isSameDecision = (one: ReviewDecision, other: ReviewDecision): boolean =>
  one.at === other.at && one.decision === other.decision;

export interface RecordedDecisions {
  /** Earlier decisions of which these say the opposite, and which they replace. */
  readonly reversed: StoredDecision[];
  /** Recorded decisions that say the opposite and are later: they stay. */
  readonly later: StoredDecision[];
  /** Recorded rejections of the same time: they stay. */
  readonly sameTime: StoredDecision[];
}

/** Decisions about generated images, one per image: the one that counts most. */
export interface Decisions {
  /** The decision about the output of a task; null for an image that is not reviewed. */
  of(baseUrl: string, task: string): StoredDecision | null;
  isRejected(baseUrl: string, task: string): boolean;
  all(baseUrl: string): StoredDecision[];
  /** Records all decisions in one transaction. */
  record(baseUrl: string, decisions: readonly StoredDecision[]): RecordedDecisions;
}

type Row = [task: string, run: string, decision: "approve" | "reject", note: string, at: number, by: string];

const toDecision = ([task, run, decision, note, at, reviewer]: Row): StoredDecision => {
  return { task, run, decision, note, at, reviewer };
};

export function storedDecisions(db: Database): Decisions {
  const columns = "task, run, decision, note, at, reviewer";
  const find = db.statement<Row>(`SELECT ${columns} FROM decision WHERE base_url = ? AND task = ?`);
  const all = db.statement<Row>(`SELECT ${columns} FROM decision WHERE base_url = ?`);
  const put = db.statement(
    `INSERT OR REPLACE INTO decision (base_url, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const of = (baseUrl: string, id: string): StoredDecision | null => {
    const row = find.get(baseUrl, id);
    return row === undefined ? null : toDecision(row);
  };
  return {
    of,
    isRejected: (baseUrl, task) => of(baseUrl, task)?.decision === "reject",
    all: (baseUrl) => all.all(baseUrl).map(toDecision),
    record: (baseUrl, decisions) =>
      db.transaction(() => {
        const recorded: RecordedDecisions = { reversed: [], later: [], sameTime: [] };
        for (const one of decisions) {
          const before = of(baseUrl, one.task);
          const isOpposite = before !== null && before.decision !== one.decision;
          if (before !== null && !isSameDecision(one, before) && !countsMore(one, before)) {
            if (isOpposite) recorded[before.at === one.at ? "sameTime" : "later"].push(before);
            continue;
          }
          if (isOpposite) recorded.reversed.push(before);
          put.run(baseUrl, one.task, one.run, one.decision, one.note, one.at, one.reviewer);
        }
        return recorded;
      }),
  };
}
