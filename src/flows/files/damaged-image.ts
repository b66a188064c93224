// Images whose end was lost and replaced by zeros, as interrupted downloads leave them.

import { detectImageType, imageTypeBytes } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import { endOfJpeg, type ImageBytes, isCompleteImage, lastFrame } from "./image-bytes.ts";

/** So many zeros at the end of the pixels are a reason to decode an image: plain areas may be such zeros. */
const suspectBytes = 32;
/** Encoders write no more bytes than a decoder needs, but for a few. */
const spareBytes = 16;

/** A larger image is not decoded. In pixels. */
const mostPixels = 100_000_000;

/** Whether a part of an image is missing, or was replaced by zeros. Without the library, zeros are accepted. */
export async function isDamagedImage(image: ImageBytes): Promise<boolean> {
  if (!isCompleteImage(image)) return true;
  const type = detectImageType(image.read(0, imageTypeBytes));
  const doubtful = type === null || type === "image/png" ? null : doubtfulImage[type](image);
  if (doubtful === null) return false;
  const sharp = await import("sharp").then(
    (library) => library.default,
    () => null,
  );
  if (sharp === null) return false;
  const isDecoded = (bytes: Uint8Array): Promise<boolean> =>
    sharp(bytes, { failOn: "warning", limitInputPixels: mostPixels })
      .raw()
      .toBuffer()
      .then(
        () => true,
        (error: unknown) => !complaint.test((error as Error).message),
      );
  const { all, shorter } = doubtful;
  return (shorter !== undefined && (await isDecoded(shorter))) || !(await isDecoded(all));
}

/** What the decoders say about pixels that are missing or wrong. */
const complaint = /premature end|extraneous bytes|unable to read pixels|unable to parse image/;

/** An image whose pixels end with zeros. */
interface DoubtfulImage {
  readonly all: Buffer;
  /** Without its last zeros: where they are valid pixels, only those of a sound image are needed. */
  readonly shorter?: Buffer;
}

const doubtfulImage = {
  "image/jpeg"(image: ImageBytes): DoubtfulImage | null {
    const to = image.length - endOfJpeg.length;
    return endsWithZeros(image, 0, to) ? { all: Buffer.from(image.read(0, image.length)) } : null;
  },

  "image/webp"(image: ImageBytes): DoubtfulImage | null {
    const { form, from, to } = lastFrame(image)!;
    if (!endsWithZeros(image, from, to)) return null;
    const still = (pixels: Uint8Array) => {
      const head = Buffer.alloc(20);
      const padding = pixels.length & 1;
      head.write("RIFF", 0, "latin1");
      head.writeUInt32LE(12 + pixels.length + padding, 4);
      head.write(`WEBP${form}`, 8, "latin1");
      head.writeUInt32LE(pixels.length, 16);
      return Buffer.concat([head, pixels, Buffer.alloc(padding)]);
    };
    return { all: still(image.read(from, to)), shorter: still(image.read(from, to - spareBytes)) };
  },
};

const endsWithZeros = (image: ImageBytes, from: number, to: number): boolean =>
  to - from >= suspectBytes &&
  to - from <= limits.imageBytes &&
  image.read(to - suspectBytes, to).every((byte) => byte === 0);
