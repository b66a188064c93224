// Runs: which run a command resumes, which process holds it, which account the key belongs to, how a stage stops.

import { CatError } from "../../errors.ts";
import type { Run, RunHold, RunOwner } from "../../state/runs.ts";
import type { State } from "../../state/state.ts";
import { shownName } from "../rows/shown-name.ts";
import { shownTime } from "./shown-time.ts";

/** A run held by this process. */
export interface Claim {
  hold: RunHold;
  /** The earlier run that has not ended. */
  begun: Run | null;
  /** The run to work on: the earlier one, or a new one. */
  open: Run;
}

/**
 * Claims a run for this process, and starts it if none is open. Throws a CatError of type conflict if another
 * process holds it.
 */
export function claimRun(run: Run, pid: number, { runs }: State): Claim {
  const hold = runs.hold(run.account, run.identity, { pid, since: run.startedAt });
  // The other process may write, or read, a file of another name.
  if ("heldBy" in hold) throw alive(runs.findOpen(run) ?? run, hold.heldBy);
  const begun = runs.findOpen(run);
  if (begun === null) runs.begin(run);
  return { hold, begun, open: begun ?? run };
}

const alive = ({ kind, file }: Run, { pid, since }: RunOwner): CatError =>
  new CatError(
    `the ${kind} of ${shownName(file)} is already running (process ${pid}, since ${shownTime(since)})`,
    {
      type: "conflict",
      code: "run_alive",
      hint: "Wait for it to finish, or stop it and run the command again.",
    },
  );
