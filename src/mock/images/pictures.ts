import { crc32, inflateRawSync } from "node:zlib";
import pLimit from "p-limit";
import { photoDrawing } from "../../mock-page/drawing/photo-drawing.ts";
import { readScene, sceneSubject } from "../../mock-page/drawing/scene.ts";
import { sceneDrawing } from "../../mock-page/drawing/scene-drawing.ts";
import { entityTag } from "../files/stored-file.ts";
import type { ImageRecord } from "../store/records.ts";

/** Pictures kept, about 30 MB: a ZIP reads each twice but draws it once. */
const keptPictures = 500;
/** Number of Node's worker threads. Pictures in the queue can be canceled; those in a thread cannot. */
const drawnAtOnce = 4;

/** The fields that determine the bytes of an image. */
export type PictureSource = Pick<ImageRecord, "mime_type" | "bytes" | "subject" | "seed" | "words">;

/** Whether the active version of an image differs from its original bytes. */
export const hasOwnVersion = ({ edit_number, watermarked }: ImageRecord): boolean =>
  edit_number !== undefined || watermarked === true;

/** The bytes of images: uploaded ones, and pictures drawn on first read. */
export class Pictures {
  /** Least recently used first. */
  readonly #drawn = new Map<string, Promise<Buffer>>();
  readonly #limit = pLimit(drawnAtOnce);
  /** Tags of uploaded images, hashed on first read. */
  readonly #tags = new WeakMap<Buffer, string>();

  /** The entity tag of an image; pictures are not drawn for it. */
  entityTag(image: PictureSource): string {
    if (image.bytes === null) return entityTag(toKey(image));
    const tag = this.#tags.get(image.bytes) ?? entityTag(image.bytes);
    this.#tags.set(image.bytes, tag);
    return tag;
  }

  /** The bytes of an image; rejects if `life` ends before the picture is drawn. */
  toBytes(image: PictureSource, life: AbortSignal): Promise<Buffer> | Buffer {
    if (image.bytes !== null) return image.bytes;
    return this.#kept(toKey(image), life, () => draw(image));
  }

  /** The entity tag of the active version, which an export lists. */
  assetTag(image: ImageRecord): string {
    const { edit_number = 0, watermarked = false } = image;
    const tag = this.entityTag(image);
    return hasOwnVersion(image) ? entityTag(`${tag} ${edit_number} ${watermarked}`) : tag;
  }

  async assetBytes(image: ImageRecord, life: AbortSignal): Promise<Buffer> {
    if (!hasOwnVersion(image)) return this.toBytes(image, life);
    const key = this.assetTag(image);
    // Drawn before the limit is entered: waiting for one picture while another is held could block all.
    const original = this.#drawn.has(key) ? null : await this.toBytes(image, life);
    return this.#kept(key, life, () => change(original!, image));
  }

  /** The picture of this key, made by `make` unless it is kept. */
  #kept(key: string, life: AbortSignal, make: () => Promise<Buffer>): Promise<Buffer> {
    const picture = this.#drawn.get(key) ?? this.#make(key, life, make);
    this.#drawn.delete(key);
    this.#drawn.set(key, picture);
    if (this.#drawn.size > keptPictures) this.#drawn.delete(this.#drawn.keys().next().value!);
    return picture;
  }

  #make(key: string, life: AbortSignal, make: () => Promise<Buffer>): Promise<Buffer> {
    const picture = this.#limit(() => {
      life.throwIfAborted();
      return make();
    });
    picture.catch(() => this.#drawn.delete(key));
    return picture;
  }
}

const contentOf = ({ subject, seed, words }: PictureSource): string =>
  `${subject} ${seed}${words === undefined ? "" : ` ${words}`}`;
const toKey = (source: PictureSource): string => `${source.mime_type} ${contentOf(source)}`;

