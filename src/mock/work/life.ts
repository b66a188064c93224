/** Work was canceled because its result is no longer needed. */
export class EndedError extends Error {
  override readonly name = "EndedError";
}

/** A cancellation scope: work goes on until `end()`, which notifies it to close its sockets. */
export class Life {
  #ended = false;
  readonly #onEnd = new Set<() => void>();

  get ended(): boolean {
    return this.#ended;
  }

  /** Throws EndedError after the end. */
  mustGoOn(): void {
    if (this.#ended) throw new EndedError();
  }

  /** Calls `run` at the end, or immediately if already ended; returns a function that cancels this. */
  onEnd(run: () => void): () => void {
    if (this.#ended) run();
    else this.#onEnd.add(run);
    return () => this.#onEnd.delete(run);
  }

  end(): void {
    this.#ended = true;
    for (const run of [...this.#onEnd]) run();
    this.#onEnd.clear();
  }
}

/** Work shared by several readers; it continues while at least one is waiting. */
export class SharedWork<Result> {
  readonly #life = new Life();
  readonly #result: Promise<Result>;
  #waiting = 0;
  #isLost = false;

  /** `begin` must reject when the given life ends. */
  constructor(begin: (life: Life) => Promise<Result>) {
    this.#result = begin(this.#life);
    this.#result.catch(() => {
      this.#isLost = true;
    });
  }

  /** Whether the work failed or was canceled. */
  get isLost(): boolean {
    return this.#isLost || this.#life.ended;
  }

  /** The result; rejects with EndedError when `life` ends. */
  resultFor(life: Life): Promise<Result> {
    this.#waiting++;
    return new Promise((resolve, reject) => {
      const stay = life.onEnd(() => {
        if (--this.#waiting === 0) this.#life.end();
        reject(new EndedError());
      });
      this.#result.then(resolve, reject).finally(stay);
    });
  }
}
