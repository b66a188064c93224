import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { Uploads } from "../../../state/uploads.ts";

/**
 * Forgets uploads that the service no longer has, so that they are uploaded again. The service deletes images
 * that no product uses (Products).
 */
export function forgetLostImages(
  uploads: Uploads,
  account: number,
  results: readonly Pick<ImportRowResult, "images">[],
): void {
  for (const { images } of results) {
    for (const { source, error } of images) {
      if (error?.code === "image_not_found" && typeof source === "string")
        uploads.forgetImage(account, source);
    }
  }
}
