import { LookupList } from "../../catalogue/find-products.ts";
import type { FileImage } from "../columns/file-row.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";

/** The result of planning all rows, before anything is sent. */
export interface Plan {
  /** Numbers of rows to send in batches, rows to PATCH, and rows without changes. */
  sends: number;
  patches: number;
  unchanged: number;
  /**
   * Local photos of the rows to send, by the SHA-256 (hex) of their bytes, with the path of one file each.
   */
  photos: Map<string, string>;
  /** Photos that are not uploaded yet: their number and total bytes. */
  uploads: { count: number; bytes: number };
  /** Products to fetch before their rows can be decided. */
  uncertain: LookupList;
  /** References of rows to send with image IDs that their products may have already. */
  unread: string[];
  /** References of rows to send whose product is gone: another product may have them now. */
  lost: LookupList;
  /** References of rows that another run has in flight. */
  held: string[];
}

export interface PlanDeps {
  contentOf: (path: string) => Promise<string>;
  sizeOf: (path: string) => Promise<number>;
  isUploaded: (sha256: string) => boolean;
  /** References that other runs have in flight. */
  heldElsewhere: ReadonlySet<string>;
  /** Whether to fetch the product of a reference before these photos are sent. */
  isUnread: (reference: string, images: readonly FileImage[]) => boolean;
  /** Whether the ledger lost the product of a reference. */
  isLost: (reference: string) => boolean;
  onProgress: (rows: number) => void;
}

/** Plans all rows in one pass over the file; sends nothing. */
export async function planRows(decided: AsyncIterable<DecidedRow>, deps: PlanDeps): Promise<Plan> {
  const plan: Plan = {
    sends: 0,
    patches: 0,
    unchanged: 0,
    photos: new Map(),
    uploads: { count: 0, bytes: 0 },
    uncertain: new LookupList(),
    unread: [],
    lost: new LookupList(),
    held: [],
  };
  let rows = 0;
  for await (const { reference, decision } of decided) {
    if (deps.heldElsewhere.has(reference)) plan.held.push(reference);
    if (decision.kind === "send") {
      plan.sends++;
      if (deps.isUnread(reference, decision.images)) plan.unread.push(reference);
      if (deps.isLost(reference)) plan.lost.add(reference);
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
