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
