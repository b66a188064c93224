// Digests: what the ledger and a batch keep about a row instead of its text.

import { parseUrl } from "../../contract/url-policy.ts";
import { parseJson } from "../../json.ts";
import { withoutUnseenEnds } from "../../text.ts";
import { shortDigest } from "../short-digest.ts";

/** The product fields that an import sets, in the order of their digests. */
export const ledgerFields = ["name", "description", "sex"] as const;
export type LedgerField = (typeof ledgerFields)[number];
export type FieldValues = Partial<Record<LedgerField, string | null>>;

const digestBytes = 8;
const unknown = Buffer.alloc(digestBytes);

/** The concatenated digests of a product's fields show changes without text; an unknown one is all zeros. */
export class FieldDigests {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns the digests of these values; null is the value of a field that is empty at the service. */
  static of(values: FieldValues): FieldDigests {
    return new FieldDigests(
      Buffer.concat(ledgerFields.map((field) => digestValue(compared(field, values[field])))),
    );
  }

  static get nothing(): FieldDigests {
    return FieldDigests.of({});
  }

  knows(field: LedgerField): boolean {
    return !this.#of(field).equals(unknown);
  }

  /** Whether the field is known and equal to the one in `other`. */
  agrees(field: LedgerField, digests: FieldDigests): boolean {
    return this.knows(field) && this.#of(field).equals(digests.#of(field));
  }

  /** The fields that are known here, and not the same there. */
  unlike(there: FieldDigests): LedgerField[] {
    return ledgerFields.filter((field) => this.knows(field) && !there.agrees(field, this));
  }

