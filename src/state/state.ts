import type { Accounts } from "./accounts.ts";
import type { Batches } from "./batches.ts";
import type { Ledger } from "./ledger.ts";
import type { Runs } from "./runs.ts";
import type { SentJobs } from "./sent-jobs.ts";
import type { Uploads } from "./uploads.ts";

/** What this machine must not forget, in one SQLite file. Every method throws a StateError when the file fails. */
export interface State {
  /** The file's path; null where everything is kept in memory and forgotten at the end. */
  readonly path: string | null;
  readonly accounts: Accounts;
  readonly runs: Runs;
  readonly batches: Batches;
  readonly ledger: Ledger;
  readonly uploads: Uploads;
  readonly sentJobs: SentJobs;
  /** Nothing of it is left beside the file afterwards. */
  close(): void;
}
