import { referenceOfProduct } from "../../contract/import-row.ts";
import type { Product } from "../../contract/resources/products.ts";
import { parseJson } from "../../json.ts";
import type { LedgerEntry } from "../../state/ledger.ts";

/** A product as it was read. */
export interface SeenProduct {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly sex: string | null;
  /** Its images in order, each as `ID ORIENTATION ORIGIN`. */
  readonly images: readonly string[];
}

/** The product as it was read; a product of the dashboard may have null for its images. */
export const seenProduct = ({ id, name, description, sex, images }: Product): SeenProduct => ({
  id,
  name: name ?? null,
  description: description ?? null,
  sex: sex ?? null,
  images: (Array.isArray(images) ? images : []).map(
    ({ id, orientation, origin }) => `${id} ${orientation} ${origin}`,
  ),
});

/** The ID of an image of a `SeenProduct`. */
export const imageId = (image: string): string => image.slice(0, image.indexOf(" "));

function toText(product: Product): string {
  const { id, name, description, sex, images } = seenProduct(product);
  return JSON.stringify([id, name, description, sex, ...images]);
}

/** Products as they were read, by reference. A file may name 100,000 of them, so each is kept as one text. */
export class SeenProducts {
  readonly #byReference = new Map<string, string | null>();

  /** Keeps a product; the newest of several with one reference comes first. */
  readonly keep = (product: Product): void => {
    const reference = referenceOfProduct(product);
    if (reference === null || this.#byReference.get(reference)) return;
    this.#byReference.set(reference, toText(product));
  };

  /** Replaces the product of a reference, which was read again and may have another one now. */
  again(reference: string, product: Product): void {
    this.#byReference.set(reference, referenceOfProduct(product) === reference ? toText(product) : null);
  }

  /** Forgets all, to read them again. */
  clear(): void {
    this.#byReference.clear();
  }

  /** Whether the reference was looked for. */
  has(reference: string): boolean {
    return this.#byReference.has(reference);
  }

  /** References that were looked for have no product, unless one is found. */
  lookedFor(references: readonly string[]): void {
    for (const reference of references)
      if (!this.#byReference.has(reference)) this.#byReference.set(reference, null);
  }

  /** The product of a reference; null if there is none, or if it was not looked for. */
  get(reference: string): SeenProduct | null {
    const text = this.#byReference.get(reference);
    if (text === undefined || text === null) return null;
    const [id, name, description, sex, ...images] = parseJson(text) as [string, ...string[]];
    return { id, name: name ?? null, description: description ?? null, sex: sex ?? null, images };
  }
}

/**
 * What is compared with the rows of products that were read, by reference, as the ledger has it. Each is one text, like those
 * above: two buffers per product would take three times as much.
 */
export class ReadProducts {
  readonly #byReference = new Map<string, string | null>();

  /** The references have no product, unless one is kept. */
  lookFor(references: readonly string[]): void {
    for (const reference of references) this.#byReference.set(reference, null);
  }

  /** Whether the reference was looked for. */
  has(reference: string): boolean {
    return this.#byReference.has(reference);
  }

  /** Whether the reference was looked for, and has no product so far. */
  lacks(reference: string): boolean {
    return this.#byReference.get(reference) === null;
  }

  keep(reference: string, productId: string, fields: Buffer, sources: Buffer): void {
    const digests = [fields, sources].map((bytes) => bytes.toString("base64"));
    this.#byReference.set(reference, [productId, ...digests].join(" "));
  }

  /** The product of a reference; null if there is none, or if it was not looked for. */
  get(reference: string): LedgerEntry | null {
    const text = this.#byReference.get(reference) ?? null;
    if (text === null) return null;
    const [productId, ...digests] = text.split(" ") as [string, string, string];
    const [fields, sources] = digests.map((digest) => Buffer.from(digest, "base64")) as [Buffer, Buffer];
    return { reference, productId, fields, sources };
  }
}
