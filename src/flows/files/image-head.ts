import { detectImageType, imageTypeBytes } from "../../contract/image-file.ts";
import { type ImageBytes, readSegments, webpSize } from "./image-bytes.ts";

export interface ImageHead {
  /** In pixels as they are stored; 0 where the bytes do not tell. */
  readonly width: number;
  readonly height: number;
  /** Whether its colors are those of a printer. */
  readonly isCmyk: boolean;
  /** Whether a tag tells programs to turn or mirror it. */
  readonly isTurned: boolean;
}

/** Reads the head of an image; null for another kind of file. */
export function readImageHead(image: ImageBytes): ImageHead | null {
  const type = detectImageType(image.read(0, imageTypeBytes));
  return type === null ? null : heads[type](image);
}

const heads = {
  "image/jpeg"(image: ImageBytes): ImageHead {
    let head: ImageHead = { width: 0, height: 0, isCmyk: false, isTurned: false };
    readSegments(image, (marker, from, to) => {
      // SOF0 to SOF15: those three numbers between them are other segments (ITU T.81, table B.1).
      if ((marker & 0xf0) === 0xc0 && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
        const frame = at(image, from, 6);
        if (frame.length < 6) return;
        const [height, width] = [frame.readUInt16BE(1), frame.readUInt16BE(3)];
        head = { ...head, width, height, isCmyk: frame[5] === 4 };
      } else if (marker === 0xe1 && isExif(image, from))
        head = { ...head, isTurned: isTurned(image, from, to) };
    });
    return head;
  },

  "image/png"(image: ImageBytes): ImageHead {
    const size = at(image, 16, 8);
    const [width, height] = size.length < 8 ? [0, 0] : [size.readUInt32BE(0), size.readUInt32BE(4)];
    const exif = findChunk(image, 8, (chunk) => ({
      name: chunk.toString("latin1", 4, 8),
      // Most programs write the tags before the pixels, of which there may be thousands of chunks.
      next: chunk.toString("latin1", 4, 8) === "IDAT" ? null : chunk.readUInt32BE(0) + 12,
    }));
    return { width, height, isCmyk: false, isTurned: exif !== null && isTurned(image, exif, image.length) };
  },

  "image/webp"(image: ImageBytes): ImageHead {
    const [width, height] = webpSize(image);
    const exif =
      at(image, 12, 4).toString("latin1") === "VP8X"
        ? findChunk(image, 12, (chunk) => ({
            name: chunk.toString("latin1", 0, 4),
            next: 8 + chunk.readUInt32LE(4) + (chunk.readUInt32LE(4) & 1),
          }))
        : null;
    return { width, height, isCmyk: false, isTurned: exif !== null && isTurned(image, exif, image.length) };
  },
};

const mostChunks = 1000;

/** Where the content of the chunk with the tags of a camera begins; null without one. */
function findChunk(
  image: ImageBytes,
  start: number,
  read: (chunk: Buffer) => { readonly name: string; readonly next: number | null },
): number | null {
  for (let place = start, count = 0; count < mostChunks; count++) {
    const chunk = at(image, place, 8);
    if (chunk.length < 8) return null;
    const { name, next } = read(chunk);
    if (name.toLowerCase().trimEnd() === "exif") return place + 8;
    if (next === null) return null;
    place += next;
  }
  return null;
}

const at = (image: ImageBytes, from: number, length: number): Buffer =>
  Buffer.from(image.read(from, from + length));

const exifMark = "Exif\0\0";
const isExif = (image: ImageBytes, from: number): boolean =>
  at(image, from, exifMark.length).toString("latin1") === exifMark;

/** The tag of the orientation, and the number of tags among which it is searched. */
const orientationTag = 0x0112;
const mostTags = 200;

/** Whether the tags of a camera (TIFF 6.0) have an orientation other than upright. */
function isTurned(image: ImageBytes, from: number, to: number): boolean {
  const start = from + (isExif(image, from) ? exifMark.length : 0);
  const head = at(image, start, 8);
  const isLittle = head.toString("latin1", 0, 2) === "II";
  if (head.length < 8) return false;
  const directory = start + (isLittle ? head.readUInt32LE(4) : head.readUInt32BE(4));
  const tags = at(image, directory, Math.min(2 + mostTags * 12, Math.max(0, to - directory)));
  const number = (place: number) => (isLittle ? tags.readUInt16LE(place) : tags.readUInt16BE(place));
  const count = tags.length < 2 ? 0 : Math.min(number(0), Math.floor((tags.length - 2) / 12));
  for (let tag = 0; tag < count; tag++) {
    const place = 2 + tag * 12;
    if (number(place) !== orientationTag) continue;
    const orientation = number(place + 8);
    return orientation >= 2 && orientation <= 8;
  }
  return false;
}
