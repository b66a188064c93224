import type { Client } from "../client/client.ts";
import type { Clock } from "../clock.ts";

/** What a flow needs to work with the service. */
export interface Service {
  readonly client: Client;
  readonly clock: Clock;
  /** Ends the run: an interrupt, or the end of `--timeout`. */
  readonly signal: AbortSignal;
  /** A new idempotency key, unlike any other (Cross-cutting rule 1). */
  readonly newKey: () => string;
  /** How many requests are in flight at once. */
  readonly concurrency: number;
}
