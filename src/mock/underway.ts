import type { Clock } from "../clock.ts";

/** Work that waits for something outside, which no clock of the mock's can hurry: deliveries and images on their way. */
export class Underway {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** Counts `work` until it ends; it gives back the same promise. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#count++;
    const ended = () => {
      this.#count--;
      if (this.#count === 0) setImmediate(() => this.#announce());
    };
    work.then(ended, ended);
    return work;
  }

  /** Resolves when nothing is under way, to true; to false when that takes longer than until `latest` of `time`. */
  idle(time?: Clock, latest = 0): Promise<boolean> {
    if (this.#count === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (isIdle: boolean) => {
        cancel?.();
        this.#waiting.delete(whenIdle);
        resolve(isIdle);
      };
      const whenIdle = () => done(true);
      this.#waiting.add(whenIdle);
      const cancel = time?.at(latest, () => done(false));
    });
  }

  /** One thing that ended may have begun another. */
  #announce(): void {
    if (this.#count > 0) return;
    for (const whenIdle of [...this.#waiting]) whenIdle();
  }
}
