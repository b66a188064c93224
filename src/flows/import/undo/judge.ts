// What of a change to a product can be undone, as the product is now.

import type { Product } from "../../../contract/resources/products.ts";
import { parseJson } from "../../../json.ts";
import type { Change } from "../../../state/changes.ts";
import { FieldDigests, type FieldValues, ledgerFields } from "../digests.ts";
import { imageId, type SeenProduct, seenProduct } from "../seen-products.ts";

/** The parts of an import that can be undone alone. */
export const undoParts = ["created", "fields", "photos"] as const;
export type UndoPart = (typeof undoParts)[number];

/** What is undone of a change, and why the rest is kept. */
export interface Verdict {
  readonly remove: boolean;
  readonly fields: FieldValues;
  /** The IDs of the images to detach. */
  readonly photos: readonly string[];
  readonly kept: readonly string[];
}

const nothing: Verdict = { remove: false, fields: {}, photos: [], kept: [] };
const keeping = (...kept: string[]): Verdict => ({ ...nothing, kept });

/** Whether the change has anything of the part to undo. */
export const isOfPart = ({ action }: Pick<Change, "action">, part: UndoPart | null): boolean =>
  part === null || action === "sent" || (part === "created") === (action === "created");

/** The product before the import; null if it was not read. */
export const productBefore = ({ before }: Pick<Change, "before">): SeenProduct | null =>
  before === null ? null : (parseJson(before) as SeenProduct);

/** The fields that the import changed, with their values before. */
export function changedFields({ after }: Pick<Change, "after">, before: SeenProduct): FieldValues {
  const { name, description, sex } = before;
  const was = FieldDigests.of({ name, description, sex });
  const set = new FieldDigests(after);
  const changed = ledgerFields.filter((field) => set.knows(field) && !was.agrees(field, set));
  return Object.fromEntries(changed.map((field) => [field, before[field]]));
}

/** The images that the import attached, and the product did not have before. */
export function addedPhotos({ photos }: Pick<Change, "photos">, before: SeenProduct): string[] {
  const had = new Set(before.images.map(imageId));
  return photos.filter((photo) => !had.has(photo));
}

/** What is undone of the change of a product that is now `live`; null if it no longer exists. */
export function judge(change: Change, live: Product | null, part: UndoPart | null): Verdict {
  const { action } = change;
  if (action === "created") return live === null ? nothing : judgeCreated(change, seenProduct(live));
  if (action !== "updated") return keeping("the result of its batch is not known");
  if (live === null) return keeping("the product no longer exists");
  const before = productBefore(change);
  if (before === null) return keeping("the product was not read before the import");
  const fields = part === "photos" ? nothing : judgeFields(change, before, seenProduct(live));
  const photos = part === "fields" ? nothing : judgePhotos(change, before, seenProduct(live));
  return {
    remove: false,
    fields: fields.fields,
    photos: photos.photos,
    kept: [...fields.kept, ...photos.kept],
  };
}

/** A created product is deleted only as the import left it. */
function judgeCreated({ after, photos }: Change, live: SeenProduct): Verdict {
  const now = toDigests(live);
  const set = new FieldDigests(after);
  const changed = ledgerFields.filter((field) => set.knows(field) && !now.agrees(field, set));
  if (changed.length > 0) return keeping(`${changed.join(" and ")} changed since the import`);
  const others = live.images.filter((image) => !photos.includes(imageId(image)) && image.endsWith(" user"));
  if (others.length > 0) return keeping("photos were added since the import");
  return { ...nothing, remove: true };
}

function judgeFields(change: Change, before: SeenProduct, live: SeenProduct): Verdict {
  const now = toDigests(live);
  const was = toDigests(before);
  const set = new FieldDigests(change.after);
  const changed = Object.entries(changedFields(change, before)) as [keyof FieldValues, string | null][];
  const kept: string[] = [];
  const fields = changed.filter(([field, value]) => {
    if (now.agrees(field, was)) return false;
    // The service takes no product without a name.
    const isBack = now.agrees(field, set) && (value !== null || field !== "name");
    if (!isBack) kept.push(`${field} changed since the import`);
    return isBack;
  });
  return { ...nothing, fields: Object.fromEntries(fields), kept };
}

function judgePhotos(change: Change, before: SeenProduct, live: SeenProduct): Verdict {
  const added = addedPhotos(change, before);
  const photos = live.images.map(imageId).filter((image) => added.includes(image));
  // The service gives an orientation to a photo without one itself.
  const turned = before.images.filter(
    (image) =>
      change.photos.includes(imageId(image)) &&
      !image.includes(" unlabeled ") &&
      live.images.some((now) => now !== image && imageId(now) === imageId(image)),
  );
  if (turned.length > 0)
    return { ...nothing, photos, kept: ["the orientation of its photos cannot be set back"] };
  if (photos.length === 0 || photos.length < live.images.length) return { ...nothing, photos };
  // A product has at least one photo.
  return { ...nothing, photos: photos.slice(1), kept: ["its last photo cannot be detached"] };
}

const toDigests = ({ name, description, sex }: SeenProduct): FieldDigests =>
  FieldDigests.of({ name, description, sex });
