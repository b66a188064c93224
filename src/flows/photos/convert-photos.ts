import { rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Sharp } from "sharp";
import { detectForeignType } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import { newFile } from "../../open-file.ts";
import { temporaryFolder, temporaryProblem } from "../files/disk.ts";
import { imageInMemory, isCompleteForeign } from "../files/image-bytes.ts";
import {
  damagedImage,
  type PhotoCode,
  type PhotoFile,
  type PhotoFileProblem,
  readWholePhoto,
} from "./photo-file.ts";

/** Images decoded at once: each may take some hundred MB of memory. */
const decodedAtOnce = 2;
/** A larger file is not read. In bytes. */
const largestFile = 512 * 1024 * 1024;
/** A larger image is not decoded: no camera gives one. In pixels. */
const mostPixels = 250_000_000;
/** Pixels of a converted photo at most: the service names no limit, and generates no larger images. */
const convertedPixels = 30_000_000;
/** Tried in order until the file is small enough. */
const attempts = [
  { quality: 92, pixels: convertedPixels },
  { quality: 80, pixels: convertedPixels },
  { quality: 80, pixels: convertedPixels / 3 },
];

/**
 * Turns photos that the service does not take, or takes lying on their side, into JPEG files: upright, sRGB,
 * at most 10 MB and 30 megapixels, in a private folder that `close` removes. The originals stay.
 */
export class PhotoConverter {
  readonly #signal: AbortSignal;
  readonly #inTurn = pLimit(decodedAtOnce);
  /** By the path without links, so that a file with two names is converted once. */
  readonly #converted = new Map<string, Promise<PhotoFile | PhotoFileProblem>>();
  #folder: string | undefined;
  #count = 0;
  #files = 0;
  #isClosed = false;
  onConverted: (count: number) => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether a photo that the service takes is better as a JPEG; without a readable head it is left. */
  isWanted({ head }: PhotoFile): boolean {
    return head !== null && (head.isCmyk || head.isTurned || head.width * head.height > convertedPixels);
  }

  /** The photo with its JPEG file. `shown`: its name in messages. */
  convert(file: PhotoFile, shown: string): Promise<PhotoFile | PhotoFileProblem> {
    const converted = this.#converted.get(file.real) ?? this.#inTurn(() => this.#convert(file, shown));
    this.#converted.set(file.real, converted);
    return converted;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #convert(file: PhotoFile, shown: string): Promise<PhotoFile | PhotoFileProblem> {
    const fault = (why: string, code: PhotoCode = "not_convertible"): PhotoFileProblem => ({
      code,
      message: `cannot convert ${shown}: ${why}`,
    });
    // The check of the file ends with the reason of the interrupt.
    if (this.#signal.aborted || this.#isClosed) return fault("interrupted");
    if (file.size > largestFile) return fault("it has more than 512 MB");
    const bytes = await readWholePhoto(file, shown);
    const foreign = detectForeignType(bytes);
    if (foreign !== null && !isCompleteForeign(imageInMemory([bytes]), foreign))
      return damagedImage(shown, foreign);
    let jpeg: Buffer | null;
    let isOpen = false;
    try {
      const image = await openImage(bytes);
      if (image === null) return fault("this form of BMP is not read; save it as PNG");
      const { width, height } = (await image.metadata()).autoOrient;
      isOpen = width * height <= mostPixels;
      jpeg = await smallJpeg(image, { width, height });
    } catch (error) {
      const why = (error as Error).message.split("\n")[0]!;
      return isOpen
        ? fault(`it is damaged (${why}); copy or download it again`, "damaged_image")
        : fault(why);
    }
    if (jpeg === null) return fault("it stays over 10 MB");
    if (this.#isClosed) return fault("interrupted");
    const path = await this.#keep(jpeg);
    this.onConverted(++this.#count);
    return { ...file, converted: { path, size: jpeg.length } };
  }

  async #keep(jpeg: Buffer): Promise<string> {
    const act = "write converted photos to";
    this.#folder ??= temporaryFolder(act);
    const path = join(this.#folder, `${++this.#files}.jpg`);
    const write = async () => {
      const file = await newFile(path);
      await file.write(jpeg).finally(() => file.close());
    };
    await write().catch((cause) => {
      throw temporaryProblem(act, cause);
    });
    return path;
  }
}

/** An image to decode; null for a BMP of a form that is not read. Loads the library. */
async function openImage(bytes: Buffer): Promise<Sharp | null> {
  const { default: sharp } = await import("sharp");
  const limit = { limitInputPixels: mostPixels, failOn: "error" } as const;
  if (detectForeignType(bytes) !== "BMP") return sharp(bytes, limit);
  const bmp = readBmp(bytes);
  return bmp && sharp(bmp.data, { ...limit, raw: bmp.info });
}

/** A JPEG of the first frame, at most 10 MB; null if there is none. Transparent parts are white. */
async function smallJpeg(
  image: Sharp,
  { width, height }: { width: number; height: number },
): Promise<Buffer | null> {
  for (const { quality, pixels } of attempts) {
    const scale = Math.min(1, Math.sqrt(pixels / (width * height)));
    const jpeg = await image
      .clone()
      .autoOrient()
      .resize({ width: Math.max(1, Math.floor(width * scale)), fit: "inside", withoutEnlargement: true })
      .flatten({ background: "#ffffff" })
      .toColourspace("srgb")
      .jpeg({ quality, chromaSubsampling: "4:4:4" })
      .toBuffer();
    if (jpeg.length <= limits.imageBytes) return jpeg;
  }
  return null;
}

/** A larger image takes too much memory. */
const mostBmpPixels = 100_000_000;

/** An image of three bytes per pixel (red, green, blue), from its top left. */
interface RawImage {
  readonly data: Buffer;
  readonly info: { readonly width: number; readonly height: number; readonly channels: 3 };
}

/**
 * Reads an uncompressed BMP, as sharp does not: 8, 24 or 32 bits per pixel, the forms that programs write
 * today; null for any other, or with incomplete pixels.
 */
function readBmp(bytes: Buffer): RawImage | null {
  if (bytes.length < 54 || bytes.readUInt32LE(14) < 40) return null;
  const start = bytes.readUInt32LE(10);
  const [width, signedHeight] = [bytes.readInt32LE(18), bytes.readInt32LE(22)];
  const [bits, compression] = [bytes.readUInt16LE(28), bytes.readUInt32LE(30)];
  const height = Math.abs(signedHeight);
  // Bit fields other than those of uncompressed pixels are rare.
  const isBgra = bits === 32 && compression === 3 && bytes.length > 66 && bytes.readUInt32LE(54) === 0xff0000;
  if (![8, 24, 32].includes(bits) || (compression !== 0 && !isBgra) || width <= 0 || height === 0)
    return null;
  if (width * height > mostBmpPixels) return null;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  if (start + rowBytes * height > bytes.length) return null;
  const palette = 14 + bytes.readUInt32LE(14);
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    const row = start + rowBytes * (signedHeight > 0 ? height - 1 - y : y);
    for (let x = 0; x < width; x++) {
      const at = bits === 8 ? palette + bytes[row + x]! * 4 : row + (x * bits) / 8;
      const to = (y * width + x) * 3;
      data[to] = bytes[at + 2]!;
      data[to + 1] = bytes[at + 1]!;
      data[to + 2] = bytes[at]!;
    }
  }
  return { data, info: { width, height, channels: 3 } };
}
