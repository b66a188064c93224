// Requests that must not be cut off lightly: one that was sent may be carried out, even if unread.

import type { WaitingReader } from "../service.ts";

/** How long an interrupt waits for requests in flight: cutting them off leaves their outcome unknown. */
export const graceMs = 3_000;

export class RequestInFlight {
  readonly #cut = new AbortController();
  #leaving: { reason: unknown } | null = null;
  /** Whether the service may have carried it out: yes, until `onDoubt` reports otherwise. */
  inDoubt = true;
  readonly signal: AbortSignal = this.#cut.signal;

  /** Whether it was withdrawn before the service got it or did anything with it. */
  get hasLeft(): boolean {
    return this.#leaving !== null && !this.inDoubt;
  }

  readonly onDoubt = (inDoubt: boolean): void => {
    this.inDoubt = inDoubt;
    if (this.hasLeft) this.cut(this.#leaving!.reason);
  };

  /** Withdraws it as soon as the service has certainly done nothing with it. */
  leave(reason: unknown): void {
    this.#leaving ??= { reason };
    this.onDoubt(this.inDoubt);
  }

  /** Ends it, whatever the service may have done. */
  cut(reason: unknown): void {
    this.#cut.abort(reason);
  }
}

/**
 * Sends a request for each item, or several, several items at once, in the order in which they are made;
 * `begin` is called just before each request. The first error stops the rest: nothing new is begun, and
 * queued requests are withdrawn. Those that may have been sent are awaited, because their responses decide
 * the outcome; after an interrupt not for long.
 *
 * Returns what stopped it: an error of a request or of the items, or the reason of an interrupt; else
 * undefined.
 */
export async function sendEach<Item>(
  items: Iterator<Item> | AsyncGenerator<Item>,
  { clock, signal, concurrency }: Omit<WaitingReader, "client">,
  send: (item: Item, begin: () => RequestInFlight) => Promise<void>,
): Promise<unknown> {
  const inFlight = new Set<RequestInFlight>();
  let stopped: unknown;
  const stop = (reason: unknown) => {
    stopped ??= reason;
    for (const request of inFlight) request.leave(reason);
  };
  const worker = async () => {
    try {
      while (stopped === undefined) {
        signal.throwIfAborted();
        const next = await items.next();
        // An event while the item was made stops it as well.
        signal.throwIfAborted();
        if (next.done || stopped !== undefined) return;
        const own: RequestInFlight[] = [];
        const begin = () => {
          signal.throwIfAborted();
          if (stopped !== undefined) throw stopped;
          const request = new RequestInFlight();
          own.push(request);
          inFlight.add(request);
          return request;
        };
        await send(next.value, begin).finally(() => {
          for (const request of own) inFlight.delete(request);
        });
      }
    } catch (error) {
      stop(error);
    }
  };
  let cancelCut = () => {};
  const onInterrupt = () => {
    stop(signal.reason);
    cancelCut = clock.at(clock.now() + graceMs, () => {
      for (const request of inFlight) request.cut(signal.reason);
    });
  };
  signal.addEventListener("abort", onInterrupt, { once: true });
  await Promise.all(Array.from({ length: concurrency }, worker));
  signal.removeEventListener("abort", onInterrupt);
  cancelCut();
  await items.return?.(undefined);
  return stopped;
}
