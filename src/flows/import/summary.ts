// The counts of an import, in the words of its plan and its summary.

import type { Import } from "../../contract/resources/imports.ts";
import type { ImportMode } from "../../contract/value-sets.ts";
import type { MergeableRows } from "../rows/merged-copy.ts";
import type { FileNote } from "../rows/notes.ts";
import { editsOf, type RowDecision, type SkippedEdits } from "./decide.ts";

/** The result of an import, as printed by `--json`. Counts are rows. */
export interface ImportSummary extends SharedCounts {
  run_id: string;
  file: string;
  mode: ImportMode;
  /** Rows of the file. */
  total: number;
  /** Rows that the check rejected. */
  invalid: number;
  /**
   * Rows of accepted batches, and rows outside batches with only changed fields or rejected photos; each is
   * succeeded, partial or failed once its result is known.
   */
  submitted: number;
  succeeded: number;
  partial: number;
  failed: number;
  created: number;
  updated: number;
  skipped: number;
  /** Rows not sent because they would change nothing. */
  unchanged: number;
  imports: { id: string; status: Import["status"]; rows: number }[];
  /** Photos that were converted to JPEG; only with `--convert`. */
  converted?: number;
  failed_file: string | null;
  results_file: string | null;
  /** Number of rows in the results file: those with a known result. Only with a results file. */
  results_rows?: number;
  duration_ms: number;
  /** Rows beyond the limit that are not imported yet, which count nowhere else; only with `--limit`. */
  left?: number;
  /** Possible mistakes in the file, read as they are; missing if there is nothing. */
  notes?: readonly FileNote[];
  /** Skipped rows that could be one product each (`--merge-rows`); missing if there are none. */
  mergeable?: MergeableRows;
  /** Batches with an unknown outcome, by lines of the file; missing if there are none. */
  unknown?: LineSpan[];
  /** Batches that the service rejected, so that none of their rows was submitted; missing without any. */
  refused?: LineSpan[];
  /** Problems that the service found after the check had passed; missing if there are none. */
  problems?: SummaryProblem[];
  /** Imports that ended without read results, so their rows are not counted; missing without any. */
  unread?: string[];
  /** Errors from writing the failed file or the results file; missing if there are none. */
  unwritten?: string[];
}

/** The rows of one batch, by lines of the file. */
export interface LineSpan {
  first_line: number;
  last_line: number;
  rows: number;
}

/** A problem of one row, by its line in the file, or of a batch, by its first and last line. */
export type SummaryProblem = { param?: string | undefined; code: string; message: string } & (
  | { line: number }
  | { first_line: number; last_line: number }
);

/** The counts that a plan and a summary share: of rows, unless their name says photos or cells. */
export const noCounts = () => ({
  kept: 0,
  conflicts: 0,
  deleted: 0,
  /** Photos of products. Adopted ones were found at the service, where another machine has sent them. */
  photos: { added: 0, replaced: 0, removed: 0, moved: 0, adopted: 0 },
  /** Fields that are empty in a plain sheet, and photos that it no longer has. */
  not_applied: { emptied: 0, removed: 0 },
  known_failures: 0,
});
export type SharedCounts = ReturnType<typeof noCounts>;
export type PhotoCounts = SharedCounts["photos"];

/** The fields of a summary about what was sent, before anything was. */
export const nothingSent = {
  submitted: 0,
  succeeded: 0,
  partial: 0,
  failed: 0,
  created: 0,
  updated: 0,
  skipped: 0,
  unchanged: 0,
  ...noCounts(),
  imports: [],
  failed_file: null,
  results_file: null,
};

/** Rows whose edits were not carried out, that were not edited, or whose failure is known. */
type ExampleKind = "kept" | "deleted" | "emptied" | "removed" | "known";

export class Examples {
  readonly #of = new Map<ExampleKind, { count: number; references: string[] }>();

  add(kind: ExampleKind, reference: string): void {
    const known = this.#of.get(kind) ?? { count: 0, references: [] };
    this.#of.set(kind, known);
    known.count++;
    if (known.references.length < named) known.references.push(reference);
  }

  of(kind: ExampleKind): { readonly count: number; readonly references: readonly string[] } {
    return this.#of.get(kind) ?? { count: 0, references: [] };
  }
}

const named = 3;

/** The added photos of a row: one that replaces another is not added; a moved one may replace one too. */
export const addedOf = (attached: number, replaced: number): number => Math.max(0, attached - replaced);

/** The photos that a decision changes. */
export function photosOf(decision: RowDecision): Omit<PhotoCounts, "adopted"> {
  const { move, detach } = editsOf(decision);
  const replaced = detach.filter(({ why }) => why === "replaced").length;
  const attached = decision.kind === "send" ? decision.images.length : 0;
  return {
    added: addedOf(attached, replaced),
    replaced,
    removed: detach.length - replaced,
    moved: move.length,
  };
}

export function addPhotos(counts: PhotoCounts, photos: Partial<PhotoCounts>): void {
  for (const [name, count] of Object.entries(photos)) counts[name as keyof PhotoCounts] += count;
}

/** Names of rows of which nothing is carried out: nothing was edited, or the service has it. */
export const untouched = ["unchanged", "kept", "deleted"] as const;
export type UntouchedName = (typeof untouched)[number];

/** The count of a decision; null if something is carried out, or the row fails. */
export function untouchedAs({ kind, notApplied }: RowDecision): UntouchedName | null {
  // The service has something else than the sheet.
  if (kind === "unchanged" && notApplied !== undefined) return "kept";
  return untouched.find((one) => one === kind) ?? null;
}

export function addNotApplied(
  counts: SharedCounts["not_applied"],
  notApplied: SkippedEdits | undefined,
): void {
  counts.emptied += notApplied?.emptied.length ?? 0;
  counts.removed += notApplied?.removed.length ?? 0;
}
