import type { DoneRow } from "../../../state/batches.ts";
import type { RejectedPhoto, RowMemo } from "../ledger/batch-memo.ts";
import { placed, type Weighed } from "../ledger/decide.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import { failedImage, failureOf, type RowOutcome, type RowResult } from "./row-result.ts";

/** The outcome of a row that fails because the service rejected its photos. */
export function rejectedRow({
  line,
  reference,
  weighed: { row, refused },
  decision: { leftOut, discarded },
}: DecidedRow & { decision: { kind: "refused" } }): RowOutcome {
  const discardedPhotos = discarded.map((image) => ({
    ...placed(row.images[image]!, image),
    ...discardedWithRow,
  }));
  return outcomeOf(line, leftOut, [...refused, ...discardedPhotos], {
    line: null,
    reference,
    status: "failed",
    action: "none",
    product_id: null,
    error: {
      code: "image_failed",
      message: `the service rejected ${refused.length} of ${row.images.length} photos`,
    },
  });
}

const discardedWithRow = { code: "row_failed", message: "another photo of the row was rejected" };

/**
 * The photos of a row by outcome: attached at the service (`there`, by place in the row), or rejected by it.
 */
export interface PhotosOfRow {
  there: readonly number[];
  refused: readonly RejectedPhoto[];
}

export function photosOfRow({ row, refused }: Weighed): PhotosOfRow {
  const isRefused = (image: number) => refused.some((one) => one.image === image);
  return { there: [...row.images.keys()].filter((image) => !isRefused(image)), refused };
}

/** The photos of a row that was sent in a batch whose results are not available. */
export const photosOfMemo = ({ sent, leftOut, refused }: RowMemo): PhotosOfRow => ({
  there: [...leftOut, ...sent.map(({ image }) => image)],
  refused,
});

/** Encodes the photos of a row, to be stored with its outcome; empty if none was rejected. */
export const packPhotos = (photos: PhotosOfRow): Uint8Array =>
  Buffer.from(photos.refused.length === 0 ? "" : JSON.stringify(photos));

export const unpackPhotos = (bytes: Uint8Array): PhotosOfRow =>
  bytes.length === 0
    ? { there: [], refused: [] }
    : (JSON.parse(Buffer.from(bytes).toString()) as PhotosOfRow);

/**
 * The outcome of a row that the service has, without its rejected photos. `action` is null if the import of
 * the row has not ended.
 */
export const withoutRejected = (
  line: number,
  { reference, productId, action }: Pick<RowResult, "reference" | "action"> & { productId: string | null },
  { there, refused }: PhotosOfRow,
): RowOutcome =>
  outcomeOf(line, there, refused, {
    line: null,
    reference,
    status: "partial",
    action,
    product_id: productId,
    error: null,
  });

function outcomeOf(
  line: number,
  done: readonly number[],
  photos: readonly RejectedPhoto[],
  row: Omit<RowResult, "images">,
): RowOutcome {
  const images = photos.map(failedImage).sort((one, other) => one.index - other.index);
  const result = { ...row, images };
  return { line, result, failure: failureOf(result)!, done };
}

/** The outcome of a row whose product now has its fields and all photos except rejected ones. */
export const updatedRow = (
  { line, reference, productId }: Pick<DoneRow, "line" | "reference" | "productId">,
  photos: PhotosOfRow,
): RowOutcome =>
  photos.refused.length > 0
    ? withoutRejected(line, { reference, productId, action: "updated" }, photos)
    : { line, result: updatedResult(reference, productId) };

/** The result of a row that was changed with a PATCH. */
const updatedResult = (reference: string, productId: string): RowResult => ({
  line: null,
  reference,
  status: "succeeded",
  action: "updated",
  product_id: productId,
  images: [],
  error: null,
});
