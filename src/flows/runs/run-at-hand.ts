import type { SentJobs } from "../../state/sent-jobs.ts";
import type { State } from "../../state/state.ts";
import type { ServiceIdentity } from "./service-identity.ts";

/** The run that this process works on, and where it is written down. */
export interface RunAtHand {
  readonly state: State;
  /** Where this machine lists the jobs that it has started. */
  readonly sentJobs: SentJobs;
  readonly service: ServiceIdentity;
  readonly account: number;
  readonly id: string;
  readonly kind: string;
}
