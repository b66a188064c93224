/// <reference lib="esnext.disposable" preserve="true" />
import type { Clock } from "../../clock.ts";
import type { FaultOrder } from "./faults.ts";
import type { RecordedDelivery, RecordedRequest } from "./recorded.ts";
import type { MockState } from "./state.ts";

/** A fault as GET /_mock/faults shows it: its number, its definition, and how often it has acted. */
export interface FaultReport extends FaultOrder {
  /** Its number, from 1 since the last reset. */
  readonly id: number;
  /** How often it has acted. */
  readonly acted: number;
}

/** The faults of a mock, as in /_mock/faults. */
export interface MockFaults {
  /** Adds a fault and returns it with its number. Throws a TypeError that lists every mistake. */
  add(fault: FaultOrder): FaultReport;
  /** Every fault, with the number of times that it has acted. */
  list(): FaultReport[];
  /** Removes the fault with this number; false if there is none. */
  remove(id: number): boolean;
  /** Removes all faults and returns their number. */
  clear(): number;
}

/** Webhook deliveries, newest last, as in GET /_mock/deliveries. */
export interface MockDeliveries {
  (): RecordedDelivery[];
  /** Delivers once more, and resolves when the attempt has ended. Rejects if the delivery is unknown. */
  resend(id: string): Promise<RecordedDelivery>;
}

/**
 * The time of the mock. A move stops at every moment at which something is due, and waits for what that
 * starts: deliveries arrive, and their retries are scheduled, at their own times. Both moves reject with a
 * TypeError for a time that is invalid or past.
 */
export interface MockClock extends Clock {
  /** Moves forward by milliseconds. */
  advance(ms: number): Promise<void>;
  /** Moves forward to a time, in milliseconds since 1970 or as a Date. */
  advanceTo(time: number | Date): Promise<void>;
  /** The same clock for a client whose waits move it: `createClient({ clock: mock.clock.autoAdvance })`. */
  readonly autoAdvance: Clock;
}

/** A running mock. `await using mock = await startMock()` stops it at the end of the block. */
export interface Mock {
  /** The address on this machine, without `/v1`, e.g. `http://127.0.0.1:4010`. */
  baseUrl: string;
  /** An API key of the first organization with every scope: `ak_mock`, or random for a copy of real data. */
  readonly apiKey: string;
  /** The time of the mock, which tests can move. */
  readonly clock: MockClock;
  /** The latest requests, newest last, API keys masked; with `bodies`, also what was sent and received. */
  requests(): RecordedRequest[];
  /** The webhook deliveries, and a resend. */
  deliveries: MockDeliveries;
  /** The faults of a test. */
  faults: MockFaults;
  /**
   * The credits of the first organization: one per generation, null for no limit. Assign a number to set
   * them; anything else throws a TypeError.
   */
  credits: number | null;
  /**
   * Throws an error with one line for each fault that acted less often than it was set to: never, or fewer
   * times than its `times` or the entries of its `sequence`. Call it before `reset()`, which removes faults.
   */
  verify(): void;
  /**
   * Resolves when no delivery attempt and no image download is in flight: what a request of yours started.
   * `clock.advance()` and POST /_mock/clock wait for what they start by themselves.
   */
  settled(): Promise<void>;
  /** A copy of the complete state, as in GET /_mock/state. */
  state(): MockState;
  /** The state as JSON, one line per record. Parse it and pass it to `readState` to load it. */
  printedState(): Uint8Array[];
  /** Restores the state after the start; the clock does not move. */
  reset(): void;
  /** Ends the mock: closes its port and all connections. */
  stop(): Promise<void>;
  /** Stops the mock. */
  [Symbol.asyncDispose](): Promise<void>;
}
