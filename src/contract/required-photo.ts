import type { Orientation } from "./value-sets.ts";

/** Photos that leave out what most angles show: the back alone, the sole, a close look. */
const partial: ReadonlySet<string> = new Set<Orientation>(["back", "bottom", "detail"]);

/**
 * Whether a product's photos are enough to render it from an angle (Tasks: 422 "required image missing"; which are required is
 * not shown, so this is our choice): from behind it takes a photo from behind, a detail takes any photo, and any other angle
 * one that shows the product from elsewhere than behind or below. An unlabeled photo may be any of them.
 */
export function canShow(angleShot: string, photos: readonly string[]): boolean {
  for (const orientation of photos) {
    if (angleShot === "detail" || orientation === "unlabeled") return true;
    if (angleShot === "back" ? orientation === "back" : !partial.has(orientation)) return true;
  }
  return false;
}
