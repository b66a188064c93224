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

/** A file whose bytes are there as a whole. */
export const fileOf = (
  bytes: Uint8Array,
  named: Pick<StoredFile, "type" | "etag" | "modified">,
): StoredFile => ({ ...named, size: bytes.length, read: (start, end) => bytes.subarray(start, end) });
