import type { Clock } from "../../clock.ts";

/** How long an interrupt waits for calls on their way: a call that is cut off leaves its outcome unknown. */
const graceMs = 3_000;

/** One call from its start to its end. */
export class CallUnderWay {
  readonly #cut = new AbortController();
  /** Until it is told otherwise, what is not known counts as done. */
  #inDoubt = true;
  #leaving: { reason: unknown } | null = null;
  /** Ends the call. */
  readonly signal: AbortSignal = this.#cut.signal;

  /** Whether the service may have taken the call up. */
  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  /** Whether it left the line, so that the service never saw it, or did nothing with it. */
  get hasLeft(): boolean {
    return this.#leaving !== null && !this.#inDoubt;
  }

  readonly onDoubt = (inDoubt: boolean): void => {
    this.#inDoubt = inDoubt;
    this.#leave();
  };

  /** Has it leave the line as soon as it is certain that the service did nothing with it. */
  leave(reason: unknown): void {
    this.#leaving ??= { reason };
    this.#leave();
  }

  /** Ends it, whatever the service may have done. */
  cut(reason: unknown): void {
    this.#cut.abort(reason);
  }

  #leave(): void {
    if (this.#leaving !== null && !this.#inDoubt) this.#cut.abort(this.#leaving.reason);
  }
}

/**
 * The calls that were begun and have not ended. When the sending stops, those that only wait in a line for their turn must
 * not go out any more; those that may have gone out are awaited, as their answer says what became of their rows.
 */
export class CallsUnderWay {
  readonly #calls = new Set<CallUnderWay>();

  begin(): CallUnderWay {
    const call = new CallUnderWay();
    this.#calls.add(call);
    return call;
  }

  end(call: CallUnderWay): void {
    this.#calls.delete(call);
  }

  /** The sending is over. */
  leave(reason: unknown): void {
    for (const call of this.#calls) call.leave(reason);
  }

  /** Follows an interrupt: what is on its way has the time of grace. Gives how to stop following. */
  follow(clock: Clock, signal: AbortSignal | undefined): () => void {
    let cancel = () => {};
    const onInterrupt = () => {
      this.leave(signal?.reason);
      cancel = clock.at(clock.now() + graceMs, () => {
        for (const call of this.#calls) call.cut(signal?.reason);
      });
    };
    signal?.addEventListener("abort", onInterrupt, { once: true });
    return () => {
      signal?.removeEventListener("abort", onInterrupt);
      cancel();
    };
  }
}
