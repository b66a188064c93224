import type { ImageRecord } from "../organization.ts";
import { drawingOf } from "./drawing.ts";

/** How many drawn pictures are kept; each has about 15 KB. */
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
    const picture = known ?? draw(drawingOf(image.subject, image.seed), image.mime_type);
    this.#drawn.set(key, picture);
    picture.catch(() => this.#drawn.delete(key));
    if (this.#drawn.size > kept) this.#drawn.delete(this.#drawn.keys().next().value!);
    return picture;
  }
}

async function draw(svg: string, type: ImageRecord["mime_type"]): Promise<Buffer> {
  // Loading takes longer than drawing, and most runs never look at a picture.
  const { default: sharp } = await import("sharp");
  const picture = sharp(Buffer.from(svg));
  if (type === "image/png") return picture.png({ palette: true }).toBuffer();
  if (type === "image/webp") return picture.webp({ effort: 1 }).toBuffer();
  return picture.jpeg({ quality: 80 }).toBuffer();
}
