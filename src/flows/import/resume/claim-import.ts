import type { Run, RunHold } from "../../../state/runs.ts";
import { accountOf } from "../../run/account.ts";
import { claimRun, type RunAtHand } from "../../run/run.ts";
import { identityOf } from "../run/identity.ts";
import type { Memory } from "../run/import-input.ts";
import type { ImportJob } from "../run/import-job.ts";
import { importKind } from "../run/import-kind.ts";

/** An import claimed by this process. */
export interface ClaimedImport {
  /** The open run of an earlier process, or the new one. */
  readonly run: RunAtHand;
  /** The open run of an earlier process, or null. */
  readonly begun: Run | null;
  /** The new run to start if the earlier one is not resumed. */
  readonly fresh: Run;
  /** Releases the run for other processes. */
  readonly hold: RunHold;
}

/**
 * Finds the account of the key and the run of this file, and claims the run. Throws a CatError of type
 * conflict if another process holds it.
 */
export async function claimImport(
  { state, sentJobs, service }: Memory,
  { input, service: requests, reporter, pid }: ImportJob,
  runId: string,
): Promise<ClaimedImport> {
  const { file, localPhotos, mode, onImageError, photos, sameOrganization } = input;
  const identity = identityOf(input, {
    file: file.source.digest!,
    photos: await localPhotos.digestOfAll(),
  });
  const { client, clock, signal } = requests;
  const { onNote } = reporter;
  const account = await accountOf({ client, state, service, sameOrganization, onNote, signal });
  const fresh: Run = {
    id: runId,
    account,
    kind: importKind,
    identity,
    file: file.source.name,
    options: { mode, onImageError, photos },
    startedAt: clock.now(),
  };
  const { hold, begun, open } = claimRun(fresh, { pid, once: false }, state);
  const { id, options } = open;
  const begunAt = begun?.startedAt ?? null;
  const opened = { account, id, kind: importKind, options, begunAt, isFinished: false };
  return { run: { ...requests, state, sentJobs, service, ...opened }, begun, fresh, hold };
}
