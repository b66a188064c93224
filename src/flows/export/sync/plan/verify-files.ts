import type { ProgressEvent } from "../../../progress-event.ts";
import { isIntact } from "../index/is-intact.ts";
import type { Mirror } from "../index/mirror.ts";
import { keyOf } from "../index/mirror-entry.ts";

/** Files that are hashed at once: reading one overlaps with hashing another. */
const filesAtOnce = 8;

/** Hashes every file again, and returns the keys of those that are missing or differ from the index. */
export async function verifyFiles(
  { index, store }: Pick<Mirror, "index" | "store">,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (event: ProgressEvent) => void },
): Promise<Set<string>> {
  const damaged = new Set<string>();
  const total = index.present;
  let done = 0;
  const entries = index.entries();
  const work = async () => {
    for (const entry of entries) {
      if (entry.removed === true) continue;
      signal.throwIfAborted();
      if (!(await isIntact(store, entry))) damaged.add(keyOf(entry));
      onProgress({ step: "verifying", done: ++done, total });
    }
  };
  await Promise.all(Array.from({ length: filesAtOnce }, work));
  return damaged;
}
