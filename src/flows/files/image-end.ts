import { imageTypeBytes, imageTypeOf } from "../../contract/image-file.ts";
import { type ImageBytes, withImageFile } from "./image-bytes.ts";

/** Bytes that are searched at once; at first only the last ones, which usually have the end. */
const windowBytes = 64 * 1024;
const lastBytes = 256;
/** More segments, and bytes that fill the space between them, than the head of a JPEG has. */
const mostSegments = 1000;
const endOfJpeg = Buffer.from([0xff, 0xd9]);
/** The chunk without content that ends every PNG, with its checksum. */
const endOfPng = Buffer.from([0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]);

/**
 * Whether an image has its end: a response that was cut off may look complete. Bytes after the end are accepted, and
 * so is what is not a JPEG, PNG or WebP image.
 */
export function isCompleteImage(image: ImageBytes): boolean {
  const head = Buffer.from(image.read(0, imageTypeBytes));
  const type = imageTypeOf(head);
  if (type === "image/jpeg") return has(endOfJpeg, image, startOfScan(image));
  if (type === "image/png") return has(endOfPng, image, imageTypeBytes);
  return type !== "image/webp" || head.readUInt32LE(4) + 8 <= image.length;
}

/** Where the compressed data of a JPEG begins, or what is no segment: a thumbnail before it has an end of its own. */
function startOfScan(image: ImageBytes): number {
  let at = 2;
  for (let count = 0; count < mostSegments; count++) {
    const segment = image.read(at, at + 4);
    const [first, marker, high = 0, low = 0] = segment;
    if (segment.length < 4 || first !== 0xff) return at;
    if (marker === 0xd9 || marker === 0xda) return at;
    // Any number of bytes 0xff may precede a marker (ITU T.81, B.1.1.2).
    at += marker === 0xff ? 1 : 2 + high * 256 + low;
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

/** Whether the image in a file has its end. */
export const isCompleteImageFile = (path: string): boolean => withImageFile(path, isCompleteImage);
