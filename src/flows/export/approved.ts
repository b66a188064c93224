import { createHash } from "node:crypto";
import type { ExportRow } from "../../contract/resources/exports.ts";
import type { Decisions } from "../../state/decisions.ts";

/** What reviews say of the generated images of a service, for exports and mirrors. Own photos have no task, and no decision. */
export class ReviewedAssets {
  readonly #decisions: Decisions;
  readonly #baseUrl: string;

  constructor(decisions: Decisions, baseUrl: string) {
    this.#decisions = decisions;
    this.#baseUrl = baseUrl;
  }

  /** The decision about the image of a task; null for an asset without a task, or without a decision. */
  of(taskId: unknown): "approve" | "reject" | null {
    return typeof taskId === "string" ? (this.#decisions.of(this.#baseUrl, taskId)?.decision ?? null) : null;
  }

  /**
   * A digest (hex) of all decisions, or of the rejections alone: whether they are those of an earlier run. Empty without any.
   */
  digest(which: "all" | "reject"): string {
    const hash = createHash("sha256");
    let isEmpty = true;
    for (const { task, decision } of this.#decisions.all(this.#baseUrl)) {
      if (which === "reject" && decision === "approve") continue;
      hash.update(`${task} ${decision}\n`);
      isEmpty = false;
    }
    return isEmpty ? "" : hash.digest("hex");
  }
}

/** Rows without rejected images; the others have their `decision`, if there is one. The client does not check `assets`. */
export const approvedRows = (rows: readonly ExportRow[], reviewed: Pick<ReviewedAssets, "of">): ExportRow[] =>
  rows.map((row) => {
    if (!Array.isArray(row.assets)) return row;
    const assets = row.assets.flatMap((asset) => {
      const decision = reviewed.of(asset?.task_id);
      if (decision === "reject") return [];
      return decision === null ? [asset] : [{ ...asset, decision }];
    });
    return { ...row, assets };
  });
