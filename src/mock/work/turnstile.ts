/** Lets so many in at once; the others wait in line. */
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

  /** Null when there is room at once, so that what needs no waiting stays synchronous; else resolves when there is. */
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
