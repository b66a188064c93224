// A product as the service has it, and the sources that its images came from.

import type { Product } from "../../contract/resources/products.ts";
import { parseJson } from "../../json.ts";
import type { LedgerEntry, LedgerPhoto } from "../../state/ledger.ts";
import { FieldDigests, sourceDigest } from "./digests.ts";

export interface KnownImage {
  readonly id: string;
  readonly side: string;
  /** `user` for a photo of the user. */
  readonly origin: string;
}

export interface ReadProduct {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly sex: string | null;
  readonly images: readonly KnownImage[];
}

/** The product as it was read; a product of the dashboard may have null for its images. */
export const toReadProduct = ({ id, name, description, sex, images }: Product): ReadProduct => ({
  id,
  name: name ?? null,
  description: description ?? null,
  sex: sex ?? null,
  images: (Array.isArray(images) ? images : []).map(({ id, orientation, origin }) => ({
    id,
    side: orientation,
    origin,
  })),
});

/** A product in the form in which it is kept: one text, with each image as `ID SIDE ORIGIN`. */
export const packProduct = ({ images, ...product }: ReadProduct): string =>
  JSON.stringify({ ...product, images: images.map(({ id, side, origin }) => `${id} ${side} ${origin}`) });

export function unpackProduct(text: string): ReadProduct {
  const { images, ...product } = parseJson(text) as Omit<ReadProduct, "images"> & { images: string[] };
  const toImage = (image: string): KnownImage => {
    const [id, side, origin] = image.split(" ") as [string, string, string];
    return { id, side, origin };
  };
  return { ...product, images: images.map(toImage) };
}

/** The digests of the fields of a product; null is an empty one. */
export const fieldsOf = ({ name, description, sex }: Omit<ReadProduct, "id" | "images">): FieldDigests =>
  FieldDigests.of({ name, description, sex });

/** A product that a row names: what was read of it, and what the ledger knows. */
export class KnownProduct {
  readonly id: string;
  /** Null if it was not read: then only digests of its fields are known. */
  readonly read: ReadProduct | null;
  readonly #entry: LedgerEntry | null;

  constructor(id: string, read: ReadProduct | null, entry: LedgerEntry | null) {
    this.id = id;
    this.read = read;
    this.#entry = entry;
  }

  get fields(): FieldDigests {
    return this.read === null ? new FieldDigests(this.#entry!.fields) : fieldsOf(this.read);
  }

  get images(): readonly KnownImage[] {
    return this.read?.images ?? [];
  }

  has(imageId: string): boolean {
    return this.images.some(({ id }) => id === imageId);
  }

  /**
   * The image that a source became: undefined if unknown, null if attached as an image that is not known. A
   * shortened digest is that of an image ID.
   */
  imageOf(source: Buffer): string | null | undefined {
    const own = this.images.find(({ id }) =>
      sourceDigest({ image_id: id }).subarray(0, source.length).equals(source),
    );
    if (own !== undefined) return own.id;
    const known = this.#entry?.photos.find((photo) => photo.source.equals(source));
    return known === undefined ? undefined : known.image;
  }

  isTraced(imageId: string): boolean {
    return this.#entry?.photos.some(({ image }) => image === imageId) ?? false;
  }
}

/** The photos of a product with more of them; a source that is attached again has another image. */
export const withPhotos = (
  photos: readonly LedgerPhoto[],
  more: readonly LedgerPhoto[],
): readonly LedgerPhoto[] => [
  ...photos.filter(({ source }) => !more.some((one) => one.source.equals(source))),
  ...more,
];
