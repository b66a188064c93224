import pLimit from "p-limit";
import { photoDrawing } from "../drawing/garments.ts";
import { readScene, sceneSubject } from "../drawing/scene.ts";
import { sceneDrawing } from "../drawing/scene-drawing.ts";
import { entityTag } from "../files/stored-file.ts";
import type { ImageRecord } from "../store/records.ts";

/** Pictures kept, about 30 MB: a ZIP reads each twice but draws it once. */
const keptPictures = 500;
/** Number of Node's worker threads. Pictures in the queue can be canceled; those in a thread cannot. */
const drawnAtOnce = 4;

/** The fields that determine the bytes of an image. */
export type PictureSource = Pick<ImageRecord, "mime_type" | "bytes" | "subject" | "seed">;

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
    const key = toKey(image);
    const picture = this.#drawn.get(key) ?? this.#draw(key, image, life);
    this.#drawn.delete(key);
    this.#drawn.set(key, picture);
    if (this.#drawn.size > keptPictures) this.#drawn.delete(this.#drawn.keys().next().value!);
    return picture;
  }

  #draw(key: string, image: PictureSource, life: AbortSignal): Promise<Buffer> {
    const picture = this.#limit(() => {
      life.throwIfAborted();
      return draw(image);
    });
    picture.catch(() => this.#drawn.delete(key));
    return picture;
  }
}

const toKey = ({ mime_type, subject, seed }: PictureSource): string => `${mime_type} ${subject} ${seed}`;

async function draw({ subject, seed, mime_type }: PictureSource) {
  const scene = subject === sceneSubject ? readScene(seed) : null;
  // Loaded lazily: loading takes longer than drawing, and most runs never read a picture.
  const { default: sharp } = await import("sharp");
  const picture = sharp(Buffer.from(scene === null ? photoDrawing(subject, seed) : sceneDrawing(scene)));
  // A palette is smaller but takes six times as long and would change the requested background color.
  if (mime_type === "image/png") return picture.png().toBuffer();
  if (mime_type === "image/webp") return picture.webp({ effort: 1 }).toBuffer();
  return picture.jpeg({ quality: 80 }).toBuffer();
}