async function draw(source: PictureSource) {
  const { subject, seed, mime_type } = source;
  const scene = subject === sceneSubject ? readScene(seed) : null;
  // Loaded lazily: loading takes longer than drawing, and most runs never read a picture. It is an optional
  // package.
  const sharp = await import("sharp").then(
    (library) => library.default,
    () => null,
  );
  if (sharp === null) return plainPicture(mime_type, contentOf(source));
  const picture = sharp(Buffer.from(scene === null ? photoDrawing(source) : sceneDrawing(scene)));
  // A palette is smaller but takes six times as long and would change the requested background color.
  if (mime_type === "image/png") return picture.png().toBuffer();
  if (mime_type === "image/webp") return picture.webp({ effort: 1 }).toBuffer();
  return picture.jpeg({ quality: 80 }).toBuffer();
}

/** Degrees on the color wheel from one edit to the next: five edits have five colors. */
const hueOfEdit = 72;

/** The active version of an image: its colors turned for each edit, and a watermark. */
async function change(original: Buffer, { edit_number = 0, watermarked = false }: ImageRecord) {
  const { default: sharp } = await import("sharp");
  try {
    const { width = 1, height = 1 } = await sharp(original).metadata();
    const picture = sharp(original).modulate({ hue: (edit_number * hueOfEdit) % 360 });
    return await (watermarked
      ? picture.composite([{ input: watermark(width, height) }])
      : picture
    ).toBuffer();
  } catch {
    // An upload needs a valid header only, so its pixels may be missing.
    return original;
  }
}

const watermark = (width: number, height: number): Buffer => {
  const size = Math.max(1, Math.round(width / 8));
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
      `<text x="50%" y="50%" transform="rotate(-30 ${width / 2} ${height / 2})" text-anchor="middle" ` +
      `font-family="sans-serif" font-size="${size}" fill="#fff" fill-opacity="0.6" stroke="#000" ` +
      `stroke-opacity="0.4">SAMPLE</text></svg>`,
  );
};

/** Gray pictures of 600 x 800 pixels, compressed. */
const gray: Readonly<Record<ImageRecord["mime_type"], string>> = {
  "image/jpeg":
    "+3/j/20GZwYNDQ0NbQ1dIyNdexcbF/vYUD+/0NielJyUnJSeq62zW1tnt17d82Tn2p1P9vz///r1fwxwiIGbg1mBKYKRUZDh/xEGUQZGRgZUwPr/FgMHRHQJwygYBaNg8AP7/0cYRATQs/IBaFZmtGfISv9/EwA=",
  "image/png":
    "6wzwc+flkuJiYGDg9fRwCWJgYIpgYGBWYGRmYGA4uq6vnYGBgTnAJ8T1zp07jYxPkxgYGDgLPCKLGRiYX4Aw49bqoGwGBoYgTxfHkIpbbw8y8jIwMBxa8N0/l898AQPZoEGc+W0DA+PCpT/Pgriern4u65wSmgA=",
  "image/webp": "C/J0c7NgYGAId3UKCAuw8NFmYGDQDz90nIE94F3R9N3/GRk9L/3/n+Ly3/jf5/n//zy3///zfD2MmS7MAAA=",
};

/** Bytes of the start and the end of a PNG: its signature and header, and its last chunk. */
const pngHead = 33;

/** A gray picture with `text` inside, so that no two are equal: for machines without the drawing library. */
export function plainPicture(type: ImageRecord["mime_type"], text: string): Buffer {
  const picture = inflateRawSync(Buffer.from(gray[type], "base64"));
  const note = Buffer.from(text);
  if (type === "image/jpeg") {
    // A comment after the start of the image.
    const size = Buffer.alloc(2);
    size.writeUInt16BE(note.length + 2);
    return Buffer.concat([picture.subarray(0, 2), Buffer.of(0xff, 0xfe), size, note, picture.subarray(2)]);
  }
  if (type === "image/png") {
    const body = Buffer.concat([Buffer.from("tEXtComment\0"), note]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(body.length - 4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([picture.subarray(0, pngHead), size, body, sum, picture.subarray(pngHead)]);
  }
  // A chunk that readers skip, of an even length, at the end of the file.
  const size = Buffer.alloc(4);
  size.writeUInt32LE(note.length);
  const chunk = Buffer.concat([Buffer.from("NOTE"), size, note, Buffer.alloc(note.length % 2)]);
  const whole = Buffer.concat([picture, chunk]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
}
