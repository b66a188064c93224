import type { Random } from "../../src/mock/seed/seed.ts";

/** A photo of a row: a URL, or a local file, given by its number and which of its paths. */
export type SoakImage = { readonly url: string } | { readonly photo: number; readonly copy: number };

export interface SoakRow {
  readonly reference: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly sex?: string | undefined;
  /** No two are the same. */
  readonly images: readonly SoakImage[];
}

/** The maximum number of images of a row. */
export const mostImages = 4;

const sexes = ["male", "female", "other", "kid"];
const names = ["Linen dress", 'The "good" coat', "Schuh, grün", "Jacke;lang", "帽子", "Pair | of socks"];
const descriptions = ["Light, for summer", "two\nlines of text", 'with "quotes"', "ends, with; marks|", "é"];

export function makeRows(random: Random, size: number, { hasPhotos }: { hasPhotos: boolean }): SoakRow[] {
  const isLarge = size > 500;
  const rows: SoakRow[] = [];
  for (let at = 0; at < size; at++) {
    const reference = `S-${String(at).padStart(5, "0")}`;
    const images: SoakImage[] = [];
    const count = 1 + random.below(isLarge ? 2 : 3);
    for (let image = 0; image < count; image++) {
      if (hasPhotos && at < 40 && random.next() < 0.4) images.push(photoOf(random, images, at));
      else images.push({ url: urlOf(random, `${reference}-${image}`) });
    }
    rows.push({ reference, name: `${random.pick(names)} ${at}`, ...fieldsOf(random), images });
  }
  return rows;
}

/** A photo of the row only, or one that several rows share: some contents are in two files. */
function photoOf(random: Random, others: readonly SoakImage[], row: number): SoakImage {
  const photo = random.next() < 0.3 ? random.below(3) : 10 + row * mostImages + others.length;
  const isTaken = others.some((image) => "photo" in image && image.photo === photo);
  return { photo: isTaken ? 10 + row * mostImages + others.length : photo, copy: random.below(2) };
}

/** One in twenty cannot be fetched (interface, serve --mock, Image URLs). */
function urlOf(random: Random, name: string): string {
  const last = random.next() < 0.05 ? `fail-timeout-${name}` : name;
  return `https://cdn.example.com/${random.text(3)}/${last}.jpg`;
}

const fieldsOf = (random: Random): Pick<SoakRow, "description" | "sex"> => ({
  description: random.next() < 0.6 ? `${random.pick(descriptions)} ${random.text(4)}` : undefined,
  sex: random.next() < 0.6 ? random.pick(sexes) : undefined,
});

/**
 * An earlier version of the file: some rows are missing, some have other fields or fewer photos, some are the
 * same.
 */
export function earlierVersion(random: Random, rows: readonly SoakRow[]): SoakRow[] {
  const earlier: SoakRow[] = [];
  // In a large file few rows may need a write each, or they take all the time.
  const renamed = 40 / Math.max(160, rows.length);
  for (const row of rows) {
    const dice = random.next();
    if (dice < 0.15) continue;
    const images = dice < 0.4 && row.images.length > 1 ? row.images.slice(0, -1) : row.images;
    const before = { ...row, images };
    earlier.push(
      random.next() < renamed ? { ...before, name: `${row.name} (old)`, ...fieldsOf(random) } : before,
    );
  }
  return earlier.length > 0 ? earlier : [...rows.slice(0, 1)];
}
