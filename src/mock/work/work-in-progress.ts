import type { Clock } from "../../clock.ts";

/** A caller of `idle`, which waits for `count` pieces of work with a mark above `after`. */
interface Waiting {
  readonly after: number;
  count: number;
  readonly whenIdle: () => void;
}

/** Work in progress that depends on other servers, not on the mock's clock: deliveries and image fetches. */
export class WorkInProgress {
  #lastMark = 0;
  readonly #works = new Set<{ readonly mark: number }>();
  readonly #waiting = new Set<Waiting>();

  /** The last mark in use. */
  get lastMark(): number {
    return this.#lastMark;
  }

  /** A mark for work that starts now; marks are in order of the start. */
  mark(): number {
    return ++this.#lastMark;
  }

  /** Tracks `work` until it ends, and returns it. All callers of `idle` wait for work without a mark. */
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

  /** Resolves to true without work with a mark above `after`, or to false at `latest` of `time`. */
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

  /** Runs later, because finished work may have started more. */
  #announce(): void {
    for (const { count, whenIdle } of [...this.#waiting]) if (count === 0) whenIdle();
  }
}

/** A semaphore with a first-in, first-out queue. */
export class Turnstile {
  readonly #places: number;
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(places: number) {
    this.#places = places;
    this.#free = places;
  }

  get isEmpty(): boolean {
    return this.#free === this.#places;
  }

  get isFull(): boolean {
    return this.#free === 0;
  }

  /** Null if there is room, so that the caller stays synchronous; otherwise resolves when there is. */
  enter(): Promise<void> | null {
    if (this.#free > 0) {
      this.#free--;
      return null;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  leave(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
