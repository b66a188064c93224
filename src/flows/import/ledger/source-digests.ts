import { shortDigest } from "../../short-digest.ts";

/** Bytes that the ledger keeps per image source. */
export const sourceDigestBytes = 16;

/** The source of a photo: a URL, an uploaded image, or the SHA-256 (hex) of a local file's bytes. */
export type ImageSource = { url: string } | { image_id: string } | { sha256: string };

/** The digest of a source in the ledger. */
export function sourceDigest(source: ImageSource): Buffer {
  const text =
    "url" in source
      ? `url ${source.url}`
      : "image_id" in source
        ? `image ${source.image_id}`
        : `content ${source.sha256}`;
  return shortDigest(text, sourceDigestBytes);
}

/** Whether the concatenated `digests` contain this one. */
export function holds(digests: Uint8Array, digest: Uint8Array): boolean {
  const all = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength);
  for (let at = all.indexOf(digest); at !== -1; at = all.indexOf(digest, at + 1)) {
    if (at % sourceDigestBytes === 0) return true;
  }
  return false;
}

/** Appends the digests of `added` that are not in `earlier`. */
export function union(earlier: Uint8Array, added: readonly Uint8Array[]): Buffer {
  let all = Buffer.from(earlier);
  for (const digest of added) if (!holds(all, digest)) all = Buffer.concat([all, digest]);
  return all;
}
