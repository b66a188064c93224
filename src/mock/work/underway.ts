import type { Clock } from "../../clock.ts";

/** Somebody who waits for the work that has a mark above `after`, of which there is `count`. */
interface Waiting {
  readonly after: number;
  count: number;
  readonly whenIdle: () => void;
}

/** Work that waits for something outside, which no clock of the mock's can hurry: deliveries and images on their way. */
export class Underway {
  #lastMark = 0;
  readonly #works = new Set<{ readonly mark: number }>();
  readonly #waiting = new Set<Waiting>();

  /** The mark of the last work that took one. */
  get lastMark(): number {
    return this.#lastMark;
  }

  /** A mark for work that begins now: marks say in which order things began. */
  mark(): number {
    return ++this.#lastMark;
  }

  /** Counts `work` until it ends; it gives back the same promise. What has no mark of its own is waited for by everybody. */
  track<T>(work: Promise<T>, mark = Number.POSITIVE_INFINITY): Promise<T> {
    const entry = { mark };
    this.#works.add(entry);
    for (const one of this.#waiting) if (mark > one.after) one.count++;
    const ended = () => {
      this.#works.delete(entry);
      for (const one of this.#waiting) {
        if (mark > one.after && --one.count === 0) setImmediate(() => this.#announce());
      }
    };
    work.then(ended, ended);
    return work;
  }

  /**
   * Resolves when nothing that has a mark above `after` is under way, to true; to false when that takes longer than until
   * `latest` of `time`.
   */
  idle({
    after = 0,
    time,
    latest = 0,
  }: {
    after?: number;
    time?: Clock;
    latest?: number;
  } = {}): Promise<boolean> {
    let count = 0;
    for (const { mark } of this.#works) if (mark > after) count++;
    if (count === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (isIdle: boolean) => {
        cancel?.();
        this.#waiting.delete(waiting);
        resolve(isIdle);
      };
      const waiting: Waiting = { after, count, whenIdle: () => done(true) };
      this.#waiting.add(waiting);
      const cancel = time?.at(latest, () => done(false));
    });
  }

  /** One thing that ended may have begun another. */
  #announce(): void {
    for (const { count, whenIdle } of [...this.#waiting]) if (count === 0) whenIdle();
  }
}
