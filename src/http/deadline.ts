import type { Clock } from "../clock.ts";
import { TimeoutError } from "./errors.ts";
import { linkedAbort } from "./linked-abort.ts";
import { type Answer, type Call, type Message, nameOf, type Send } from "./send.ts";
import { uploadMs } from "./upload-time.ts";

interface DeadlineOptions {
  clock: Clock;
  /** The maximum duration of a request, including retries and their waits, in milliseconds. */
  totalMs: number;
}

/** Receives whether the service may have done the request: at the start and with every change (`Call.inDoubt`). */
export type OnDoubt = (inDoubt: boolean) => void;

/** Sends a message with a deadline for all its attempts; the caller's own signal can end it sooner. */
export type SendMessage = (message: Message, signal?: AbortSignal, onDoubt?: OnDoubt) => Promise<Answer>;

/**
 * The outermost layer: adds the deadline to a message, whatever its state then, so that an endless dripping
 * body is cut off too. Time in the queue of the rate limit window does not count.
 */
export const deadline = ({ clock, totalMs }: DeadlineOptions): ((send: Send) => SendMessage) => {
  let calls = 0;
  return (send) => async (message, signal, onDoubt) => {
    onDoubt?.(false);
    signal?.throwIfAborted();
    const link = linkedAbort(signal);
    const allowed = totalMs + uploadMs(message.body);
    const onDeadline = () => {
      const seconds = Math.round(allowed / 1000);
      const attempts = call.attempt === 1 ? "1 attempt" : `${call.attempt} attempts`;
      link.abort(
        new TimeoutError(`no response to ${nameOf(message)} within ${seconds} s (${attempts})`, {
          code: "deadline",
        }),
      );
    };
    const call = new TimedCall(clock, calls++, allowed, { onDeadline, onDoubt });
    try {
      return await send({ ...message, call, signal: link.signal });
    } finally {
      call.end();
      link.release();
    }
  };
};

interface Listeners {
  onDeadline: () => void;
  onDoubt: OnDoubt | undefined;
}

class TimedCall implements Call {
  readonly order: number;
  attempt = 0;
  inDoubt = false;
  readonly #clock: Clock;
  readonly #listeners: Listeners;
  #left: number;
  #atEnd: (() => void)[] | null = [];
  #running: { since: number; cancel: () => void } | null = null;

  constructor(clock: Clock, order: number, totalMs: number, listeners: Listeners) {
    this.order = order;
    this.#clock = clock;
    this.#left = totalMs;
    this.#listeners = listeners;
    this.#run();
  }

  doubt(inDoubt: boolean): void {
    this.inDoubt = inDoubt;
    this.#listeners.onDoubt?.(inDoubt);
  }

  remainingMs(): number {
    return this.#left - (this.#running === null ? 0 : this.#clock.now() - this.#running.since);
  }

  hold(): () => void {
    this.stop();
    return () => this.#run();
  }

  onEnd(run: () => void): void {
    if (this.#atEnd === null) run();
    else this.#atEnd.push(run);
  }

  end(): void {
    this.stop();
    const atEnd = this.#atEnd ?? [];
    this.#atEnd = null;
    for (const run of atEnd) run();
  }

  stop(): void {
    this.#left = this.remainingMs();
    this.#running?.cancel();
    this.#running = null;
  }

  #run(): void {
    const since = this.#clock.now();
    this.#running = { since, cancel: this.#clock.at(since + this.#left, this.#listeners.onDeadline) };
  }
}
