import { limits } from "../../../contract/limits.ts";

/** Files per product that an archive may have on average: 20 photos, and images generated from them. */
const filesPerProduct = 200;

/**
 * What an archive of one export job may ask for. The specification has no limits for ZIPs; these are far above any honest
 * export, and far below what fills a disk or the memory.
 */
export const archiveLimits = {
  entries: limits.exportProducts * filesPerProduct,
  entriesText: "100,000",
  /** Images hardly shrink: an archive may unpack to this multiple of its size, or to `freeBytes` if that is more. */
  ratio: 100,
  freeBytes: 100_000_000,
  /** Bytes of one name: 255 on most file systems, less room for a number. */
  nameBytes: 240,
  pathBytes: 1_000,
} as const;
