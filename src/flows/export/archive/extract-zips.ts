// Extracting: every entry of every archive is judged, then all are written; the folder is complete or absent.

import type { ProgressEvent } from "../../progress-event.ts";
import { ExtractFolder } from "./extract-folder.ts";
import { ExtractPlan, type RenamedFile } from "./extract-plan.ts";
import { readZip } from "./read-zip.ts";
import { writePlan } from "./write-plan.ts";

export interface Extraction {
  /** The archives in their order; `shown` is the name in messages (default: the path). */
  readonly archives: readonly { readonly path: string; readonly shown?: string | undefined }[];
  /** A folder that is missing or empty (`findExtractTarget`). */
  readonly dir: string;
  /** The largest file in an archive, in bytes (default: any). */
  readonly maxBytes?: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

export interface Extracted {
  readonly files: number;
  readonly bytes: number;
  /** Files that got another name than in their archive. */
  readonly renamed: readonly RenamedFile[];
}

/**
 * Extracts ZIPs into one folder, which appears when all files are on the disk. A file whose name an earlier archive has
 * gets a number: `a-2.jpg`. Throws an ArchiveError (exit 7) for an archive that is damaged or not safe, an OutputError
 * (exit 2) for a folder that cannot be written, a CatError of type conflict (exit 6) while another process extracts to it,
 * and the reason of the signal. In every case nothing is left.
 */
export async function extractZips({
  archives,
  dir,
  maxBytes,
  signal,
  onProgress = () => {},
}: Extraction): Promise<Extracted> {
  const named = archives.map(({ path, shown = path }) => ({ path, shown }));
  const folder = await ExtractFolder.claim(dir);
  try {
    const plan = new ExtractPlan(maxBytes);
    for (const [done, { path, shown }] of named.entries()) {
      onProgress({ step: "checking archives", done, total: named.length });
      signal.throwIfAborted();
      plan.add(shown, await readZip(path, shown, signal));
    }
    await writePlan(plan, { archives: named, folder: folder.files, dir, signal, onProgress });
    signal.throwIfAborted();
    await folder.place();
    return { files: plan.count, bytes: plan.bytes, renamed: plan.renamed };
  } finally {
    await folder.discard();
  }
}
