import { shortened } from "../../contract/did-you-mean.ts";
import { type ImportRowImage, importRowProblems, type RowProblem } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { type Orientation, orientations } from "../../contract/value-sets.ts";
import type { LocalImage } from "../photos/photo-file.ts";
import { emptyColumns, photoColumns, uncutTexts } from "../rows/row-form.ts";
import type { FieldValues } from "./digests.ts";

/** A photo as named in the user's file: a URL, an uploaded image, or a local file. */
export type FileImage = {
  orientation?: string;
} & (
  | { url: string; image_id?: never; path?: never }
  | { image_id: string; url?: never; path?: never }
  | { path: string; url?: never; image_id?: never }
);

/** A row of the user's file after the check: the service's row, except that a photo may be a local file. */
export interface FileRow {
  reference: string;
  name: string;
  description?: string;
  sex?: string;
  images: FileImage[];
  /** The cells when the row was exported. */
  as_exported?: string;
  readonly [emptyColumns]?: readonly string[];
  readonly [photoColumns]?: readonly string[];
  readonly [uncutTexts]?: Readonly<Record<string, string>>;
}

/** An image of an input row: as in the service's rows, or a local file instead of `url` and `image_id`. */
export interface InputImage extends ImportRowImage {
  path?: string;
}

/** The fields that an upsert of the row sets; others keep their value (Imports, Row fields). */
export function toFieldValues({ name, description, sex }: Omit<FileRow, "images">): FieldValues {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(sex === undefined ? {} : { sex }),
  };
}

/** A valid image ID: a row with paths is checked as if its files were uploaded. */
const anyImageId = "0".repeat(26);

/** No system opens a longer path (PATH_MAX of Linux). */
const longestPath = 4096;

const none: readonly LocalImage[] = [];

/** The local photos of a row, without invalid paths (`inputRowProblems` reports those). */
export function listLocalImages(row: unknown): readonly LocalImage[] {
  const images = listImages(row);
  if (images === null || !images.some(hasPath)) return none;
  return images.flatMap((image, index) =>
    hasPath(image) && pathFault(image.path) === null ? [{ index, path: image.path as string }] : [],
  );
}

/**
 * All problems of a row by the service's rules (Imports, Row fields). An image may have a `path` instead of
 * `url` and `image_id`; its file is not checked. `hasPlainUrls`: its URLs are known to be accepted.
 */
export function inputRowProblems(row: unknown, hasPlainUrls = false): readonly RowProblem[] {
  const images = listImages(row);
  if (images === null || !images.some(hasPath))
    return hasPlainUrls ? importRowProblems(row, noBreach) : importRowProblems(row);
  const problems: RowProblem[] = [];
  const add = (param: string, message: string) =>
    problems.push({ param, code: "invalid_row", message: `${param} ${message}` });
  const uploaded = images.map((image, index) => {
    if (!hasPath(image)) return image;
    const { path, ...rest } = image;
    // Beyond the maximum, the problem is the length of the list.
    const fault = index < limits.imagesPerProduct.max ? pathFault(path) : null;
    if (fault !== null) add(`images[${index}].path`, fault);
    if (rest.url === undefined && rest.image_id === undefined) return { ...rest, image_id: anyImageId };
    if (rest.url === undefined || rest.image_id === undefined)
      add(`images[${index}]`, "must have exactly one of url, image_id and path");
    return rest;
  });
  return [...importRowProblems({ ...(row as object), images: uploaded }), ...problems];
}

const noBreach = () => null;

/** Adds orientations from the file names of local photos, unless the row has its own. */
export function withOrientations(row: Record<string, unknown>): Record<string, unknown> {
  const images = listImages(row);
  if (images === null || !images.some(hasPath)) return row;
  const oriented = images.map((image) => {
    if (!hasPath(image) || image.orientation !== undefined || typeof image.path !== "string") return image;
    const orientation = orientationOfName(image.path);
    return orientation === undefined ? image : { ...image, orientation };
  });
  return { ...row, images: oriented };
}

// File names separate all words alike: `three_quarter_left` is not `left`. The regular expression takes the
// first separator that fits, and so the longest orientation.
const namedOrientation = new RegExp(
  `[-_ ](${orientations.map((name) => name.replaceAll("-", "[-_ ]")).join("|")})$`,
  "i",
);

/** The orientation at the end of a file name, such as `SKU_front.jpg`; undefined if there is none. */
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

function listImages(row: unknown): readonly unknown[] | null {
  const images = (row as { images?: unknown } | null | undefined)?.images;
  return Array.isArray(images) ? images : null;
}

/** The reason a value cannot be a path, or null. */
function pathFault(path: unknown): string | null {
  if (typeof path !== "string") return "must be text with the path of a file";
  if (path.trim() === "") return "is empty";
  if (path.length > longestPath) return `has ${path.length} characters, too many for the path of a file`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return `contains a control character: ${shortened(path)}`;
  return null;
}
