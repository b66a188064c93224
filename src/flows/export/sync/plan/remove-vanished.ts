import { CatError } from "../../../../errors.ts";
import { isFatal } from "../fetch/fatal.ts";
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

/** Removes the files of entries, and the entries. `onFailed` receives a file that cannot be removed, and stays. */
export async function deleteFiles(
  entries: readonly MirrorEntry[],
  { index, store, journal }: Pick<Mirror, "index" | "store" | "journal">,
  onFailed: (entry: MirrorEntry, error: CatError) => void,
): Promise<void> {
  for (const entry of entries) {
    const { path, product_id, asset_id } = entry;
    try {
      await store.remove(path);
    } catch (error) {
      if (isFatal(error)) throw error;
      onFailed(entry, error as CatError);
      continue;
    }
    await journal.record("drop", product_id, asset_id);
    index.drop(product_id, asset_id);
  }
}
