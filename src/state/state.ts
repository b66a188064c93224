import type { Accounts } from "./accounts.ts";
import type { Batches } from "./batches.ts";
import type { Changes } from "./changes.ts";
import type { Decisions } from "./decisions.ts";
import type { Ledger } from "./ledger.ts";
import type { Marks } from "./marks.ts";
import type { Runs } from "./runs.ts";
import type { SentJobs } from "./sent-jobs.ts";
import type { Uploads } from "./uploads.ts";

/** Everything this machine must remember, in one SQLite file. Every method throws a StateError if the file fails. */
export interface State {
  /** The file's path; null for a state in memory that is lost at the end. */
  readonly path: string | null;
  readonly accounts: Accounts;
  readonly runs: Runs;
  readonly batches: Batches;
  readonly changes: Changes;
  readonly ledger: Ledger;
  readonly uploads: Uploads;
  readonly sentJobs: SentJobs;
  readonly marks: Marks;
  readonly decisions: Decisions;
  /** Closes the state and removes all of its other files. */
  close(): void;
}
