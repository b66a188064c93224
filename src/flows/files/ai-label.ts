// The label of generated images: XMP (IPTC, Digital Source Type), without a change to pixels.

import { crc32, inflateSync } from "node:zlib";
import { detectImageType, imageTypeBytes } from "../../contract/image-file.ts";
import { type ImageBytes, isCompleteImage, readRange, withImageFile } from "./image-bytes.ts";
import { type DigitalSource, newXmp, textOfXmp, withLabel } from "./xmp.ts";

/** The source of a generated image, by its role or the type of its task. */
export const toDigitalSource = (made: string): DigitalSource =>
  made === "beautifier" ? "compositeWithTrainedAlgorithmicMedia" : "trainedAlgorithmicMedia";

/** The source of an image by its asset; null for one that gets no label: the user's own photo. */
export const sourceOfAsset = ({ ai_generated, role }: { ai_generated: unknown; role: string }) =>
  ai_generated === true ? toDigitalSource(role) : null;

/** A change to the bytes of an image: at `at`, `remove` bytes give way to `insert`. */
export interface SplicePart {
  readonly at: number;
  readonly remove: number;
  readonly insert: Buffer;
}

/** The XMP of an image, and how to put another one in its place. */
interface XmpPlace {
  /** Null if there is none yet. */
  readonly xmp: string | null;
  /** Whether a signed manifest (C2PA) covers the bytes: a change would break it. */
  readonly isSigned: boolean;
  /** The most bytes of XMP that fit. */
  readonly room: number;
  /** In order of their places. */
  readonly splices: (xmp: Buffer) => readonly SplicePart[];
}

/**
 * The changes that add the label; none if it has one. Null for an image that is broken, signed or of another
 * type, or has XMP that is not understood or says otherwise.
 */
export function labelSplices(image: ImageBytes, source: DigitalSource): readonly SplicePart[] | null {
  const type = detectImageType(image.read(0, imageTypeBytes));
  const place = type === null ? null : placeIn[type](image);
  if (place === null || !isCompleteImage(image)) return null;
  const labeled = place.xmp === null ? newXmp(source) : withLabel(place.xmp, source);
  if (labeled === null || labeled === place.xmp) return labeled === null ? null : [];
  const bytes = Buffer.from(labeled);
  return place.isSigned || bytes.length > place.room ? null : place.splices(bytes);
}

export const hasLabel = (image: ImageBytes): boolean =>
  labelSplices(image, "trainedAlgorithmicMedia")?.length === 0;

export const isLabeled = (path: string): boolean => withImageFile(path, hasLabel);

export const splicedChunks = (
  chunks: readonly Uint8Array[],
  splices: readonly SplicePart[],
): readonly Uint8Array[] => [...spliced((from, to) => readRange(chunks, from, to), splices)].flat();

/** The parts of what has changes: `part` is the one from a position up to another one, or to the end. */
export function* spliced<Part>(
  part: (from: number, to?: number) => Part,
  splices: readonly SplicePart[],
): Generator<Part | Buffer> {
  let from = 0;
  for (const { at, remove, insert } of splices) {
    if (at > from) yield part(from, at);
    yield insert;
    from = at + remove;
  }
  yield part(from);
}

/** More parts than the head of an image has. */
const mostParts = 100_000;

/** A part of an image from `at` up to `end`, with its content. */
interface Part {
  readonly type: string;
  readonly at: number;
  readonly end: number;
  readonly content: (from?: number, to?: number) => Buffer;
}

const placeIn = { "image/jpeg": placeInJpeg, "image/png": placeInPng, "image/webp": placeInWebp };

const jpegXmp = Buffer.from("http://ns.adobe.com/xap/1.0/\0");
const exif = Buffer.from("Exif\0");

/** Whether a JUMBF box is a manifest store of C2PA: its description has that type. */
const isManifestStore = (segment: Part): boolean =>
  /^JP.{10}jumb.{4}jumdc2pa$/s.test(segment.content(0, 28).toString("latin1"));

