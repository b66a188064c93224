import { limits } from "../../../contract/limits.ts";
import { byteText } from "../../byte-text.ts";
import { grouped } from "../../grouped.ts";
import { leastMsFor } from "../../photos/write-window.ts";

/** What an import is going to write to the service. */
export interface WriteCounts {
  /** Uploads, one write each. */
  photos: number;
  /** What they have in all. */
  bytes: number;
  /** Rows of which only fields changed, one write each. */
  patches: number;
  /** Calls with rows. */
  calls: number;
}

/**
 * How long the rate limit alone makes an import last, e.g. `1,240 photos, 60 writes a minute: about 21 min`; null when all
 * of it fits in one window. The window is shared with every other caller of the organization (Limits): it may take longer.
 */
export function estimateLine(
  { photos, bytes, patches, calls }: WriteCounts,
  writesPerMinute: number,
): string | null {
  const leastMs = leastMsFor(photos + patches + calls, writesPerMinute);
  if (leastMs === 0) return null;
  const parts = [
    photos > 0 ? counted(photos, "photo") : "",
    patches > 0 ? counted(patches, "changed row") : "",
    // One call or two say nothing beside what they carry.
    calls > writesPerMinute || (photos === 0 && patches === 0) ? counted(calls, "call") : "",
  ].filter((part) => part !== "");
  // The last window is counted as well, which the progress leaves out: its writes take their time, and this is said once.
  const minutes = (leastMs + limits.rateWindowMs) / 60_000;
  const upload = bytes > 0 ? ` (${byteText(bytes)} to upload)` : "";
  return `${parts.join(", ")}, ${writesPerMinute} writes a minute: about ${duration(minutes)}${upload}`;
}

const counted = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;

const duration = (minutes: number): string =>
  minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
