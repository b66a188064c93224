// What an import does, or would do, in the words of its plan and its summary.

import { type Decision, type NotApplied, noEdits } from "./decide.ts";

/** The photos of products that change. */
export interface PhotoCounts {
  added: number;
  replaced: number;
  removed: number;
  moved: number;
  /** Found at the service, where another machine has sent them. */
  adopted: number;
}

/** What the sheet says that is not carried out. */
export interface NotAppliedCounts {
  /** Fields that are empty in a plain sheet, and photos that it no longer has. */
  emptied: number;
  removed: number;
}

/** Counts that a plan and a summary share; of rows, unless their name says photos or cells. */
export interface SharedCounts {
  kept: number;
  conflicts: number;
  deleted: number;
  photos: PhotoCounts;
  not_applied: NotAppliedCounts;
  known_failures: number;
}

export const noCounts = (): SharedCounts => ({
  kept: 0,
  conflicts: 0,
  deleted: 0,
  photos: { added: 0, replaced: 0, removed: 0, moved: 0, adopted: 0 },
  not_applied: { emptied: 0, removed: 0 },
  known_failures: 0,
});

/** Rows whose edits were not carried out, that were not edited, or whose failure is known. */
type ExampleKind = "kept" | "deleted" | "emptied" | "removed" | "known";

/** The first rows of each kind that a summary names. */
export class Examples {
  readonly #of = new Map<ExampleKind, { count: number; references: string[] }>();

  add(kind: ExampleKind, reference: string): void {
    const known = this.#of.get(kind) ?? { count: 0, references: [] };
    this.#of.set(kind, known);
    known.count++;
    if (known.references.length < named) known.references.push(reference);
  }

  /** The number of rows of a kind, and the first of them. */
  of(kind: ExampleKind): { readonly count: number; readonly references: readonly string[] } {
    return this.#of.get(kind) ?? { count: 0, references: [] };
  }
}

const named = 3;

/** The photos that a decision changes. A replaced photo is not counted as added. */
export function photosOf(decision: Decision): Omit<PhotoCounts, "adopted"> {
  const { move, detach } = "edits" in decision ? decision.edits : noEdits;
  const replaced = detach.filter(({ why }) => why === "replaced").length;
  const attached = decision.kind === "send" ? decision.images.length : 0;
  return {
    added: Math.max(0, attached - replaced),
    replaced,
    removed: detach.length - replaced,
    moved: move.length,
  };
}

export function addPhotos(counts: PhotoCounts, photos: Partial<PhotoCounts>): void {
  for (const [name, count] of Object.entries(photos)) counts[name as keyof PhotoCounts] += count;
}

/** Whether nothing else was edited than what is not carried out. */
export const isNotApplied = ({ kind, notApplied }: Decision): boolean =>
  kind === "unchanged" && notApplied !== undefined;

export function addNotApplied(counts: NotAppliedCounts, notApplied: NotApplied | undefined): void {
  counts.emptied += notApplied?.emptied.length ?? 0;
  counts.removed += notApplied?.removed.length ?? 0;
}
