import { TimeoutError } from "../../http/errors.ts";
import { cutIntoCalls } from "./calls.ts";
import { type CheckResult, checkFile } from "./check.ts";
import { type ClosedRun, closeRun, type Run } from "./close-run.ts";
import { decisive } from "./faults-of-service.ts";
import { Follower } from "./follow.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import { ImportProgress } from "./progress.ts";
import { openRows } from "./read/open-rows.ts";
import { RefusedRows } from "./refused-rows.ts";
import { type SentCall, sendCalls } from "./send.ts";

export interface ImportOutcome {
  check: CheckResult;
  /** Null when the file was refused and nothing was sent. */
  ended: EndedRun | null;
}

/** An import that was made: `stopped` is what stopped it before its end, if anything did; the summary tells how far it came. */
export interface EndedRun extends ClosedRun {
  /** What became of each call. */
  sent: SentCall[];
}

/**
 * The bulk import: read, check, cut into calls, send, follow, close. Resume, the photo ledger and local photos will
 * stand between check and send: a run's calls are values (`Call`, `SentCall`) so that they can be written down.
 */
export async function importFile(input: ImportInput, deps: ImportDeps): Promise<ImportOutcome> {
  const started = deps.clock.now();
  const refused = new RefusedRows();
  const check = await checkFile(input.source, input.read, {
    ...deps,
    onRefused: (row) => refused.add(row),
    onProgress: (done) => deps.onProgress({ step: "checking", done, total: null }),
  });
  if (check.unusable || check.valid === 0 || (check.invalid > 0 && !input.skipInvalid)) {
    return { check, ended: null };
  }
  const targets = await deps.targets();
  const client = await deps.client();
  const patience = waitFor(input.timeoutMs, deps);
  try {
    const run = { input, deps, targets, client, check, refused, signal: patience.signal };
    const ended = await sendAndClose(run);
    ended.summary.duration_ms = Math.round(deps.clock.now() - started);
    return { check, ended };
  } finally {
    patience.release();
  }
}

async function sendAndClose(run: Omit<Run, "sent" | "complete" | "latest">): Promise<EndedRun> {
  const { input, deps, client, check, refused, signal } = run;
  const progress = new ImportProgress(check.valid, deps.onProgress);
  const follower = new Follower({ client, signal, onProgress: progress.followed });
  const calls = cutIntoCalls(input.source, await openRows(input.source, input.read), refused);
  const sending = await sendCalls(calls, {
    ...input,
    ...deps,
    client,
    signal,
    onAccepted: ({ importId, lines }) => {
      progress.accepted(lines.length);
      if (input.wait) follower.add(importId);
    },
  });
  progress.allSent();
  const unfollowed = await follower.settled();
  const { sent } = sending;
  const complete = sending.stopped === undefined;
  const closed = await closeRun({ ...run, sent, complete, latest: follower.latest });
  // An interrupt makes other things fail, each in its own words: it is the reason.
  const stopped = signal.aborted ? signal.reason : (sending.stopped ?? decisive(unfollowed, closed.stopped));
  return { ...closed, stopped: stopped as unknown, sent };
}

/** A signal for the interrupt and for the end of the user's patience (`--timeout`). */
function waitFor(
  timeoutMs: number | null,
  { clock, signal }: ImportDeps,
): { signal: AbortSignal; release: () => void } {
  const patience = new AbortController();
  const expire = () => {
    const hint = "What the service has accepted goes on there.";
    const detail = { code: "wait_timeout", hint };
    patience.abort(new TimeoutError(`the import had not ended after ${(timeoutMs ?? 0) / 1000} s`, detail));
  };
  const release = timeoutMs === null ? () => {} : clock.at(clock.now() + timeoutMs, expire);
  return {
    signal: signal === undefined ? patience.signal : AbortSignal.any([signal, patience.signal]),
    release,
  };
}
