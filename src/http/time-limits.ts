import { setMaxListeners } from "node:events";
import type { Clock } from "../clock.ts";
import { TimeoutError } from "./errors.ts";
import type { OnWait } from "./retry.ts";
import { type Answer, type Call, type Interceptor, type Message, requestName, type Send } from "./send.ts";

/** Time limits of requests, in milliseconds. An upload extends them by a second per 32 kB. */
export interface TimeLimits {
  /** A request with all its retries and their waits. Default: 300,000. */
  totalMs: number;
  /** An attempt that receives nothing, or nothing more. Default: 30,000. */
  silenceMs: number;
  /** An attempt that receives nearly nothing: less than 8 kB per second on average. Default: 60,000. */
  attemptMs: number;
}

export const defaultTimeLimits: TimeLimits = { totalMs: 300_000, silenceMs: 30_000, attemptMs: 60_000 };

interface DeadlineOptions {
  clock: Clock;
  /** The maximum duration of a request, including retries and their waits, in milliseconds. */
  totalMs: number;
}

/** Receives whether the service may have done the request, with every change (`Call.inDoubt`). */
export type OnDoubt = (inDoubt: boolean) => void;

/** Limits of one request alone. */
export interface SendOptions {
  /** The caller's own signal, which can end the request before its deadline. */
  readonly signal?: AbortSignal | undefined;
  readonly onDoubt?: OnDoubt | undefined;
  /** Instead of `totalMs`. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

/** Sends a message with a deadline for all its attempts. */
export type SendMessage = (message: Message, options?: SendOptions) => Promise<Answer>;

/** Whole seconds, tenths below two, and milliseconds below a tenth. */
const toSeconds = (ms: number): string =>
  ms < 100 ? `${ms} ms` : `${ms < 2_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1_000)} s`;

/**
 * The outermost layer: adds the deadline to a message, whatever its state then, so that an endless dripping
 * body is cut off too. Time in the queue of the rate limit window does not count.
 */
export const deadline = ({ clock, totalMs }: DeadlineOptions): ((send: Send) => SendMessage) => {
  let calls = 0;
  return (send) =>
    async (message, { signal, onDoubt, timeoutMs = totalMs, retries } = {}) => {
      onDoubt?.(false);
      signal?.throwIfAborted();
      const link = linkedAbort(signal);
      const allowed = timeoutMs + uploadMs(message.body);
      const onDeadline = () => {
        const time = toSeconds(allowed);
        const attempts = call.attempt === 1 ? "1 attempt" : `${call.attempt} attempts`;
        link.abort(
          new TimeoutError(`no response to ${requestName(message)} within ${time} (${attempts})`, {
            code: "deadline",
          }),
        );
      };
      const call = new TimedCall(clock, calls++, allowed, { onDeadline, onDoubt, retries });
      try {
        return await send({ ...message, call, signal: link.signal });
      } finally {
        call.end();
        link.release();
      }
    };
};

class TimedCall implements Call {
  attempt = 0;
  inDoubt = false;
  hasShared = false;
  #atEnd: (() => void)[] | null = [];
  #running: { since: number; cancel: () => void } | null = null;

  constructor(
    private readonly clock: Clock,
    readonly order: number,
    private leftMs: number,
    private readonly settings: Pick<SendOptions, "onDoubt" | "retries"> & { onDeadline: () => void },
  ) {
    this.#run();
  }

  get retries(): number | undefined {
    return this.settings.retries;
  }

  doubt(inDoubt: boolean): void {
    this.inDoubt = inDoubt;
    this.settings.onDoubt?.(inDoubt);
  }

  remainingMs(): number {
    return this.leftMs - (this.#running === null ? 0 : this.clock.now() - this.#running.since);
  }

  giveBack(ms: number): void {
    this.hasShared = true;
    const resume = this.hold();
    this.leftMs += ms;
    resume();
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
    this.leftMs = this.remainingMs();
    this.#running?.cancel();
    this.#running = null;
  }

  #run(): void {
    const since = this.clock.now();
    this.#running = { since, cancel: this.clock.at(since + this.leftMs, this.settings.onDeadline) };
  }
}

interface AttemptTimeoutOptions {
  clock: Clock;
  /** The maximum silence of an attempt, before the head or between parts of the body, in milliseconds. */
  silenceMs: number;
  /** The maximum duration if nearly nothing arrives, in milliseconds; received bytes extend it. */
  attemptMs: number;
  onWait?: OnWait | undefined;
}

/** The silence after which a wait for a response is reported, in milliseconds. */
const notedSilenceMs = 10_000;

/** The average rate below which a response counts as dripping, in bytes per millisecond: 8 kB/s. */
const drip = 8;

/** Ends an attempt that receives nothing, or so little that it would never end. */
export const attemptTimeout =
  ({ clock, silenceMs, attemptMs, onWait }: AttemptTimeoutOptions): Interceptor =>
  (next) =>
  async (request) => {
    const link = linkedAbort(request.signal);
    const sentAt = clock.now();
    const begun = sentAt + uploadMs(request.body);
    let received = 0;
    let heardAt = begun;
    const cancelNote = clock.at(begun + notedSilenceMs, () => {
      const { method, path } = request;
      if (received === 0) onWait?.({ reason: "response", ms: clock.now() - sentAt, method, path });
    });
    const giveUp = () => {
      const time = toSeconds(clock.now() - begun);
      const came = received === 0 ? "no response" : `only ${received} bytes`;
      link.abort(
        new TimeoutError(`${requestName(request)}: ${came} from ${request.origin} within ${time}`, {
          code: "attempt_timeout",
          requestId: request.headers["x-request-id"],
        }),
      );
    };
    const end = () => Math.min(heardAt + silenceMs, begun + attemptMs + received / drip);
    // Whatever arrives moves the end: a timer for each part of a response would take longer than its part.
    const check = () => {
      if (clock.now() < end()) cancel = clock.at(end(), check);
      else giveUp();
    };
    let cancel = clock.at(end(), check);
    const onActivity = (bytes: number) => {
      received += bytes;
      heardAt = clock.now();
    };
    try {
      return await next({ ...request, signal: link.signal, onActivity });
    } finally {
      cancel();
      cancelNote();
      link.release();
    }
  };

/** A slow link, in bytes per millisecond: 32 kB/s. */
const slowUpload = 32;

/** The extra time for uploading the body of a request, in milliseconds: about four minutes for 8 MB. */
export const uploadMs = (body: Uint8Array | null): number => Math.ceil((body?.length ?? 0) / slowUpload);

/**
 * A signal that can be aborted by itself and also follows `parents` until it is released. Replaces
 * AbortSignal.any, which leaks on the oldest supported Node if a parent outlives thousands of requests.
 */
export function linkedAbort(...parents: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  release(): void;
} {
  const own = new AbortController();
  const releases = parents.map((parent) => {
    const follow = () => own.abort(parent?.reason);
    // Node takes more than ten requests at once for a leak.
    if (parent instanceof AbortSignal) setMaxListeners(0, parent);
    if (parent?.aborted) follow();
    else parent?.addEventListener("abort", follow, { once: true });
    return () => parent?.removeEventListener("abort", follow);
  });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release() {
      for (const release of releases) release();
    },
  };
}

/** The result of `work`, or a rejection with the reason of `signal` once that is aborted. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const link = linkedAbort(signal);
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(link.signal.reason);
    if (link.signal.aborted) end();
    else link.signal.addEventListener("abort", end, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    link.release();
  }
}
