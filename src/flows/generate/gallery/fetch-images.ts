import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type sharpLibrary from "sharp";
import type { Sharp } from "sharp";
import type { Product, ProductImage } from "../../../contract/resources/products.ts";
import type { Task } from "../../../contract/resources/tasks.ts";
import { SignedUrlError } from "../../../http/errors.ts";
import type { WaitingReader } from "../../service.ts";
import { isOfCaller, isServiceFailure } from "../../service-errors.ts";

/** Larger than any photo or output; the service accepts 10 MB (POST /v1/images). */
const mostBytes = 50_000_000;
const attempts = 3;
/** After so many failures of the service in a row, further requests would fail as well. */
const mostFailures = 3;

type Reader = Omit<WaitingReader, "concurrency">;

/** Fetches the images of a gallery; null for a missing one, which the page shows as missing. */
export class ImageFetcher {
  readonly #service: Reader;
  #failures = 0;

  constructor(service: Reader) {
    this.#service = service;
  }

  /** The photo of a product from the front, or another of its photos. */
  front(product: Product): Promise<Uint8Array | null> {
    const photo = photoOfSide(product, "front");
    return photo === undefined ? Promise.resolve(null) : this.photo(photo);
  }

  photo({ id }: ProductImage): Promise<Uint8Array | null> {
    return this.#orNull(async () => {
      const { client, signal } = this.#service;
      const { url } = await client.images.get({ image_id: id }, { signal });
      return this.#download(url);
    });
  }

  /** The output of a task: the file that was saved, or what is behind its URL. */
  async output(task: Task, file: string | null, folder: string | null): Promise<Uint8Array | null> {
    if (file !== null && folder !== null) {
      const saved = await readFile(join(folder, file)).catch(() => null);
      if (saved !== null) return saved;
    }
    const { output_image } = task;
    if (output_image === null) return null;
    return this.#orNull(async () => {
      const { client, clock, signal } = this.#service;
      const now = client.serviceNow() ?? clock.now();
      if (Date.parse(output_image.url_expires_at) > now) {
        const bytes = await this.#download(output_image.url).catch((error: unknown) => {
          if (error instanceof SignedUrlError) return null;
          throw error;
        });
        if (bytes !== null) return bytes;
      }
      const fresh = await client.tasks.get({ task_id: task.id }, { signal });
      return fresh.output_image === null ? null : this.#download(fresh.output_image.url);
    });
  }

  fetchOutput(taskId: string): Promise<Uint8Array | null> {
    return this.#orNull(async () => {
      const { client, signal } = this.#service;
      const { output_image } = await client.tasks.get({ task_id: taskId }, { signal });
      return output_image === null ? null : this.#download(output_image.url);
    });
  }

  /** The bytes behind a signed URL. */
  image(url: string): Promise<Uint8Array | null> {
    return this.#orNull(() => this.#download(url));
  }

  async #download(url: string): Promise<Uint8Array> {
    const { client, signal } = this.#service;
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.download(url, { signal, maxBytes: mostBytes, attempts }))
      chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async #orNull(fetch: () => Promise<Uint8Array | null>): Promise<Uint8Array | null> {
    const { signal } = this.#service;
    signal.throwIfAborted();
    if (this.#failures >= mostFailures) return null;
    try {
      const bytes = await fetch();
      this.#failures = 0;
      return bytes;
    } catch (error) {
      signal.throwIfAborted();
      if (isOfCaller(error) || isServiceFailure(error)) this.#failures++;
      return null;
    }
  }
}

/** The orientations that show the side of an angle shot, the best first. */
const sides: readonly (readonly [angleShot: RegExp, orientations: readonly string[]])[] = [
  [/back/, ["back"]],
  [/side/, ["side", "left", "right", "three-quarter-left", "three-quarter-right"]],
  [/detail/, ["detail"]],
];

/** The user's photo of a product from the side of an angle shot: else from the front, else the first. */
export function photoOfSide(
  product: Pick<Product, "images"> | undefined,
  angleShot: string,
): ProductImage | undefined {
  const images = product?.images ?? [];
  const own = images.filter(({ origin }) => origin === "user");
  const shown = own.length > 0 ? own : images;
  const wanted = sides.find(([pattern]) => pattern.test(angleShot))?.[1] ?? [];
  for (const side of [angleShot, ...wanted, "front"]) {
    const photo = shown.find(({ orientation }) => orientation === side);
    if (photo !== undefined) return photo;
  }
  return shown[0];
}

/** The largest image in pixels: more than any camera gives, and no bomb. */
const mostPixels = 120_000_000;

/** Large enough for a card on a sharp screen, and about 12 KB. */
const box = { width: 360, height: 480 } as const;
const quality = 75;

export type ThumbnailMaker = (image: Uint8Array) => Promise<string | null>;

/** Loads the library that scales images. Throws where it is not installed for this system. */
export async function openThumbnailer(): Promise<ThumbnailMaker> {
  const { default: sharp } = await import("sharp");
  return (image) => thumbnail(sharp, image);
}

/** An image, upright, that fits into a box. */
export const scaledTo = (
  box: { readonly width: number; readonly height: number },
  sharp: typeof sharpLibrary,
  image: Uint8Array,
): Sharp =>
  sharp(image, { limitInputPixels: mostPixels, failOn: "truncated" })
    .rotate()
    .resize({ ...box, fit: "inside", withoutEnlargement: true });

/** A WebP in base64; null for bytes that are not an image. */
async function thumbnail(sharp: typeof sharpLibrary, image: Uint8Array): Promise<string | null> {
  try {
    const webp = await scaledTo(box, sharp, image).webp({ quality }).toBuffer();
    return webp.toString("base64");
  } catch {
    return null;
  }
}
