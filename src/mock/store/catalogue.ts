import { firstWhere, ProductList } from "./product-list.ts";
import type { ExportedProduct, ProductRecord } from "./records.ts";

/** Shared by the many products without generated images. */
const noGenerations: readonly string[] = [];

const keptPrints = 1_000;

export class Catalogue {
  readonly #byId = new Map<string, ProductRecord>();
  readonly #byReference = new Map<string, ProductRecord>();
  readonly #list = new ProductList();
  readonly #changes = new ChangeList();
  #nextOrder = 0;
  /** Number of live products. */
  size = 0;
  revision = 0;
  /** JSON of recently read products: reads are far more frequent than changes. */
  readonly #prints = new Map<ProductRecord, string>();
  /** Frozen copies of unchanged products, shared by exports. */
  readonly #frozen = new WeakMap<ProductRecord, ExportedProduct>();

  /** Adds a product as the newest; the caller has checked that the reference is free. */
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

  /** The live product with that ID. */
  get(id: string): ProductRecord | undefined {
    const product = this.#byId.get(id);
    return product === undefined || product.deleted_at !== null ? undefined : product;
  }

  /** Whether there is or was a product with that ID. */
  knows(id: string): boolean {
    return this.#byId.has(id);
  }

  /** The live product with that (trimmed) reference. */
  withReference(reference: string): ProductRecord | undefined {
    return this.#byReference.get(reference);
  }

  /** Changes the name or reference of a product; the caller has checked that the reference is free. */
  rename(product: ProductRecord, name: string, reference: string | null): void {
    if (name === product.name && reference === product.reference) return;
    if (product.reference !== null) this.#byReference.delete(product.reference);
    product.name = name;
    product.reference = reference;
    if (reference !== null) this.#byReference.set(reference, product);
    this.#list.renamed(product);
  }

  /** Soft delete: the product is removed from lists and lookups, and its reference is free again. */
  delete(product: ProductRecord, at: string): void {
    product.deleted_at = at;
    if (product.reference !== null) this.#byReference.delete(product.reference);
    this.#list.deleted(product);
    this.size--;
    this.revision++;
    this.#changes.changed(product, at);
  }

  /** The cached text of `print`; `print` runs again only after a change. */
  printed(product: ProductRecord, print: (product: ProductRecord) => string): string {
    const known = this.#prints.get(product);
    if (known !== undefined) return known;
    if (this.#prints.size === keptPrints) this.#prints.clear();
    const text = print(product);
    this.#prints.set(product, text);
    return text;
  }

  /** The frozen copy of a product; `freeze` runs again only after a change. */
  frozen(product: ProductRecord, freeze: (product: ProductRecord) => ExportedProduct): ExportedProduct {
    const known = this.#frozen.get(product) ?? freeze(product);
    this.#frozen.set(product, known);
    return known;
  }

  /** Adds a generated image, finished at `at`, to its product. */
  addGeneration(product: ProductRecord, imageId: string, at: string): void {
    this.changed(product, at);
    product.generations = [...product.generations, imageId];
  }

  /** Must be called before a product changes; `at` is null for changes that a delta does not include. */
  changed(product: ProductRecord, at: string | null): void {
    this.#prints.delete(product);
    this.#frozen.delete(product);
    this.revision++;
    if (at !== null) this.#changes.changed(product, at);
  }

  /** Live products, newest first, starting after the one with order `after` (null: from the newest). */
  newestFirst(after: number | null): Iterable<ProductRecord> {
    return this.#list.newestFirst(after);
  }

  /** Live products that match a search: every word (lower case) occurs in name or reference, in any case. */
  withWords(words: readonly string[], after: number | null): Iterable<ProductRecord> {
    return this.#list.withWords(words, after);
  }

  /** Products changed or deleted at or after `since` (milliseconds), in the order of `newestFirst`. */
  changedSince(since: number, after: number | null): Iterable<ProductRecord> {
    return this.#changes.since(since, after);
  }

  /** Every product, including deleted ones, in order of creation. */
  all(): Iterable<ProductRecord> {
    return this.#byId.values();
  }

  /** Restores a product of a snapshot; must be called in order of creation. */
  restore(product: ProductRecord): void {
    this.#insert(product);
    this.#nextOrder = product.order + 1;
  }

  #insert(product: ProductRecord): void {
    this.#byId.set(product.id, product);
    this.#changes.add(product);
    this.revision++;
    if (product.deleted_at !== null) return;
    this.size++;
    if (product.reference !== null) this.#byReference.set(product.reference, product);
    this.#list.add(product);
  }
}

/**
 * Every product, including deleted ones, in order of creation, with the time of its last change. That order
 * never changes, so paging misses nothing when products change in between.
 */
export class ChangeList {
  readonly #products: ProductRecord[] = [];
  /** Milliseconds since the epoch, by product: a scan of a million numbers takes a few milliseconds. */
  readonly #times: number[] = [];

  /** Adds a product; its order must be the highest. */
  add(product: ProductRecord): void {
    this.#products.push(product);
    this.#times.push(Date.parse(product.changed_at));
  }

  /** Records a change, unless it is earlier than the recorded one, so that no delta misses the product. */
  changed(product: ProductRecord, at: string): void {
    // True for every photo of a product that is being created.
    if (at === product.changed_at) return;
    const place = this.#firstFrom(product.order);
    const time = Date.parse(at);
    if (time <= this.#times[place]!) return;
    product.changed_at = at;
    this.#times[place] = time;
  }

  /** Products changed at or after `since` (ms), newest first, from after the one with order `after`. */
  *since(since: number, after: number | null): Generator<ProductRecord> {
    const end = after === null ? this.#products.length : this.#firstFrom(after);
    for (let place = end - 1; place >= 0; place--) {
      if (this.#times[place]! >= since) yield this.#products[place]!;
    }
  }

  /** The index of the first product with that order or a higher one. */
  #firstFrom(order: number): number {
    return firstWhere(this.#products.length, (place) => this.#products[place]!.order >= order);
  }
}
