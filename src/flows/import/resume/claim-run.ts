import { CatError } from "../../../errors.ts";
import type { Run, RunHold, RunOwner } from "../../../state/runs.ts";
import type { State } from "../../../state/state.ts";
import type { ImportInput } from "../import-input.ts";
import type { ServiceIdentity } from "../service-identity.ts";
import { shownName } from "../shown-name.ts";
import { shownTime } from "../shown-time.ts";
import { accountOf } from "./account.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";

/** A run that is this process's own. */
export interface Claim {
  account: number;
  hold: RunHold;
  /** The run that was begun before and has not ended. */
  begun: Run | null;
  /** The one that is begun now; the same where there was one. */
  created: Run;
}

/** Claims the run for this process. Throws a CatError of type conflict if another process has it. */
export async function claimRun(
  { state, service, identity }: { state: State; service: ServiceIdentity; identity: string },
  input: ImportInput,
  deps: TakeUpDeps,
): Promise<Claim> {
  const { client, clock, signal, onNote } = deps;
  const { sameOrganization } = input;
  const account = await accountOf({ client, state, service, sameOrganization, onNote, signal });
  const hold = state.runs.hold(account, identity, { pid: deps.pid, since: clock.now() });
  if ("heldBy" in hold) throw alive(input.source.name, hold.heldBy);
  const begun = state.runs.findOpen(account, identity);
  return { account, hold, begun, created: begun ?? beginRun(account, identity, state, input, deps) };
}

/** Begins a new run of the import. */
export function beginRun(
  account: number,
  identity: string,
  state: State,
  { mode, onImageError, photos, source }: ImportInput,
  { clock, runId }: TakeUpDeps,
): Run {
  const options = { mode, onImageError, photos };
  const run = { id: runId, account, identity, file: source.name, options, startedAt: clock.now() };
  state.runs.begin(run);
  return run;
}

const alive = (file: string, { pid, since }: RunOwner): CatError =>
  new CatError(`${shownName(file)} is being imported already, since ${shownTime(since)} by process ${pid}`, {
    type: "conflict",
    code: "run_alive",
    hint: "Wait for it, or stop it and give the command again.",
  });
