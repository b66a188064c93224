import { NetworkError, TimeoutError } from "./errors.ts";
import type { OnWait } from "./retry.ts";
import type { Interceptor, Message } from "./send.ts";
import { linkedAbort, uploadMs } from "./time-limits.ts";

/** So many transfers without a timeout allow one more: an outage must not slow down a night. */
const enoughToRaise = 16;

/** A body that takes less time than this on a slow line is not a transfer, in milliseconds. */
const leastUploadMs = 1_000;

export interface Transfer {
  /** The most transfers at once since it began; one that was never alone may be faster without the others. */
  readonly most: number;
  readonly lowered: number;
}

/**
 * How many transfers run at once: all, until one times out that shared the line. Then half as many, down to
 * one: the time limits are such that one at a time succeeds on a slow line.
 */
export class TransferLimit {
  #limit = Number.POSITIVE_INFINITY;
  #lowered = 0;
  #inRow = 0;
  readonly #running = new Set<{ most: number; readonly lowered: number }>();
  readonly #queue: (() => void)[] = [];

  /** Does `work` when there is room for it. A timeout lowers the limit for the next ones. */
  async run<Result>(
    signal: AbortSignal | undefined,
    work: (transfer: Transfer) => Promise<Result>,
  ): Promise<Result> {
    const transfer = await this.#enter(signal);
    try {
      const result = await work(transfer);
      if (++this.#inRow % enoughToRaise === 0) this.#limit++;
      return result;
    } catch (error) {
      if (isTimeout(error)) this.lower(transfer);
      throw error;
    } finally {
      this.#running.delete(transfer);
      this.#admit();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<Transfer> {
    signal?.throwIfAborted();
    // Nearly always there is room.
    if (this.#queue.length === 0 && this.#running.size < this.#limit) return this.#begin();
    const link = linkedAbort(signal);
    try {
      return await new Promise<Transfer>((resolve, reject) => {
        const begin = () => resolve(this.#begin());
        const leave = () => {
          const place = this.#queue.indexOf(begin);
          if (place >= 0) this.#queue.splice(place, 1);
          reject(link.signal.reason);
        };
        if (link.signal.aborted) return leave();
        link.signal.addEventListener("abort", leave, { once: true });
        this.#queue.push(begin);
        this.#admit();
      });
    } finally {
      link.release();
    }
  }

  #begin(): Transfer {
    const transfer = { most: 1, lowered: this.#lowered };
    this.#running.add(transfer);
    for (const running of this.#running) running.most = Math.max(running.most, this.#running.size);
    return transfer;
  }

  #admit(): void {
    while (this.#queue.length > 0 && this.#running.size < this.#limit) this.#queue.shift()!();
  }

  /** Halves the limit, because a transfer that shared the line was too slow. */
  lower({ most, lowered }: Transfer): void {
    this.#inRow = 0;
    // Those that began with it time out with it.
    if (lowered < this.#lowered) return;
    this.#lowered++;
    this.#limit = Math.max(1, Math.floor(Math.min(this.#limit, most) / 2));
  }
}

/** Whether the line was too slow, not the job that somebody waits for. */
export const isTimeout = (error: unknown): error is TimeoutError =>
  error instanceof TimeoutError && (error.code === "attempt_timeout" || error.code === "deadline");

/** Time limits of servers are longer than this; failures come sooner. */
const longMs = 10_000;

const isCut = (error: unknown): boolean => error instanceof NetworkError && error.code === "connection_cut";

interface OneLineOptions {
  readonly transfers: TransferLimit;
  readonly onWait?: OnWait | undefined;
}

/**
 * Sends large bodies as the limit allows. The time of an attempt that timed out because of the others is
 * given back: only an attempt without them says that the line, or the service, is too slow.
 */
export const uploadsInTurn =
  ({ transfers, onWait }: OneLineOptions): Interceptor =>
  (next) =>
  async (request) => {
    if (!isTransfer(request)) return next(request);
    const { call, signal, method, path } = request;
    let resume = call.hold();
    try {
      return await transfers.run(signal, async (transfer) => {
        resume();
        resume = () => {};
        const left = call.remainingMs();
        const tookMs = () => left - call.remainingMs();
        const onSlow = () => {
          transfers.lower(transfer);
          onWait?.({ reason: "slow_line", ms: 0, method, path });
        };
        try {
          const answer = await next(request);
          if (answer.status === 408 && transfer.most > 1) onSlow();
          return answer;
        } catch (error) {
          const isSlow = isTimeout(error) || (isCut(error) && tookMs() >= longMs);
          if (isSlow && transfer.most > 1) {
            call.giveBack(tookMs());
            onSlow();
          }
          throw error;
        }
      });
    } finally {
      resume();
    }
  };

const isTransfer = ({ body }: Pick<Message, "body">): boolean => uploadMs(body) >= leastUploadMs;
