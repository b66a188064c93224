// The time that the rate limit alone requires for the writes of an import.

import { writeEstimate } from "../run/writes.ts";
import { byteText, counted, grouped } from "../words.ts";
import type { ImportRun } from "./import-run.ts";
import type { Plan } from "./plan.ts";
import { batchSize } from "./send.ts";

/** Shows an estimate if the import will take long. */
export function noteEstimate({ uploads, writes, sends }: Plan, run: ImportRun): void {
  const batches = Math.ceil(sends / batchSize(run.input).rows);
  const counts = { photos: uploads.count, bytes: uploads.bytes, changes: writes, batches };
  const line = estimateLine(counts, run.deps.writesPerMinute);
  if (line !== null) run.deps.onNote(`${line}.`);
}

/**
 * The writes of an import with the time that the rate limit alone requires; null if they fit in one window. Each photo to
 * upload, each change of a product, each detached photo and each batch is one write; `bytes` is the size of the photos.
 */
export function estimateLine(
  { photos, bytes, changes, batches }: Record<"photos" | "bytes" | "changes" | "batches", number>,
  writesPerMinute: number,
): string | null {
  const time = writeEstimate(photos + changes + batches, writesPerMinute);
  if (time === null) return null;
  const parts = [
    photos > 0 ? `${counted(photos, "photo")} to upload${bytes > 0 ? ` (${byteText(bytes)})` : ""}` : "",
    changes > 0 ? `${counted(changes, "change")} of products` : "",
    // One or two batches are not worth mentioning next to their photos.
    batches > writesPerMinute || (photos === 0 && changes === 0) ? `${grouped(batches)} batches to send` : "",
  ].filter((part) => part !== "");
  return `${parts.join(", ")}: ${time}`;
}
