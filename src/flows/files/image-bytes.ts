import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { detectImageType, imageTypeBytes } from "../../contract/image-file.ts";

/** The bytes of an image, of which only a few are read. */
export interface ImageBytes {
  readonly length: number;
  /** The bytes from one position up to another one; fewer at the end. */
  read(from: number, to: number): Uint8Array;
}

/** An image in chunks as they were received: joining them would cost more than what is read of them. */
export const imageInMemory = (chunks: readonly Uint8Array[]): ImageBytes => ({
  length: chunks.reduce((sum, { length }) => sum + length, 0),
  read(from, to) {
    const parts = readRange(chunks, from, to);
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  },
});

/** The bytes of chunks from one position up to another one, or to the end. */
export function readRange(
  chunks: readonly Uint8Array[],
  from: number,
  to = Number.POSITIVE_INFINITY,
): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const chunk of chunks) {
    const start = Math.max(0, from - at);
    const end = Math.min(chunk.length, to - at);
    if (start < end) parts.push(chunk.subarray(start, end));
    at += chunk.length;
    if (at >= to) break;
  }
  return parts;
}

/** The bytes of an open file, by its descriptor. */
export const imageInFile = (file: number, length = fstatSync(file).size): ImageBytes => ({
  length,
  read(from, to) {
    const buffer = Buffer.alloc(Math.max(0, to - from));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
  },
});

/** Calls `use` with the bytes of a file, which is open meanwhile. */
export function withImageFile<Result>(path: string, use: (image: ImageBytes) => Result): Result {
  const file = openSync(path, "r");
  try {
    return use(imageInFile(file));
  } finally {
    closeSync(file);
  }
}

/** Bytes that are searched at once; at first only the last ones, which usually have the end. */
const windowBytes = 64 * 1024;
const lastBytes = 256;
/** More segments, and bytes that fill the space between them, than the head of a JPEG has. */
const mostSegments = 1000;
const endOfGif = 0x3b;
export const endOfJpeg = Buffer.from([0xff, 0xd9]);
/** The chunk without content that ends every PNG, with its checksum. */
const endOfPng = Buffer.from([0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]);

/** Bytes in which a WebP file has its size in pixels. */
const webpHeadBytes = 30;

/** Width and height of a WebP image in pixels, by its first 30 bytes; 0 where they do not tell. */
export function webpSize(image: ImageBytes): readonly [width: number, height: number] {
  const first = Buffer.from(image.read(12, webpHeadBytes));
  if (first.length < 18) return [0, 0];
  const form = first.toString("latin1", 0, 4);
  const bits = first.readUInt32LE(9);
  if (form === "VP8X") return [first.readUIntLE(12, 3) + 1, first.readUIntLE(15, 3) + 1];
  return form === "VP8L"
    ? [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1]
    : [first.readUInt16LE(14) & 0x3fff, first.readUInt16LE(16) & 0x3fff];
}

/** Whether an image has its end: a cut one may look complete. Other types, and bytes after, are accepted. */
export function isCompleteImage(image: ImageBytes): boolean {
  const head = Buffer.from(image.read(0, imageTypeBytes));
  const type = detectImageType(head);
  if (type === "image/jpeg") return has(endOfJpeg, image, readSegments(image));
  if (type === "image/png") return has(endOfPng, image, imageTypeBytes);
  return type !== "image/webp" || head.readUInt32LE(4) + 8 <= image.length;
}

/** More boxes than a still AVIF image has at its top level. */
const mostBoxes = 100;

/** Whether an image of a type that is converted first has its end, as far as its head shows. */
export function isCompleteForeign(image: ImageBytes, type: "TIFF" | "AVIF" | "GIF" | "BMP"): boolean {
  const { length } = image;
  if (type === "GIF") {
    const end = image.read(Math.max(0, length - lastBytes), length);
    return end.findLast((byte) => byte !== 0) === endOfGif;
  }
  const head = Buffer.from(image.read(0, 16));
  if (head.length < 16) return false;
  if (type === "BMP") return head.readUInt32LE(2) <= length;
  if (type === "TIFF") {
    const isLittle = head[0] === 0x49;
    // Large ones have an offset of eight bytes.
    const isLarge = head[2] === 0x2b || head[3] === 0x2b;
    if (isLarge) return Number(isLittle ? head.readBigUInt64LE(8) : head.readBigUInt64BE(8)) < length;
    // A directory without an entry is one of zeros.
    const directory = isLittle ? head.readUInt32LE(4) : head.readUInt32BE(4);
    return image.read(directory, directory + 2).some((byte) => byte !== 0);
  }
  let at = 0;
  for (let count = 0; at < length && count < mostBoxes; count++) {
    const box = Buffer.from(image.read(at, at + 16));
    if (box.length < 8) return false;
    const size = box.readUInt32BE(0);
    // 0: to the end of the file.
    if (size === 0) return true;
    if (size === 1) at += box.length < 16 ? length : Number(box.readBigUInt64BE(8));
    else at += Math.max(8, size);
  }
  return at <= length;
}

/** Passes a JPEG's segments, by their content (a thumbnail has its own end); returns where they end. */
export function readSegments(
  image: ImageBytes,
  onSegment: (marker: number, from: number, to: number) => void = () => {},
): number {
  let at = 2;
  for (let count = 0; count < mostSegments; count++) {
    const segment = image.read(at, at + 4);
    const [first, marker, high = 0, low = 0] = segment;
    if (segment.length < 4 || first !== 0xff) return at;
    if (marker === 0xd9 || marker === 0xda) return at;
    // Any number of bytes 0xff may precede a marker (ITU T.81, B.1.1.2).
    const next = at + (marker === 0xff ? 1 : 2 + high * 256 + low);
    if (marker !== 0xff) onSegment(marker!, at + 4, next);
    at = next;
  }
  return at;
}

/** Whether a text occurs at or after a position: searched from the end, where it usually is. */
function has(text: Buffer, image: ImageBytes, from: number): boolean {
  for (let to = image.length, size = lastBytes; to - from >= text.length; to -= size, size = windowBytes) {
    const start = Math.max(from, to - size - text.length + 1);
    if (Buffer.from(image.read(start, to)).includes(text)) return true;
  }
  return false;
}
