import { shortened } from "../../contract/did-you-mean.ts";
import type { FieldProblem } from "../rows/row-form.ts";

/** A photo of a row that is a local file. */
export interface LocalImage {
  /** Its index among the row's images, from 0. */
  readonly index: number;
  /** The path as written in the file. */
  readonly path: string;
}

/** Possible problems of a local photo. */
export type PhotoCode =
  | "photo_not_found"
  | "photo_outside_root"
  | "photo_not_readable"
  | "photo_damaged"
  | "too_large"
  | "not_an_image"
  | "not_convertible";

/** The problem of one photo of a row. */
export interface PhotoProblem extends LocalImage {
  readonly code: PhotoCode;
  readonly message: string;
  /** Whether it is a folder, a pipe or a device. */
  readonly isNoFile?: boolean;
}

const none: readonly FieldProblem[] = [];

/** An image of a row, as far as it is read here. */
type NamedImage = Partial<Readonly<Record<"image_id" | "path" | "orientation", string>>>;

/**
 * The local photos and image IDs that a row names a second time with another orientation: the product would have them
 * once, and the other orientation would be lost. A URL that is named twice becomes two images.
 */
export function repeatedPhotos(row: unknown): readonly FieldProblem[] {
  const images = (row as { images?: unknown } | null | undefined)?.images;
  // Most rows have one photo.
  if (!Array.isArray(images) || images.length < 2) return none;
  const first = new Map<string, string>();
  let found = none;
  for (const [index, image] of (images as (NamedImage | null)[]).entries()) {
    const field = (["image_id", "path"] as const).find((one) => typeof image?.[one] === "string");
    const orientation = image?.orientation;
    if (field === undefined || orientation === undefined) continue;
    const source = image![field]!;
    const earlier = first.get(`${field} ${source}`);
    if (earlier === undefined) first.set(`${field} ${source}`, orientation);
    else if (earlier !== orientation)
      found = [...found, problem(`images[${index}].${field}`, { source, earlier })];
  }
  return found;
}

function problem(param: string, { source, earlier }: { source: string; earlier: string }): FieldProblem {
  const cellMessage = `${shortened(source)} is already the ${earlier} photo of this row: a product has each photo once`;
  return { param, code: "duplicate_image", message: `${param}: ${cellMessage}`, cellMessage };
}
