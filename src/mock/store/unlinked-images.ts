import type { Catalogue } from "./catalogue.ts";
import type { ExportRecord, ImageRecord } from "./records.ts";

/** Calls a function at a time of the clock, in milliseconds since the epoch, with the current time. */
export type Wake = (time: number, run: (now: number) => void) => void;

/** The specification says only "later". */
const keptMs = 7 * 86_400_000;
/** Images are cleaned up together, because each time all products are read. */
const betweenMs = 3_600_000;

interface Holders {
  readonly images: Map<string, ImageRecord>;
  readonly products: Catalogue;
  readonly exports: ReadonlyMap<string, ExportRecord>;
}

/**
 * Uploads and detached photos. "Images linked to no product or task are cleaned up automatically later"
 * (Products, detach).
 */
export class UnlinkedImages {
  readonly #holders: Holders;
  readonly #wake: Wake;
  /** When each image lost its link, oldest first. */
  readonly #since = new Map<string, number>();
  #isAwake = false;

  constructor(holders: Holders, wake: Wake) {
    this.#holders = holders;
    this.#wake = wake;
  }

  get size(): number {
    return this.#since.size;
  }

  /** Adds an image that was uploaded or lost a link. Another product may still have it. */
  add(imageId: string, now: number): void {
    this.#since.delete(imageId);
    this.#since.set(imageId, now);
    if (!this.#isAwake) this.#wakeAt(now + keptMs);
  }

  /** Removes an image that a product has now. */
  delete(imageId: string): void {
    this.#since.delete(imageId);
  }

  /** For the snapshot. */
  state(): { image_id: string; since: number }[] {
    return [...this.#since].map(([image_id, since]) => ({ image_id, since }));
  }

  #wakeAt(time: number): void {
    this.#isAwake = true;
    this.#wake(time, (now) => this.#cleanUp(now));
  }

  #cleanUp(now: number): void {
    const due = new Set<string>();
    for (const [id, since] of this.#since) {
      if (since + keptMs > now) break;
      due.add(id);
      this.#since.delete(id);
    }
    this.#keepLinked(due);
    for (const id of due) this.#holders.images.delete(id);
    const [next] = this.#since.values();
    if (next === undefined) this.#isAwake = false;
    else this.#wakeAt(Math.max(next + keptMs, now + betweenMs));
  }

  /** Takes out images of products and tasks, and those that a ZIP of an earlier export still reads. */
  #keepLinked(due: Set<string>): void {
    if (due.size === 0) return;
    const { images, products, exports } = this.#holders;
    for (const id of due) if ((images.get(id)?.generation ?? null) !== null) due.delete(id);
    const keep = (held: Iterable<{ readonly images: readonly { readonly id: string }[] }>) => {
      for (const product of held) for (const { id } of product.images) due.delete(id);
    };
    keep(products.newestFirst(null));
    for (const job of exports.values()) keep(job.products);
  }
}
