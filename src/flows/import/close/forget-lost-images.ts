import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { Uploads } from "../../../state/uploads.ts";

/** Uploads that the service does not find any more (an image that nothing uses is cleaned up: Products) are to be made anew. */
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
