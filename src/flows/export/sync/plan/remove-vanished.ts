import { CatError, fileProblem } from "../../../../errors.ts";
import { OutputError } from "../../../files/output-error.ts";
import type { ProgressEvent } from "../../../progress-event.ts";
import type { Mirror } from "../index/mirror.ts";
import type { MirrorEntry } from "../index/mirror-entry.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import { failureOf, type SyncCounts } from "../result/summary.ts";

/** Identifies an entry. */
export type EntryKey = Pick<MirrorEntry, "product_id" | "asset_id">;

interface LossInput {
  readonly index: Pick<MirrorIndex, "size" | "present">;
  /** The entries before the run: all, and those that the catalogue still had. */
  readonly before: Pick<MirrorIndex, "size" | "present">;
  /** Whether everything was read, and not a delta. */
  readonly isFull: boolean;
  readonly delete: boolean;
  readonly maxDelete: number | null;
}

/** Files that `--delete` may remove from a mirror of any size. */
const fewFiles = 20;

/**
 * Why the vanished images of a run are neither marked nor deleted, as a CatError of type partial; null if they are. A
 * list of the service may be empty or cut short, and a delta does not repair what a run marked wrongly.
 */
export function refusalOf(
  vanished: number,
  { index, before, isFull, delete: isDelete, maxDelete }: LossInput,
): CatError | null {
  const lost = index.size - index.present + vanished;
  const hint = `Check the API key and the catalogue. To delete the files, add --delete --max-delete ${lost}.`;
  // A list may lack images, and a key of another organization sees none; a delta names each product that was deleted.
  const mostOf = (files: number) => (isFull ? files / 2 : files - 1);
  if (isDelete) {
    const usual = Math.min(mostOf(before.size), Math.max(fewFiles, before.size / 10));
    if (lost <= (maxDelete ?? Math.max(0, usual))) return null;
    const message = `${lost} of ${before.size} files are no longer in the catalogue; none was deleted`;
    return new CatError(message, { type: "partial", code: "too_many_deletions", hint });
  }
  if (vanished <= Math.max(0, mostOf(before.present))) return null;
  return new CatError(
    `the catalogue no longer has ${vanished} of ${before.present} images of the mirror; none was marked as removed`,
    {
      type: "partial",
      code: "most_images_missing",
      hint: `${hint} To keep them, mirror the catalogue into a new folder.`,
    },
  );
}

/**
 * Marks what the catalogue no longer has, and with `delete` deletes the files of all marked entries. A file that cannot
 * be deleted stays, and is reported: it may be in a read-only folder, or open in a program on Windows.
 */
export async function removeVanished(
  { index, store, journal }: Pick<Mirror, "index" | "store" | "journal">,
  vanished: readonly EntryKey[],
  run: {
    readonly counts: SyncCounts;
    readonly delete: boolean;
    readonly dryRun: boolean;
    readonly onFailed: (asset: { fields: MirrorEntry }, error: CatError) => void;
    readonly onProgress: (event: ProgressEvent) => void;
  },
): Promise<void> {
  const { counts, onFailed, onProgress } = run;
  for (const { product_id, asset_id } of vanished)
    index.set({ ...index.get(product_id, asset_id)!, removed: true });
  counts.removed = vanished.length;
  if (!run.delete) return;
  const entries = [...index.removed()];
  counts.removed = entries.length;
  if (run.dryRun) return;
  let done = 0;
  for (const entry of entries) {
    const { path, product_id, asset_id } = entry;
    onProgress({ step: "deleting", done: done++, total: entries.length });
    try {
      await store.remove(path);
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      const failed = cannotDelete(path, error);
      counts.removed--;
      counts.fail(failureOf(entry, failed), false);
      onFailed({ fields: entry }, failed);
      continue;
    }
    await journal.record("drop", product_id, asset_id);
    index.drop(product_id, asset_id);
  }
}

function cannotDelete(path: string, cause: OutputError): CatError {
  const problem = fileProblem(cause.cause);
  if (problem === null) return cause;
  const { why, hint } = problem;
  return new CatError(`cannot delete ${path}: ${why}`, {
    type: "output",
    code: "file_not_deletable",
    hint,
    cause,
  });
}
