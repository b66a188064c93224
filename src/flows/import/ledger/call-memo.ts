import { FieldDigests, fieldDigestBytes } from "./field-digests.ts";
import { sourceDigestBytes } from "./source-digests.ts";

/** What must be known of a row that was sent once its result is there. Images are told by their place in the file's row, from 0. */
export interface RowMemo {
  fields: FieldDigests;
  /** The images that were sent, in the order in which they were, each with the digest of its source. */
  sent: readonly { image: number; digest: Buffer }[];
  /** The images that were left out, because the ledger knows them. */
  leftOut: readonly number[];
  /** The images that were not sent, because the service refused the upload. */
  refused: readonly RefusedPhoto[];
}

/** A photo that the service does not take: its place in the file's row, from 0, how the row names it, and why. */
export interface RefusedPhoto {
  image: number;
  source: string;
  orientation: string;
  code: string;
  message: string;
}

const noBytes = new Uint8Array();
const none: readonly RefusedPhoto[] = [];

/** The memos of a call's rows as bytes: they are written down with the call, as its body is let go when it is accepted. */
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