/** A segment after the heads that must come first (JFIF, Exif), or the one with XMP. */
function placeInJpeg(image: ImageBytes): XmpPlace | null {
  let place = 2;
  let isFirst = true;
  let isSigned = false;
  let known: Part | null = null;
  for (const segment of jpegSegments(image)) {
    if (segment === null) return null;
    const isXmp = segment.type === "e1" && segment.content(0, jpegXmp.length).equals(jpegXmp);
    if (isXmp && known !== null) return null;
    if (isXmp) known = segment;
    isSigned ||= segment.type === "eb" && isManifestStore(segment);
    const isHead = segment.type === "e0" || (segment.type === "e1" && segment.content(0, 5).equals(exif));
    isFirst &&= isHead;
    if (isFirst) place = segment.end;
  }
  const xmp = known && textOfXmp(known.content(jpegXmp.length));
  if (known !== null && xmp === null) return null;
  return {
    xmp,
    isSigned,
    room: 0xffff - 2 - jpegXmp.length,
    splices(bytes) {
      const head = Buffer.from([0xff, 0xe1, 0, 0]);
      head.writeUInt16BE(2 + jpegXmp.length + bytes.length, 2);
      const insert = Buffer.concat([head, jpegXmp, bytes]);
      return [known === null ? { at: place, remove: 0, insert } : replacing(known, insert)];
    },
  };
}

const replacing = ({ at, end }: Part, insert: Buffer): SplicePart => ({ at, remove: end - at, insert });

/** The segments before the compressed data; null instead of what is none. */
function* jpegSegments(image: ImageBytes): Generator<Part | null> {
  let at = 2;
  for (let count = 0; count < mostParts; count++) {
    const [first, marker = 0, high = 0, low = 0] = image.read(at, at + 4);
    if (first !== 0xff) return yield null;
    // Any number of bytes 0xff may precede a marker (ITU T.81, B.1.1.2).
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === 0xda) return;
    const end = at + 2 + high * 256 + low;
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9) || end < at + 4 || end > image.length)
      return yield null;
    yield part(image, marker.toString(16), { at, from: at + 4, to: end, end });
    at = end;
  }
  yield null;
}

function part(
  image: ImageBytes,
  type: string,
  { at, from, to, end }: { at: number; from: number; to: number; end: number },
): Part {
  return {
    type,
    at,
    end,
    content: (start = 0, stop = to - from) =>
      Buffer.from(image.read(Math.min(to, from + start), Math.min(to, from + stop))),
  };
}

const pngXmp = "XML:com.adobe.xmp\0";
/** Far more than any XMP has. */
const mostXmp = 16 * 1024 * 1024;

/** A chunk before the compressed data, or the one with XMP. */
function placeInPng(image: ImageBytes): XmpPlace | null {
  let data: Part | null = null;
  let known: Part | null = null;
  let isComplete = false;
  let isSigned = false;
  for (const chunk of pngChunks(image)) {
    isSigned ||= chunk.type === "caBX";
    if (chunk.type === "IDAT") data ??= chunk;
    isComplete = chunk.type === "IEND";
    if (!/^(?:iTXt|zTXt|tEXt)$/.test(chunk.type)) continue;
    if (chunk.content(0, pngXmp.length).toString("latin1") !== pngXmp) continue;
    if (known !== null) return null;
    known = chunk;
  }
  const xmp = known && xmpOfPng(known.type, known.content(pngXmp.length));
  if (!isComplete || data === null || (known !== null && xmp === null)) return null;
  const place = data.at;
  return {
    xmp,
    isSigned,
    room: mostXmp,
    splices(bytes) {
      // Not compressed, without a language (PNG, iTXt).
      const content = Buffer.concat([Buffer.from(`iTXt${pngXmp}\0\0\0\0`, "latin1"), bytes]);
      const insert = Buffer.alloc(content.length + 8);
      insert.writeUInt32BE(content.length - 4, 0);
      content.copy(insert, 4);
      insert.writeUInt32BE(crc32(content), content.length + 4);
      return [known === null ? { at: place, remove: 0, insert } : replacing(known, insert)];
    },
  };
}

/** The chunks up to the last one; fewer if the image is broken. */
function* pngChunks(image: ImageBytes): Generator<Part> {
  let at = 8;
  for (let count = 0; count < mostParts; count++) {
    const head = Buffer.from(image.read(at, at + 8));
    if (head.length < 8) return;
    const to = at + 8 + head.readUInt32BE(0);
    const type = head.toString("latin1", 4);
    if (to + 4 > image.length || (count === 0 && type !== "IHDR")) return;
    yield part(image, type, { at, from: at + 8, to, end: to + 4 });
    if (type === "IEND") return;
    at = to + 4;
  }
}

