import { ChangeList } from "./change-list.ts";
import { ProductList } from "./product-list.ts";
import type { ExportedProduct, ProductRecord } from "./product-record.ts";

/** Shared by the many products that have none. */
const noGenerations: readonly string[] = [];

/** How many products are kept printed. */
const keptPrints = 1_000;

/** The products of one organization. Making, finding, changing and deleting one cost the same however many there are. */
export class Catalogue {
  readonly #byId = new Map<string, ProductRecord>();
  readonly #byReference = new Map<string, ProductRecord>();
  readonly #list = new ProductList();
  readonly #changes = new ChangeList();
  #nextOrder = 0;
  /** What was printed lately: a product is read far more often than it changes. */
  readonly #prints = new Map<ProductRecord, string>();
  /** What exports have frozen of products that have not changed since: many of them may share it. */
  readonly #frozen = new WeakMap<ProductRecord, ExportedProduct>();

  /** Puts a new product in, after all others; the caller has seen that its reference is free. */
  add(fields: Omit<ProductRecord, "order" | "changed_at" | "deleted_at" | "generations">): ProductRecord {
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
      changed_at: created_at,
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
    this.#changes.changed(product, at);
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

  /** The product as an export freezes it; `freeze` is asked again only after a change. */
  frozen(product: ProductRecord, freeze: (product: ProductRecord) => ExportedProduct): ExportedProduct {
    const known = this.#frozen.get(product) ?? freeze(product);
    this.#frozen.set(product, known);
    return known;
  }

  /** Puts a generation that finished at `at` with the product that it was made for. */
  addGeneration(product: ProductRecord, imageId: string, at: string): void {
    this.changed(product, at);
    product.generations = [...product.generations, imageId];
  }

  /** To be told whenever a product is about to change; `at` is null for a change that no delta tells of. */
  changed(product: ProductRecord, at: string | null): void {
    this.#prints.delete(product);
    this.#frozen.delete(product);
    if (at !== null) this.#changes.changed(product, at);
  }

  /** Live products, newest first, from after the one of order `after` on (null: from the newest). */
  newestFirst(after: number | null): Iterable<ProductRecord> {
    return this.#list.newestFirst(after);
  }

  /** Those of them that free-text search finds: every word, in lower case, occurs in name or reference, in any case. */
  withWords(words: readonly string[], after: number | null): Iterable<ProductRecord> {
    return this.#list.withWords(words, after);
  }

  /** Products that changed at or after `since` (milliseconds), deleted ones too, in the order of `newestFirst`. */
  changedSince(since: number, after: number | null): Iterable<ProductRecord> {
    return this.#changes.since(since, after);
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
    this.#changes.add(product);
    if (product.deleted_at !== null) return;
    this.#byReference.set(product.reference, product);
    this.#list.add(product);
  }
}
