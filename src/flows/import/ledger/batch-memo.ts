import { FieldDigests, fieldDigestBytes } from "./field-digests.ts";
import { sourceDigestBytes } from "./source-digests.ts";

/**
 * Data about a row of a batch, kept until its results arrive. Images are numbered by their place in the row
 * of the file, from 0.
 */
export interface RowMemo {
  fields: FieldDigests;
  /** Images sent, in order, each with the digest of its source. */
  sent: readonly { image: number; digest: Buffer }[];
  /** Images skipped because they are in the ledger. */
  leftOut: readonly number[];
  /** Images not sent because the service rejected the upload. */
  refused: readonly RejectedPhoto[];
}

/**
 * A photo that the service rejected: its place in the row of the file from 0, its source in the file, and the
 * reason.
 */
export interface RejectedPhoto {
  image: number;
  source: string;
  orientation: string;
  code: string;
  message: string;
}

const noBytes = new Uint8Array();
const none: readonly RejectedPhoto[] = [];

/**
 * Encodes the memos of a batch. They are stored with the batch, because its body is deleted once it is
 * accepted.
 */
export function packMemos(memos: readonly RowMemo[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const { fields, sent, leftOut, refused } of memos) {
    parts.push(fields.bytes, Uint8Array.of(sent.length));
    for (const { image, digest } of sent) parts.push(Uint8Array.of(image), digest);
    parts.push(Uint8Array.of(leftOut.length, ...leftOut));
    const reasons = refused.length === 0 ? noBytes : Buffer.from(JSON.stringify(refused));
    parts.push(Uint8Array.of(reasons.length >> 16, reasons.length >> 8, reasons.length), reasons);
  }
  return Buffer.concat(parts);
}

export function unpackMemos(bytes: Uint8Array): RowMemo[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    return all.subarray(at - length, at);
  };
  const memos: RowMemo[] = [];
  while (at < all.length) {
    const fields = new FieldDigests(take(fieldDigestBytes));
    const sent = Array.from({ length: take(1)[0]! }, () => ({
      image: take(1)[0]!,
      digest: take(sourceDigestBytes),
    }));
    const leftOut = [...take(take(1)[0]!)];
    const reasons = take(take(3).readUIntBE(0, 3));
    memos.push({ fields, sent, leftOut, refused: reasons.length === 0 ? none : JSON.parse(String(reasons)) });
  }
  return memos;
}
