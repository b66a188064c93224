import type { Clock } from "../clock.ts";
import { Withdrawn } from "./errors.ts";
import { RateWindow, type Ticket } from "./rate-window.ts";
import type { OnWait } from "./retry.ts";
import { type Call, type HttpRequest, type Interceptor, isWrite } from "./send.ts";
import type { SharedCount } from "./shared-count.ts";

export interface PacingOptions {
  clock: Clock;
  /** The length of a rate limit window, in milliseconds. */
  windowMs: number;
  /** The requests of all processes of the key; without it, each process counts its own. */
  counts?: { readonly reads: SharedCount; readonly writes: SharedCount } | undefined;
  onWait?: OnWait | undefined;
}

/**
 * Holds requests back when the rate limit window is used up, so that a single client never sees a 429 and
 * still uses every request of the window; processes of one key on a computer share it. Reads and writes have
 * a window each (Limits).
 */
export function pacing(options: PacingOptions): Interceptor {
  const reads = new Lane(options, options.counts?.reads);
  const writes = new Lane(options, options.counts?.writes);
  return (next) => async (request) => {
    const lane = isWrite(request) ? writes : reads;
    const ticket = await lane.enter(request);
    let answer: Awaited<ReturnType<typeof next>>;
    try {
      answer = await next(request);
    } catch (error) {
      if (error instanceof Withdrawn) lane.neverSent();
      else lane.leave();
      throw error;
    }
    lane.answered(ticket, answer);
    return answer;
  };
}

/** A queue in front of one rate limit window, in the order of the first attempts. */
class Lane {
  readonly #window: RateWindow;
  readonly #line: { readonly request: HttpRequest; readonly go: (ticket: Ticket) => void }[] = [];
  /**
   * The request that finds out the state of the window. Until it gets a response, only this one is retried:
   * after an outage the outcome of a single request is unknown, not of several.
   */
  #scout: Call | null = null;
  #alarm: { at: number; off: AbortController } | null = null;

  constructor(
    private readonly options: PacingOptions,
    count: SharedCount | undefined,
  ) {
    this.#window = new RateWindow(options.windowMs, count);
  }

  async enter(request: HttpRequest): Promise<Ticket> {
    const { signal, call } = request;
    signal.throwIfAborted();
    const resume = call.hold();
    try {
      return await new Promise<Ticket>((resolve, reject) => {
        const onAbort = () => {
          this.#line.splice(this.#line.indexOf(waiting), 1);
          reject(signal.reason);
          this.#pumpSoon();
        };
        const waiting = {
          request,
          go: (ticket: Ticket) => {
            signal.removeEventListener("abort", onAbort);
            resolve(ticket);
          },
        };
        signal.addEventListener("abort", onAbort, { once: true });
        const before = this.#line.findLastIndex((other) => other.request.call.order < call.order);
        this.#line.splice(before + 1, 0, waiting);
        this.#pump();
      });
    } finally {
      resume();
    }
  }

  neverSent(): void {
    this.#window.neverSent();
    this.#pumpSoon();
  }

  leave(): void {
    this.#window.leave();
    this.#pumpSoon();
  }

  answered(ticket: Ticket, answer: Parameters<RateWindow["answered"]>[1]): void {
    this.#window.answered(ticket, answer, this.options.clock.now());
    this.#pumpSoon();
  }

  /** After the caller has seen the result: after an error it may withdraw all requests. */
  #pumpSoon(): void {
    if (this.#line.length > 0 || this.#alarm !== null) setImmediate(() => this.#pump());
  }

  #pump(): void {
    const { clock } = this.options;
    while (this.#line.length > 0) {
      const until = this.#window.blockedUntil(clock.now());
      if (until !== 0) {
        this.#setAlarm(until);
        return;
      }
      const next = this.#next();
      if (next === -1) break;
      const ticket = this.#window.enter();
      if (ticket === null) continue;
      const [waiting] = this.#line.splice(next, 1);
      if (!this.#window.isKnown && this.#scout === null) this.#send(waiting!.request.call);
      waiting!.go(ticket);
    }
    this.#setAlarm(null);
  }

  /** The index of the next request in the queue; -1 while all wait for the scout. */
  #next(): number {
    if (this.#window.isKnown || this.#scout === null) return 0;
    return this.#line.findIndex(({ request }) => request.call === this.#scout);
  }

  #send(scout: Call): void {
    this.#scout = scout;
    scout.onEnd(() => {
      if (this.#scout === scout) this.#scout = null;
      this.#pumpSoon();
    });
  }

  #setAlarm(at: number | null): void {
    if (at === (this.#alarm?.at ?? null)) return;
    this.#alarm?.off.abort();
    this.#alarm = null;
    if (at === null) return;
    const { clock, onWait } = this.options;
    const alarm = { at, off: new AbortController() };
    this.#alarm = alarm;
    const ms = at - clock.now();
    const first = this.#line[0]!.request;
    if (this.#window.isUsedUp) {
      onWait?.({ reason: "rate_window", ms, method: first.method, path: first.path });
    }
    clock.sleep(ms, alarm.off.signal).then(
      () => {
        if (this.#alarm === alarm) this.#alarm = null;
        this.#pump();
      },
      () => {},
    );
  }
}
