import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../contract/limits.ts";
import { type Orientation, orientations } from "../../contract/value-sets.ts";
import { withoutUnseenEnds } from "../../text.ts";
import { foldedPath, photoEnding, realPath } from "../files/file-names.ts";
import { InputError } from "../rows/source.ts";
import { isInFolder } from "./find-photo.ts";
import {
  type NamedPhoto,
  NamePattern,
  type NameReader,
  patternStem,
  readByBeginning,
  readRest,
} from "./name-pattern.ts";

export interface FolderPhoto {
  /** Relative to the folder. */
  readonly path: string;
  readonly side: Orientation | undefined;
  readonly number: number | undefined;
}

/** The photos of a folder by product, and how many files belong to none. */
export interface SortedPhotos {
  /** By reference, as rows have it; the photos are in the order in which a product has them. */
  readonly products: ReadonlyMap<string, readonly FolderPhoto[]>;
  readonly left: readonly string[];
}

/** Case, how accents are composed, and ends that cannot be seen differ between file names and rows. */
const referenceKey = (reference: string): string => foldedPath(withoutUnseenEnds(reference));

/** The photos by the shortest references that fit a pattern. */
export function photosByPattern({ folder, paths }: PhotoListing, pattern: NamePattern): SortedPhotos {
  const sorted = new Sorting();
  const spellings = new Map<string, string>();
  for (const path of paths) {
    const read = pattern.read(path);
    if (read === null) {
      sorted.left.push(path);
      continue;
    }
    const key = referenceKey(read.reference);
    const reference = spellings.get(key) ?? read.reference;
    spellings.set(key, reference);
    sorted.add(path, { ...read, reference });
  }
  return sorted.end(folder);
}

/**
 * The photos of known references. A photo belongs to the longest one that its name begins with, if only a
 * side or a number follows; or to the one that its folder is named after. With a pattern, to the longest one
 * that fits it. Of references that differ only in case, to the one that it spells. Throws InputError for a
 * photo that may belong to two.
 */
export async function photosOfRows(
  { folder, paths }: PhotoListing,
  pattern: NamePattern | null,
  references: () => AsyncIterable<string>,
): Promise<SortedPhotos> {
  const byName: NameReader = pattern?.readings ?? readByBeginning;
  const byFolder: NameReader = pattern === null ? readByFolder : () => [];
  // Only references that a file may have are kept: a sheet may have a million rows.
  const wanted = new Set<string>();
  for (const path of paths)
    for (const { reference } of [...byName(path), ...byFolder(path)]) wanted.add(referenceKey(reference));
  const known = new Map<string, Set<string>>();
  for await (const reference of references()) {
    const key = referenceKey(reference);
    if (!wanted.has(key)) continue;
    const alike = known.get(key);
    if (alike === undefined) known.set(key, new Set([reference]));
    else alike.add(reference);
  }
  const sorted = new Sorting();
  for (const path of paths) {
    const isKnown = ({ reference }: NamedPhoto) => known.has(referenceKey(reference));
    const [named, inFolder] = [byName(path).find(isKnown), byFolder(path).find(isKnown)];
    const read = named ?? inFolder;
    if (read === undefined) {
      sorted.left.push(path);
      continue;
    }
    const meant = [read, ...(inFolder === undefined ? [] : [inFolder])].flatMap(({ reference }) => {
      const alike = [...known.get(referenceKey(reference))!];
      const spelled = alike.filter((spelling) => spelling.normalize("NFC") === reference);
      return spelled.length > 0 ? spelled : alike;
    });
    const [reference, second] = new Set(meant);
    if (second !== undefined) throw ambiguous(path, reference!, second);
    sorted.add(path, { ...read, reference: reference! });
  }
  return sorted.end(folder);
}

/** The reading of a photo in a folder of a reference: its name has a side or a number at most. */
const readByFolder: NameReader = (path) => {
  const [reference, name] = patternStem(path, 1)?.split("/") ?? [];
  if (reference === undefined) return [];
  return [
    { reference: reference.trim(), ...(readRest(`_${name}`) ?? { side: undefined, number: undefined }) },
  ];
};

const ambiguous = (path: string, ...references: readonly string[]): InputError =>
  new InputError(
    `the photo ${JSON.stringify(path)} may belong to ${references.map((reference) => JSON.stringify(reference)).join(" or ")}`,
    "ambiguous_photo",
    "Rename the photo or its folder, so that one reference is in it exactly as in its row.",
  );

class Sorting {
  readonly #products = new Map<string, FolderPhoto[]>();
  readonly left: string[] = [];

  add(path: string, { reference, side, number }: NamedPhoto): void {
    const photos = this.#products.get(reference) ?? [];
    this.#products.set(reference, photos);
    photos.push({ path, side, number });
  }

