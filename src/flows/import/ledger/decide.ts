// Ledger: the known products of the service, their refresh, and the decision about each row of the file.

import { canonicalReference } from "../../../contract/import-row.ts";
import type { OnImageError } from "../../../contract/value-sets.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { RowFailure } from "../../outputs/row-outcome.ts";
import type { FileImage, FileRow } from "../columns/file-row.ts";
import type { RejectedPhoto, RowMemo } from "./batch-memo.ts";
import { FieldDigests, type FieldValues, ledgerFields } from "./field-digests.ts";
import { holds, sourceDigest } from "./source-digests.ts";

/** The decision about one row of the file. */
export type Decision =
  /** Send it in a batch with these images. `unseen`: its product, if only its skipped photos are known. */
  | { kind: "send"; images: FileImage[]; memo: RowMemo; unseen: string | null }
  /** All its photos are attached and only these fields differ: send one PATCH. */
  | { kind: "patch"; productId: string; fields: FieldValues }
  | { kind: "unchanged"; productId: string }
  /**
   * Fail it: the service rejected some photos. `leftOut`: photos already attached; `discarded`: photos lost
   * with the row.
   */
  | { kind: "refused"; leftOut: readonly number[]; discarded: readonly number[] }
  /** All its photos are attached; fetch the product to find out whether these fields differ. */
  | { kind: "uncertain"; productId: string; fields: FieldValues };

/** A row with the data for the decision. `digests`: of its image sources, in order. */
export interface Weighed {
  row: FileRow;
  digests: readonly Buffer[];
  /** Its local photos that the service rejected. */
  refused: readonly RejectedPhoto[];
}

/** Known facts about local photos. */
export interface KnownPhotos {
  /** The SHA-256 (hex) of the photo at a path. */
  contentOf: (path: string) => Promise<string>;
  /**
   * The reason the service rejected the upload of these bytes; undefined if it did not, or if there was no
   * upload.
   */
  refusalOf: (sha256: string) => RowFailure | undefined;
}

/**
 * Decides what to write for a row, skipping photos that are already attached. Without an entry (unknown
 * product, or ledger not used) it sends everything. A photo rejected at upload counts like one the service
 * failed to fetch (Imports, rule 4): with `skip` the row is sent without it, if a photo remains.
 */
export function decide(
  { row, digests, refused }: Weighed,
  entry: LedgerEntry | null,
  onImageError: OnImageError,
): Decision {
  const fields = FieldDigests.of(fieldsOf(row));
  const leftOut: number[] = [];
  const sent: { image: number; digest: Buffer }[] = [];
  digests.forEach((digest, image) => {
    if (entry !== null && holds(entry.sources, digest)) leftOut.push(image);
    else if (isRepeatedUnlabeled(row.images, digests, image)) return;
    else if (!refused.some((one) => one.image === image)) sent.push({ image, digest });
  });
  const isLost = refused.length > 0 && (onImageError === "fail_row" || (entry === null && sent.length === 0));
  if (isLost) return { kind: "refused", leftOut, discarded: sent.map(({ image }) => image) };
  if (entry === null || sent.length > 0) {
    const images = sent.map(({ image }) => row.images[image]!);
    const isUnseen = leftOut.length > 0 && FieldDigests.nothing.bytes.equals(entry!.fields);
    const unseen = isUnseen ? entry!.productId : null;
    return { kind: "send", images, memo: { fields, sent, leftOut, refused }, unseen };
  }
  const { productId } = entry;
  const known = new FieldDigests(entry.fields);
  const present = ledgerFields.filter((field) => fields.knows(field));
  const values = fieldsOf(row);
  if (present.some((field) => !known.knows(field))) return { kind: "uncertain", productId, fields: values };
  const changed = present.filter((field) => !known.agrees(field, fields));
  if (changed.length === 0) return { kind: "unchanged", productId };
  return {
    kind: "patch",
    productId,
    fields: Object.fromEntries(changed.map((field) => [field, values[field]])),
  };
}

/**
 * Whether the row has the same photo with an orientation, which this one without any would replace. A URL that is named
 * twice is two photos.
 */
const isRepeatedUnlabeled = (images: readonly FileImage[], digests: readonly Buffer[], at: number): boolean =>
  images[at]!.orientation === undefined &&
  images[at]!.url === undefined &&
  images.some(({ orientation }, other) => orientation !== undefined && digests[other]!.equals(digests[at]!));

/**
 * The fields that an upsert of the row sets; fields missing from the row keep their value (Imports, Row
 * fields).
 */
export function fieldsOf({ name, description, sex }: FileRow): FieldValues {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(sex === undefined ? {} : { sex }),
  };
}

/** Returns the row with the digests of its image sources and its rejected photos. */
export async function weigh(row: FileRow, { contentOf, refusalOf }: KnownPhotos): Promise<Weighed> {
  const digests: Buffer[] = [];
  const refused: RejectedPhoto[] = [];
  for (const [image, one] of row.images.entries()) {
    if (one.path === undefined) {
      digests.push(sourceDigest(one as { url: string }));
      continue;
    }
    const sha256 = await contentOf(one.path);
    digests.push(sourceDigest({ sha256 }));
    const why = refusalOf(sha256);
    if (why !== undefined) refused.push({ ...placed(one, image), ...why });
  }
  return { row, digests, refused };
}

/** The source and orientation of an image in the row, and its place. */
export const placed = (
  { url, image_id, path, orientation = "unlabeled" }: FileImage,
  image: number,
): Pick<RejectedPhoto, "image" | "source" | "orientation"> => ({
  image,
  source: url ?? image_id ?? path!,
  orientation,
});

export const referenceOfRow = (row: FileRow): string => canonicalReference(row.reference);
