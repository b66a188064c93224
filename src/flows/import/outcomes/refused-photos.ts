import type { DoneRow } from "../../../state/batches.ts";
import type { RefusedPhoto, RowMemo } from "../ledger/call-memo.ts";
import { placed, type Weighed } from "../ledger/decide.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import { failedImage, failureOf, type RowOutcome, type RowResult } from "./row-result.ts";

/** What became of a row that cannot be brought in, as the service refused its photos. */
export function refusedRow({
  line,
  reference,
  weighed: { row, refused },
  decision: { leftOut, discarded },
}: DecidedRow & { decision: { kind: "refused" } }): RowOutcome {
  const beside = discarded.map((image) => ({ ...placed(row.images[image]!, image), ...besideRefused }));
  return told(line, leftOut, [...refused, ...beside], {
    line: null,
    reference,
    status: "failed",
    action: "none",
    product_id: null,
    error: {
      code: "image_failed",
      message: `the service refused ${refused.length} of ${row.images.length} photos`,
    },
  });
}

const besideRefused = { code: "row_failed", message: "another photo of the row was refused" };

/** The photos of a row by what became of them: those that are at the service, by their place in the row, and those that it refused. */
export interface PhotosOfRow {
  there: readonly number[];
  refused: readonly RefusedPhoto[];
}

export function photosOfRow({ row, refused }: Weighed): PhotosOfRow {
  const isRefused = (image: number) => refused.some((one) => one.image === image);
  return { there: [...row.images.keys()].filter((image) => !isRefused(image)), refused };
}

/** The same of a row that went in a call, of which it is not known better. */
export const photosOfMemo = ({ sent, leftOut, refused }: RowMemo): PhotosOfRow => ({
  there: [...leftOut, ...sent.map(({ image }) => image)],
  refused,
});

/** The photos of a row as bytes, to be written down with what was done with it; none where no photo was refused. */
export const packPhotos = (photos: PhotosOfRow): Uint8Array =>
  Buffer.from(photos.refused.length === 0 ? "" : JSON.stringify(photos));

export const unpackPhotos = (bytes: Uint8Array): PhotosOfRow =>
  bytes.length === 0
    ? { there: [], refused: [] }
    : (JSON.parse(Buffer.from(bytes).toString()) as PhotosOfRow);

/**
 * What became of a row that the service has, less the photos that it refused; `action` is null where the import that it went
 * in has not ended.
 */
export const lessRefused = (
  line: number,
  { reference, productId, action }: Pick<RowResult, "reference" | "action"> & { productId: string | null },
  { there, refused }: PhotosOfRow,
): RowOutcome =>
  told(line, there, refused, {
    line: null,
    reference,
    status: "partial",
    action,
    product_id: productId,
    error: null,
  });

function told(
  line: number,
  done: readonly number[],
  photos: readonly RefusedPhoto[],
  row: Omit<RowResult, "images">,
): RowOutcome {
  const images = photos.map(failedImage).sort((one, other) => one.index - other.index);
  const result = { ...row, images };
  return { line, result, failure: failureOf(result)!, done };
}

/** The outcome of a row whose product has the fields of the row by now, and all its photos that the service takes. */
export const updatedRow = (
  { line, reference, productId }: Pick<DoneRow, "line" | "reference" | "productId">,
  photos: PhotosOfRow,
): RowOutcome =>
  photos.refused.length > 0
    ? lessRefused(line, { reference, productId, action: "updated" }, photos)
    : { line, result: updatedResult(reference, productId) };

/** The result of a row that was changed by a write of its own. */
const updatedResult = (reference: string, productId: string): RowResult => ({
  line: null,
  reference,
  status: "succeeded",
  action: "updated",
  product_id: productId,
  images: [],
  error: null,
});