  /** Throws InputError for a product with more photos than the service takes. */
  end(folder: string): SortedPhotos {
    const most = limits.imagesPerProduct.max;
    for (const [reference, photos] of this.#products) {
      if (photos.length > most)
        throw new InputError(
          `${JSON.stringify(reference)} has ${photos.length} photos in ${folder}; a product has at most ${most}`,
          "too_many_photos",
          "Move some of them out of the folder, and run the command again.",
        );
      photos.sort(byPlace);
    }
    return { products: this.#products, left: this.left };
  }
}

/** By number, then in the usual order of sides; a photo without both is the main one. */
const byPlace = (a: FolderPhoto, b: FolderPhoto): number =>
  (a.number ?? 0) - (b.number ?? 0) || sidePlace(a) - sidePlace(b) || (a.path < b.path ? -1 : 1);

const sidePlace = ({ side }: FolderPhoto): number => (side === undefined ? -1 : orientations.indexOf(side));

/** The photos in a folder and its subfolders. */
export interface PhotoListing {
  /** The folder, absolute. */
  readonly folder: string;
  /** Relative to the folder, with `/`, sorted. */
  readonly paths: readonly string[];
  /** Files that are not photos, and links that are not followed: how many, and one of them. */
  readonly others: { count: number; example: string };
  /** The names of the spreadsheets and NDJSON files in the folder itself. */
  readonly sheets: readonly string[];
}

const sheetEnding = /\.(?:csv|tsv|xlsx|xlsm|ods|ndjson|jsonl)(?:\.gz)?$/i;
/** Files of systems, the lock files of Excel and LibreOffice, and the mappings of the sheet. */
const systemFile = /^(?:\.|~\$|(?:thumbs\.db|desktop\.ini|catalogue\.map\.json|__macosx|@eadir)$)/i;
const failedFile = /\.failed(?:-\d{1,5})?(?:\.\d{1,2})?\.[^.]+$/i;

/** Lists a folder without opening files or following linked folders. Throws errors of the system. */
export async function listPhotos(folder: string, signal: AbortSignal): Promise<PhotoListing> {
  const root = await realPath(folder);
  const paths: string[] = [];
  const sheets: string[] = [];
  const others = { count: 0, example: "" };
  const folders = [""];
  for (let parent = folders.pop(); parent !== undefined; parent = folders.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(join(root, parent), { withFileTypes: true })) {
      if (systemFile.test(entry.name)) continue;
      const path = `${parent}${entry.name}`;
      if (entry.isDirectory()) folders.push(`${path}/`);
      else if (parent === "" && sheetEnding.test(path)) {
        if (!failedFile.test(path)) sheets.push(path);
      } else if (photoEnding.test(path) && (entry.isFile() || (await isFileWithin(root, path))))
        paths.push(path);
      else if (others.count++ === 0 || path < others.example) others.example = path;
    }
  }
  return { folder, paths: paths.sort(), sheets: sheets.sort(), others };
}

/** Whether a link leads to a file in the folder. */
async function isFileWithin(root: string, path: string): Promise<boolean> {
  const target = await realPath(join(root, path)).catch(() => null);
  return target !== null && isInFolder(root, target) && (await stat(target)).isFile();
}

interface PatternGuess {
  readonly pattern: NamePattern;
  readonly photos: SortedPhotos;
}

/** So many files, spread over the folder, decide which patterns are shown. */
const sampledPhotos = 2_000;
const shownGuesses = 4;

const patternForms = [
  ...["_", "-", " ", "."].flatMap((mark) => [
    `{reference}${mark}{side}`,
    `{reference}${mark}{side}${mark}{n}`,
    `{reference}[${mark}{side}]`,
    `{reference}[${mark}{side}][${mark}{n}]`,
    `{reference}${mark}{n}`,
    `{reference}[${mark}{n}]`,
  ]),
  "{reference}/{side}",
  "{reference}/{n}",
  "{reference}/*",
  "*/{reference}/*",
  "{reference}",
];

/**
 * The patterns that file names may have, the likeliest first: with sides, then fewer products. Each fits at
 * least half of the files and finds some of each place; brackets come first if they read more files, but no
 * more products.
 */
export function guessPatterns(listing: PhotoListing): PatternGuess[] {
  const every = Math.max(1, Math.floor(listing.paths.length / sampledPhotos));
  const paths = listing.paths.filter((_, index) => index % every === 0);
  const tried = patternForms.flatMap((text) => {
    const pattern = new NamePattern(text);
    const photos = readOrNull({ ...listing, paths }, pattern);
    if (photos === null) return [];
    const read = paths.length - photos.left.length;
    const all = [...photos.products.values()].flat();
    const finds =
      (!text.includes("{side}") || all.some(({ side }) => side !== undefined)) &&
      (!text.includes("{n}") || all.some(({ number }) => number !== undefined)) &&
      // A name that is in several folders, such as front or 01, is no reference.
      (text !== "{reference}" || photos.products.size === read);
    return finds && read > 0 && read >= paths.length / 2
      ? [{ pattern, products: photos.products.size, read }]
      : [];
  });
  const withoutSide = ({ pattern }: { pattern: NamePattern }) => (pattern.text.includes("{side}") ? 0 : 1);
  tried.sort((a, b) => withoutSide(a) - withoutSide(b) || a.products - b.products || b.read - a.read);
  const isNew = ({ pattern, products, read }: (typeof tried)[number]) =>
    !pattern.text.includes("[") ||
    !tried.some(
      (attempt) => attempt.pattern !== pattern && attempt.products === products && attempt.read === read,
    );
  return tried
    .filter(isNew)
    .slice(0, shownGuesses)
    .flatMap(({ pattern }) => {
      const photos = readOrNull(listing, pattern);
      return photos === null ? [] : [{ pattern, photos }];
    });
}

/** Null for a pattern that gives a product more photos than it can have. */
function readOrNull(listing: PhotoListing, pattern: NamePattern): SortedPhotos | null {
  try {
    return photosByPattern(listing, pattern);
  } catch {
    return null;
  }
}
