import type { Orientation } from "./value-sets.ts";

/** Photos that do not show enough of the product for most angles. */
const partial: ReadonlySet<string> = new Set<Orientation>(["back", "bottom", "detail"]);

/**
 * Whether the photos of a product are enough to render an angle (Tasks: 422 "required image missing"). The
 * specification does not list the required photos, so this is our choice: the back needs a back photo, a
 * detail needs any photo, and other angles need a photo other than back, bottom and detail. An unlabeled
 * photo counts as any of them.
 */
export function canShow(angleShot: string, photos: readonly string[]): boolean {
  for (const orientation of photos) {
    if (angleShot === "detail" || orientation === "unlabeled") return true;
    if (angleShot === "back" ? orientation === "back" : !partial.has(orientation)) return true;
  }
  return false;
}
