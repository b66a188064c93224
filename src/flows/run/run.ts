import { createHash } from "node:crypto";
import { CatError } from "../../errors.ts";
import type { Run, RunHold, RunOwner } from "../../state/runs.ts";
import type { SentJobs } from "../../state/sent-jobs.ts";
import type { State } from "../../state/state.ts";
import { shownName } from "../rows/shown-name.ts";
import { shownTime } from "./clocks.ts";

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

/** Identifies the service and the account: the base URL, and a digest of the API key (never the key). */
export interface ServiceIdentity {
  readonly baseUrl: string;
  readonly keyFingerprint: string;
}

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

/**
 * Runs `work` while holding other runs. Returns false, without running it, if a live process holds one of
 * them.
 */
export async function withHolds(
  { state, account }: RunAtHand,
  others: readonly { readonly run: Run }[],
  owner: { pid: number; since: number },
  work: () => Promise<void>,
): Promise<boolean> {
  const holds: RunHold[] = [];
  try {
    for (const { run } of others) {
      const hold = state.runs.hold(account, run.identity, owner);
      if ("heldBy" in hold) return false;
      holds.push(hold);
    }
    await work();
    return true;
  } finally {
    for (const hold of holds) hold.release();
  }
}

/**
 * Identifies a run across restarts, as one SHA-256 (hex): digests of its input, and every option that changes
 * what is sent. The path of the input and output options do not count. Parts are plain JSON values in a fixed
 * order.
 */
export const runIdentity = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
