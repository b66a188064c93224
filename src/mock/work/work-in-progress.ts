import type { Clock } from "../../clock.ts";
import { nextTurn } from "./next-turn.ts";

/** Work in progress that depends on other servers, not on the mock's clock: deliveries and image fetches. */
export class WorkInProgress {
  #lastMark = 0;
  /** With the mark of each. */
  readonly #works = new Map<Promise<unknown>, number>();

  get lastMark(): number {
    return this.#lastMark;
  }

  /** A mark for work that starts now; marks are in order of the start. */
  mark(): number {
    return ++this.#lastMark;
  }

  /** Tracks `work` until it ends, and returns it. All callers of `idle` wait for work without a mark. */
  track<T>(work: Promise<T>, mark = Number.POSITIVE_INFINITY): Promise<T> {
    this.#works.set(work, mark);
    const ended = () => this.#works.delete(work);
    work.then(ended, ended);
    return work;
  }

  /** Resolves to true without work with a mark above `after`, or to false at `latest` of `time`. */
  async idle({ after = 0, time, latest = 0 }: { after?: number; time?: Clock; latest?: number } = {}) {
    let isLate = false;
    let cancel: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      cancel = time?.at(latest, () => {
        isLate = true;
        resolve();
      });
    });
    for (;;) {
      const works = [...this.#works].filter(([, mark]) => mark > after).map(([work]) => work);
      if (works.length === 0 || isLate) {
        cancel?.();
        return !isLate;
      }
      await Promise.race([Promise.allSettled(works), late]);
      // Finished work may have started more.
      await nextTurn();
    }
  }
}
