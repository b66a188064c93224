import type { ProductImage } from "../contract/resources/product.ts";
import type { sexes } from "../contract/value-sets.ts";
import { ProductList } from "./product-list.ts";

/** A product as it is kept. A deleted one stays by its id, for delta exports, but holds its reference no longer. */
export interface ProductRecord {
  /** Where it stands in the order of creation: what the cursors of a list go by. */
  readonly order: number;
  readonly id: string;
  name: string;
  reference: string;
  description: string | null;
  sex: (typeof sexes)[number] | null;
  images: ProductImage[];
  /** The ids of the images that tasks made for it, oldest first. */
  generations: readonly string[];
  readonly created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

/** Shared by the many products that have none. */
const noGenerations: readonly string[] = [];

/** How many products are kept printed. */
const keptPrints = 1_000;

/** The products of one organization. Making, finding, changing and deleting one cost the same however many there are. */
export class Catalogue {
  readonly #byId = new Map<string, ProductRecord>();
  readonly #byReference = new Map<string, ProductRecord>();
  readonly #list = new ProductList();
  #nextOrder = 0;
  /** What was printed lately: a product is read far more often than it changes. */
  readonly #prints = new Map<ProductRecord, string>();

  /** Puts a new product in, after all others; the caller has seen that its reference is free. */
  add(fields: Omit<ProductRecord, "order" | "deleted_at" | "generations">): ProductRecord {
    const { id, name, reference, description, sex, images, created_at, updated_at } = fields;
    const order = this.#nextOrder++;
    const deleted_at = null;
    const generations = noGenerations;
    const product: ProductRecord = {
      order,
      id,
      name,
      reference,
      description,
      sex,
      images,
      generations,
      created_at,
      updated_at,
      deleted_at,
    };
    this.#insert(product);
    return product;
  }

  /** The live product of that id. */
  get(id: string): ProductRecord | undefined {
    const product = this.#byId.get(id);
    return product === undefined || product.deleted_at !== null ? undefined : product;
  }

  /** The live product of that (trimmed) reference. */
  withReference(reference: string): ProductRecord | undefined {
    return this.#byReference.get(reference);
  }

  /** Gives a product another name or reference; the caller has seen that the reference is free. */
  rename(product: ProductRecord, name: string, reference: string): void {
    if (name === product.name && reference === product.reference) return;
    this.#byReference.delete(product.reference);
    product.name = name;
    product.reference = reference;
    this.#byReference.set(reference, product);
    this.#list.renamed(product);
  }

  /** Deletes softly: gone from lists and lookups, its reference free again. */
  delete(product: ProductRecord, at: string): void {
    product.deleted_at = at;
    this.#byReference.delete(product.reference);
    this.#list.deleted(product);
  }

  /** The product as `print` puts it, which is asked again only after a change. */
  printed(product: ProductRecord, print: (product: ProductRecord) => string): string {
    const known = this.#prints.get(product);
    if (known !== undefined) return known;
    if (this.#prints.size === keptPrints) this.#prints.clear();
    const text = print(product);
    this.#prints.set(product, text);
    return text;
  }

  /** Puts a finished generation with the product that it was made for. */
  addGeneration(product: ProductRecord, imageId: string): void {
    product.generations = [...product.generations, imageId];
  }

  /** To be told whenever a field or a photo of a product is about to change. */
  changed(product: ProductRecord): void {
    this.#prints.delete(product);
  }

  /** Live products, newest first, from after the one of order `after` on (null: from the newest). */
  newestFirst(after: number | null): Iterable<ProductRecord> {
    return this.#list.newestFirst(after);
  }

  /** Those of them that free-text search finds: every word, in lower case, occurs in name or reference, in any case. */
  withWords(words: readonly string[], after: number | null): Iterable<ProductRecord> {
    return this.#list.withWords(words, after);
  }

  /** Every product, deleted ones too, in order of creation. */
  all(): Iterable<ProductRecord> {
    return this.#byId.values();
  }

  /** Puts back a product of a snapshot; they come in the order of creation. */
  restore(product: ProductRecord): void {
    this.#insert(product);
    this.#nextOrder = product.order + 1;
  }

  #insert(product: ProductRecord): void {
    this.#byId.set(product.id, product);
    if (product.deleted_at !== null) return;
    this.#byReference.set(product.reference, product);
    this.#list.add(product);
  }
}
