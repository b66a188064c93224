import type { DecidedRow } from "../ledger/decide-rows.ts";
import { ToAskFor } from "../ledger/to-ask-for.ts";

/** What a look over all rows found, before anything is sent. */
export interface Plan {
  /** Rows to send in calls, rows of which only fields changed, and rows that would change nothing. */
  sends: number;
  patches: number;
  unchanged: number;
  /** The local photos of the rows to send, by the SHA-256 (hex) of their bytes, with the path of one file of each. */
  photos: Map<string, string>;
  /** Those of them that are not uploaded yet: how many, and how large in bytes. */
  uploads: { count: number; bytes: number };
  /** Products to look at before it can be said what their rows need. */
  uncertain: ToAskFor;
  /** References of rows that another run has under way. */
  held: string[];
}

export interface PlanDeps {
  contentOf: (path: string) => Promise<string>;
  sizeOf: (path: string) => Promise<number>;
  isUploaded: (sha256: string) => boolean;
  /** References that other runs have under way. */
  heldElsewhere: ReadonlySet<string>;
  onProgress: (rows: number) => void;
}

/** Walks all rows once to know what is to be done: nothing is sent yet. */
export async function planRows(decided: AsyncIterable<DecidedRow>, deps: PlanDeps): Promise<Plan> {
  const plan: Plan = {
    sends: 0,
    patches: 0,
    unchanged: 0,
    photos: new Map(),
    uploads: { count: 0, bytes: 0 },
    uncertain: new ToAskFor(),
    held: [],
  };
  let rows = 0;
  for await (const { reference, decision } of decided) {
    if (deps.heldElsewhere.has(reference)) plan.held.push(reference);
    if (decision.kind === "send") {
      plan.sends++;
      if (decision.unseen !== null) plan.uncertain.add(decision.unseen);
      for (const { path } of decision.images) {
        if (path !== undefined) await addPhoto(plan, path, deps);
      }
    } else if (decision.kind === "patch") plan.patches++;
    else if (decision.kind === "unchanged") plan.unchanged++;
    else if (decision.kind === "uncertain") plan.uncertain.add(decision.productId);
    if (++rows % 1000 === 0) deps.onProgress(rows);
  }
  return plan;
}

async function addPhoto({ photos, uploads }: Plan, path: string, deps: PlanDeps): Promise<void> {
  const sha256 = await deps.contentOf(path);
  if (photos.has(sha256)) return;
  photos.set(sha256, path);
  if (deps.isUploaded(sha256)) return;
  uploads.count++;
  uploads.bytes += await deps.sizeOf(path);
}
