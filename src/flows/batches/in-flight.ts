import type { Clock } from "../../clock.ts";

/** How long an interrupt waits for requests in flight: one that is cut off leaves its outcome unknown. */
const graceMs = 3_000;

/** One request from its start to its end. */
export class RequestInFlight {
  readonly #cut = new AbortController();
  /** Until `onDoubt` says otherwise, what is not known counts as done. */
  #inDoubt = true;
  #leaving: { reason: unknown } | null = null;
  /** Ends the request. */
  readonly signal: AbortSignal = this.#cut.signal;

  /** Whether the service may have carried it out. */
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
 * The requests that were begun and have not ended. When the sending stops, those that only wait in a line for their turn must
 * not go out any more; those that may have gone out are awaited, because their response tells the outcome of their rows.
 */
export class RequestsInFlight {
  readonly #requests = new Set<RequestInFlight>();

  begin(): RequestInFlight {
    const request = new RequestInFlight();
    this.#requests.add(request);
    return request;
  }

  end(request: RequestInFlight): void {
    this.#requests.delete(request);
  }

  /** The sending is over. */
  leave(reason: unknown): void {
    for (const request of this.#requests) request.leave(reason);
  }

  /** Follows an interrupt: what is in flight gets the time of grace. Gives how to stop following. */
  follow(clock: Clock, signal: AbortSignal | undefined): () => void {
    let cancel = () => {};
    const onInterrupt = () => {
      this.leave(signal?.reason);
      cancel = clock.at(clock.now() + graceMs, () => {
        for (const request of this.#requests) request.cut(signal?.reason);
      });
    };
    signal?.addEventListener("abort", onInterrupt, { once: true });
    return () => {
      signal?.removeEventListener("abort", onInterrupt);
      cancel();
    };
  }
}
