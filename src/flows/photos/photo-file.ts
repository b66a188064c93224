import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { shortened } from "../../contract/did-you-mean.ts";
import { detectForeignType, detectImageType, imageTypeBytes, isHeic } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import { outOfFiles } from "../../errors.ts";
import { whenFree } from "../../open-file.ts";
import { imageInFile } from "../files/image-bytes.ts";
import { type ImageHead, readImageHead } from "../files/image-head.ts";
import type { FieldProblem } from "../rows/row-form.ts";
import { InputError } from "../rows/source.ts";

/** A local photo as it was when checked. */
export interface PhotoFile {
  /** Its path without links. */
  readonly real: string;
  /** In bytes. */
  readonly size: number;
  /** Identifies the file and its version. */
  readonly stamp: string;
  /** Null for an image of a type that the service does not take. */
  readonly head: ImageHead | null;
  /** The JPEG file that is uploaded instead, and its size in bytes. */
  readonly converted?: { readonly path: string; readonly size: number };
}

export interface PhotoFileProblem {
  readonly code: PhotoCode;
  readonly message: string;
  /** Whether it is a folder, a pipe or a device. */
  readonly isNoFile?: boolean;
  /** Whether its path is one of another folder. */
  readonly isOfOther?: boolean;
  /** Its path, if known; the file may be missing or of another kind. */
  readonly at?: string;
  /** The file, if it is an image that can be converted. */
  readonly convertible?: PhotoFile;
}

/** Checks a file by its first bytes; `shown` is its name in messages. Throws the errors of the system. */
export async function inspectPhoto(real: string, shown: string): Promise<PhotoFile | PhotoFileProblem> {
  const handle = await openFile(real);
  if (handle === null) {
    const what = (await stat(real)).isDirectory() ? "a folder" : "a pipe or a device";
    return { code: "not_an_image", message: `${shown} is ${what}, not a file`, isNoFile: true };
  }
  try {
    const { size, stamp } = await readStamp(handle);
    if (size === 0) return { code: "not_an_image", message: `${shown} is empty (0 bytes)` };
    const image = imageInFile(handle.fd, size);
    const start = image.read(0, imageTypeBytes);
    const foreign = detectForeignType(start);
    const type = detectImageType(start);
    const { isDamagedImage } = await import("../files/damaged-image.ts");
    if (type !== null && (await isDamagedImage(image))) return damagedImage(shown, type);
    const file = { real, size, stamp, head: readImageHead(image) };
    const convertible = type !== null || foreign !== null ? { convertible: file } : {};
    if (size > limits.imageBytes) {
      const message = `${shown} has ${size} bytes; the limit is ${limits.imageBytes} bytes (10 MB)`;
      return { code: "too_large", message, ...convertible };
    }
    if (type !== null) return file;
    if (isHeic(start)) {
      const message = `${shown} is a HEIC image, not a JPEG, PNG or WebP image: save it as JPEG`;
      return { code: "not_an_image", message };
    }
    const what =
      foreign === null ? "does not contain" : `is ${foreign === "AVIF" ? "an" : "a"} ${foreign} image, not`;
    return { code: "not_an_image", message: `${shown} ${what} a JPEG, PNG or WebP image`, ...convertible };
  } finally {
    await handle.close();
  }
}

/** The problem of an image of which a part is missing. `type`: as it is detected, or named in words. */
export const damagedImage = (shown: string, type: string): PhotoFileProblem => ({
  code: "damaged_image",
  message: `${shown} is a damaged ${typeWords[type] ?? type} image, its end is missing: copy or download it again`,
});

const typeWords: Readonly<Record<string, string>> = {
  "image/jpeg": "JPEG",
  "image/png": "PNG",
  "image/webp": "WebP",
};

/** The SHA-256 (hex) of a photo's bytes. Throws InputError if it changed. */
export async function hashPhoto(file: PhotoFile, shown: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  await reading(file, shown, async (handle) => {
    for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 }))
      hash.update(chunk as Buffer);
  });
  return hash.digest("hex");
}

/** The bytes of a photo with that SHA-256 (hex). Throws InputError if they changed. */
export async function readPhoto(file: PhotoFile, sha256: string, shown: string): Promise<Buffer> {
  const bytes = await readWholePhoto(file, shown);
  const { createHash } = await import("node:crypto");
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) throw changed(shown);
  return bytes;
}

