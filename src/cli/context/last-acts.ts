import type { Clock } from "../../clock.ts";
import type { InterruptSignal } from "./errors.ts";

/** The time that a second interrupt leaves, in milliseconds. */
const finishMs = 5_000;

interface Act {
  readonly run: (signal: InterruptSignal) => void;
  readonly finishing: Promise<unknown> | undefined;
}

/** The last acts of the program when a second interrupt stops it. */
export class LastActs {
  readonly #acts = new Set<Act>();

  /** See `Context.onStop`. */
  add(run: Act["run"], finishing?: Promise<unknown>): () => void {
    const act = { run, finishing };
    this.#acts.add(act);
    return () => this.#acts.delete(act);
  }

  /** Resolves when what must be done in any case is done, or after 5 s; null if nothing must be done. */
  finished(clock: Clock): Promise<unknown> | null {
    const pending = [...this.#acts].flatMap(({ finishing }) => (finishing === undefined ? [] : [finishing]));
    if (pending.length === 0) return null;
    const deadline = new Promise<void>((resolve) => clock.at(clock.now() + finishMs, resolve));
    return Promise.race([Promise.allSettled(pending), deadline]);
  }

  run(signal: InterruptSignal): void {
    for (const { run } of this.#acts) run(signal);
  }
}
