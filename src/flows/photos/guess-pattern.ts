import { type PhotoListing, photosByPattern, type SortedPhotos } from "./folder-photos.ts";
import { NamePattern } from "./name-pattern.ts";

/** A pattern that may be meant, with what it reads. */
export interface PatternGuess {
  readonly pattern: NamePattern;
  readonly photos: SortedPhotos;
}

/** So many files, spread over the folder, decide which patterns are shown. */
const sampled = 2_000;
const shown = 4;

const forms = [
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
 * The patterns that file names may have, the most likely first: those with sides, then those with fewer products. Each fits
 * at least half of the files, and finds some of what it has a place for. A pattern with brackets comes before one without if
 * it reads more files, but no more products.
 */
export function guessPatterns(listing: PhotoListing): PatternGuess[] {
  const every = Math.max(1, Math.floor(listing.paths.length / sampled));
  const paths = listing.paths.filter((_, index) => index % every === 0);
  const tried = forms.flatMap((text) => {
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
  tried.sort(
    (one, other) =>
      withoutSide(one) - withoutSide(other) || one.products - other.products || other.read - one.read,
  );
  const isNew = ({ pattern, products, read }: (typeof tried)[number]) =>
    !pattern.text.includes("[") ||
    !tried.some((one) => one.pattern !== pattern && one.products === products && one.read === read);
  return tried
    .filter(isNew)
    .slice(0, shown)
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
