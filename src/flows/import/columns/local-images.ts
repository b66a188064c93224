import { type ImportRowImage, importRowProblems, type RowProblem } from "../../../contract/import-row.ts";
import { limits } from "../../../contract/limits.ts";
import { type Orientation, orientations } from "../../../contract/value-sets.ts";
import type { LocalImage } from "../../photos/photo-fault.ts";

/** An image of an input row: as the service takes it, or a file of this machine in place of `url` and `image_id`. */
export interface InputImage extends ImportRowImage {
  path?: string;
}

/** An id of the right form: a row with paths is judged as if they had been uploaded. */
const anyImageId = "0".repeat(26);

/** Longer than any path that a system opens (PATH_MAX of Linux). */
const longestPath = 4096;

const none: readonly LocalImage[] = [];

/** The photos of a row that are files of this machine; a path that could not be one is left out (`inputRowProblems` names it). */
export function localImagesOf(row: unknown): readonly LocalImage[] {
  const images = imagesOf(row);
  if (images === null || !images.some(hasPath)) return none;
  return images.flatMap((image, index) =>
    hasPath(image) && pathFault(image.path) === null ? [{ index, path: image.path as string }] : [],
  );
}

/**
 * Everything wrong with an input row by the service's own rules (Imports, Row fields), where an image may have a `path`
 * in place of `url` and `image_id`; whether there is such a file is not looked at.
 */
export function inputRowProblems(row: unknown): readonly RowProblem[] {
  const images = imagesOf(row);
  if (images === null || !images.some(hasPath)) return importRowProblems(row);
  const found: RowProblem[] = [];
  const add = (param: string, message: string) =>
    found.push({ param, code: "invalid_row", message: `${param} ${message}` });
  const uploaded = images.map((image, index) => {
    if (!hasPath(image)) return image;
    const { path, ...rest } = image;
    // Past the last place the list as such is at fault.
    const fault = index < limits.imagesPerProduct.max ? pathFault(path) : null;
    if (fault !== null) add(`images[${index}].path`, fault);
    if (rest.url === undefined && rest.image_id === undefined) return { ...rest, image_id: anyImageId };
    if (rest.url === undefined || rest.image_id === undefined)
      add(`images[${index}]`, "must have exactly one of url, image_id and path");
    return rest;
  });
  return [...importRowProblems({ ...(row as object), images: uploaded }), ...found];
}

/** The row with the orientations that the names of its local photos tell, where it does not say them itself. */
export function withOrientations(row: Record<string, unknown>): Record<string, unknown> {
  const images = imagesOf(row);
  if (images === null || !images.some(hasPath)) return row;
  const oriented = images.map((image) => {
    if (!hasPath(image) || image.orientation !== undefined || typeof image.path !== "string") return image;
    const orientation = orientationOfName(image.path);
    return orientation === undefined ? image : { ...image, orientation };
  });
  return { ...row, images: oriented };
}

// Names part words as they part everything else: `three_quarter_left` is no `left`. The first separator that fits is taken,
// and with it the longest orientation.
const namedOrientation = new RegExp(
  `[-_ ](${orientations.map((name) => name.replaceAll("-", "[-_ ]")).join("|")})$`,
  "i",
);

/** The orientation that a file's name ends in, as `SKU_front.jpg` does; undefined where it ends in none. */
export function orientationOfName(path: string): Orientation | undefined {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const stem = name.replace(/\.[a-z0-9]*$/i, "").trimEnd();
  return namedOrientation.exec(stem)?.[1]?.toLowerCase().replace(/[_ ]/g, "-") as Orientation | undefined;
}

interface WithPath extends Record<string, unknown> {
  path: unknown;
}

const hasPath = (image: unknown): image is WithPath =>
  typeof image === "object" &&
  image !== null &&
  !Array.isArray(image) &&
  (image as WithPath).path !== undefined;

function imagesOf(row: unknown): readonly unknown[] | null {
  const images = (row as { images?: unknown } | null | undefined)?.images;
  return Array.isArray(images) ? images : null;
}

/** Why a value cannot be the path of any file, or null. */
function pathFault(path: unknown): string | null {
  if (typeof path !== "string") return "must be a text, the path of a file";
  if (path.trim() === "") return "is empty";
  if (path.length > longestPath) return `has ${path.length} characters: that is no path of a file`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path))
    return `has a control character in it: ${JSON.stringify(path.length > 80 ? `${path.slice(0, 77)}...` : path)}`;
  return null;
}
