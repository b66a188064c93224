import { drawingOf } from "../drawing/drawing.ts";
import { readScene, sceneSubject } from "../drawing/scene.ts";
import { sceneDrawing } from "../drawing/scene-drawing.ts";
import { tagOf } from "../files/stored-file.ts";
import type { ImageRecord } from "../store/organization.ts";
import type { Life } from "../work/life.ts";
import { SharedWork } from "../work/shared-work.ts";
import { Turnstile } from "../work/turnstile.ts";

/** Bytes of drawn pictures that are kept: those of some hundred products, so that a ZIP, which reads each twice, draws them once. */
const keptBytes = 32 * 1024 * 1024;
/** As many are drawn at once as Node has threads for it: those that wait in line are nobody's work yet. */
const drawnAtOnce = 4;

interface Drawn {
  readonly work: SharedWork<Buffer>;
  /** 0 until it is drawn. */
  size: number;
}

/** What the bytes of an image follow from. */
export type PictureSource = Pick<ImageRecord, "mime_type" | "bytes" | "subject" | "seed">;

/** The bytes of images: those that were uploaded, and pictures drawn when they are first read. */
export class Pictures {
  readonly #drawn = new Map<string, Drawn>();
  #bytes = 0;
  readonly #door = new Turnstile(drawnAtOnce);
  /** What was uploaded is hashed when it is first read. */
  readonly #tags = new WeakMap<Buffer, string>();

  /** The entity tag of an image's bytes; a picture need not be drawn for it. */
  tagOf(image: PictureSource): string {
    if (image.bytes === null) return tagOf(keyOf(image));
    const tag = this.#tags.get(image.bytes) ?? tagOf(image.bytes);
    this.#tags.set(image.bytes, tag);
    return tag;
  }

  /** For somebody who waits no longer than `life`: at its end it rejects with EndedError, and nothing is drawn for nobody. */
  bytesOf(image: PictureSource, life: Life): Promise<Buffer> | Buffer {
    if (image.bytes !== null) return image.bytes;
    const key = keyOf(image);
    const known = this.#drawn.get(key);
    const drawn = known === undefined || known.work.isLost ? this.#begin(key, image) : known;
    // A picture that was asked for again is the youngest again; the oldest go when there are too many.
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
      // Somebody who came meanwhile has begun it anew, as nobody was left: of two only one is kept.
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

const keyOf = ({ mime_type, subject, seed }: PictureSource): string => `${mime_type} ${subject} ${seed}`;

async function draw({ subject, seed, mime_type }: PictureSource) {
  const scene = subject === sceneSubject ? readScene(seed) : null;
  // Loading takes longer than drawing, and most runs never look at a picture.
  const { default: sharp } = await import("sharp");
  const picture = sharp(Buffer.from(scene === null ? drawingOf(subject, seed) : sceneDrawing(scene)));
  // A palette is smaller, but takes six times as long and would move a background off the colour that was asked for.
  if (mime_type === "image/png") return picture.png().toBuffer();
  if (mime_type === "image/webp") return picture.webp({ effort: 1 }).toBuffer();
  return picture.jpeg({ quality: 80 }).toBuffer();
}
