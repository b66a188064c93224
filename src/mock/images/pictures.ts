import type { ImageRecord } from "../organization.ts";
import { drawingOf } from "./drawing.ts";
import { readScene, sceneSubject } from "./scene.ts";
import { sceneDrawing } from "./scene-drawing.ts";

/** How many drawn pictures are kept; each has 15 to 60 KB. */
const kept = 200;

/** The bytes of images: those that were uploaded, and pictures drawn when they are first read. */
export class Pictures {
  readonly #drawn = new Map<string, Promise<Buffer>>();

  bytesOf(image: Pick<ImageRecord, "mime_type" | "bytes" | "subject" | "seed">): Promise<Buffer> | Buffer {
    if (image.bytes !== null) return image.bytes;
    const key = `${image.mime_type} ${image.subject} ${image.seed}`;
    const known = this.#drawn.get(key);
    // A picture that was asked for again is the youngest again; the oldest goes when there are too many.
    this.#drawn.delete(key);
    const picture = known ?? draw(image);
    this.#drawn.set(key, picture);
    picture.catch(() => this.#drawn.delete(key));
    if (this.#drawn.size > kept) this.#drawn.delete(this.#drawn.keys().next().value!);
    return picture;
  }
}

async function draw({ subject, seed, mime_type }: Pick<ImageRecord, "mime_type" | "subject" | "seed">) {
  const scene = subject === sceneSubject ? readScene(seed) : null;
  // Loading takes longer than drawing, and most runs never look at a picture.
  const { default: sharp } = await import("sharp");
  const picture = sharp(Buffer.from(scene === null ? drawingOf(subject, seed) : sceneDrawing(scene)));
  // A palette is smaller, but would move a background off the colour that was asked for.
  if (mime_type === "image/png") return picture.png({ palette: scene === null }).toBuffer();
  if (mime_type === "image/webp") return picture.webp({ effort: 1 }).toBuffer();
  return picture.jpeg({ quality: 80 }).toBuffer();
}
