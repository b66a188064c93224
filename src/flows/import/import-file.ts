import { cutIntoCalls } from "./calls.ts";
import { type CheckResult, checkFile } from "./check.ts";
import { closeRun } from "./close-run.ts";
import { Follower } from "./follow.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import type { RowFailure } from "./outcomes.ts";
import { ImportProgress } from "./progress.ts";
import { openRows } from "./read/open-rows.ts";
import { type SentCall, sendCalls } from "./send.ts";
import type { ImportSummary } from "./summary.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was refused and nothing was sent. */
  summary: ImportSummary | null;
  /** What stopped the run before its end, if anything did; the summary tells how far it came. */
  stopped: unknown;
  /** What became of each call. */
  sent: SentCall[];
}

/**
 * The bulk import: read, check, cut into calls, send, follow, close. Resume, the photo ledger and local photos will
 * stand between check and send: a run's calls are values (`Call`, `SentCall`) so that they can be written down.
 */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const refused = new Map<number, RowFailure>();
  const check = await checkFile(input.source, input.read, {
    ...deps,
    onProblem: (problem) => {
      if (input.skipInvalid && !refused.has(problem.line)) refused.set(problem.line, problem);
      return deps.onProblem(problem);
    },
    onProgress: (done) => deps.onProgress({ step: "checking", done, total: null }),
  });
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, summary: null, stopped: undefined, sent: [] };
  }
  const client = await deps.client();
  const deadline = input.timeoutMs === null ? null : deps.clock.now() + input.timeoutMs;
  const progress = new ImportProgress(check.valid, deps.onProgress);
  const follower = new Follower({ ...deps, client, deadline, onProgress: progress.followed });
  const reader = await openRows(input.source, input.read);
  const calls = cutIntoCalls(input.source, reader, [...refused.keys()]);
  const { sent, stopped: stoppedSending } = await sendCalls(calls, {
    ...input,
    ...deps,
    client,
    onAccepted: ({ importId, lines }) => {
      progress.accepted(lines.length);
      if (input.wait) follower.add(importId);
    },
  });
  progress.allSent();
  const followed = await follower.settled();
  const run = { input, deps, client, check, refused, sent, latest: follower.latest };
  const { summary, stopped } = await closeRun({ ...run, complete: stoppedSending === undefined });
  summary.duration_ms = Math.round(deps.clock.now() - started);
  return {
    check,
    summary,
    stopped: deps.signal?.aborted ? deps.signal.reason : (stoppedSending ?? followed ?? stopped),
    sent,
  };
}