  /** Returns these digests, with unknown fields filled from `earlier`. */
  over(earlier: FieldDigests): FieldDigests {
    return new FieldDigests(
      Buffer.concat(ledgerFields.map((field) => (this.knows(field) ? this.#of(field) : earlier.#of(field)))),
    );
  }

  /** The digests of `fields` from one product, and the others from another one. */
  static pick(fields: readonly LedgerField[], from: FieldDigests, others: FieldDigests): FieldDigests {
    return new FieldDigests(
      Buffer.concat(ledgerFields.map((field) => (fields.includes(field) ? from : others).#of(field))),
    );
  }

  #of(field: LedgerField): Buffer {
    const at = ledgerFields.indexOf(field) * digestBytes;
    return this.bytes.subarray(at, at + digestBytes);
  }
}

const fieldDigestBytes = ledgerFields.length * digestBytes;

/** A CSV file has no spaces around a name, and spreadsheets save other line breaks, so they are no change. */
function compared(field: LedgerField, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.replaceAll("\r\n", "\n");
  return field === "name" ? text.trim() : text;
}

/** A response may have a value that is neither a string nor null; it counts as unknown. */
function digestValue(value: unknown): Buffer {
  if (typeof value !== "string" && value !== null) return unknown;
  return shortDigest(value === null ? "null" : `text ${value}`, digestBytes);
}

/** Bytes that the ledger keeps per image source. */
export const sourceDigestBytes = 16;

/** The source of a photo: a URL, an uploaded image, or the SHA-256 (hex) of a local file's bytes. */
type ImageSource = { url: string } | { image_id: string } | { sha256: string };

/** A URL that the URL parser leaves as it is: parsing each of millions would take seconds. */
const plainUrl = /^https:\/\/(?:[a-z\d-]+\.)+[a-z][a-z\d-]*\/[\w.~/!$&()*+,;=:@%?-]*$/;
const dotSegment = /\/(?:\.|%2e)/i;

/** A URL as it is fetched: two spellings of it are one photo. A fragment is never sent. */
export function fetchedUrl(url: string): string {
  if (plainUrl.test(url) && !dotSegment.test(url)) return url;
  const text = withoutUnseenEnds(url);
  const parsed = parseUrl(text);
  if (parsed === null) return text;
  parsed.hash = "";
  return parsed.href;
}

export function sourceDigest(source: ImageSource): Buffer {
  const text =
    "url" in source
      ? `url ${fetchedUrl(source.url)}`
      : "image_id" in source
        ? `image ${source.image_id}`
        : `content ${source.sha256}`;
  return shortDigest(text, sourceDigestBytes);
}

/** Data about a row of a batch until its results arrive; images by their place in the file's row, from 0. */
export interface RowMemo {
  fields: FieldDigests;
  /** Images sent, in order, each with the digest of its source. */
  sent: readonly { image: number; digest: Buffer }[];
  /** Images skipped because they are in the ledger. */
  leftOut: readonly number[];
  /** Images not sent because the service rejected the upload. */
  rejected: readonly RejectedPhoto[];
  /** The content of the row, kept once it is imported; empty if its file has no lasting place. */
  said?: MemoSaid | undefined;
  /** Whether the product is changed further once the batch is imported. */
  hasEdits?: boolean;
}

/** The content of a row, as in `SaidRow`. */
export interface MemoSaid {
  readonly exported: Uint8Array;
  readonly said: Uint8Array;
}

/** A photo that the service rejected: its place in the row of the file from 0, its source, and the reason. */
export interface RejectedPhoto {
  image: number;
  source: string;
  orientation: string;
  code: string;
  message: string;
}

const noBytes = new Uint8Array();
/** Memos of earlier versions begin with the digest of a field, which never has these bytes. */
const memoVersion = Buffer.from([0, 0, 0, 0, 0, 0, 0, 2]);
const none: readonly RejectedPhoto[] = [];

/** Encodes the memos of a batch, because its body is deleted once it is accepted. */
export function packMemos(memos: readonly RowMemo[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const { fields, sent, leftOut, rejected, said, hasEdits = false } of memos) {
    parts.push(fields.bytes, Uint8Array.of(sent.length));
    for (const { image, digest } of sent) parts.push(Uint8Array.of(image), digest);
    parts.push(Uint8Array.of(leftOut.length, ...leftOut));
    const reasons = rejected.length === 0 ? noBytes : Buffer.from(JSON.stringify(rejected));
    parts.push(Uint8Array.of(reasons.length >> 16, reasons.length >> 8, reasons.length), reasons);
    const { exported = noBytes, said: text = noBytes } = said ?? {};
    parts.push(Uint8Array.of(hasEdits ? 1 : 0, exported.length), exported);
    parts.push(Uint8Array.of(text.length >> 8, text.length), text);
  }
  return Buffer.concat([memoVersion, ...parts]);
}

export function unpackMemos(bytes: Uint8Array): RowMemo[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const readBytes = (length: number): Buffer => {
    at += length;
    return all.subarray(at - length, at);
  };
  const memos: RowMemo[] = [];
  const isEarlier = !all.subarray(0, memoVersion.length).equals(memoVersion);
  if (!isEarlier) at = memoVersion.length;
  while (at < all.length) {
    const fields = new FieldDigests(readBytes(fieldDigestBytes));
    const sent = Array.from({ length: readBytes(1)[0]! }, () => ({
      image: readBytes(1)[0]!,
      digest: readBytes(sourceDigestBytes),
    }));
    const leftOut = [...readBytes(readBytes(1)[0]!)];
    const reasons = readBytes(readBytes(3).readUIntBE(0, 3));
    const rejected = reasons.length === 0 ? none : (parseJson(String(reasons)) as RejectedPhoto[]);
    if (isEarlier) {
      memos.push({ fields, sent, leftOut, rejected });
      continue;
    }
    const hasEdits = readBytes(1)[0] === 1;
    const exported = readBytes(readBytes(1)[0]!);
    const said = readBytes(readBytes(2).readUIntBE(0, 2));
    memos.push({
      fields,
      sent,
      leftOut,
      rejected,
      hasEdits,
      ...(said.length > 0 && { said: { exported, said } }),
    });
  }
  return memos;
}
