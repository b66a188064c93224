import { parseJson } from "../../../json.ts";
import { type LeftOutCount, type ReviewFilter, toLeftOut } from "../reviews.ts";
import type { MirrorFiles } from "./mirror-state.ts";
import type { MirrorStore } from "./mirror-store.ts";

type Counts = readonly [rejected: number, notReviewed: number];

/** Left-out images by product: a delta lists changed products only, and a summary counts all. */
export class LeftOutImages {
  readonly #byProduct: Map<string, Counts>;

  private constructor(byProduct: Map<string, Counts>) {
    this.#byProduct = byProduct;
  }

  /** The counts that the last run has written; null if it has left out none, or is not known. */
  static async read(store: MirrorStore, { leftOut }: MirrorFiles): Promise<LeftOutImages | null> {
    const content = await store.read(leftOut);
    if (content === null) return null;
    try {
      return new LeftOutImages(new Map(Object.entries(parseJson(String(content)) as Record<string, Counts>)));
    } catch {
      return null;
    }
  }

  static none(): LeftOutImages {
    return new LeftOutImages(new Map());
  }

  set(productId: string, { rejected, not_reviewed = 0 }: LeftOutCount): void {
    if (rejected + not_reviewed === 0) this.#byProduct.delete(productId);
    else this.#byProduct.set(productId, [rejected, not_reviewed]);
  }

  sum(filter: ReviewFilter | null): LeftOutCount | null {
    const sum = { rejected: 0, not_reviewed: 0 };
    for (const [rejected, notReviewed] of this.#byProduct.values()) {
      sum.rejected += rejected;
      sum.not_reviewed += notReviewed;
    }
    return toLeftOut(filter, sum);
  }

  async write(store: MirrorStore, { leftOut }: MirrorFiles): Promise<void> {
    await store.put(leftOut, [Buffer.from(JSON.stringify(Object.fromEntries(this.#byProduct)))]);
  }
}
