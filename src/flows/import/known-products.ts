// The products of a file, as they were read and as the ledger knows them. Reads what is missing.

import { operations } from "../../contract/client-operations.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import type { SeenProduct } from "../../state/ledger.ts";
import { lookOf } from "../../text.ts";
import { fewProducts, productById, productsBy } from "../catalogue/lookups.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { fromTheFuture, isBelievable, readServiceTime, shownTime } from "../run/clocks.ts";
import { freshMs } from "../run/fresh-write.ts";
import type { Run } from "../run/run.ts";
import { mayNotRead } from "../service-errors.ts";
import {
  fieldsOf,
  KnownProduct,
  packProduct,
  type ReadProduct,
  toReadProduct,
  unpackProduct,
} from "./known-product.ts";
import { type Lookalike, Lookalikes } from "./lookalikes.ts";

/** Rows whose products are read one by one as they wait; of more, what changed is read first. */
const mostReadEach = 10;

/** Changed products up to which it is read what others changed while rows wait: 50 requests. */
const mostChanged = 10_000;

/** Overlap with the previous delta in milliseconds: a change may show up late (Exports, `since`). */
const deltaMarginMs = 5 * 60_000;

/** References that are looked up one by one or by pages; for more, the complete catalogue is read. */
const mostReferences = 20_000;

const productsAtOnce = 1_000;

type Report = (event: ProgressEvent) => void;

/** Products to read: a file may name millions, so only references that are looked up are kept. */
export class UnreadProducts {
  readonly references: string[] = [];
  /** IDs of products that may have another reference now than their rows. */
  readonly ids: string[] = [];
  count = 0;

  add(reference: string, id: string | null): void {
    this.count++;
    if (this.references.length < mostReferences) this.references.push(reference);
    if (id !== null) this.ids.push(id);
  }
}

export class KnownProducts {
  readonly #run: Run;
  readonly #onProgress: Report;
  /** Every product was read: a reference without one has none. */
  #isComplete = false;
  readonly #asked = new Set<string>();
  readonly #lookalikes: Lookalikes;
  #sawNewest = false;
  /** The ledger has what others changed since the last import. */
  #isCurrent = false;
  #readAt: number | null = null;
  /** Reading what others change takes too many requests. */
  #isTooMuch = false;
  #looking: Promise<ReadonlySet<string> | "unreadable"> | null = null;

  constructor(run: Run, onProgress: Report) {
    this.#run = run;
    this.#onProgress = onProgress;
    this.#lookalikes = new Lookalikes(run);
    // A process may import several files, minutes apart.
    run.state.readProducts.clear();
  }

  /** When the first of them was read; null if none was. */
  get readAt(): number | null {
    return this.#readAt;
  }

  /** Whether so much time has passed that others may have changed them. */
  get isStale(): boolean {
    return this.#readAt !== null && this.#run.clock.now() - this.#readAt > freshMs;
  }

  /** Forgets all, to read them again. */
  forget(): void {
    this.#run.state.readProducts.clear();
    this.#readAt = null;
    this.#isComplete = false;
    this.#isCurrent = false;
    this.#lookalikes.forget();
    this.#sawNewest = false;
    this.#asked.clear();
  }

