import type { OnImageError } from "../../../contract/value-sets.ts";
import type { DecidedRow } from "../decide-rows.ts";
import type { FileImage } from "../file-row.ts";
import type { RefusedPhoto, RowMemo } from "../ledger/call-memo.ts";
import { failedImage, failureOf, type RowFailure, type RowOutcome } from "../outcomes.ts";

/** What became of a photo that was uploaded: the image that it is now, or why the service does not take it. */
export type PhotoUpload = { readonly image: string } | { readonly refused: RowFailure };

export interface RefusalDeps {
  onImageError: OnImageError;
  /** What became of the local photo of that path. */
  uploadOf: (path: string) => PhotoUpload | Promise<PhotoUpload>;
}

/**
 * A row that is to be sent, less those of its photos that the service refused when they were uploaded. As with a photo that
 * the service fetches itself (Imports, rule 4), with `skip` the others are attached, and a row of which nothing is left, or
 * any is refused with `fail_row`, fails as a whole: it goes in no call, and its outcome is known.
 */
export async function lessRefused(
  { line, reference, weighed, decision }: DecidedRow & { decision: { kind: "send" } },
  { onImageError, uploadOf }: RefusalDeps,
): Promise<{ images: FileImage[]; memo: RowMemo } | { outcome: RowOutcome }> {
  const { images, memo } = decision;
  const refused: RefusedPhoto[] = [];
  for (const [at, { path, orientation = "unlabeled" }] of images.entries()) {
    if (path === undefined) continue;
    const upload = await uploadOf(path);
    if ("refused" in upload)
      refused.push({ image: memo.sent[at]!.image, source: path, orientation, ...upload.refused });
  }
  if (refused.length === 0) return { images, memo };
  const isRefused = (image: number) => refused.some((one) => one.image === image);
  const sent = memo.sent.filter(({ image }) => !isRefused(image));
  if (sent.length === 0 || onImageError === "fail_row") {
    const discarded = sent.map(({ image }) => discardedPhoto(weighed.row.images[image]!, image));
    return { outcome: failedRow(line, reference, [...refused, ...discarded]) };
  }
  return { images: sent.map(({ image }) => weighed.row.images[image]!), memo: { ...memo, sent, refused } };
}

const discardedPhoto = (
  { url, image_id, path, orientation = "unlabeled" }: FileImage,
  image: number,
): RefusedPhoto => ({
  ...{ image, source: url ?? image_id ?? path!, orientation },
  ...{ code: "row_failed", message: "another photo of the row was refused" },
});

function failedRow(line: number, reference: string, photos: readonly RefusedPhoto[]): RowOutcome {
  const images = photos.map(failedImage).sort((one, other) => one.index - other.index);
  const refused = photos.filter(({ code }) => code !== "row_failed");
  const result = {
    ...{
      line: null,
      reference,
      status: "failed" as const,
      action: "none" as const,
      product_id: null,
      images,
    },
    error: {
      code: "image_failed",
      message: `the service refused ${refused.length} of ${photos.length} photos`,
    },
  };
  return { line, result, failure: failureOf(result)! };
}
