import { drawnSize, type Subject, toLook, toPaint, toSubject } from "./garments.ts";
import { toView } from "./product-view.ts";
import { garmentOfWords } from "./product-words.ts";
import type { Garment } from "./scene.ts";

export interface PhotoSource {
  /** A garment, the side that the photo shows, or both: `dress back`. */
  readonly subject: string;
  /** Differs for any two photos. */
  readonly seed: string;
  /** Those of the product (`productWords`); missing for a photo that was made without one. */
  readonly words?: string | undefined;
}

/** The seed of a product's colors in its photos and images; it differs from those of plain clothes. */
const seedOfWords = (words: string): string => `product ${words}`;

/** The garment of a photo: by the words of the product, else by the subject, else by the seed. */
export function garmentOfPhoto({ subject, seed, words }: PhotoSource): Garment {
  const paint = words === undefined ? seed : seedOfWords(words);
  const named = words === undefined ? null : garmentOfWords(words);
  return { subject: named ?? toSubject(subject, paint), seed: paint };
}

/** The garment of a product that no photo was drawn of. `known`: what it is if its words do not tell. */
export function garmentOfWordsOr(words: string, known: Subject | null): Garment {
  const seed = seedOfWords(words);
  return { subject: garmentOfWords(words) ?? known ?? toSubject("", seed), seed };
}

/** A photo as SVG: the garment, the same in all photos of a product, before a backdrop of its own. */
export function photoDrawing(source: PhotoSource): string {
  const { subject, seed } = garmentOfPhoto(source);
  const side = source.subject.split(" ").at(-1)!;
  const look = toLook(source.seed);
  const paperHue = ((look % 360) + 40 + ((look >>> 9) % 280)) % 360;
  const paper = `hsl(${paperHue}, 24%, ${86 + ((look >>> 18) % 8)}%)`;
  const floor = `hsl(${paperHue}, 20%, ${76 + ((look >>> 21) % 6)}%)`;
  const { defs, fill, seam } = toPaint(seed, "cloth");
  const { body, lines } = toView(subject, side === "back");
  const { width, height } = drawnSize;
  const garment = [
    `<ellipse cx="300" cy="715" rx="190" ry="22" fill="#000" opacity="0.14"/>`,
    `<path d="${body}" fill="${fill}"/>`,
    `<path d="${lines}" fill="none" stroke="${seam}" stroke-width="4" opacity="0.55"/>`,
    `<path d="${body}" fill="none" stroke="${seam}" stroke-width="5" stroke-linejoin="round"/>`,
  ].join("");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    defs,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    `<rect y="640" width="${width}" height="160" fill="${floor}"/>`,
    side === "detail" ? `<g transform="translate(-420 -330) scale(2.4)">${garment}</g>` : garment,
    tag(look),
    "</svg>",
  ].join("");
}

/** A tag with bars: two photos of a product are never the same file. */
function tag(look: number): string {
  const bars = Array.from({ length: 32 }, (_, bit) =>
    ((look >>> bit) & 1) === 0
      ? ""
      : `<rect x="${524 + (bit % 16) * 4}" y="${bit < 16 ? 760 : 772}" width="4" height="10"/>`,
  );
  return `<rect x="518" y="754" width="76" height="34" fill="#fff"/>${bars.join("")}`;
}
