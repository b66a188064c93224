import { referenceOfProduct } from "../../contract/import-row.ts";
import type { Product } from "../../contract/resources/products.ts";
import { lookOf } from "../../text.ts";
import type { Run } from "../run/run.ts";
import { unpackProduct } from "./known-product.ts";

/** A product of another reference that looks the same. */
export interface Lookalike {
  readonly id: string;
  readonly reference: string;
}

/** The most odd references that are kept: a catalogue has few. */
const mostOdd = 100_000;

/** Products whose references look like those of others, among those that were read. */
export class Lookalikes {
  /** Products whose references look like other texts, by these. */
  readonly #odd = new Map<string, Lookalike>();
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  of(reference: string): Lookalike | null {
    const look = lookOf(reference);
    const odd = this.#odd.get(look);
    if (odd !== undefined && odd.reference !== reference) return odd;
    const text = look === reference ? null : this.#run.state.readProducts.of(look);
    return typeof text === "string" ? { id: unpackProduct(text).id, reference: look } : null;
  }

  /** Keeps the reference of a product that was read, if it looks like another text. */
  readonly note = (product: Product): void => {
    const reference = referenceOfProduct(product);
    const look = reference === null ? null : lookOf(reference);
    if (reference === null || look === null || look === reference || this.#odd.size >= mostOdd) return;
    this.#odd.set(look, { id: product.id, reference });
  };

  forget(): void {
    this.#odd.clear();
  }
}
