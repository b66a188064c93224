// Images of which a part is missing or was replaced by zeros, as interrupted copies leave them.

import { crc32 } from "node:zlib";
import { detectImageType, imageTypeBytes } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import { endOfJpeg, type ImageBytes, isCompleteImage } from "./image-bytes.ts";

/** So many zeros at the end of the pixels are a reason to decode an image: plain areas may be such zeros. */
const suspectBytes = 32;
/** Encoders write no more bytes than a decoder needs, but for a few. */
const spareBytes = 16;

/** The bytes before the first chunk of a PNG, and those that are read of a chunk at once. */
const startOfPng = 8;
const windowBytes = 64 * 1024;
/** More chunks than an image has. */
const mostChunks = 100_000;
/** A larger image is not decoded. In pixels. */
const mostPixels = 100_000_000;

/** Whether a part of an image is missing or was replaced by zeros, which pass where sharp is missing. */
export async function isDamagedImage(image: ImageBytes): Promise<boolean> {
  if (!isCompleteImage(image)) return true;
  const type = detectImageType(image.read(0, imageTypeBytes));
  if (type === null) return false;
  // A larger one is rejected or decoded.
  if (type === "image/png") return image.length <= limits.imageBytes && !hasPngChunks(image);
  const frame = type === "image/webp" ? lastFrame(image) : undefined;
  if (frame === null) return true;
  const doubtful = frame === undefined ? doubtfulJpeg(image) : doubtfulWebp(image, frame);
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

function doubtfulJpeg(image: ImageBytes): DoubtfulImage | null {
  const to = image.length - endOfJpeg.length;
  return endsWithZeros(image, 0, to) ? { all: Buffer.from(image.read(0, image.length)) } : null;
}

function doubtfulWebp(image: ImageBytes, { form, from, to }: WebpFrame): DoubtfulImage | null {
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
}

const endsWithZeros = (image: ImageBytes, from: number, to: number): boolean =>
  to - from >= suspectBytes &&
  to - from <= limits.imageBytes &&
  image.read(to - suspectBytes, to).every((byte) => byte === 0);

/** Whether a PNG has all chunks to its last one, and those that make up its pixels have their checksums. */
function hasPngChunks(image: ImageBytes): boolean {
  for (let at = startOfPng, count = 0; count < mostChunks; count++) {
    const head = Buffer.from(image.read(at, at + 8));
    const end = head.length < 8 ? image.length : at + 8 + head.readUInt32BE(0);
    if (end + 4 > image.length) return false;
    const name = head.toString("latin1", 4);
    // Programs differ about the checksums of other chunks, whose names begin with a small letter.
    if (!/^[a-z]/.test(name)) {
      let sum = crc32(head.subarray(4));
      for (let from = at + 8; from < end; from += windowBytes)
        sum = crc32(image.read(from, Math.min(end, from + windowBytes)), sum);
      if (Buffer.from(image.read(end, end + 4)).readUInt32BE() !== sum) return false;
    }
    if (name === "IEND") return true;
    at = end + 4;
  }
  return true;
}

/** The pixels of a WebP image: where they are in the file, without the head of their chunk. */
interface WebpFrame {
  readonly form: "VP8 " | "VP8L";
  readonly from: number;
  readonly to: number;
}

/** The last picture of a WebP file, if all its chunks are there up to it; else null. */
function lastFrame(image: ImageBytes): WebpFrame | null {
  const fileEnd = Buffer.from(image.read(4, 8)).readUInt32LE() + 8;
  if (fileEnd > image.length) return null;
  let last: WebpFrame | null = null;
  let isAnimated = false;
  for (let at = 12, count = 0; at + 8 <= fileEnd && count < mostChunks; count++) {
    const head = Buffer.from(image.read(at, at + 8));
    const [form, length] = [head.toString("latin1", 0, 4), head.readUInt32LE(4)];
    const [from, to] = [at + 8, at + 8 + length];
    if (to > fileEnd || (isAnimated && form === "\0\0\0\0")) return null;
    if (form === "VP8 " || form === "VP8L") {
      last = { form, from, to };
      if (!isAnimated) return last;
    }
    isAnimated ||= form === "ANMF";
    // The chunks of a picture follow its place and time.
    at = form === "ANMF" ? from + 16 : to + (length & 1);
  }
  return last;
}
