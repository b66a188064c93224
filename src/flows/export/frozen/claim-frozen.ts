import { rm } from "node:fs/promises";
import type { Run, RunHold } from "../../../state/runs.ts";
import type { State } from "../../../state/state.ts";
import { accountOf } from "../../run/account.ts";
import { claimRun, type RunAtHand, runIdentity } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import type { FrozenDeps, FrozenInput } from "./frozen-input.ts";
import { FrozenMemory, forgetEndedRuns } from "./frozen-memory.ts";

/** A run that this process alone works on. */
export interface ClaimedExport {
  readonly run: RunAtHand;
  readonly memory: FrozenMemory;
  /** When the run that is resumed was begun, in Unix milliseconds; null for a new one. */
  readonly begunAt: number | null;
  readonly hold: RunHold;
}

/**
 * Claims the open run of the same selection, format and roles, else begins one. With `fresh` an open run is ended: its jobs
 * are no longer followed. Throws a CatError of type conflict if another process has the run.
 */
export async function claimFrozen(
  input: FrozenInput,
  service: Service,
  { memory, onNote, pid, runId }: Pick<FrozenDeps, "memory" | "onNote" | "pid" | "runId">,
): Promise<ClaimedExport> {
  const { state, sentJobs, service: identity } = await memory();
  const { client, clock, signal } = service;
  const account = await accountOf({
    ...{ client, state, service: identity, sameOrganization: null, onNote, signal },
  });
  const { baseUrl } = identity;
  const { format, roles, selection, name } = input;
  const names = selection?.wanted.map(({ name: text, as }) => [text, as]) ?? null;
  const kind = "export";
  const now = clock.now();
  const fresh: Run = {
    ...{ id: runId, account, kind, file: name, options: {}, startedAt: now },
    identity: runIdentity([format, roles, names]),
  };
  const { hold, begun, open } = claimRun(fresh, { pid, once: false }, state);
  const at = ({ id }: Run): ClaimedExport => ({
    run: { state, sentJobs, service: identity, account, id, kind },
    memory: new FrozenMemory(state.marks, baseUrl, id),
    begunAt: id === runId ? null : begun!.startedAt,
    hold,
  });
  const openRuns = () =>
    new Set(state.accounts.at(baseUrl).flatMap((one) => state.runs.open(one).map(({ id }) => id)));
  forgetEndedRuns(state.marks, baseUrl, openRuns);
  if (begun === null || !input.fresh) return at(open);
  await endFrozen(at(begun), now);
  state.runs.begin(fresh);
  return at(fresh);
}

/** Ends a run, whatever it has reached: removes its incomplete files, and forgets its jobs. */
export async function endFrozen({ run, memory }: ClaimedExport, now: number): Promise<void> {
  const { state, id } = run;
  for (const folder of memory.places.work) await rm(folder, { recursive: true, force: true });
  settleJobs(state, id);
  state.runs.end(id, now);
  memory.clear();
}

function settleJobs(state: State, runId: string): void {
  for (const batch of state.batches.of(runId)) {
    if (batch.state === "sent") state.batches.dropped(runId, batch.index);
    else state.batches.settled(runId, batch.index, []);
  }
}
