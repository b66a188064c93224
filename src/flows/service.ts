import type { Client } from "../client/client.ts";
import type { Clock } from "../clock.ts";

/** Everything a flow needs to work with the service. */
export interface Service {
  readonly client: Client;
  readonly clock: Clock;
  /** Ends the run: an interrupt, or `--timeout`. */
  readonly signal: AbortSignal;
  /** A new unique idempotency key (Cross-cutting rule 1). */
  readonly newKey: () => string;
  /** The maximum number of requests in flight. */
  readonly concurrency: number;
}