  /** The known product of a reference; null if there is none, undefined if it must be read. */
  of(reference: string): KnownProduct | null | undefined {
    const { state, account } = this.#run;
    const text = state.readProducts.of(reference);
    if (text === null) return null;
    if (text !== undefined) return this.#known(text);
    if (this.#isComplete) return null;
    const entry = this.#isCurrent ? state.ledger.get(account, reference) : null;
    return entry === null ? undefined : new KnownProduct(entry.productId, null, entry);
  }

  /** A product that was read whose reference looks like one without a product; null if there is none. */
  lookalike(reference: string): Lookalike | null {
    return this.#lookalikes.of(reference);
  }

  isAsked(productId: string): boolean {
    return this.#asked.has(productId) || this.#isComplete;
  }

  /** A product that was read, with its reference now; null if it was not read, does not exist or has none. */
  byId(productId: string): { readonly reference: string; readonly known: KnownProduct } | null {
    const found = this.#run.state.readProducts.byId(productId);
    return found && { reference: found.reference, known: this.#known(found.text) };
  }

  #known(text: string): KnownProduct {
    const { state, account } = this.#run;
    const read = unpackProduct(text);
    return new KnownProduct(read.id, read, state.ledger.ofProduct(account, read.id));
  }

  /** Reads products, or the complete catalogue if that takes fewer requests. */
  async readUnread({ count, references, ids }: UnreadProducts): Promise<void> {
    if (count > mostReferences) return this.#readAll();
    await this.#read(references, ids);
    // Of more, the list was read.
    const isNew = (reference: string) => this.of(reference) === null;
    if (references.length <= fewProducts && references.some(isNew)) await this.readNewest();
  }

  /** Reads these products, and those of other references that have these IDs: others may have renamed one. */
  async #read(references: readonly string[], ids: readonly string[] = []): Promise<void> {
    this.#readAt ??= this.#run.clock.now();
    const { state, account } = this.#run;
    // Before the ledger learns that one has another reference now.
    const inLedger = new Map<string, string>();
    for (const reference of references) {
      state.readProducts.forget(reference);
      const entry = state.ledger.get(account, reference);
      if (entry !== null) inLedger.set(reference, entry.productId);
    }
    for (const id of [...ids, ...inLedger.values()]) this.#asked.add(id);
    // Asked by ID, a product takes one read; the search of a reference may take more.
    const unknown = references.filter((reference) => !inLedger.has(reference));
    const found = new Set<string>();
    await this.#lookUp({ ids: [...ids, ...inLedger.values()], references: unknown }, found);
    const missing = [...inLedger.keys()].filter((reference) => !found.has(reference));
    if (missing.length > 0) await this.#lookUp({ ids: [], references: missing }, found);
    const looks = references.flatMap((reference) =>
      found.has(reference) || lookOf(reference) === reference ? [] : [lookOf(reference)],
    );
    if (looks.length > 0) await this.#lookUp({ ids: [], references: looks }, found);
    for (const reference of references) if (!found.has(reference)) state.readProducts.lack(reference);
    const gone = [...inLedger.values()].filter((id) => state.readProducts.byId(id) === null);
    state.ledger.write(account, { gone });
  }

