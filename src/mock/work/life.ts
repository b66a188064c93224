/** Work was canceled because its result is no longer needed. */
export class EndedError extends Error {
  override readonly name = "EndedError";
}

/**
 * A cancellation scope: work continues until `end()`. Work in progress is notified, to close its sockets.
 */
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
