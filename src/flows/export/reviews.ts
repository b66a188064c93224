import { createHash } from "node:crypto";
import type { ExportRow } from "../../contract/resources/exports.ts";
import { countsMore, type ReviewDecision } from "../../state/decisions.ts";
import { InputError } from "../rows/source.ts";
import { countList } from "../words.ts";

/** Which generated images an export has: approved ones, or all but rejected ones. */
export type ReviewFilter = "approved" | "not-rejected";

/** The known decisions about images: one per task, the one that counts most. */
export class Reviews {
  readonly #byTask = new Map<string, ReviewDecision>();

  constructor(...all: readonly Iterable<ReviewDecision>[]) {
    for (const decisions of all) this.add(decisions);
  }

  add(decisions: Iterable<ReviewDecision>): void {
    for (const one of decisions) {
      const known = this.#byTask.get(one.task);
      if (known === undefined || countsMore(one, known)) this.#byTask.set(one.task, one);
    }
  }

  /** The decision about the image of a task; null for an asset without a task, or without a decision. */
  of(taskId: unknown): ReviewDecision | null {
    return typeof taskId === "string" ? (this.#byTask.get(taskId) ?? null) : null;
  }

  get size(): number {
    return this.#byTask.size;
  }

  all(): ReviewDecision[] {
    return [...this.#byTask.values()].sort((one, other) => (one.task < other.task ? -1 : 1));
  }

  /** A digest (hex) of the decisions that affect a filter, to compare runs. Empty without any. */
  digest(of: ReviewFilter | "all" | null): string {
    const wanted = this.all().filter(({ decision }) => of !== "not-rejected" || decision === "reject");
    if (of === null || (of === "all" && wanted.length === 0)) return "";
    const hash = createHash("sha256").update(of);
    for (const { task, decision, note, at, reviewer } of wanted)
      hash.update(JSON.stringify([task, decision, ...(of === "all" ? [note, at, reviewer] : [])]));
    return hash.digest("hex");
  }
}

/** How many generated images an export leaves out, as summaries print it. */
export interface LeftOutCount {
  readonly rejected: number;
  /** Only for an export of approved images. */
  readonly not_reviewed?: number;
}

/** The fields of an asset that reviews need; the client checks none of them. */
interface ReviewedAsset {
  readonly role?: unknown;
  readonly ai_generated?: unknown;
  readonly task_id?: unknown;
}

/** `false` only for photos of the user (Asset, `ai_generated`), which are never reviewed. */
const isGenerated = ({ ai_generated, role }: ReviewedAsset): boolean =>
  typeof ai_generated === "boolean" ? ai_generated : role !== "source";

/** Leaves out generated images by their decisions, and counts them. Without a filter it keeps all. */
export class ReviewGate {
  readonly reviews: Reviews;
  readonly filter: ReviewFilter | null;
  readonly #mirror: string | null;
  #kept = 0;
  readonly #leftOut = { rejected: 0, not_reviewed: 0 };

  /** `mirror`: where reviewers hand their decisions on to; null for an export that is no mirror. */
  constructor(reviews: Reviews, filter: ReviewFilter | null, mirror: string | null = null) {
    this.reviews = reviews;
    this.filter = filter;
    this.#mirror = mirror;
  }

  /** The filter's reason against an asset; null if it is kept. */
  reasonAgainst(asset: ReviewedAsset): "rejected" | "not_reviewed" | null {
    if (this.filter === null || !isGenerated(asset)) return null;
    const decision = this.reviews.of(asset.task_id)?.decision;
    if (decision === "reject") return "rejected";
    return decision === undefined && this.filter === "approved" ? "not_reviewed" : null;
  }

  /** The assets that are kept, and how many are left out. Throws an InputError if no decision is known. */
  select<Asset>(
    assets: readonly Asset[],
    toReviewed: (asset: Asset) => ReviewedAsset,
  ): { readonly kept: Asset[]; readonly leftOut: Required<LeftOutCount> } {
    const leftOut = { rejected: 0, not_reviewed: 0 };
    const kept = assets.filter((asset) => {
      const reason = this.reasonAgainst(toReviewed(asset));
      if (reason === null) this.#kept += isGenerated(toReviewed(asset)) ? 1 : 0;
      else leftOut[reason]++;
      return reason === null;
    });
    if (leftOut.not_reviewed > 0 && this.reviews.size === 0) throw noDecisions(this.#mirror);
    this.#leftOut.rejected += leftOut.rejected;
    this.#leftOut.not_reviewed += leftOut.not_reviewed;
    return { kept, leftOut };
  }

  /** Throws an InputError if everything was read, and none of its generated images has a decision. */
  rejectUndecided(): void {
    const { rejected, not_reviewed } = this.#leftOut;
    if (not_reviewed > 0 && this.#kept + rejected === 0) throw noDecisions(this.#mirror);
  }

  get leftOut(): LeftOutCount | null {
    return toLeftOut(this.filter, this.#leftOut);
  }
}

/** The counts that an export with a filter reports; null without one. */
export function toLeftOut(
  filter: ReviewFilter | null,
  { rejected, not_reviewed }: Required<LeftOutCount>,
): LeftOutCount | null {
  if (filter === null) return null;
  return filter === "approved" ? { rejected, not_reviewed } : { rejected };
}

/** `15 not reviewed, 3 rejected: skipped`; null for nothing. */
export function leftOutText(leftOut: Partial<LeftOutCount> | null): string | null {
  const { rejected = 0, not_reviewed = 0 } = leftOut ?? {};
  const counts = countList({ "not reviewed": not_reviewed, rejected });
  return counts === "" ? null : `${counts}: skipped`;
}

const noDecisions = (mirror: string | null): InputError =>
  new InputError(
    "no decision is known of any generated image, so --approved would skip all of them",
    "no_decisions",
    mirror === null
      ? "Add --decisions FILE with a file that the gallery saved, or record it with cat tasks review FILE."
      : `Run cat tasks review FILE --mirror ${mirror} where the images were reviewed, or add --decisions FILE here.`,
  );

/** Rows with the images that a gate keeps, and their decisions. `assets` may be invalid. */
export const reviewedRows = (rows: readonly ExportRow[], gate: ReviewGate): ExportRow[] =>
  rows.map((row) => {
    if (!Array.isArray(row.assets)) return row;
    const assets = gate
      .select(row.assets, (asset) => asset ?? {})
      .kept.map((asset) => {
        const decision = gate.reviews.of(asset?.task_id)?.decision;
        return decision === undefined ? asset : { ...asset, decision };
      });
    return { ...row, assets };
  });
