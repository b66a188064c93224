import { CatError, fileProblem } from "../../../errors.ts";
import { OutputError } from "../../files/disk.ts";
import { counted } from "../../words.ts";
import type { ReviewFilter } from "../reviews.ts";
import type { EntryKey } from "./mirror-entry.ts";
import type { MirrorIndex } from "./mirror-index.ts";
import type { SyncRun } from "./sync-run.ts";

interface LossInput {
  readonly index: Pick<MirrorIndex, "size" | "present">;
  /** The entries before the run: all, and those that the catalogue still had. */
  readonly before: Pick<MirrorIndex, "size" | "present">;
  /** Whether everything was read, and not a delta. */
  readonly isFullRead: boolean;
  readonly delete: boolean;
  readonly maxDelete: number | null;
  /** The number of shards of the mirror: each of them may remove its part. */
  readonly shards: number;
  /** The filter by which the catalogue may still have some of the images; null for none. */
  readonly reviewed: ReviewFilter | null;
}

/** Files that `--delete` may remove from a mirror of any size, with all its shards. */
const fewFiles = 20;

/**
 * Why vanished images are neither marked nor deleted, as a CatError of type partial: a list may be cut short,
 * and a delta does not repair what was marked wrongly. Null if they are.
 */
export function lossRejection(
  vanished: number,
  { index, before, isFullRead, delete: isDelete, maxDelete, shards, reviewed }: LossInput,
): CatError | null {
  const lost = index.size - index.present + vanished;
  const why = reviewed === "approved" ? "not approved" : "rejected";
  const [gone, not, check] =
    reviewed === null
      ? ["are no longer in the catalogue", "the catalogue no longer has", "the API key and the catalogue"]
      : [
          `are ${why} or no longer in the catalogue`,
          `${why} or no longer in the catalogue:`,
          "the review, the API key and the catalogue",
        ];
  const hint = `Check ${check}. To delete the files, add --delete --max-delete ${lost}.`;
  // A list may lack images, and a key of another organization sees none; a delta names each deletion.
  const deletionLimit = (files: number) => (isFullRead ? files / 2 : files - 1);
  if (isDelete) {
    const usual = Math.min(deletionLimit(before.size), Math.max(fewFiles / shards, before.size / 10));
    if (lost <= (maxDelete ?? Math.max(0, usual))) return null;
    const message = `${lost} of ${before.size} files ${gone}; none was deleted`;
    return new CatError(message, { type: "partial", code: "too_many_deletions", hint });
  }
  if (vanished <= Math.max(0, deletionLimit(before.present))) return null;
  return new CatError(
    `${not} ${vanished} of ${before.present} images of the mirror; none was marked as removed`,
    {
      type: "partial",
      code: "most_images_missing",
      hint: `${hint} To keep them, mirror the catalogue into a new folder.`,
    },
  );
}

/**
 * Marks vanished entries, and with `delete` deletes all marked files. One that cannot be deleted (a read-only
 * folder, a program on Windows), or is another file now, stays and is reported.
 */
export async function removeVanished(
  vanished: readonly EntryKey[],
  { input, host, mirror, counts, freed }: SyncRun,
): Promise<void> {
  const { index, store } = mirror;
  for (const key of vanished) index.set({ ...index.get(key)!, removed: true });
  counts.removed = vanished.length;
  if (!input.delete) return;
  const total = index.size - index.present;
  counts.removed = total;
  // A kill must not leave entries of files that are gone.
  if (!input.dryRun) index.keepOnDisk();
  const others: string[] = [];
  let done = 0;
  for (const entry of index.entries("removed")) {
    host.onProgress({ step: "deleting", done: done++, total });
    try {
      const isOwn = (await store.findFile(entry)) !== null;
      if (!isOwn && (await store.stat(entry.path)) !== null) others.push(entry.path);
      if (isOwn && input.dryRun) freed.add(entry.path, 1);
      else if (isOwn) await store.remove(entry.path);
      index.drop(entry);
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      const failed = cannotDelete(entry.path, error);
      counts.removed--;
      counts.fail(entry, failed, false);
      host.onFailed(entry, failed);
    }
  }
  counts.removed -= others.length;
  if (others.length > 0) host.onNote(keptNote(others));
}

function keptNote(paths: readonly string[]): string {
  const [are, their, named] = paths.length === 1 ? ["is", "its", ":"] : ["are", "their", ", for example"];
  const why = `because ${their} content is not what this mirror saved`;
  return `${counted(paths.length, "file")} of removed images ${are} kept, ${why}${named} ${paths[0]}`;
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
