import { hash } from "../seed/random.ts";

/**
 * The fabric of a product in pictures. The same seed gives the same paint, in its photo and in every
 * generated image.
 */
export interface Paint {
  /** Definitions that `fill` needs. */
  readonly defs: string;
  /** Plain, striped or dotted. */
  readonly fill: string;
  /** The solid color, and a dark one of the same hue for lines. */
  readonly cloth: string;
  readonly seam: string;
}

/** The 32 bits that determine a look. */
export const lookOf = (seed: string): number => hash(seed) >>> 0;

/** The paint of a seed; `id` identifies its definitions within one picture. */
export function paintOf(seed: string, id: string): Paint {
  const look = lookOf(seed);
  const hue = look % 360;
  const cloth = `hsl(${hue}, ${30 + ((look >>> 12) % 40)}%, ${32 + ((look >>> 24) % 30)}%)`;
  const seam = `hsl(${hue}, 30%, 18%)`;
  const kind = (look >>> 15) % 3;
  if (kind === 0) return { defs: "", fill: cloth, cloth, seam };
  const step = 28 + ((look >>> 5) % 24);
  const mark =
    kind === 1
      ? `<rect width="${step}" height="${step / 3}" fill="#fff" opacity="0.35"/>`
      : `<circle cx="${step / 2}" cy="${step / 2}" r="${step / 6}" fill="#fff" opacity="0.5"/>`;
  const defs = [
    `<defs><pattern id="${id}" width="${step}" height="${step}" patternUnits="userSpaceOnUse">`,
    `<rect width="${step}" height="${step}" fill="${cloth}"/>${mark}</pattern></defs>`,
  ].join("");
  return { defs, fill: `url(#${id})`, cloth, seam };
}