/** The text of a chunk, from behind its keyword; null if it is none. libvips writes XMP as zTXt. */
function xmpOfPng(type: string, content: Buffer): string | null {
  if (type === "tEXt") return textOfXmp(content);
  if (type === "zTXt") return inflatedXmp(content.subarray(1));
  const language = content.indexOf(0, 2);
  const translated = content.indexOf(0, language + 1);
  if (language === -1 || translated === -1) return null;
  const text = content.subarray(translated + 1);
  return content[0] === 0 ? textOfXmp(text) : inflatedXmp(text);
}

function inflatedXmp(bytes: Buffer): string | null {
  try {
    return textOfXmp(inflateSync(bytes, { maxOutputLength: mostXmp }));
  } catch {
    return null;
  }
}

/** Flags of VP8X (WebP Container Specification, Extended File Format). */
const hasXmp = 0x04;
const hasAlpha = 0x10;

/** A chunk at the end, or the one with XMP; a simple image gets the head that announces it. */
function placeInWebp(image: ImageBytes): XmpPlace | null {
  const end = 8 + Buffer.from(image.read(4, 8)).readUInt32LE(0);
  const chunks = [...webpChunks(image, end)];
  const [first] = chunks;
  const packets = chunks.filter(({ type }) => type === "XMP ");
  if (first === undefined || chunks.at(-1)!.end !== end || end > image.length || packets.length > 1)
    return null;
  const [known = null] = packets;
  const head = webpHead(first);
  const xmp = known && textOfXmp(known.content());
  if (head === null || (known !== null && xmp === null)) return null;
  return {
    xmp,
    isSigned: chunks.some(({ type }) => type === "C2PA"),
    room: mostXmp,
    splices(bytes) {
      // ImageMagick takes the byte that fills an odd size for text.
      const insert = webpChunk("XMP ", Buffer.concat([bytes, Buffer.alloc(bytes.length % 2, " ")]));
      const body = known === null ? { at: end, remove: 0, insert } : replacing(known, insert);
      const isSimple = first.type !== "VP8X";
      const extended = webpChunk("VP8X", head);
      const headSplice = isSimple
        ? { at: first.at, remove: 0, insert: extended }
        : replacing(first, extended);
      const size = Buffer.alloc(4);
      const added = [headSplice, body].reduce((sum, { insert, remove }) => sum + insert.length - remove, 0);
      size.writeUInt32LE(end - 8 + added);
      return [{ at: 4, remove: 4, insert: size }, headSplice, body];
    },
  };
}

/** The chunks of a RIFF file; fewer if it is broken. */
function* webpChunks(image: ImageBytes, end: number): Generator<Part> {
  let at = 12;
  for (let count = 0; count < mostParts && at < end; count++) {
    const head = Buffer.from(image.read(at, at + 8));
    if (head.length < 8) return;
    const to = at + 8 + head.readUInt32LE(4);
    // A chunk of an odd size has a byte more.
    const next = to + (to % 2);
    yield part(image, head.toString("latin1", 0, 4), { at, from: at + 8, to, end: next });
    at = next;
  }
}

function webpChunk(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

/** The content of VP8X with the flag for XMP, from the first chunk; null if that is no head of an image. */
function webpHead(first: Part): Buffer | null {
  const content = first.content(0, 10);
  if (content.length < 10 && first.type !== "VP8L") return null;
  if (first.type === "VP8X") {
    const head = Buffer.from(content);
    head[0]! |= hasXmp;
    return head;
  }
  if (first.type === "VP8 " && content.readUIntBE(3, 3) === 0x9d012a)
    return extendedHead(content.readUInt16LE(6) & 0x3fff, content.readUInt16LE(8) & 0x3fff, 0);
  if (first.type === "VP8L" && content.length >= 5 && content[0] === 0x2f) {
    const bits = content.readUInt32LE(1);
    const alpha = (bits >>> 28) & 1 ? hasAlpha : 0;
    return extendedHead((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1, alpha);
  }
  return null;
}

function extendedHead(width: number, height: number, flags: number): Buffer | null {
  if (width === 0 || height === 0) return null;
  const head = Buffer.alloc(10);
  head[0] = flags | hasXmp;
  head.writeUIntLE(width - 1, 4, 3);
  head.writeUIntLE(height - 1, 7, 3);
  return head;
}
