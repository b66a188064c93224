import { CatError, fileProblem } from "../../../../errors.ts";
import { OutputError } from "../../../outputs/output-error.ts";
import type { ProgressEvent } from "../../../progress-event.ts";
import type { Mirror } from "../index/mirror.ts";
import type { MirrorEntry } from "../index/mirror-entry.ts";

/**
 * The entries whose files `--delete` removes: those that the catalogue no longer has. Throws a CatError of type partial
 * if they are all there are, or more than `--max-delete`: an API key of another organization sees an empty catalogue.
 */
export function deletable({ index }: Pick<Mirror, "index">, maxDelete: number | null): MirrorEntry[] {
  const entries = [...index.removed()];
  const isAll = entries.length > 0 && index.present === 0;
  if (maxDelete === null ? isAll : entries.length > maxDelete) {
    const all = entries.length + index.present;
    throw new CatError(`${entries.length} of ${all} files are no longer in the catalogue; none was deleted`, {
      type: "partial",
      code: "too_many_deletions",
      hint: `Check the API key and the catalogue. To delete the files, add --delete --max-delete ${entries.length}.`,
    });
  }
  return entries;
}

/**
 * Deletes the files of entries, and drops the entries. `onFailed` receives a file that cannot be deleted, and stays: it
 * may be in a read-only folder, or open in a program on Windows.
 */
export async function deleteFiles(
  entries: readonly MirrorEntry[],
  { index, store, journal }: Pick<Mirror, "index" | "store" | "journal">,
  {
    onFailed,
    onProgress,
  }: {
    onFailed: (entry: MirrorEntry, error: CatError) => void;
    onProgress: (event: ProgressEvent) => void;
  },
): Promise<void> {
  let done = 0;
  for (const entry of entries) {
    const { path, product_id, asset_id } = entry;
    onProgress({ step: "deleting", done: done++, total: entries.length });
    try {
      await store.remove(path);
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      onFailed(entry, cannotDelete(path, error));
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
