import type Sharp from "sharp";

/** The largest image in pixels: more than any camera gives, and no bomb. */
const mostPixels = 120_000_000;

/** Large enough for a card on a sharp screen, and about 12 KB. */
const box = { width: 360, height: 480 } as const;
const quality = 75;

export type Thumbnailer = (image: Uint8Array) => Promise<string | null>;

/** Loads the library that scales images. Throws where it is not installed for this system. */
export async function openThumbnailer(): Promise<Thumbnailer> {
  const { default: sharp } = await import("sharp");
  return (image) => thumbnail(sharp, image);
}

/** A WebP in base64; null for bytes that are not an image. */
async function thumbnail(sharp: typeof Sharp, image: Uint8Array): Promise<string | null> {
  try {
    const scaled = await sharp(image, { limitInputPixels: mostPixels, failOn: "truncated" })
      .rotate()
      .resize({ ...box, fit: "inside", withoutEnlargement: true })
      .webp({ quality })
      .toBuffer();
    return scaled.toString("base64");
  } catch {
    return null;
  }
}
