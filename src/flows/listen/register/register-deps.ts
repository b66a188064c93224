import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { State } from "../../../state/state.ts";

/** What the webhook of a listener needs. */
export interface RegisterDeps {
  readonly client: Pick<Client, "webhooks" | "paginate">;
  readonly state: Pick<State, "marks" | "runs">;
  readonly baseUrl: string;
  /** A digest of the API key. */
  readonly keyFingerprint: string;
  readonly clock: Clock;
  readonly pid: number;
  /** Names this run of the listener. */
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Receives a sentence about a webhook that could not be removed. */
  readonly onNote: (sentence: string) => void;
}
