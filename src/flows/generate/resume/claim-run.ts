import type { Run, RunHold } from "../../../state/runs.ts";
import { accountOf } from "../../run/account.ts";
import { claimRun, type RunAtHand, runIdentity } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import type { AskedGeneration } from "../generation.ts";
import type { GenerateDeps, GenerateInput } from "../run/generate-input.ts";

/** A run that this process alone works on. */
export interface ClaimedRun {
  readonly run: RunAtHand;
  /** When the run ended, in an earlier process: everything that its input asks for was queued and has ended. */
  readonly isFinished: boolean;
  /** When the run that is resumed, or is finished, was begun, in Unix milliseconds; null for a new one. */
  readonly begunAt: number | null;
  /** Whether the run was begun with `--fresh`. */
  readonly isFresh: boolean;
  readonly hold: RunHold;
}

/**
 * Claims the run of this input: the one that was begun before and has not ended, else the last one that has, else a new one.
 * With `fresh` an earlier run is ended as it is, and a new one begun. Throws a CatError of type conflict if another process
 * has the run.
 */
export async function claimGeneration(
  input: GenerateInput,
  asked: readonly AskedGeneration[],
  service: Service,
  { memory, onNote, pid, runId }: Pick<GenerateDeps, "memory" | "onNote" | "pid" | "runId">,
): Promise<ClaimedRun> {
  const { state, sentJobs, service: identity } = await memory();
  const { client, clock, signal } = service;
  const account = await accountOf({
    client,
    state,
    service: identity,
    sameOrganization: null,
    onNote,
    signal,
  });
  const { file, kind, replacing } = input;
  const now = clock.now();
  const fresh: Run = {
    id: runId,
    account,
    kind,
    identity: runIdentity([
      file.source.digest,
      file.source.format,
      // Flags that change nothing of the input must not pay for it twice; with combinations, places mean something else.
      asked.some(({ combination }) => combination > 0),
      // The same image is rejected again under the ID of another task.
      ...(replacing.size > 0 ? [[...replacing.values()]] : []),
    ]),
    file: file.source.name,
    options: input.fresh ? { fresh: "yes" } : {},
    startedAt: now,
  };
  const claimed = (run: Run) => ({
    run: { state, sentJobs, service: identity, account, id: run.id, kind },
    isFresh: run.options.fresh === "yes",
  });
  const { hold, begun, finished, open } = claimRun(fresh, { pid, once: !input.fresh }, state);
  const isFinished = finished !== null;
  if (begun !== null && input.fresh) {
    state.runs.end(begun.id, now);
    state.runs.begin(fresh);
    return { ...claimed(fresh), isFinished, begunAt: null, hold };
  }
  return { ...claimed(open), isFinished, begunAt: (begun ?? finished)?.startedAt ?? null, hold };
}
