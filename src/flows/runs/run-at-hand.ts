import type { SentImports } from "../../state/sent-imports.ts";
import type { State } from "../../state/state.ts";
import type { ServiceIdentity } from "./service-identity.ts";

/** The run that this process works on, and where it is written down. */
export interface RunAtHand {
  readonly state: State;
  /** Where this machine keeps which imports it has sent. */
  readonly sentImports: SentImports;
  readonly service: ServiceIdentity;
  readonly account: number;
  readonly id: string;
}
