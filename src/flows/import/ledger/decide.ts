// Ledger: what is known of products at the service, how it is brought up to date, and what each row of the file needs.

import { canonicalReference } from "../../../contract/import-row.ts";
import type { OnImageError } from "../../../contract/value-sets.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { RowFailure } from "../../outputs/row-outcome.ts";
import type { FileImage, FileRow } from "../columns/file-row.ts";
import type { RefusedPhoto, RowMemo } from "./call-memo.ts";
import { FieldDigests, type FieldValues, ledgerFields } from "./field-digests.ts";
import { holds, sourceDigest } from "./source-digests.ts";

/** What is to be done with one row of the file. */
export type Decision =
  /** It goes in a call, with these of its images; `unseen` is its product, where nothing is known of it but photos that are left out. */
  | { kind: "send"; images: FileImage[]; memo: RowMemo; unseen: string | null }
  /** Its photos are all there, and only these fields differ: one PATCH. */
  | { kind: "patch"; productId: string; fields: FieldValues }
  | { kind: "unchanged"; productId: string }
  /** It cannot be brought in, as the service refused its photos; these are at the service, and those discarded with the others. */
  | { kind: "refused"; leftOut: readonly number[]; discarded: readonly number[] }
  /** Its photos are all there; whether these fields differ is not known without a look at the product. */
  | { kind: "uncertain"; productId: string; fields: FieldValues };

/** A row with what must be known to decide about it. `digests` are those of its images' sources, in their order. */
export interface Weighed {
  row: FileRow;
  digests: readonly Buffer[];
  /** Its local photos that the service does not take. */
  refused: readonly RefusedPhoto[];
}

/** What is known of local photos. */
export interface KnownPhotos {
  /** The SHA-256 (hex) of the photo of that path. */
  contentOf: (path: string) => Promise<string>;
  /** Why the service refused the upload of those bytes; undefined where it did not, or was not asked. */
  refusalOf: (sha256: string) => RowFailure | undefined;
}

/**
 * What an upsert of the row would change at the service, less the photos that are there already. Without an entry, and
 * where the ledger is not asked (null), all of it is sent. Photos that the service refused when they were uploaded fail like
 * those that it fetches itself (Imports, rule 4): with `skip` the row goes without them, as long as it has a photo.
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

/** The fields that an upsert of the row sets; one that the row has not stays as it is (Imports, Row fields). */
export function fieldsOf({ name, description, sex }: FileRow): FieldValues {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(sex === undefined ? {} : { sex }),
  };
}

/** A row with the digests of its images' sources, and what the service said of its photos. */
export async function weigh(row: FileRow, { contentOf, refusalOf }: KnownPhotos): Promise<Weighed> {
  const digests: Buffer[] = [];
  const refused: RefusedPhoto[] = [];
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

/** How a row names an image, and where in the row. */
export const placed = (
  { url, image_id, path, orientation = "unlabeled" }: FileImage,
  image: number,
): Pick<RefusedPhoto, "image" | "source" | "orientation"> => ({
  image,
  source: url ?? image_id ?? path!,
  orientation,
});

export const referenceOfRow = (row: FileRow): string => canonicalReference(row.reference);
