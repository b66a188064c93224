import { writeEstimate } from "../../run/writes.ts";
import { byteText, counted, grouped } from "../../words.ts";

/** Writes that an import will send to the service. */
export interface WriteCounts {
  /** Uploads, one write each. */
  photos: number;
  /** Total size of the photos. */
  bytes: number;
  /** Rows with changed fields only, one write each. */
  patches: number;
  /** Batches of rows. */
  batches: number;
}

/** The writes of an import with the time that the rate limit alone requires; null if they fit in one window. */
export function estimateLine(
  { photos, bytes, patches, batches }: WriteCounts,
  writesPerMinute: number,
): string | null {
  const time = writeEstimate(photos + patches + batches, writesPerMinute);
  if (time === null) return null;
  const parts = [
    photos > 0 ? `${counted(photos, "photo")} to upload${bytes > 0 ? ` (${byteText(bytes)})` : ""}` : "",
    patches > 0 ? `${counted(patches, "product")} to update` : "",
    // One or two batches are not worth mentioning next to their photos.
    batches > writesPerMinute || (photos === 0 && patches === 0) ? `${grouped(batches)} batches to send` : "",
  ].filter((part) => part !== "");
  return `${parts.join(", ")}: ${time}`;
}
