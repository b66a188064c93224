import { canonicalReference } from "../../contract/import-row.ts";
import type { LedgerEntry } from "../../state/ledger.ts";
import type { RowFailure } from "../outputs/row-outcome.ts";
import {
  FieldDigests,
  type FieldValues,
  holds,
  ledgerFields,
  type RejectedPhoto,
  type RowMemo,
  sourceDigest,
} from "./digests.ts";
import { type FileImage, type FileRow, toFieldValues } from "./file-row.ts";
import type { ImportInput } from "./import-input.ts";

/** A row with the data for the decision about it. */
export interface WeighedRow {
  /** The row of the file: its fields and photos. */
  content: FileRow;
  /** The digests of its photos, in order. */
  digests: readonly Buffer[];
  /** Its local photos that the service rejected. */
  refused: readonly RejectedPhoto[];
}

/** A row to import, and the decision about it. */
export interface DecidedRow extends WeighedRow {
  /** Its place among all rows of the file, from 0. */
  rowIndex: number;
  /** Its line in the file. */
  line: number;
  /** Trimmed, in the form the service compares. */
  reference: string;
  /** The product of the reference, if it is known. */
  productId: string | null;
  decision: Decision;
  /** Its product differs from cells that are as exported, which are not sent. */
  keepsOthers: boolean;
}

/** The decision about one row of the file. */
export type Decision =
  /** Send it in a batch with these images. */
  | { kind: "send"; images: FileImage[]; memo: RowMemo }
  /** All its photos are attached and only these fields differ: send one PATCH. */
  | { kind: "patch"; productId: string; fields: FieldValues }
  /** All its photos are attached; read the product to find out whether these fields differ. */
  | { kind: "uncertain"; productId: string; fields: FieldValues }
  | { kind: "unchanged"; productId: string }
  /** Fail it: the service rejected some photos. `discarded`: photos lost with the row. */
  | { kind: "refused"; discarded: readonly number[] }
  /** Leave it out: it would no longer be imported as planned. */
  | { kind: "moved" };

/**
 * Decides what to write for a row, skipping photos that are already attached. Without an entry (unknown
 * product, or ledger not used) it sends everything. A photo rejected at upload counts like one the service
 * failed to fetch (Imports, rule 4): with `skip` the row is sent without it, if a photo remains.
 */
export function decide(
  row: WeighedRow,
  entry: LedgerEntry | null,
  { onImageError }: Pick<ImportInput, "onImageError">,
): Decision {
  const { content, digests } = row;
  const leftOut: number[] = [];
  const sent: { image: number; digest: Buffer }[] = [];
  const refused: RejectedPhoto[] = [];
  digests.forEach((digest, image) => {
    const rejected = row.refused.find((photo) => photo.image === image);
    if (entry !== null && (content.images[image]!.isKept || holds(entry.sources, digest)))
      leftOut.push(image);
    else if (isRepeatedUnlabeled(content.images, digests, image)) return;
    else if (rejected === undefined) sent.push({ image, digest });
    else refused.push(rejected);
  });
  if (refused.length > 0 && (onImageError === "fail_row" || sent.length === 0)) {
    return { kind: "refused", discarded: sent.map(({ image }) => image) };
  }
  const values = toFieldValues(content);
  const fields = FieldDigests.of(values);
  if (entry === null || sent.length > 0) {
    const images = sent.map(({ image }) => content.images[image]!);
    return { kind: "send", images, memo: { fields, sent, leftOut, refused } };
  }
  return decideFields(values, fields, entry);
}

/** The decision about a row whose photos are all attached. */
function decideFields(values: FieldValues, fields: FieldDigests, entry: LedgerEntry): Decision {
  const { productId } = entry;
  const known = new FieldDigests(entry.fields);
  const present = ledgerFields.filter((field) => fields.knows(field));
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
  images.some(({ orientation }, index) => orientation !== undefined && digests[index]!.equals(digests[at]!));

/**
 * The row with the digests of its photos, and those of them that the service rejected. `contentDigest`: the SHA-256 (hex) of the
 * photo at a path; `findRefusal`: why the service rejected the upload of these bytes, if it did.
 */
export async function weigh(
  content: FileRow,
  contentDigest: (path: string) => Promise<string>,
  findRefusal: (sha256: string) => RowFailure | undefined,
): Promise<WeighedRow> {
  const digests: Buffer[] = [];
  const refused: RejectedPhoto[] = [];
  for (const [index, image] of content.images.entries()) {
    if (image.path === undefined) {
      digests.push(sourceDigest(image as { url: string }));
      continue;
    }
    const sha256 = await contentDigest(image.path);
    digests.push(sourceDigest({ sha256 }));
    const why = findRefusal(sha256);
    if (why !== undefined) refused.push({ ...placed(image, index), ...why });
  }
  return { content, digests, refused };
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

/** The reference of a row, as the service compares it. */
export const referenceOfRow = (content: FileRow): string => canonicalReference(content.reference);

/**
 * What is known of the product of a reference: the ledger's entry, and the product as it was read. An image that
 * the product has is not attached again: that would add nothing, and replace its orientation.
 */
export function withRead(known: LedgerEntry | null, read: LedgerEntry | null): LedgerEntry | null {
  if (read === null || known === null || known.productId !== read.productId) return read ?? known;
  return { ...known, sources: Buffer.concat([known.sources, read.sources]) };
}
