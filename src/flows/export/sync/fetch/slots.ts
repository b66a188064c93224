/** A limited number of jobs at once: a job waits for a slot before it starts, and so does what adds it. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #jobs = new Set<Promise<void>>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Starts a job that never fails, as soon as a slot is free; resolves when it was started. */
  async start(job: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const running = job().finally(() => {
      this.#jobs.delete(running);
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    });
    this.#jobs.add(running);
  }

  /** Resolves when every job has ended. */
  async settled(): Promise<void> {
    while (this.#jobs.size > 0) await Promise.all(this.#jobs);
  }
}
