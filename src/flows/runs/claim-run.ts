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
  /** The last run that has ended, where none is open and `once` is set: it is only read. */
  finished: Run | null;
  /** The run to work on: one of these, or a new one. */
  open: Run;
}

/**
 * Claims a run for this process, and starts it if none is open; with `once` only if none has ended either. Throws a
 * CatError of type conflict if another process holds it.
 *
 * Earlier runs are looked up after the hold was taken: another process may have ended its run just before.
 */
export function claimRun(run: Run, { pid, once }: { pid: number; once: boolean }, { runs }: State): Claim {
  const hold = runs.hold(run.account, run.identity, { pid, since: run.startedAt });
  const begun = runs.findOpen(run);
  const finished = once && begun === null ? runs.findEnded(run) : null;
  if ("heldBy" in hold) {
    // A process that reads a finished run takes nothing away from another.
    if (finished !== null) return { hold: { release() {} }, begun, finished, open: finished };
    // The other process may write, or read, a file of another name.
    throw alive(begun ?? run, hold.heldBy);
  }
  if (begun === null && finished === null) runs.begin(run);
  return { hold, begun, finished, open: begun ?? finished ?? run };
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
