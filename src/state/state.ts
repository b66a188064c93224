import type { Accounts } from "./accounts.ts";
import type { Calls } from "./calls.ts";
import type { Ledger } from "./ledger.ts";
import type { Runs } from "./runs.ts";
import type { SentImports } from "./sent-imports.ts";
import type { Uploads } from "./uploads.ts";

/** What this machine must not forget, in one SQLite file. Every method throws a StateError when the file fails. */
export interface State {
  /** The file's path; null where everything is kept in memory and forgotten at the end. */
  readonly path: string | null;
  readonly accounts: Accounts;
  readonly runs: Runs;
  readonly calls: Calls;
  readonly ledger: Ledger;
  readonly uploads: Uploads;
  readonly sentImports: SentImports;
  /** Nothing of it is left beside the file afterwards. */
  close(): void;
}
