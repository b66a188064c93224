import { photoDrawing } from "../drawing/garments.ts";
import { readScene, sceneSubject } from "../drawing/scene.ts";
import { sceneDrawing } from "../drawing/scene-drawing.ts";
import { entityTag } from "../files/stored-file.ts";
import type { ImageRecord } from "../store/records.ts";
import { type Life, SharedWork } from "../work/life.ts";
import { Turnstile } from "../work/work-in-progress.ts";

/** Cache size in bytes, for a few hundred pictures: a ZIP reads each twice but draws it once. */
const keptBytes = 32 * 1024 * 1024;
/** Number of Node's worker threads. Pictures in the queue can be canceled; those in a thread cannot. */
const drawnAtOnce = 4;

interface Drawn {
  readonly work: SharedWork<Buffer>;
  /** 0 until the picture is drawn. */
  size: number;
}

/** The fields that determine the bytes of an image. */
export type PictureSource = Pick<ImageRecord, "mime_type" | "bytes" | "subject" | "seed">;

/** The bytes of images: uploaded ones, and pictures drawn on first read. */
export class Pictures {
  readonly #drawn = new Map<string, Drawn>();
  #bytes = 0;
  readonly #door = new Turnstile(drawnAtOnce);
  /** Tags of uploaded images, hashed on first read. */
  readonly #tags = new WeakMap<Buffer, string>();

  /** The entity tag of an image; pictures are not drawn for it. */
  entityTag(image: PictureSource): string {
    if (image.bytes === null) return entityTag(toKey(image));
    const tag = this.#tags.get(image.bytes) ?? entityTag(image.bytes);
    this.#tags.set(image.bytes, tag);
    return tag;
  }

  /** The bytes of an image; rejects with EndedError when `life` ends. */
  toBytes(image: PictureSource, life: Life): Promise<Buffer> | Buffer {
    if (image.bytes !== null) return image.bytes;
    const key = toKey(image);
    const known = this.#drawn.get(key);
    const drawn = known === undefined || known.work.isLost ? this.#begin(key, image) : known;
    // Least recently used pictures are dropped first.
    this.#drawn.delete(key);
    this.#drawn.set(key, drawn);
    return drawn.work.resultFor(life);
  }

  #begin(key: string, image: PictureSource): Drawn {
    const drawn: Drawn = {
      size: 0,
      work: new SharedWork(async (life) => {
        try {
          const picture = await this.#drawInTurn(image, life);
          this.#keep(key, drawn, picture.length);
          return picture;
        } catch (error) {
          if (this.#drawn.get(key) === drawn) this.#drawn.delete(key);
          throw error;
        }
      }),
    };
    return drawn;
  }

  async #drawInTurn(image: PictureSource, life: Life): Promise<Buffer> {
    await this.#door.enter();
    try {
      life.mustGoOn();
      const picture = await draw(image);
      // Another reader may have restarted the work after the last one left; only one picture is cached.
      life.mustGoOn();
      return picture;
    } finally {
      this.#door.leave();
    }
  }

  #keep(key: string, drawn: Drawn, size: number): void {
    if (this.#drawn.get(key) !== drawn) return;
    drawn.size = size;
    this.#bytes += size;
    for (const [oldest, { size }] of this.#drawn) {
      if (this.#bytes <= keptBytes) return;
      this.#drawn.delete(oldest);
      this.#bytes -= size;
    }
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
