// What of a change to a product can be undone, as the product is now.

import type { Product } from "../../../contract/resources/products.ts";
import type { Change } from "../../../state/changes.ts";
import { FieldDigests, type FieldValues, ledgerFields } from "../digests.ts";
import {
  fieldsOf,
  type KnownImage,
  type ReadProduct,
  toReadProduct,
  unpackProduct,
} from "../known-product.ts";

/** The parts of an import that can be undone alone. */
export const undoParts = ["created", "fields", "photos"] as const;
export type UndoPart = (typeof undoParts)[number];

/** What is undone of a change, and why the rest is kept. */
export interface Verdict {
  readonly remove: boolean;
  readonly fields: FieldValues;
  /** The IDs of the images to detach. */
  readonly photos: readonly string[];
  /** The images to attach again, with the side that they had. */
  readonly attach: readonly KnownImage[];
  readonly kept: readonly string[];
}

const nothing: Verdict = { remove: false, fields: {}, photos: [], attach: [], kept: [] };
const keeping = (...kept: string[]): Verdict => ({ ...nothing, kept });

/** Whether the change has anything of the part to undo. */
export const isOfPart = ({ action }: Pick<Change, "action">, part: UndoPart | null): boolean =>
  part === null || action === "sent" || (part === "created") === (action === "created");

/** The product before the import; null if it was not read. */
export const productBefore = ({ before }: Pick<Change, "before">): ReadProduct | null =>
  before === null ? null : unpackProduct(before);

/** The fields that the import changed, with their values before. */
export function changedFields({ after }: Pick<Change, "after">, before: ReadProduct): FieldValues {
  const was = fieldsOf(before);
  const set = new FieldDigests(after);
  const changed = ledgerFields.filter((field) => set.knows(field) && !was.agrees(field, set));
  return Object.fromEntries(changed.map((field) => [field, before[field]]));
}

/** The images that the import attached, and the product did not have before. */
export function addedPhotos({ photos }: Pick<Change, "photos">, before: ReadProduct): string[] {
  const had = new Set(before.images.map(({ id }) => id));
  return photos.filter((photo) => !had.has(photo));
}

/** What is undone of the change of a product that is now `live`; null if it no longer exists. */
export function judge(change: Change, live: Product | null, part: UndoPart | null): Verdict {
  const { action } = change;
  if (action === "created") return live === null ? nothing : judgeCreated(change, toReadProduct(live));
  if (action !== "updated") return keeping("the result of its batch is not known");
  if (live === null) return keeping("the product no longer exists");
  const before = productBefore(change);
  if (before === null) return keeping("the product was not read before the import");
  const fields = part === "photos" ? nothing : judgeFields(change, before, toReadProduct(live));
  const photos = part === "fields" ? nothing : judgePhotos(change, before, toReadProduct(live));
  return {
    remove: false,
    fields: fields.fields,
    photos: photos.photos,
    attach: photos.attach,
    kept: [...fields.kept, ...photos.kept],
  };
}

/** A created product is deleted only as the import left it. */
function judgeCreated({ after, photos }: Change, live: ReadProduct): Verdict {
  const now = fieldsOf(live);
  const set = new FieldDigests(after);
  const changed = ledgerFields.filter((field) => set.knows(field) && !now.agrees(field, set));
  if (changed.length > 0) return keeping(`${changed.join(" and ")} changed since the import`);
  const others = live.images.filter(({ id, origin }) => !photos.includes(id) && origin === "user");
  if (others.length > 0) return keeping("photos were added since the import");
  return { ...nothing, remove: true };
}

function judgeFields(change: Change, before: ReadProduct, live: ReadProduct): Verdict {
  const now = fieldsOf(live);
  const was = fieldsOf(before);
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

function judgePhotos(change: Change, before: ReadProduct, live: ReadProduct): Verdict {
  const added = addedPhotos(change, before);
  const photos = live.images.flatMap(({ id }) => (added.includes(id) ? [id] : []));
  const isLive = (image: string) => live.images.some(({ id }) => id === image);
  const attach = before.images.filter(({ id }) => change.detached.includes(id) && !isLive(id));
  const movedTo = new Map(change.moved.map(({ image, side }) => [image, side]));
  const sideNow = (image: string) => live.images.find(({ id }) => id === image)?.side;
  // The import moved it, or attached it again. The service gives a side to a photo without one itself.
  const turned = before.images.filter(
    ({ id, side }) =>
      (movedTo.has(id) || change.photos.includes(id)) &&
      ![undefined, side].includes(sideNow(id)) &&
      side !== "unlabeled",
  );
  const sided = turned.filter(({ id }) => [undefined, sideNow(id)].includes(movedTo.get(id)));
  const kept = sided.length < turned.length ? ["the orientation of a photo changed since the import"] : [];
  const verdict = { ...nothing, photos, attach: [...attach, ...sided], kept };
  if (photos.length === 0 || photos.length < live.images.length + attach.length) return verdict;
  // A product has at least one photo.
  return { ...verdict, photos: photos.slice(1), kept: [...kept, "its last photo cannot be detached"] };
}
