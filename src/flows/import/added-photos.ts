import { join, resolve } from "node:path";
import { meantWords, questionFor } from "../../contract/did-you-mean.ts";
import { canonicalReference } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { foldedPath } from "../files/file-names.ts";
import type { FolderPhoto, SortedPhotos } from "../photos/folder-photos.ts";
import { readByBeginning } from "../photos/name-pattern.ts";
import type { AddedCells } from "../rows/row-form.ts";
import { InputError } from "../rows/source.ts";
import { type InputImage, orientationOfName } from "./file-row.ts";

/** The photos of a folder as cells of the rows that they belong to. */
export interface AddedPhotos extends AddedCells {
  /** Identifies them: every photo, with its reference and side. */
  readonly identity: string;
  /** Why a row has none, by its reference: what follows its problem. */
  readonly whyNone: (reference: string) => string;
}

/** Where the photos are; `shown` names the folder, `fromRoot` is its path from that of paths in cells. */
interface PhotosPlace {
  readonly folder: string;
  readonly shown: string;
  readonly root: string;
  readonly fromRoot: string;
}

/** Adds the photos of `sorted` to rows, without those that a row names itself. */
export function addedPhotos({ products, left }: SortedPhotos, place: PhotosPlace): AddedPhotos {
  const most = mostPhotos(products);
  const toKey = (path: string) => foldedPath(join(place.folder, path));
  /** Files that a disk without case would not tell apart: a cell names one of them by its exact name. */
  const alike = repeated([...products.values()].flatMap((photos) => photos.map(({ path }) => toKey(path))));
  let free: readonly number[] = [];
  /** The references that the names of the other photos may begin with, with one photo each. */
  let beginnings: ReadonlyMap<string, string> | null = null;
  const begins = () => {
    beginnings ??= new Map(
      left.flatMap((path) => readByBeginning(path).map((read) => [read.reference, path])),
    );
    return beginnings;
  };
  const listPhotos = (row: unknown): readonly FolderPhoto[] => {
    const { reference, images } = row as { reference?: unknown; images?: unknown };
    const photos = typeof reference === "string" && products.get(canonicalReference(reference));
    if (!photos) return [];
    const paths = (Array.isArray(images) ? images : []).map((image) => pathOfImage(image, place.root));
    const exact = new Set(paths);
    const named = new Set(paths.map((path) => path && foldedPath(path)));
    return photos.filter(({ path }) =>
      alike.has(toKey(path))
        ? !exact.has(join(place.folder, path).normalize("NFC"))
        : !named.has(toKey(path)),
    );
  };
  return {
    identity: JSON.stringify([...products]),
    whyNone(reference) {
      const meant = left.length > mostSearched ? [] : meantWords(reference, [...begins().keys()]);
      const files = meant.map((begin) => JSON.stringify(begins().get(begin)!));
      return `; no photo in ${place.shown} is named after ${JSON.stringify(reference)}${questionFor(files, ": ")}`;
    },
    headers(names) {
      const example = left[0] === undefined ? "" : `, such as ${left[0]}`;
      const unnamed = `no photo in ${place.shown} is named after a reference of the file${example}`;
      free = freeNumbers(names, most, unnamed);
      return photoHeaders(free);
    },
    cells: (row) => photoCells(listPhotos(row), place.fromRoot, free.length),
    object(object) {
      const photos = listPhotos(object);
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

/** The numbers of columns for the `most` photos of a product, besides the columns of the file. */
function freeNumbers(names: readonly (string | null)[], most: number, unnamed: string): readonly number[] {
  const taken = new Set(names);
  const hasImages = names.some((name) => name !== null && /^image/.test(name));
  // Without a column of references no photo has a row: the check reports that column, and not the photos.
  if (!taken.has("reference")) return hasImages ? [] : [1];
  if (most === 0 && !hasImages)
    throw new InputError(
      unnamed,
      "no_photos",
      "Photos are found by names such as REFERENCE_front.jpg. For other names, add --pattern.",
    );
  const free = numbersTo(limits.imagesPerProduct.max)
    .filter((number) => !taken.has(`image_${number}`) && !taken.has(`image_${number}_orientation`))
    .slice(0, most);
  if (free.length < most)
    throw new InputError(
      `the file has too many photo columns for the ${most} photos of a product in the folder`,
      "too_many_columns",
      "Remove columns without photos, such as image_20, and run the command again.",
    );
  return free;
}

const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** More photos than can be compared with each reference. */
const mostSearched = 2_000;

const mostPhotos = (products: SortedPhotos["products"]): number =>
  Math.max(0, ...[...products.values()].map(({ length }) => length));

function repeated(keys: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(keys.filter((key) => seen.has(key) || !seen.add(key)));
}

/** The rows of a folder without a sheet, one per product, as CSV; the name is the reference. */
export function* rowsOfPhotos({ products }: SortedPhotos, fromRoot: string): Generator<readonly string[]> {
  const most = mostPhotos(products);
  yield ["reference", "name", ...photoHeaders(numbersTo(most))];
  for (const [reference, photos] of products)
    yield [reference, reference, ...photoCells(photos, fromRoot, most)];
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

function pathOfImage(image: unknown, root: string): string | null {
  const path = (image as InputImage | null)?.path;
  return typeof path === "string" ? resolve(root, path.replaceAll("\\", "/")).normalize("NFC") : null;
}
