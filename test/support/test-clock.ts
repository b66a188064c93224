import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { MovableClock } from "../../src/clock.ts";

/** The number of idle turns of the event loop before the clock jumps. */
const quietTurns = 12;

/**
 * A frozen clock whose sleeps pass immediately: when the event loop is idle and no request of this process is
 * in flight, it jumps to the earliest sleeper. Timers set with `at` (deadlines, job steps) fire when a jump
 * passes them, but never cause one, so a deadline cannot fire during a real exchange.
 */
export class TestClock extends MovableClock {
  /** Every requested sleep, in milliseconds and in order. */
  readonly slept: number[] = [];
  /** Whether the test allows the clock to jump, e.g. not during work that is not a request. */
  isIdle: () => boolean;
  readonly #sleepers = new Set<{ due: number }>();
  #pumping = false;

  constructor(options: { frozenAt?: number; isIdle?: () => boolean } = {}) {
    super({ frozenAt: options.frozenAt ?? Date.parse("2026-01-05T09:00:00Z") });
    this.isIdle = options.isIdle ?? (() => true);
    watchRequests();
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    const sleeper = { due: this.now() + Math.max(0, ms) };
    this.#sleepers.add(sleeper);
    this.#pump();
    try {
      await super.sleep(ms, signal);
    } finally {
      this.#sleepers.delete(sleeper);
    }
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    let quiet = 0;
    const turn = (): void => {
      if (this.#sleepers.size === 0) {
        this.#pumping = false;
        return;
      }
      quiet = inFlight.size === 0 && this.isIdle() ? quiet + 1 : 0;
      if (quiet >= quietTurns) {
        quiet = 0;
        const earliest = Math.min(...[...this.#sleepers].map((sleeper) => sleeper.due));
        this.advance(Math.max(0, earliest - this.now()));
      }
      setImmediate(turn);
    };
    setImmediate(turn);
  }
}

/** Requests of this process's HTTP client in flight, as the client library announces them. */
const inFlight = new Set<unknown>();

/** An earlier test file may have left unfinished requests; clocks of the next one must not wait for them. */
export const forgetRequests = (): void => inFlight.clear();

const onCreate = (message: unknown) => {
  const { request } = message as { request: { method: string } };
  // A proxy's tunnel is not an exchange: it ends with its socket.
  if (request.method !== "CONNECT") inFlight.add(request);
};
const onEnd = (message: unknown) => inFlight.delete((message as { request: unknown }).request);

function watchRequests(): void {
  for (const [channel, listener] of [
    ["undici:request:create", onCreate],
    ["undici:request:trailers", onEnd],
    ["undici:request:error", onEnd],
  ] as const) {
    unsubscribe(channel, listener);
    subscribe(channel, listener);
  }
}
