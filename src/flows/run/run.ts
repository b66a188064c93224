// The run: one command on one input, across any number of processes. A flow opens it and passes it on.

import { createHash } from "node:crypto";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import type { RunOwner, StoredRun } from "../../state/runs.ts";
import type { SentJobs } from "../../state/sent-jobs.ts";
import type { State } from "../../state/state.ts";
import type { Service } from "../service.ts";
import { counted, shownName } from "../words.ts";
import { findAccount, type ServiceIdentity } from "./account.ts";
import { shownTime } from "./clocks.ts";
import { startTimeLimit } from "./stage.ts";

export interface Memory {
  readonly state: State;
  readonly sentJobs: SentJobs;
  readonly service: ServiceIdentity;
}

/** The run that this process works on, the service, and where its progress is stored. */
export interface Run extends Service, Memory {
  readonly account: number;
  readonly id: string;
  readonly kind: string;
  /** The options that it was begun with. */
  readonly options: StoredRun["options"];
  /** When an earlier process began it, in Unix milliseconds; null for a new run. */
  readonly begunAt: number | null;
  /** Whether it has ended in an earlier process: it is only read. */
  readonly isFinished: boolean;
  /** Whether a run of the same input has ended before, and none was open. */
  readonly isRepeated: boolean;
}

export interface RunHost {
  readonly clock: Clock;
  /** A new idempotency key, unlike any other (Cross-cutting rule 1). */
  readonly newKey: () => string;
  readonly pid: number;
  readonly runId: string;
  readonly signal?: AbortSignal | undefined;
  readonly client: () => Promise<Client>;
  readonly memory: () => Promise<Memory>;
  readonly onNote: (sentence: string) => void;
  /** Called with the run that a flow works on, before it does. */
  readonly onOpened?: (state: State, runId: string) => Promise<void>;
}

export interface RunRequest extends Pick<StoredRun, "kind" | "identity" | "file"> {
  /** The run in messages, e.g. `try-on`. */
  readonly noun: string;
  readonly options?: StoredRun["options"];
  readonly concurrency: number;
  /** How long to wait, in milliseconds; null for as long as it takes. */
  readonly timeoutMs: number | null;
  /** See `findAccount`; null for a command without the flag. */
  readonly sameOrganization?: boolean | null;
  /** Whether a run that has ended is read, instead of begun again. */
  readonly once?: boolean;
  /** Whether a run has begun its work: an open one that has not is passed over for one that has ended. */
  readonly isBegun?: ((run: StoredRun, state: State) => boolean) | undefined;
  /** The ID of the run to work on, if it is one of this identity, and not the last one. */
  readonly runId?: string | undefined;
  /** Whether no other run of this kind may work at the same time, whatever its input. */
  readonly alone?: boolean;
  /** Whether the open run of an earlier process ends, after this has settled it, and a new one begins. */
  readonly replaces: (begun: Run) => boolean | Promise<boolean>;
}

/** A run without its identity: the service, and where its progress is stored. */
type RunOfAccount = Omit<Run, "id" | "options" | "begunAt" | "isFinished" | "isRepeated">;

// After `timeoutMs` the signal of the run is aborted with a TimeoutError.
async function withAccount<Done>(
  { noun, kind, concurrency, timeoutMs, sameOrganization = null }: Omit<RunRequest, "replaces">,
  host: RunHost,
  work: (known: RunOfAccount) => Promise<Done>,
): Promise<Done> {
  const { clock, newKey, onNote } = host;
  const client = await host.client();
  const { signal, release } = startTimeLimit(noun, timeoutMs, host);
  try {
    const { state, sentJobs, service } = await host.memory();
    const account = await findAccount({ client, state, service, sameOrganization, onNote, signal });
    const known = { client, clock, signal, newKey, concurrency, state, sentJobs, service, account, kind };
    return await work(known);
  } finally {
    release();
  }
}

/** The name under which a request holds its run: `alone` excludes those of every identity. */
const heldName = ({ alone = false, kind, identity }: Omit<RunRequest, "replaces">): string =>
  alone ? kind : identity;

/** Does the work of a run that this process holds alone. Throws a CatError of type conflict if it is held. */
export const withRun = <Done>(
  request: RunRequest,
  host: RunHost,
  work: (run: Run) => Promise<Done>,
): Promise<Done> =>
  withAccount(request, host, async (known) => {
    const { state, account, clock } = known;
    const { kind, identity, file, options = {}, once = false, replaces, isBegun } = request;
    const named = namedRun(request, account, state);
    const fresh = { id: host.runId, account, kind, identity, file, options, startedAt: clock.now() };
    const claim = { pid: host.pid, once, heldAs: heldName(request), named, isBegun };
    const { hold, begun, ended, finished, open } = claimRun(fresh, claim, state);
    const opened = ({ id, options, startedAt }: StoredRun): Run => ({
      ...known,
      id,
      options,
      // The ID of a new run may be that of an earlier process.
      begunAt: id === begun?.id || id === finished?.id ? startedAt : null,
      isFinished: id === finished?.id,
      isRepeated: ended !== null,
    });
    const begin = async (run: StoredRun) => {
      if (run.id !== finished?.id) await host.onOpened?.(state, run.id);
      return work(opened(run));
    };
    try {
      if (begun === null || !(await replaces(opened(begun)))) return await begin(open);
      state.runs.end(begun.id, clock.now());
      state.runs.begin(fresh);
      return await begin(fresh);
    } finally {
      hold.release();
    }
  });

