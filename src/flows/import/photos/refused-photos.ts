import type { DecidedRow } from "../decide-rows.ts";
import type { RefusedPhoto } from "../ledger/call-memo.ts";
import { placed } from "../ledger/decide.ts";
import { failedImage, failureOf, type RowFailure, type RowOutcome, type RowResult } from "../outcomes.ts";

/** What became of a photo that was uploaded: the image that it is now, or why the service does not take it. */
export type PhotoUpload = { readonly image: string } | { readonly refused: RowFailure };

/** What became of a row that cannot be brought in, as the service refused its photos. */
export function refusedRow({
  line,
  reference,
  weighed: { row, refused },
  decision: { leftOut, discarded },
}: DecidedRow & { decision: { kind: "refused" } }): RowOutcome {
  const beside = discarded.map((image) => ({ ...placed(row.images[image]!, image), ...besideRefused }));
  return told(line, leftOut, [...refused, ...beside], {
    ...{ line: null, reference, status: "failed", action: "none", product_id: null },
    error: {
      code: "image_failed",
      message: `the service refused ${refused.length} of ${row.images.length} photos`,
    },
  });
}

const besideRefused = { code: "row_failed", message: "another photo of the row was refused" };

/** What became of a row whose product has its other photos, and its fields by now. */
export function lessRefused(
  { line, reference, weighed: { row, refused } }: DecidedRow,
  productId: string,
): RowOutcome {
  const isRefused = (image: number) => refused.some((one) => one.image === image);
  const there = [...row.images.keys()].filter((image) => !isRefused(image));
  return told(line, there, refused, {
    ...{ line: null, reference, status: "partial", action: "updated", product_id: productId, error: null },
  });
}

function told(
  line: number,
  attached: readonly number[],
  photos: readonly RefusedPhoto[],
  row: Omit<RowResult, "images">,
): RowOutcome {
  const images = photos.map(failedImage).sort((one, other) => one.index - other.index);
  const result = { ...row, images };
  return { line, result, failure: failureOf(result)!, attached };
}
