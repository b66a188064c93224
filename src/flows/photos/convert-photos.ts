import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Sharp } from "sharp";
import { foreignTypeOf } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import { temporaryFolder, temporaryProblem } from "../files/temporary-folder.ts";
import { allBytesOf, type FileProblem, type PhotoFile } from "./photo-file.ts";

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
 * Turns photos that the service does not take into JPEG files: upright, in sRGB, at most 10 MB and 30 megapixels. They are
 * in a folder that only this user can read, which `close` removes. The originals stay as they are.
 */
export class PhotoConverter {
  readonly #signal: AbortSignal;
  readonly #inTurn = pLimit(decodedAtOnce);
  /** By the path without links, so that a file with two names is converted once. */
  readonly #made = new Map<string, Promise<PhotoFile | FileProblem>>();
  #folder: string | undefined;
  #count = 0;
  #files = 0;
  #isClosed = false;
  /** Called after each conversion. */
  onConverted: (count: number) => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** The number of photos converted so far. */
  get count(): number {
    return this.#count;
  }

  /** Whether a photo that the service takes has too many pixels. One that cannot be read is left to the service. */
  async isTooLarge(file: PhotoFile): Promise<boolean> {
    const { default: sharp } = await import("sharp");
    const { width, height } = await sharp(file.real)
      .metadata()
      .catch(() => ({ width: 0, height: 0 }));
    return width * height > convertedPixels;
  }

  /** The photo with its JPEG file. `shown`: its name in messages. */
  convert(file: PhotoFile, shown: string): Promise<PhotoFile | FileProblem> {
    const made = this.#made.get(file.real) ?? this.#inTurn(() => this.#convert(file, shown));
    this.#made.set(file.real, made);
    return made;
  }

  /** Removes the JPEG files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #convert(file: PhotoFile, shown: string): Promise<PhotoFile | FileProblem> {
    const fault = (why: string): FileProblem => ({
      code: "not_convertible",
      message: `cannot convert ${shown}: ${why}`,
    });
    // The check of the file ends with the reason of the interrupt.
    if (this.#signal.aborted || this.#isClosed) return fault("interrupted");
    if (file.size > largestFile) return fault("it has more than 512 MB");
    const bytes = await allBytesOf(file, shown);
    let jpeg: Buffer | null;
    try {
      const image = await openImage(bytes);
      if (image === null) return fault("this form of BMP is not read; save it as PNG");
      jpeg = await smallJpeg(image);
    } catch (error) {
      return fault((error as Error).message.split("\n")[0]!);
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
    await writeFile(path, jpeg, { mode: 0o600, flag: "wx" }).catch((cause) => {
      throw temporaryProblem(act, cause);
    });
    return path;
  }
}

/** An image to decode; null for a BMP of a form that is not read. Loads the library. */
async function openImage(bytes: Buffer): Promise<Sharp | null> {
  const { default: sharp } = await import("sharp");
  const limit = { limitInputPixels: mostPixels, failOn: "error" } as const;
  if (foreignTypeOf(bytes) !== "BMP") return sharp(bytes, limit);
  const bmp = (await import("./bmp.ts")).readBmp(bytes);
  return bmp && sharp(bmp.data, { ...limit, raw: bmp.info });
}

/** A JPEG of at most 10 MB; null if there is none. The first frame of several. Transparent parts are white. */
async function smallJpeg(image: Sharp): Promise<Buffer | null> {
  const { width, height } = (await image.metadata()).autoOrient;
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
