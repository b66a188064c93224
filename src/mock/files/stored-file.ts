import { createHash } from "node:crypto";

/** The bytes behind a signed URL, with what names this version of them for caches and for downloads that go on. */
export interface StoredFile {
  readonly type: string;
  /** A strong entity tag, in its quotes: the same for the same bytes and for no others. */
  readonly etag: string;
  /** When the bytes were made, in milliseconds since the epoch; null where nobody knows. */
  readonly modified: number | null;
  readonly size: number;
  /** The bytes from `start` up to, but not with, `end`; in pieces where they are many. */
  readonly read: (start: number, end: number) => Uint8Array | AsyncIterable<Uint8Array>;
}

/** A file whose bytes are there as a whole; its tag follows from them where none is given. */
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
 * The entity tag of what these parts make up. An id would not do: with a seed, another run or another address gives the same ids
 * to other bytes, and a download that goes on would be glued together from both.
 */
export function tagOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return `"${hash.digest("base64url")}"`;
}
