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
  /** Receives a sentence for people. */
  readonly onNote: (sentence: string) => void;
  /** Receives a warning about the webhook of a listener: a phrase in lower case, and the next step. */
  readonly onProblem: (message: string, hint?: string) => void;
}
