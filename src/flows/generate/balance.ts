// Credits: what is known of the balance, which the service reports only in a 402, if at all.

import { ApiError } from "../../client/api-error.ts";
import { parseJson } from "../../json.ts";
import type { BatchOperation } from "../run/batch.ts";
import type { Run } from "../run/run.ts";

/** How many credits were left, and when that was reported, in Unix milliseconds. */
export interface KnownBalance {
  readonly left: number;
  readonly at: number;
  /** The credits for one image; 0 where that is unknown. */
  readonly price: number;
}

/** The credits that a run lacks. */
export interface Shortage {
  /** The credits left when this command began. */
  readonly before: number;
  readonly left: number;
  /** The credits that all remaining images cost more than that. */
  readonly short: number;
}

/** Whether the service has not queued a request because it is not paid for (Status codes, 402). */
export const isUnpaid = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 402;

/** The credits that so many images cost more than is left. */
export const shortBy = (images: number, { left, price }: Pick<KnownBalance, "left" | "price">): number =>
  Math.max(0, Math.ceil(images * price - left));

/** Follows the balance through the requests of a run; the profile remembers it for the next question. */
export class Balance {
  readonly #run: Run;
  #left: number | null = null;
  /** The credits for one image: the specification names no price. */
  #price = 0;
  #paid = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  /** The balance that an earlier command has learned, if the service has queued nothing since. */
  get known(): KnownBalance | null {
    const { state, service } = this.#run;
    const value = state.marks.get(service.baseUrl, this.#mark);
    return value === null ? null : (parseJson(value) as KnownBalance);
  }

  /** The operation, with what its responses reveal kept. `imagesIn` counts the images of a body. */
  watching(operation: BatchOperation, imagesIn: (body: Uint8Array) => number): BatchOperation {
    return {
      ...operation,
      send: async (body, options) => {
        try {
          const receipt = await operation.send(body, options);
          this.#accepted(receipt.jobs.length);
          return receipt;
        } catch (error) {
          // An error that cuts off other requests also rejects these, and is about its own images.
          if (isUnpaid(error) && error !== options.signal?.reason) this.#read(error, imagesIn(body));
          throw error;
        }
      },
    };
  }

  /** The credits missing for so many images; null if the service did not report them. */
  shortage(images: number): Shortage | null {
    if (this.#left === null) return null;
    const short = shortBy(images, { left: this.#left, price: this.#price });
    return { before: this.#left + this.#paid * this.#price, left: this.#left, short };
  }

  #read({ credits }: ApiError, images: number): void {
    if (credits === null || images === 0) return;
    this.#left = credits.left;
    this.#price = credits.needed / images;
    this.#remember();
  }

  /** Requests that were in flight with one that was not paid for may still be accepted. */
  #accepted(images: number): void {
    this.#paid += images;
    if (this.#left !== null) this.#left = Math.max(0, this.#left - images * this.#price);
    this.#remember();
  }

  #remember(): void {
    const { state, service, clock } = this.#run;
    if (this.#left === null) state.marks.remove(service.baseUrl, this.#mark);
    else {
      const value: KnownBalance = { left: this.#left, at: clock.now(), price: this.#price };
      state.marks.set(service.baseUrl, this.#mark, JSON.stringify(value));
    }
  }

  get #mark(): string {
    return `credits ${this.#run.account}`;
  }
}
