import type { SentJobs } from "../../state/sent-jobs.ts";
import type { State } from "../../state/state.ts";
import type { ServiceIdentity } from "./service-identity.ts";

/** The run this process works on, and where its progress is stored. */
export interface RunAtHand {
  readonly state: State;
  /** The list of jobs started from this machine. */
  readonly sentJobs: SentJobs;
  readonly service: ServiceIdentity;
  readonly account: number;
  readonly id: string;
  readonly kind: string;
}
