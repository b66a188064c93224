/** Something was stopped, as nobody is left who it was for. */
export class EndedError extends Error {
  override readonly name = "EndedError";
}

/** How long something may go on: until its end is declared. Work under way is told, so that it can let go of its sockets. */
export class Life {
  #ended = false;
  readonly #onEnd = new Set<() => void>();

  get ended(): boolean {
    return this.#ended;
  }

  /** Throws EndedError once it has ended. */
  mustGoOn(): void {
    if (this.#ended) throw new EndedError();
  }

  /** Calls `run` at the end, or at once after it; returns how to take that back. */
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
