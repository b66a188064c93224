import type { CatError } from "../../../../errors.ts";
import { OutputError } from "../../../files/output-error.ts";
import type { ProgressEvent } from "../../../progress-event.ts";
import { isIntact } from "../index/is-intact.ts";
import type { Mirror } from "../index/mirror.ts";
import type { MirrorEntry } from "../index/mirror-entry.ts";

/** Files that are hashed at once: reading one overlaps with hashing another. */
const filesAtOnce = 8;

/** Hashes every file again, and marks the entries of those that are missing or differ; whether there are any. */
export async function verifyFiles(
  { index, store, journal }: Pick<Mirror, "index" | "store" | "journal">,
  {
    isDryRun,
    signal,
    onProgress,
    onUnreadable,
  }: {
    isDryRun: boolean;
    signal: AbortSignal;
    onProgress: (event: ProgressEvent) => void;
    /** Receives a file that cannot be read, and stays as it is. */
    onUnreadable: (entry: MirrorEntry, error: CatError) => void;
  },
): Promise<boolean> {
  const damaged: MirrorEntry[] = [];
  const total = index.present;
  let done = 0;
  const entries = index.entries();
  const work = async () => {
    for (const entry of entries) {
      if (entry.removed === true) continue;
      signal.throwIfAborted();
      try {
        if (!(await isIntact(store, entry))) damaged.push(entry);
      } catch (error) {
        if (!(error instanceof OutputError) || error.code !== "file_not_readable") throw error;
        onUnreadable(entry, error);
      }
      onProgress({ step: "verifying", done: ++done, total });
    }
  };
  await Promise.all(Array.from({ length: filesAtOnce }, work));
  for (const entry of damaged) {
    const marked = { ...entry, damaged: true as const };
    index.set(marked);
    if (!isDryRun) await journal.record("entry", marked);
  }
  return damaged.length > 0;
}
