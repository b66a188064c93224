import { createHash } from "node:crypto";

/** The file behind a signed URL, with its version for caches and resumed downloads. */
export interface StoredFile {
  readonly type: string;
  /** A strong entity tag, in quotes: equal for equal bytes only. */
  readonly etag: string;
  /** Creation time of the bytes, in milliseconds since the epoch; null if unknown. */
  readonly modified: number | null;
  readonly size: number;
  /** Returns the bytes from `start` (inclusive) to `end` (exclusive); large files come in pieces. */
  readonly read: (start: number, end: number) => Uint8Array | AsyncIterable<Uint8Array>;
}

/** A file held in memory. Without a given entity tag, the tag is derived from the bytes. */
export const fileOf = (
  bytes: Uint8Array,
  named: Pick<StoredFile, "type" | "modified"> & { readonly etag?: string },
): StoredFile => ({
  ...named,
  etag: named.etag ?? tagOf(bytes),
  size: bytes.length,
  read: (start, end) => bytes.subarray(start, end),
});

/**
 * The entity tag of the concatenated parts. An ID would not do: with a seed, another run or another base URL
 * produces other bytes under the same IDs, and a resumed download would join both.
 */
export function tagOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return `"${hash.digest("base64url")}"`;
}
