// A row with what the decision about it needs (decide.ts).

import { canonicalReference } from "../../contract/import-row.ts";
import type { RowFailure } from "../outputs/row-outcome.ts";
import { type RejectedPhoto, sourceDigest } from "./digests.ts";
import type { FileImage, FileRow } from "./file-row.ts";
import { RowCells } from "./said.ts";

/** A row with the data for the decision about it. */
export interface WeighedRow {
  /** The row of the file: its fields and photos. */
  readonly content: FileRow;
  /** The digests of its photos, in order. */
  readonly digests: readonly Buffer[];
  /** Its local photos that the service rejected. */
  readonly refused: readonly RejectedPhoto[];
  readonly cells: RowCells;
}

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
  return { content, digests, refused, cells: new RowCells(content, digests) };
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
