import { join, resolve } from "node:path";
import { limits } from "../../contract/limits.ts";
import { foldedPath } from "../files/file-names.ts";
import { guardedCell } from "../outputs/cells.ts";
import { type FolderPhoto, referenceKey, type SortedPhotos } from "../photos/folder-photos.ts";
import type { AddedCells } from "../rows/row-form.ts";
import { InputError } from "../rows/source.ts";
import { type InputImage, orientationOfName } from "./file-row.ts";

/** The photos of a folder as cells of the rows that they belong to. */
export interface AddedPhotos extends AddedCells {
  /** What identifies them: every photo, with its reference and side. */
  readonly identity: string;
}

/** Where the photos are. `fromRoot` is the path from the folder that paths in cells are relative to. */
interface PhotosPlace {
  readonly folder: string;
  readonly root: string;
  readonly fromRoot: string;
}

/** Adds the photos of `sorted` to rows, without those that a row names itself. */
export function addedPhotos({ products }: SortedPhotos, place: PhotosPlace): AddedPhotos {
  const most = Math.max(0, ...[...products.values()].map(({ photos }) => photos.length));
  let free: readonly number[] = [];
  const photosOf = (row: unknown): readonly FolderPhoto[] => {
    const { reference, images } = row as { reference?: unknown; images?: unknown };
    const photos = typeof reference === "string" && products.get(referenceKey(reference.trim()))?.photos;
    if (!photos) return [];
    const named = new Set(
      (Array.isArray(images) ? images : []).map((image) => keyOfImage(image, place.root)),
    );
    return photos.filter(({ path }) => !named.has(foldedPath(join(place.folder, path))));
  };
  return {
    identity: JSON.stringify([...products.values()]),
    headers(names) {
      const taken = new Set(names);
      const numbers = Array.from({ length: limits.imagesPerProduct.max }, (_, index) => index + 1);
      free = numbers
        .filter((number) => !taken.has(`image_${number}`) && !taken.has(`image_${number}_orientation`))
        .slice(0, most);
      if (free.length < most)
        throw new InputError(
          `the file has too many photo columns for the ${most} photos of a product in the folder`,
          "too_many_columns",
          "Remove columns without photos, such as image_20, and run the command again.",
        );
      return photoHeaders(free);
    },
    cells: (row) => photoCells(photosOf(row), place.fromRoot, free.length),
    object(object) {
      const photos = photosOf(object);
      if (photos.length === 0 || (object.images !== undefined && !Array.isArray(object.images)))
        return object;
      const added = photos.map((photo): InputImage => {
        const orientation = orientationCell(photo);
        return { path: pathCell(photo, place.fromRoot), ...(orientation !== "" && { orientation }) };
      });
      return { ...object, images: [...((object.images as unknown[] | undefined) ?? []), ...added] };
    },
  };
}

/** The rows of a folder without a sheet, one per product: records of CSV, with the header. The name is the reference. */
export function* rowsOfPhotos({ products }: SortedPhotos, fromRoot: string): Generator<readonly string[]> {
  const most = Math.max(0, ...[...products.values()].map(({ photos }) => photos.length));
  const numbers = Array.from({ length: most }, (_, index) => index + 1);
  yield ["reference", "name", ...photoHeaders(numbers)];
  for (const { reference, photos } of products.values()) {
    const text = guardedCell(reference);
    yield [text, text, ...photoCells(photos, fromRoot, most)];
  }
}

const photoHeaders = (numbers: readonly number[]): string[] =>
  numbers.flatMap((number) => [`image_${number}`, `image_${number}_orientation`]);

const photoCells = (photos: readonly FolderPhoto[], fromRoot: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => photos[index]).flatMap((photo) =>
    photo === undefined ? ["", ""] : [pathCell(photo, fromRoot), orientationCell(photo)],
  );

/** A path that is not taken for a URL. */
function pathCell({ path }: FolderPhoto, fromRoot: string): string {
  const text = fromRoot === "" ? path : `${fromRoot}/${path}`;
  return /^\s|^[a-z][a-z0-9+.-]*:/i.test(text) ? `./${text}` : text;
}

/** A name without a side may still end like one, such as that of the product BLUE-TOP. */
const orientationCell = ({ path, side }: FolderPhoto): string =>
  side ?? (orientationOfName(path) === undefined ? "" : "unlabeled");

/** The file that an image of a row is, if it is one. */
function keyOfImage(image: unknown, root: string): string | null {
  const path = (image as InputImage | null)?.path;
  return typeof path === "string" ? foldedPath(resolve(root, path.replaceAll("\\", "/"))) : null;
}
