import { CatError } from "../../errors.ts";
import type { Run, RunHold, RunOwner } from "../../state/runs.ts";
import type { State } from "../../state/state.ts";
import type { ImportInput } from "../import/import-input.ts";
import { importKind } from "../import/import-kind.ts";
import { accountOf, provenAccount } from "../import/resume/service-account.ts";
import type { TakeUpDeps } from "../import/resume/take-up-deps.ts";
import { shownName } from "../rows/shown-name.ts";
import type { ServiceIdentity } from "./service-identity.ts";
import { shownTime } from "./shown-time.ts";

/** A run that is this process's own. */
export interface Claim {
  account: number;
  hold: RunHold;
  /** The run that was begun before and has not ended. */
  begun: Run | null;
  /** The one that is begun now; the same where there was one. */
  created: Run;
}

/**
 * Makes the run this process's own. With a key of which it is not known whose it is, one process at a time, so that what one
 * has begun is there when the next one looks: two keys of one organization must not be taken for two.
 */
export async function claimRun(
  { state, service, identity }: { state: State; service: ServiceIdentity; identity: string },
  input: ImportInput,
  deps: TakeUpDeps,
): Promise<Claim> {
  const { client, clock, signal, onNote } = deps;
  const owner = { pid: deps.pid, since: clock.now() };
  const account = {
    ...{ client, state, service, identity, owner, signal, onNote },
    ...{ file: input.file.source.name, sameOrganization: input.sameOrganization },
    asksLedger: input.photos === "new",
  };
  const claim = (account: number): Claim => {
    const hold = state.runs.hold(account, identity, owner);
    if ("heldBy" in hold) throw alive(input.file.source.name, hold.heldBy);
    const begun = state.runs.findOpen({ account, kind: importKind, identity });
    return { account, hold, begun, created: begun ?? beginRun(account, identity, state, input, deps) };
  };
  const proven = await provenAccount(account);
  if (proven !== null) return claim(proven);
  const turn = await turnAt(service.baseUrl, owner, state, deps);
  try {
    return claim(await accountOf(account));
  } finally {
    turn.release();
  }
}

/** Begins a new run of the import. */
export function beginRun(
  account: number,
  identity: string,
  state: State,
  { mode, onImageError, photos, file }: ImportInput,
  { clock, runId }: TakeUpDeps,
): Run {
  const options = { mode, onImageError, photos };
  const run = {
    id: runId,
    account,
    kind: importKind,
    identity,
    file: file.source.name,
    options,
    startedAt: clock.now(),
  };
  state.runs.begin(run);
  return run;
}

/** How often it is looked whether another process is done, and how long at most, in milliseconds. */
const turnPause = 50;
const longestTurn = 60_000;

/** Waits until no other process is about to claim a run at that base URL. No account has that number. */
async function turnAt(
  baseUrl: string,
  owner: RunOwner,
  { runs }: State,
  { clock, signal, onNote }: TakeUpDeps,
): Promise<RunHold> {
  for (let waited = 0; ; waited += turnPause) {
    const hold = runs.hold(0, `claiming at ${baseUrl}`, owner);
    if (!("heldBy" in hold)) return hold;
    const { pid } = hold.heldBy;
    if (waited === 20 * turnPause)
      onNote(`Waiting for process ${pid}, which is beginning an import at ${baseUrl} as well.`);
    if (waited >= longestTurn) throw notGettingOn(pid, baseUrl);
    await clock.sleep(turnPause, signal);
  }
}

const notGettingOn = (pid: number, baseUrl: string): CatError =>
  new CatError(`process ${pid} is beginning an import at ${baseUrl} and does not get on`, {
    type: "conflict",
    code: "import_under_way",
    hint: "Wait for it, or stop it, and give the command again.",
  });

const alive = (file: string, { pid, since }: RunOwner): CatError =>
  new CatError(`${shownName(file)} is being imported already, since ${shownTime(since)} by process ${pid}`, {
    type: "conflict",
    code: "run_alive",
    hint: "Wait for it, or stop it and give the command again.",
  });
