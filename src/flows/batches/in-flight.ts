import type { Clock } from "../../clock.ts";

/** How long an interrupt waits for requests in flight: cutting them off leaves their outcome unknown. */
const graceMs = 3_000;

/** One request from start to end. */
export class RequestInFlight {
  readonly #cut = new AbortController();
  /** Until `onDoubt` reports otherwise, an unknown outcome counts as done. */
  #inDoubt = true;
  #leaving: { reason: unknown } | null = null;
  /** Ends the request. */
  readonly signal: AbortSignal = this.#cut.signal;

  /** Whether the service may have carried it out. */
  get inDoubt(): boolean {
    return this.#inDoubt;
  }

  /** Whether it was withdrawn before the service got it or did anything with it. */
  get hasLeft(): boolean {
    return this.#leaving !== null && !this.#inDoubt;
  }

  readonly onDoubt = (inDoubt: boolean): void => {
    this.#inDoubt = inDoubt;
    this.#leave();
  };

  /** Withdraws it as soon as the service has certainly done nothing with it. */
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
 * All started requests. When sending stops, queued requests must not be sent any more. Those that may have
 * been sent are awaited, because their responses decide the outcome of their rows.
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

  /** Stops sending. */
  leave(reason: unknown): void {
    for (const request of this.#requests) request.leave(reason);
  }

  /** Follows an interrupt: requests in flight get a grace period. Returns a function that stops following. */
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