/** All bytes of a file. Throws InputError if it changed. */
export const readWholePhoto = (file: PhotoFile, shown: string): Promise<Buffer> =>
  reading(file, shown, (handle) => handle.readFile());

/** Reads a file that must be unchanged before and after. */
async function reading<Read>(
  file: PhotoFile,
  shown: string,
  read: (handle: FileHandle) => Promise<Read>,
): Promise<Read> {
  let handle: FileHandle | null = null;
  try {
    handle = await openFile(file.real);
    if (handle === null || (await readStamp(handle)).stamp !== file.stamp) throw changed(shown);
    const result = await read(handle);
    if ((await readStamp(handle)).stamp !== file.stamp) throw changed(shown);
    return result;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof InputError || code === undefined) throw error;
    const few = outOfFiles(error, `the photo ${shown}`);
    if (few !== null) throw few;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") throw changed(shown);
    const hint = "Photos uploaded so far are kept. Make the file readable and run the command again.";
    throw new InputError(`cannot read the photo ${shown} (${code})`, "photo_not_readable", hint);
  } finally {
    await handle?.close();
  }
}

/** Opens a regular file; null otherwise: a device may have effects, and a pipe blocks. */
async function openFile(real: string): Promise<FileHandle | null> {
  if (!(await stat(real)).isFile()) return null;
  // The file may have been replaced since `stat`: do not block on a pipe or follow a link either. Windows has
  // neither flag.
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
  const handle = await whenFree(() => open(real, (O_RDONLY ?? 0) | O_NONBLOCK | O_NOFOLLOW));
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
}

async function readStamp(handle: FileHandle): Promise<{ size: number; stamp: string }> {
  const { dev, ino, size, mtimeNs } = await handle.stat({ bigint: true });
  return { size: Number(size), stamp: `${dev}:${ino}:${size}:${mtimeNs}` };
}

const changed = (shown: string): InputError =>
  new InputError(
    `the photo ${shown} was changed or removed after the check; nothing more was sent`,
    "photo_changed",
    "Photos uploaded so far are kept. Run the command again to check the photos again.",
  );

export interface LocalImage {
  /** Its index among the row's images, from 0. */
  readonly index: number;
  readonly path: string;
}

export type PhotoCode =
  | "photo_not_found"
  | "photo_outside_root"
  | "photo_not_readable"
  | "photo_damaged"
  | "damaged_image"
  | "misread_name"
  | "too_large"
  | "not_an_image"
  | "not_convertible";

export interface PhotoProblem extends LocalImage {
  readonly code: PhotoCode;
  readonly message: string;
  /** Whether it is a folder, a pipe or a device. */
  readonly isNoFile?: boolean;
}

const none: readonly FieldProblem[] = [];

/** An image of a row, as far as it is read here. */
type NamedImage = Partial<Readonly<Record<"image_id" | "path" | "orientation", string>>>;

/**
 * Local photos and image IDs that a row names again with another orientation: the product would have them
 * once, and one orientation would be lost. A URL that is named twice becomes two images.
 */
export function repeatedPhotos(row: unknown): readonly FieldProblem[] {
  const images = (row as { images?: unknown } | null | undefined)?.images;
  // Most rows have one photo, or URLs alone.
  if (!Array.isArray(images) || images.length < 2 || images.every(hasUrl)) return none;
  const first = new Map<string, string>();
  let duplicates = none;
  for (const [index, image] of (images as (NamedImage | null)[]).entries()) {
    const field = (["image_id", "path"] as const).find((key) => typeof image?.[key] === "string");
    const orientation = image?.orientation;
    if (field === undefined || orientation === undefined) continue;
    const source = image![field]!;
    const earlier = first.get(`${field} ${source}`);
    if (earlier === undefined) first.set(`${field} ${source}`, orientation);
    else if (earlier !== orientation)
      duplicates = [...duplicates, problem(`images[${index}].${field}`, { source, earlier })];
  }
  return duplicates;
}

const hasUrl = (image: NamedImage | null): boolean =>
  image?.image_id === undefined && image?.path === undefined;

function problem(param: string, { source, earlier }: { source: string; earlier: string }): FieldProblem {
  const cellMessage = `${shortened(source)} is already the ${earlier} photo of this row: a product has each photo once`;
  return { param, code: "duplicate_image", message: `${param}: ${cellMessage}`, cellMessage };
}