  /** Reads the newest products, once: a search misses references that only look the same. */
  async readNewest(): Promise<void> {
    if (this.#sawNewest) return;
    this.#sawNewest = true;
    const { client, signal } = this.#run;
    let left = limits.page.max;
    for await (const product of client.paginate(operations.products.list, { limit: left }, { signal })) {
      this.#lookalikes.note(product);
      if (--left === 0) return;
    }
  }

  async #lookUp(wanted: { ids: Iterable<string>; references: readonly string[] }, found: Set<string>) {
    const products: Product[] = [];
    await productsBy(wanted, this.#run, {
      onProgress: (done) => this.#report(done),
      onFound: (product) => {
        products.push(product);
        const reference = referenceOfProduct(product);
        if (reference !== null) found.add(reference);
      },
      onOther: this.#lookalikes.note,
    });
    this.#addRead(products);
  }

  async #readAll(): Promise<void> {
    this.#readAt ??= this.#run.clock.now();
    const { client, signal } = this.#run;
    let page: Product[] = [];
    let seen = 0;
    const input = { limit: limits.page.max };
    for await (const product of client.paginate(operations.products.list, input, { signal, isAhead: true })) {
      page.push(product);
      this.#report(++seen);
      if (page.length < productsAtOnce) continue;
      this.#addRead(page);
      page = [];
    }
    this.#addRead(page);
    this.#isComplete = true;
  }

  /** Reads a product again, as a write to it has waited; null if it is gone. */
  async again(productId: string): Promise<ReadProduct | null> {
    const product = await productById(productId, this.#run);
    const { state, account } = this.#run;
    if (product !== null) {
      this.#addRead([product]);
      return toReadProduct(product);
    }
    const old = state.readProducts.byId(productId);
    if (old !== null) state.readProducts.lack(old.reference);
    state.ledger.write(account, { gone: [productId] });
    return null;
  }

  /** Keeps products as they are at the service; the ledger updates those that it knows. */
  #addRead(products: readonly Product[]): void {
    const { state, account } = this.#run;
    const seen: SeenProduct[] = [];
    for (const product of products) {
      this.#lookalikes.note(product);
      const reference = referenceOfProduct(product);
      const read = toReadProduct(product);
      const fields = fieldsOf(read).bytes;
      seen.push({ productId: read.id, fields, ...(reference !== null && { reference }) });
      // The newest of several with one reference comes first.
      if (reference === null || namesAnother(state.readProducts.of(reference), read.id)) continue;
      state.readProducts.keep({ id: read.id, reference, text: packProduct(read) });
    }
    state.ledger.write(account, { seen });
  }

  /**
   * Brings the ledger up to date by a delta (GET /v1/exports?since=), or if that is long by the complete
   * catalogue, and reads the products that others changed since the last import.
   */
  async readChanges(onNote: (sentence: string) => void): Promise<void> {
    const { client, state, account } = this.#run;
    const { ledger } = state;
    this.#readAt ??= this.#run.clock.now();
    await readServiceTime(this.#run);
    // Before the first page: later changes are in the next delta.
    const now = client.serviceNow() === null ? null : client.earliest();
    const last = ledger.lookedAt(account) ?? 0;
    const isWrong = !isBelievable(last, client);
    if (isWrong) onNote(fromTheFuture(shownTime(last)));
    const { changed, gone } = await this.#changesSince(isWrong ? 0 : last, mostReferences);
    ledger.write(account, { gone });
    if (changed === null) await this.#readAll();
    else await this.#read([...changed]);
    this.#isCurrent = true;
    if (now !== null) ledger.setLookedAt(account, now);
  }

  /** References and deleted IDs of changed products; `changed` is null for more than `most`. */
  async #changesSince(
    since: number,
    most: number,
  ): Promise<{ changed: ReadonlySet<string> | null; gone: readonly string[] }> {
    const { client, signal, state, account } = this.#run;
    const changed = new Set<string>();
    const gone: string[] = [];
    let seen = 0;
    const input = { since: new Date(Math.max(0, since - deltaMarginMs)).toISOString(), role: "source" };
    for await (const { product } of client.paginate(operations.exports.list, input, { signal })) {
      this.#report(++seen);
      const isGone = product.deleted_at !== null;
      if (isGone) gone.push(product.id);
      const now = isGone ? null : referenceOfProduct(product);
      const known = state.ledger.ofProduct(account, product.id)?.reference;
      const read = state.readProducts.byId(product.id)?.reference;
      for (const reference of [now, known, read]) if (reference != null) changed.add(reference);
      if (changed.size > most) return { changed: null, gone };
    }
    return { changed, gone };
  }

  /**
   * Reads products of waiting rows again where others may have changed them. Returns the changed ones by
   * reference as read before (null: there was none); none if it takes too many reads.
   */
  async overtaken(references: readonly string[]): Promise<ReadonlyMap<string, ReadProduct | null>> {
    const { readProducts } = this.#run.state;
    const suspects = await this.#suspects(references);
    const before = suspects.flatMap((reference) => {
      const text = readProducts.of(reference);
      return text === undefined ? [] : [{ reference, text }];
    });
    if (before.length > 0) await this.#read(before.map(({ reference }) => reference));
    const changed = before.filter(({ reference, text }) => text !== readProducts.of(reference));
    return new Map(
      changed.map(({ reference, text }) => [reference, text === null ? null : unpackProduct(text)]),
    );
  }

  /** Those of some references whose products others may have changed since the first were read. */
  async #suspects(references: readonly string[]): Promise<readonly string[]> {
    if (references.length <= mostReadEach) return references;
    // Batches that wait together look together.
    this.#looking ??= this.#changesOfOthers().finally(() => {
      this.#looking = null;
    });
    const changed = await this.#looking;
    if (changed === "unreadable") return references;
    return references.filter((reference) => changed.has(reference));
  }

  /** References of products changed since the first was read; none if it takes too many requests. */
  async #changesOfOthers(): Promise<ReadonlySet<string> | "unreadable"> {
    const { client, clock } = this.#run;
    if (this.#isTooMuch) return new Set();
    try {
      const since = client.earliest() - (clock.now() - this.#readAt!);
      const { changed } = await this.#changesSince(since, mostChanged);
      this.#isTooMuch = changed === null;
      return changed ?? new Set();
    } catch (error) {
      // A key without the scope exports:read.
      if (!mayNotRead(error)) throw error;
      return "unreadable";
    }
  }

  #report(done: number): void {
    this.#onProgress({ step: "checking the service for changes", done, total: null });
  }
}

const namesAnother = (text: string | null | undefined, id: string): boolean =>
  typeof text === "string" && unpackProduct(text).id !== id;
