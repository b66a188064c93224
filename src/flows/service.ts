import type { Client } from "../client/client.ts";
import type { Clock } from "../clock.ts";

/** The needs of a flow that reads from the service. */
export interface Reader {
  readonly client: Client;
  /** Ends the run: an interrupt, or `--timeout`. */
  readonly signal: AbortSignal;
}

/** The same for several reads at once. */
export interface BulkReader extends Reader {
  /** The maximum number of requests in flight. */
  readonly concurrency: number;
}

/** The same for a flow that also waits for results. */
export interface WaitingReader extends BulkReader {
  readonly clock: Clock;
}

/** Everything a flow needs to work with the service. */
export interface Service extends WaitingReader {
  /** A new unique idempotency key (Cross-cutting rule 1). */
  readonly newKey: () => string;
}