/**
 * Opens the run that `withRun` would work on, without beginning one: its work only reads the service.
 * `isResumed` decides whether that is the open run of an earlier process. Throws a CatError of type conflict
 * if another process holds it.
 */
export const withoutBeginning = <Done>(
  request: Omit<RunRequest, "replaces" | "once" | "runId">,
  isResumed: (begun: Run) => boolean,
  host: RunHost,
  work: (run: Run) => Promise<Done>,
): Promise<Done> =>
  withAccount(request, host, async (known) => {
    const { state, account, clock } = known;
    const { kind, identity, file, options = {} } = request;
    const hold = state.runs.hold(account, heldName(request), { pid: host.pid, since: clock.now(), file });
    if ("heldBy" in hold) throw alreadyRunning(hold.heldBy);
    const begun = state.runs.findOpen({ account, kind, identity });
    const isRepeated = begun === null && state.runs.findEnded({ account, kind, identity }) !== null;
    const fresh = { ...known, id: host.runId, options, begunAt: null, isFinished: false, isRepeated };
    try {
      const open = begun && { ...fresh, id: begun.id, options: begun.options, begunAt: begun.startedAt };
      return await work(open !== null && isResumed(open) ? open : fresh);
    } finally {
      hold.release();
    }
  });

/** The run that a request names; null where it is one of another input. */
function namedRun({ runId, kind, identity }: RunRequest, account: number, { runs }: State) {
  const named = runId === undefined ? null : runs.get(runId);
  return named?.identity === identity && named.account === account && named.kind === kind ? named : null;
}

/**
 * Claims a run for this process, and starts it if none is open; with `once` only if none has ended either.
 * Throws a CatError of type conflict if another process holds it. `open` is the run to work on: the one that
 * was `begun` earlier and has not ended, the one that is `finished` and only read, or the new one. A `named`
 * run that has ended is read.
 *
 * Earlier runs are looked up after the hold was taken: another process may have ended its run just before.
 */
export function claimRun(
  run: StoredRun,
  {
    pid,
    once,
    heldAs = run.identity,
    named = null,
    isBegun = () => true,
  }: Pick<RunRequest, "isBegun"> & {
    pid: number;
    once: boolean;
    heldAs?: string;
    named?: StoredRun | null;
  },
  state: State,
) {
  const { runs } = state;
  const owner = { pid, since: run.startedAt, file: run.file };
  const hold = runs.hold(run.account, heldAs, owner);
  const last = runs.findOpen(run);
  const isRead = named !== null && named.id !== last?.id;
  const passed = isRead ? named : once ? lastBegun(last, state, isBegun) : null;
  const begun = passed === null ? last : null;
  const ended = passed ?? (begun === null ? runs.findEnded(run) : null);
  const finished = isRead || once ? ended : null;
  if ("heldBy" in hold) {
    // A process that reads a finished run takes nothing away from another.
    if (finished !== null) return { hold: { release() {} }, begun, ended, finished, open: finished };
    throw alreadyRunning(hold.heldBy);
  }
  if (begun === null && finished === null) runs.begin(run);
  return { hold, begun, ended, finished, open: begun ?? finished ?? run };
}

/** The last run that has begun and ended, if the open one has not begun; else null. */
export function lastBegun(
  open: StoredRun | null,
  state: State,
  isBegun: NonNullable<RunRequest["isBegun"]>,
): StoredRun | null {
  if (open === null || isBegun(open, state)) return null;
  const { account, kind, identity } = open;
  const isEnded = (run: StoredRun & { readonly isEnded: boolean }) =>
    run.isEnded && run.account === account && run.identity === identity && isBegun(run, state);
  return state.runs.ofKind(kind).find(isEnded) ?? null;
}

/** The error for work that another process does, which may be of another kind: an undo excludes imports. */
export const alreadyRunning = ({ pid, since, file }: Required<RunOwner>): CatError =>
  new CatError(`process ${pid} has been working on ${shownName(file)} since ${shownTime(since)}`, {
    type: "conflict",
    code: "run_alive",
    hint: "Wait for it to finish, or stop it and run the command again.",
  });

/**
 * Identifies a run across restarts, as one SHA-256 (hex): digests of its input, and every option that changes
 * what is sent. The path of the input and output options do not count. Parts are plain JSON values in a fixed
 * order.
 */
export const runIdentity = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** The error for a limit that leaves out rows which the run has sent already. */
export const sentBeyond = (limit: number, file: string, done: "sent" | "queued" = "sent"): CatError =>
  new CatError(
    `rows after the first ${limit === 1 ? "row" : counted(limit, "row")} of ${shownName(file)} were already ${done}`,
    {
      type: "usage",
      code: "sent_beyond_limit",
      hint: "Remove --limit, or use a higher one.",
    },
  );
